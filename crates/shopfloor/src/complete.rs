//! Shell completion: the shell asks this program, which knows the commands and asks the hub for the names of tasks.

use std::ffi::OsStr;
use std::time::Duration;

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use protocol::{Call, TaskFilter, TaskLine};

use crate::cli::Global;
use crate::{Context, Failure, Layers, help};

/// The variable with which a shell asks.
const VARIABLE: &str = "COMPLETE";
/// How long the hub may take: a person waits at the prompt.
const PATIENCE: Duration = Duration::from_secs(1);
/// How many tasks are looked at.
const MOST: u32 = 1000;

/// Answers a shell that asks for completions, and ends the program then.
pub(crate) fn answer() {
    CompleteEnv::with_factory(|| completed(help::command())).var(VARIABLE).complete();
}

/// The script that makes a shell ask this program.
pub(crate) fn script(shell: clap_complete::Shell) -> Result<Vec<u8>, Failure> {
    let name = shell.to_string();
    let known = Shells::builtins();
    let asks = known.completer(&name).ok_or_else(|| Failure::usage(format!("there are no completions for {name}")))?;
    let mut script = Vec::new();
    asks.write_registration(VARIABLE, "shopfloor", "shopfloor", "shopfloor", &mut script)
        .map_err(|error| Failure::other(format!("could not write the completions: {error}")))?;
    Ok(script)
}

fn completed(command: Command) -> Command {
    command.mut_args(with_tasks).mut_subcommands(completed)
}

fn with_tasks(arg: Arg) -> Arg {
    let named = |name: &str| name.split('|').any(|part| matches!(part, "TASK" | "TASKS"));
    let wants = match arg.get_value_names() {
        Some(names) => names.iter().any(|name| named(name)),
        None => matches!(arg.get_id().as_str(), "task" | "tasks"),
    };
    if wants { arg.add(ArgValueCompleter::new(tasks)) } else { arg }
}

/// The short names that begin like this, newest first. Without an answer of the hub there is nothing to offer.
fn tasks(current: &OsStr) -> Vec<CompletionCandidate> {
    let begins = current.to_string_lossy().to_uppercase();
    let mut found: Vec<TaskLine> = ask().unwrap_or_default();
    found.retain(|task| task.short.starts_with(&begins));
    found.reverse();
    found.into_iter().map(|task| CompletionCandidate::new(task.short).help(Some(task.title.into()))).collect()
}

fn ask() -> Option<Vec<TaskLine>> {
    let context = Context::new(&Global::default(), Layers::of_this_machine().ok()?).ok()?;
    let client = context.client().ok()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let filter = TaskFilter { limit: Some(MOST), ..Default::default() };
    let asked = async { tokio::time::timeout(PATIENCE, client.ask(Call::TaskList { filter })).await };
    runtime.block_on(asked).ok()?.ok()
}
