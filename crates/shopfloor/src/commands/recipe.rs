//! `shopfloor recipe`: plans as data, from a file to an execution.

mod add;
mod check;
mod diff;
mod file;
mod new;
mod run;
mod show;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use client::Client;
use domain::RecipeId;
use protocol::{Call, Recipe, RecipeDetail, RecipeDisable, RecipeTemplate, RecipeVersion, WhichVersion};

pub(crate) use diff::between;
pub(crate) use run::{RunArgs, run as run_recipe};
pub(crate) use show::{by, hash};

use crate::pick::{all_of, pick_of};
use crate::{Context, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  shopfloor recipe new --template fix-issue            # writes recipes/fix-issue.yaml
  shopfloor recipe check recipes/fix-issue.yaml        # every error with line and column; needs no hub
  shopfloor recipe add recipes/fix-issue.yaml --project calc
  shopfloor recipe run fix-issue --project calc --input issue=42 --watch
  shopfloor recipe diff fix-issue 1 2 --project calc";

/// Subcommands for recipes.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum RecipeCommand {
    /// Check a recipe and report every error with its line and column; needs no hub
    Check(check::CheckArgs),
    /// Print the JSON Schema of recipes, for editors; needs no hub
    Schema,
    /// List the recipes that come with Shopfloor; needs no hub
    Templates,
    /// Write a commented recipe to start from; needs no hub
    New(new::NewArgs),
    /// Save a recipe: a new one, or a new version of the one with its name
    Add(add::AddArgs),
    /// List the recipes of a project
    List {
        /// Only in this project (id or name) [default: all projects]
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
    },
    /// Show a recipe: its inputs and its text
    Show {
        #[command(flatten)]
        one: One,
        /// The version, by number or content hash [default: the newest]
        #[arg(long, value_name = "VERSION")]
        version: Option<String>,
        /// Print only the text
        #[arg(long)]
        text: bool,
    },
    /// List the versions of a recipe, newest first
    Versions {
        #[command(flatten)]
        one: One,
    },
    /// Show the difference between two versions of a recipe
    Diff(diff::DiffArgs),
    /// Disable a recipe: nothing starts it, and its schedules skip their ticks
    Disable {
        #[command(flatten)]
        one: One,
    },
    /// Enable a disabled recipe
    Enable {
        #[command(flatten)]
        one: One,
    },
    /// Start an execution of a recipe
    Run(RunArgs),
}

/// A recipe.
#[derive(Debug, Clone, Args)]
pub(crate) struct One {
    /// The recipe (name or id)
    #[arg(value_name = "NAME")]
    pub(crate) recipe: String,
    /// The project of the recipe (id or name); needed if several projects have a recipe of this name
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
}

impl One {
    /// The id of the recipe.
    pub(crate) async fn id(&self, client: &Client) -> Result<RecipeId, Failure> {
        pick_of::<Recipe>(client, self.project.as_deref(), &self.recipe).await
    }
}

/// Runs the subcommand.
pub(crate) async fn run(command: RecipeCommand, context: &Context) -> Result<Exit, Failure> {
    let out = &context.out;
    match command {
        RecipeCommand::Check(args) => return check::run(&args, out),
        RecipeCommand::Schema => {
            let schema = recipes::schema();
            out.show(&schema, |_| format!("{schema:#}"))?;
        }
        RecipeCommand::Templates => out.show(&templates(), new::list)?,
        RecipeCommand::New(args) => new::run(&args, out)?,
        RecipeCommand::Add(args) => add::run(&args, context).await?,
        RecipeCommand::List { project } => {
            let all: Vec<Recipe> = all_of(&context.client()?, project.as_deref()).await?;
            out.show(&all, |out| show::table(&all, out))?;
        }
        RecipeCommand::Show { one, version, text } => {
            let client = &context.client()?;
            let detail = detail(client, one.id(client).await?, version).await?;
            match text && !out.json {
                true => out.line(&detail.text)?,
                false => out.show(&detail, |out| show::detail(&detail, out))?,
            }
        }
        RecipeCommand::Versions { one } => {
            let client = &context.client()?;
            let recipe = one.id(client).await?;
            let versions: Vec<RecipeVersion> = client.ask(Call::RecipeVersions { recipe }).await?;
            out.show(&versions, |out| show::versions(&versions, out))?;
        }
        RecipeCommand::Diff(args) => diff::run(&args, &context.client()?, out).await?,
        RecipeCommand::Disable { one } => able(&one, true, context).await?,
        RecipeCommand::Enable { one } => able(&one, false, context).await?,
        RecipeCommand::Run(args) => return run::run(args, context).await,
    }
    Ok(Exit::Done)
}

async fn able(one: &One, disabled: bool, context: &Context) -> Result<(), Failure> {
    let client = &context.client()?;
    let (recipe, input) = (one.id(client).await?, RecipeDisable { disabled });
    let recipe: Recipe = client.ask(Call::RecipeDisable { recipe, input }).await?;
    context.out.show(&recipe, |out| show::line(&recipe, out))
}

/// A recipe with the text of a version.
pub(crate) async fn detail(
    client: &Client,
    recipe: RecipeId,
    version: Option<String>,
) -> Result<RecipeDetail, Failure> {
    Ok(client.ask(Call::RecipeShow { recipe, which: WhichVersion { version } }).await?)
}

/// The recipes that come with Shopfloor, as the protocol shows them.
fn templates() -> Vec<RecipeTemplate> {
    let shown = |one: &recipes::Shipped| RecipeTemplate {
        name: one.name.to_owned(),
        title: one.title.to_owned(),
        text: one.text.to_owned(),
    };
    recipes::templates().iter().map(shown).collect()
}

/// The file of a recipe.
#[derive(Debug, Clone, Args)]
pub(crate) struct FileArgs {
    /// The recipe; `-` is standard input
    pub(crate) file: PathBuf,
    /// The file's format [default: by its name, else YAML]
    #[arg(long, value_name = "FORMAT", value_parser = ["yaml", "toml", "json"])]
    pub(crate) format: Option<String>,
}
