//! `shopfloor execution`: runs of recipes, their steps, and what people do to them.

mod act;
mod args;
mod list;
mod log;
mod show;
mod steps;
mod swap;
mod tree;
mod watch;

use client::Client;
use domain::ExecutionId;
use protocol::{Call, Execution, ExecutionDetail, ExecutionReplay};

use super::{recipe, words};
use crate::output::clean;
use crate::pick::pick_of;
use crate::{Context, Exit, Failure, Output};

pub(crate) use args::ExecutionCommand;
pub(crate) use watch::watch;

/// Runs the subcommand.
pub(crate) async fn run(command: ExecutionCommand, context: &Context) -> Result<Exit, Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        ExecutionCommand::Start(args) => return recipe::run_recipe(args, context).await,
        ExecutionCommand::List(args) => list::run(&args, client, out).await?,
        ExecutionCommand::Show { execution, step } => show::run(&execution, step.as_deref(), client, out).await?,
        ExecutionCommand::Watch { execution } => return watch(id(client, &execution).await?, client, out).await,
        ExecutionCommand::Log(args) => log::run(&args, client, out).await?,
        ExecutionCommand::Replay { execution } => return replay(&execution, client, out).await,
        ExecutionCommand::Swap(args) => swap::run(args, client, out).await?,
        other => act::run(other, client, out).await?,
    }
    Ok(Exit::Done)
}

/// The execution that a person means: by its id or a part of it, or by its recipe if only one is not over.
async fn id(client: &Client, text: &str) -> Result<ExecutionId, Failure> {
    pick_of::<Execution>(client, None, text).await
}

async fn detail(client: &Client, execution: ExecutionId) -> Result<ExecutionDetail, Failure> {
    Ok(client.ask(Call::ExecutionShow { execution }).await?)
}

/// An execution in a line.
pub(crate) fn line(execution: &Execution, out: &Output) -> String {
    let Execution { id, name, status, number, .. } = execution;
    let sign = words::execution_sign(*status);
    let status = words::execution_style(*status).paint(&format!("{sign} {status}"), out.color);
    let at = if execution.current.is_empty() { String::new() } else { format!(" at {}", execution.current.join(", ")) };
    let why = execution.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let name = clean(name);
    format!("{id}  {name} (version {number})  {status}{}", clean(&format!("{at}{why}")).replace('\n', " "))
}

/// Decides the stored history again; differences are an error.
async fn replay(execution: &str, client: &Client, out: &Output) -> Result<Exit, Failure> {
    let execution = id(client, execution).await?;
    let replay: ExecutionReplay = client.ask(Call::ExecutionReplay { execution }).await?;
    out.show(&replay, |_| {
        let events = words::counted(replay.events, "event", "events");
        match replay.differences.as_slice() {
            [] => format!("{events} decided again: no difference"),
            differences => {
                let count = words::counted(differences.len(), "difference", "differences");
                clean(&format!("{events} decided again: {count}\n  {}", differences.join("\n  ")))
            }
        }
    })?;
    Ok(if replay.differences.is_empty() { Exit::Done } else { Exit::Other })
}
