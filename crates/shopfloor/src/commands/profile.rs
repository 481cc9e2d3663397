//! `shopfloor profile`: agent profiles, which steps of recipes follow.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use client::Client;
use protocol::{AgentProfile, AgentProfileText, Call, ProfileName, ProfileNamed, Project, Sandbox};

use super::{recipe, words};
use crate::confirm::{Yes, sure};
use crate::output::clean;
use crate::pick::pick;
use crate::table::{Style, Table, fields};
use crate::text_arg::read_prompt;
use crate::{Context, Failure, Output, when};

const EXAMPLES: &str = "\
Examples:
  shopfloor profile set reviewer --project calc --agent claude --model sonnet --budget 2.00 --sandbox
  shopfloor profile set reviewer --project calc --agent claude --prompt-file prompts/reviewer.md
  shopfloor profile list --project calc";

/// Subcommands for agent profiles.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum ProfileCommand {
    /// List the agent profiles of a project
    List {
        /// The project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: String,
    },
    /// Save an agent profile: a new one, or a new version that replaces the one with its name
    Set(Box<SetArgs>),
    /// Show an agent profile with its prompt, and its versions
    Show {
        /// Its exact name
        name: String,
        /// The project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: String,
        /// Show this version [default: the newest]
        #[arg(long, value_name = "N")]
        version: Option<u32>,
    },
    /// List the versions of an agent profile, newest first
    Versions {
        /// Its exact name
        name: String,
        /// The project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: String,
    },
    /// Remove an agent profile, after asking; steps that follow it fail
    Remove {
        /// Its exact name
        name: String,
        /// The project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: String,
        #[command(flatten)]
        yes: Yes,
    },
}

/// Arguments of `profile set`.
#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// Its name, unique in the project: letters, digits, `-` and `_`
    name: String,
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: String,
    /// codex, claude, gemini, opencode, or your own adapter
    #[arg(long, value_name = "NAME")]
    agent: String,
    /// The model [default: the agent's own choice]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// What it is for
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    description: String,
    /// Instructions that come before the prompt of its step
    #[arg(long, value_name = "TEXT", conflicts_with = "prompt_file")]
    prompt: Option<String>,
    /// Read the prompt from this file; `-` is standard input
    #[arg(long, value_name = "FILE")]
    prompt_file: Option<PathBuf>,
    /// What a session of a step, or a worker in all, may cost in dollars; it is stopped before it exceeds it
    #[arg(long, value_name = "DOLLARS", value_parser = words::read_money)]
    budget: Option<u64>,
    /// A label that a runner must have; may be repeated
    #[arg(long = "label", value_name = "LABEL")]
    labels: Vec<String>,
    /// It asks before it changes anything; without a person at its terminal it only reads
    #[arg(long)]
    asks: bool,
    /// Confine its sessions to their workspaces and hide your home folder
    #[arg(long)]
    sandbox: bool,
    /// No network in the sandbox
    #[arg(long, requires = "sandbox")]
    no_network: bool,
    /// Make your home folder readable in the sandbox; Shopfloor's data stays hidden
    #[arg(long, requires = "sandbox")]
    home: bool,
}

/// Runs the subcommand.
pub(crate) async fn run(command: ProfileCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        ProfileCommand::List { project } => {
            let project = pick::<Project>(client, &project).await?;
            let profiles: Vec<AgentProfile> = client.ask(Call::ProfileList { project }).await?;
            out.show(&profiles, |out| table(&profiles, out))
        }
        ProfileCommand::Set(args) => {
            let project = pick::<Project>(client, &args.project).await?;
            let input = args.read()?;
            let profile: AgentProfile = client.ask(Call::ProfileSet { project, input }).await?;
            out.show(&profile, |out| one(&profile, out))
        }
        ProfileCommand::Show { name, project, version } => {
            let versions = versions(client, &project, &name).await?;
            let found = versions.iter().find(|one| version.is_none_or(|number| one.number == number));
            let found = found.ok_or_else(|| Failure::not_found(format!("`{name}` has no such version")))?;
            out.show(found, |out| one(found, out))
        }
        ProfileCommand::Versions { name, project } => {
            let versions = versions(client, &project, &name).await?;
            out.show(&versions, |out| table(&versions, out))
        }
        ProfileCommand::Remove { name, project, yes } => {
            let project = pick::<Project>(client, &project).await?;
            let what = format!("agent profile `{name}`");
            sure(yes.yes, "remove", &what, "Steps that follow it fail until there is another of its name.")?;
            client.ask::<()>(Call::ProfileRemove { project, input: ProfileName { name: name.clone() } }).await?;
            out.did("removed", name)
        }
    }
}

