//! `shopfloor handoff`: a fresh session continues the work of another.

mod compare;
mod show;

use clap::{Args, Subcommand};
use client::Client;
use domain::{HandoffId, HandoffStatus, HandoffStep};
use protocol::{
    Activity, Call, Handoff, HandoffAck, HandoffBegin, HandoffConfigure, HandoffDetail, HandoffEdit, HandoffFilter,
    HandoffProse, HandoffSection, HandoffSettings, Project, Runner, Session, User,
};

use super::task::editor;
use crate::pick::{choose, pick, pick_if};
use crate::text_arg::read_prompt;
use crate::{Context, Failure, Output};

/// Wait between two looks at a handoff.
const LOOK: std::time::Duration = std::time::Duration::from_millis(300);

/// Arguments of `handoff`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, arg_required_else_help = true)]
pub(crate) struct HandoffArgs {
    #[command(subcommand)]
    command: Option<HandoffCommand>,
    #[command(flatten)]
    begin: BeginArgs,
}

/// A new handoff.
#[derive(Debug, Args)]
struct BeginArgs {
    /// The session: its id, the end of its id, or its title
    #[arg(required = true)]
    session: Option<String>,
    /// Continue on this runner of yours, or with this person on a runner of theirs; default: in the same workspace
    #[arg(long, value_name = "RUNNER|PERSON")]
    to: Option<String>,
    /// The goal of the fresh session: its only instruction
    #[arg(long, value_name = "TEXT")]
    goal: Option<String>,
    /// Edit the document before the session stops
    #[arg(long)]
    edit: bool,
    /// Push the saved commit to the repository, as a branch of its own
    #[arg(long)]
    push: bool,
    /// The agent of the fresh session; default: the same
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// The role whose template the document follows [default: that of the session's worker]
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// How long the agent may write the document, in seconds; default: 120
    #[arg(long, value_name = "SECONDS")]
    wait: Option<u32>,
    /// Return at once instead of waiting for the fresh session
    #[arg(long)]
    no_wait: bool,
}

/// Subcommands for handoffs.
#[derive(Debug, Subcommand)]
pub(crate) enum HandoffCommand {
    /// List the newest handoffs
    List {
        /// Only in this project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
        /// Only in this activity (id or name)
        #[arg(long, value_name = "ACTIVITY")]
        activity: Option<String>,
    },
    /// Show one handoff: its steps and its document
    Show {
        /// The handoff's id, or its session's title
        handoff: String,
    },
    /// Compare the documents of two handoffs, or one document with what it was before a person edited it
    Compare {
        /// The older handoff: its id, or its session's title
        older: String,
        /// The newer handoff [default: the same one, as edited]
        newer: Option<String>,
    },
    /// Edit the document of a handoff that waits for that, and let it continue
    Edit {
        /// The handoff's id, or its session's title
        handoff: String,
        /// Continue without opening an editor
        #[arg(long)]
        as_it_is: bool,
    },
    /// Retry the failed step
    Retry {
        /// The handoff's id, or its session's title
        handoff: String,
    },
    /// Skip the current step and continue: `write`, `save` or `publish`
    Skip {
        /// The handoff's id, or its session's title
        handoff: String,
    },
    /// Cancel a handoff; sessions stay as they are
    Cancel {
        /// The handoff's id, or its session's title
        handoff: String,
    },
    /// Write the prose of the document, for agents without MCP
    Write {
        /// The handoff's id, or its session's title
        handoff: String,
        /// What is done
        #[arg(long, default_value = "")]
        done: String,
        /// What remains
        #[arg(long, default_value = "")]
        remaining: String,
        /// What was tried and failed
        #[arg(long, default_value = "")]
        tried: String,
        /// Open questions
        #[arg(long, default_value = "")]
        questions: String,
        /// The next step
        #[arg(long, default_value = "")]
        next: String,
        /// Another section that was asked for; may be repeated
        #[arg(long = "section", value_name = "TITLE=TEXT", value_parser = section)]
        sections: Vec<HandoffSection>,
    },
    /// Show how a project's handoffs are written and kept
    Settings {
        /// The project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: String,
    },
    /// Change how a project's handoffs are written and kept
    Configure {
        /// The project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: String,
        /// Whether each document is also a file in the workspace, `.shopfloor/handoffs/ID.md`, saved with the work
        #[arg(long, value_name = "YES|NO", value_parser = clap::builder::BoolishValueParser::new())]
        keep_files: Option<bool>,
        /// Read the sections of documents from this file: lines `Title: what the agent writes there`, for everybody until
        /// a line `[role]`; an empty file: the standard sections; `-` is standard input
        #[arg(long, value_name = "FILE")]
        templates: Option<std::path::PathBuf>,
    },
    /// Acknowledge the document by its hash, for agents without MCP
    Ack {
        /// The handoff's id, or its session's title
        handoff: String,
        /// The value of `hash` in the document's front matter
        hash: String,
    },
}

