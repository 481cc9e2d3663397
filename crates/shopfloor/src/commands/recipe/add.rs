//! `shopfloor recipe add`.

use clap::Args;
use protocol::{Call, Project, Recipe, RecipeText};

use super::FileArgs;
use super::file::{Source, line};
use super::show;
use crate::commands::words;
use crate::pick::pick;
use crate::{Context, Failure};

/// How many errors to show.
const SHOWN: usize = 50;

/// Arguments of `recipe add`.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    #[command(flatten)]
    file: FileArgs,
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: String,
}

/// Saves a recipe. A wrong file is reported before a hub is needed.
pub(super) async fn run(args: &AddArgs, context: &Context) -> Result<(), Failure> {
    let source = Source::read(&args.file)?;
    let refused = |errors: Vec<recipes::Finding>| refused(&source.name, &errors);
    let text = source.text.clone().map_err(refused)?;
    let read = recipes::read(&text, source.format).map_err(refused)?;
    for warning in &read.warnings {
        context.out.note(&line(&source.name, warning, true));
    }
    let client = context.client()?;
    let project = pick::<Project>(&client, &args.project).await?;
    let input = RecipeText { text, format: Some(source.format) };
    let recipe: Recipe = client.ask(Call::RecipeAdd { project, input }).await?;
    context.out.show(&recipe, |out| show::recipe(&recipe, out))
}

fn refused(name: &str, errors: &[recipes::Finding]) -> Failure {
    let mut lines = vec![format!("{name} has {}", words::counted(errors.len(), "error", "errors"))];
    lines.extend(errors.iter().take(SHOWN).map(|error| line(name, error, false)));
    if errors.len() > SHOWN {
        lines.push(format!("… and {} more", errors.len() - SHOWN));
    }
    Failure::usage(lines.join("\n  "))
}