async fn versions(client: &Client, project: &str, name: &str) -> Result<Vec<AgentProfile>, Failure> {
    let project = pick::<Project>(client, project).await?;
    let of = ProfileNamed { name: name.to_owned() };
    let versions: Vec<AgentProfile> = client.ask(Call::ProfileVersions { project, of }).await?;
    match versions.is_empty() {
        true => {
            Err(Failure::not_found(format!("there is no agent profile `{name}`: `shopfloor profile list` shows all")))
        }
        false => Ok(versions),
    }
}

impl SetArgs {
    fn read(self: Box<Self>) -> Result<AgentProfileText, Failure> {
        let prompt = match &self.prompt_file {
            Some(path) => read_prompt(path)?,
            None => self.prompt.unwrap_or_default(),
        };
        let sandbox = Sandbox { network: !self.no_network, home: self.home };
        Ok(AgentProfileText {
            name: self.name,
            description: self.description,
            agent: self.agent,
            model: self.model,
            prompt,
            sandbox: self.sandbox.then_some(sandbox),
            budget_micros: self.budget,
            asks: self.asks,
            labels: self.labels,
        })
    }
}

fn table(profiles: &[AgentProfile], out: &Output) -> String {
    let titles = ["NAME", "AGENT", "MODEL", "SANDBOX", "BUDGET", "LABELS…", "VERSION", "SAVED", "DESCRIPTION…"];
    let mut table = Table::new(&titles, "no agent profiles; `shopfloor profile set` saves one");
    for profile in profiles {
        table.row([
            (&profile.name).into(),
            (&profile.agent).into(),
            profile.model.as_deref().unwrap_or("-").into(),
            sandbox(profile.sandbox.as_ref()).into(),
            profile.budget_micros.map_or_else(|| "-".to_owned(), words::money).into(),
            if profile.labels.is_empty() { "-".into() } else { profile.labels.join(", ").into() },
            profile.number.into(),
            when::relative(profile.saved_at, out.now).into(),
            if profile.description.is_empty() { "-".into() } else { (&profile.description).into() },
        ]);
    }
    table.render(out)
}

fn sandbox(sandbox: Option<&Sandbox>) -> &'static str {
    match sandbox {
        None => "-",
        Some(Sandbox { network: true, home: false }) => "yes",
        Some(Sandbox { network: true, home: true }) => "yes, home",
        Some(Sandbox { network: false, home: false }) => "yes, no network",
        Some(Sandbox { network: false, home: true }) => "yes, home, no network",
    }
}

fn one(profile: &AgentProfile, out: &Output) -> String {
    let saved = format!("{} by {}", when::relative(profile.saved_at, out.now), recipe::by(&profile.saved_by));
    let mut pairs = vec![
        ("profile", (&profile.name).into()),
        ("version", profile.number.into()),
        ("saved", saved.into()),
        ("agent", (&profile.agent).into()),
    ];
    let mut add = |name, value: Option<String>| pairs.extend(value.map(|value| (name, value.into())));
    add("model", profile.model.clone());
    add("sandbox", profile.sandbox.as_ref().map(|given| sandbox(Some(given)).to_owned()));
    add("asks", profile.asks.then(|| "before it changes anything".to_owned()));
    add("budget", profile.budget_micros.map(words::money));
    add("labels", (!profile.labels.is_empty()).then(|| profile.labels.join(", ")));
    add("description", (!profile.description.is_empty()).then(|| profile.description.clone()));
    let text = fields(out, &pairs);
    if profile.prompt.is_empty() {
        return text;
    }
    format!("{text}\n\n{}\n{}", Style::Bold.paint("Prompt", out.color), clean(&profile.prompt))
}