/// Runs the subcommand, or hands a session off.
pub(crate) async fn run(args: HandoffArgs, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    let Some(command) = args.command else { return begin(args.begin, client, out).await };
    let call = match command {
        HandoffCommand::List { project, activity } => {
            let project = pick_if::<Project>(client, project.as_deref()).await?;
            let activity = pick_if::<Activity>(client, activity.as_deref()).await?;
            let filter = HandoffFilter { project, activity, ..Default::default() };
            let handoffs: Vec<Handoff> = client.ask(Call::HandoffList { filter }).await?;
            return out.show(&handoffs, |out| show::table(&handoffs, out));
        }
        HandoffCommand::Show { handoff } => {
            let handoff = pick::<Handoff>(client, &handoff).await?;
            let detail: HandoffDetail = client.ask(Call::HandoffShow { handoff }).await?;
            return out.show(&detail, |out| show::detail(&detail, out));
        }
        HandoffCommand::Compare { older, newer } => {
            return compare::run(&older, newer.as_deref(), client, out).await;
        }
        HandoffCommand::Edit { handoff, as_it_is } => {
            let handoff = pick::<Handoff>(client, &handoff).await?;
            let text = if as_it_is { None } else { Some(edited(client, handoff).await?) };
            Call::HandoffEdit { handoff, input: HandoffEdit { text, start: true } }
        }
        HandoffCommand::Retry { handoff } => Call::HandoffRetry { handoff: pick::<Handoff>(client, &handoff).await? },
        HandoffCommand::Skip { handoff } => Call::HandoffSkip { handoff: pick::<Handoff>(client, &handoff).await? },
        HandoffCommand::Cancel { handoff } => Call::HandoffCancel { handoff: pick::<Handoff>(client, &handoff).await? },
        HandoffCommand::Settings { project } => {
            let project = pick::<Project>(client, &project).await?;
            let settings: HandoffSettings = client.ask(Call::HandoffSettings { project }).await?;
            return out.show(&settings, |out| show::settings(&settings, out));
        }
        HandoffCommand::Configure { project, keep_files, templates } => {
            let templates = templates.as_deref().map(read_prompt).transpose()?;
            let project = pick::<Project>(client, &project).await?;
            let input = HandoffConfigure { keep_files, templates };
            let settings: HandoffSettings = client.ask(Call::HandoffConfigure { project, input }).await?;
            return out.show(&settings, |out| show::settings(&settings, out));
        }
        HandoffCommand::Write { handoff, done, remaining, tried, questions, next, sections } => {
            let handoff = pick::<Handoff>(client, &handoff).await?;
            Call::HandoffWrite { handoff, input: HandoffProse { done, remaining, tried, questions, next, sections } }
        }
        HandoffCommand::Ack { handoff, hash } => {
            let handoff = pick::<Handoff>(client, &handoff).await?;
            Call::HandoffAck { handoff, input: HandoffAck { hash } }
        }
    };
    let after: Handoff = client.ask(call).await?;
    out.show(&after, |_| show::line(&after))
}

/// Reads `TITLE=TEXT`.
fn section(text: &str) -> Result<HandoffSection, String> {
    let (title, text) = text.split_once('=').ok_or("write a section as `TITLE=TEXT`")?;
    Ok(HandoffSection { title: title.trim().to_owned(), text: text.to_owned() })
}

/// Begins a handoff and follows it.
async fn begin(args: BeginArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let session = pick::<Session>(client, args.session.as_deref().unwrap_or_default()).await?;
    let mut input = HandoffBegin {
        goal: args.goal,
        edit: args.edit,
        push: args.push,
        agent: args.agent,
        role: args.role,
        wait_seconds: args.wait,
        ..Default::default()
    };
    if let Some(to) = &args.to {
        let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await?;
        match choose(&runners, to) {
            Ok(runner) => input.runner = Some(runner),
            Err(_) => input.person = Some(person(client, to).await?),
        }
    }
    let begun: Handoff = client.ask(Call::HandoffBegin { session, input }).await?;
    if args.no_wait {
        return out.show(&begun, |_| show::line(&begun));
    }
    if !out.json {
        out.note(&format!("{}; Ctrl-C stops waiting, not the handoff", begun.id));
    }
    follow(client, out, begun).await
}

async fn person(client: &Client, to: &str) -> Result<domain::UserId, Failure> {
    let users: Vec<User> = client.ask(Call::UserList {}).await?;
    choose(&users, to).map_err(|_| {
        Failure::not_found(format!("no runner or person `{to}`"))
            .advise("`shopfloor runner list` and `shopfloor user list` show them")
    })
}

/// Shows each step as it ends, until the handoff is over or needs a person.
async fn follow(client: &Client, out: &Output, begun: Handoff) -> Result<(), Failure> {
    let (id, mut shown) = (begun.id, 0);
    let (mut waits, mut asked) = (None, false);
    loop {
        let now: HandoffDetail = client.ask(Call::HandoffShow { handoff: id }).await?;
        let handoff = now.handoff;
        if !out.json {
            for step in handoff.steps.iter().skip(shown) {
                out.note(&show::step(step));
            }
            let reader = handoff.successor.is_some() && !handoff.reads;
            if reader && handoff.status == HandoffStatus::Running && !std::mem::replace(&mut asked, true) {
                out.note(&show::needs_reader(&handoff));
            }
            if handoff.status == HandoffStatus::Running && handoff.detail != waits {
                handoff.detail.iter().for_each(|detail| out.note(detail));
                waits.clone_from(&handoff.detail);
            }
        }
        shown = handoff.steps.len();
        match handoff.status {
            HandoffStatus::Running => tokio::time::sleep(LOOK).await,
            HandoffStatus::Editing if out.json => return out.show(&handoff, |_| show::line(&handoff)),
            HandoffStatus::Editing => {
                let text = Some(edited(client, id).await?);
                let input = HandoffEdit { text, start: true };
                let _: Handoff = client.ask(Call::HandoffEdit { handoff: id, input }).await?;
            }
            HandoffStatus::Done | HandoffStatus::Cancelled => return out.show(&handoff, |_| show::line(&handoff)),
            HandoffStatus::Failed => return Err(failed(&handoff)),
        }
    }
}

fn failed(handoff: &Handoff) -> Failure {
    let why = handoff.detail.as_deref().unwrap_or("no reason was given");
    let id = handoff.id;
    let skip = if handoff.step.can_be_skipped() { format!(", `shopfloor handoff skip {id}`") } else { String::new() };
    let advice = format!("`shopfloor handoff retry {id}`{skip} or `shopfloor handoff cancel {id}`");
    let step: HandoffStep = handoff.step;
    Failure::conflict(format!("the step `{step}` failed: {why}")).advise(advice)
}

/// The prose, as the person's editor leaves it.
async fn edited(client: &Client, handoff: HandoffId) -> Result<String, Failure> {
    let detail: HandoffDetail = client.ask(Call::HandoffShow { handoff }).await?;
    editor::edit("handoff.md", &detail.body.unwrap_or_default())
}
