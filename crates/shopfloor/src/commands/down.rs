//! `shopfloor down`: ends the hub of a data directory and its runner, never sessions.

use std::time::Duration;

use clap::Args;
use domain::text::counted;
use protocol::{Call, ExecutionFilter, Session};
use serde::Serialize;

use super::runner::Noted;
use crate::here::{self, Here};
use crate::settings::Origin;
use crate::{Context, Failure};

const AFTER: &str = "\
It ends the hub that `up` or `serve` started in this data directory, and the runner beside it. Requests that run are
finished first; a second `down` does not wait for them. Sessions keep running, and the next `up` finds them.";

/// How long a hub may take: its runner and open requests come first.
const HUB: Duration = Duration::from_secs(45);
const RUNNER: Duration = Duration::from_secs(10);

/// Arguments of `down`.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct DownArgs {}

/// What was ended, and what goes on.
#[derive(Debug, Default, Serialize)]
struct Ended {
    /// The hub's process.
    hub: Option<u32>,
    /// The runner's process.
    runner: Option<u32>,
    /// How many sessions keep running; absent: the hub did not answer.
    sessions: Option<usize>,
}

/// Ends the hub and its runner.
pub(crate) async fn run(_: DownArgs, context: &Context) -> Result<(), Failure> {
    let (settings, out) = (&context.settings, &context.out);
    if settings.hub.as_ref().is_some_and(|hub| hub.origin == Origin::Flag) {
        return Err(Failure::usage(
            "`down` ends a hub of this machine, found by its data directory, not by its address",
        )
        .advise("pass --data-dir DIR, or stop a hub elsewhere on its own machine"));
    }
    let dir = &settings.data_dir.value;
    let runner_dir = dir.join("runner");
    let mut ended = Ended { runner: Noted::of_running(&runner_dir)?.map(|runner| runner.pid), ..Ended::default() };
    if let Some(here) = Here::look(dir).await? {
        ended.sessions = sessions(&here, dir).await;
        stop(&here).await?;
        ended.hub = Some(here.file.pid);
    }
    // A runner outlives a hub that was killed.
    if let Some(runner) = Noted::of_running(&runner_dir)?
        && !here::end(runner.pid, RUNNER, || Ok(Noted::of_running(&runner_dir)?.is_some())).await?
    {
        return Err(Failure::other(format!("the runner ({}) does not end", runner.process())));
    }
    if out.json {
        return out.show(&ended, |_| String::new());
    }
    let what = match (ended.hub, ended.runner) {
        (None, None) => format!("nothing to end: no hub runs in {}", dir.display()),
        (None, Some(_)) => "ended the runner that a hub left behind".to_owned(),
        (Some(_), None) => "ended the hub".to_owned(),
        (Some(_), Some(_)) => "ended the hub and its runner".to_owned(),
    };
    out.note(&what);
    if let Some(count) = ended.sessions.filter(|count| *count > 0) {
        let (go, them) = if count == 1 { ("goes", "it") } else { ("go", "them") };
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        out.note(&format!(
            "{} {go} on; the next `shopfloor up` finds {them}",
            counted(count, "running session", "running sessions")
        ));
    }
    Ok(())
}

async fn stop(here: &Here) -> Result<(), Failure> {
    let (url, pid) = (&here.file.url, here.file.pid);
    if !here.has_process {
        return Err(Failure::conflict(format!("the hub at {url} is not a process that can be seen from here"))
            .advise("if it runs in a container or on another machine, stop it there"));
    }
    if here::end(pid, HUB, || Ok(here::is_hub(pid))).await? {
        return Ok(());
    }
    Err(Failure::other(format!("the hub (process {pid}) was asked to end and still finishes its requests"))
        .advise("`shopfloor down` again ends it without waiting for them"))
}

/// How many sessions run.
async fn sessions(here: &Here, dir: &std::path::Path) -> Option<usize> {
    here.health.as_ref()?;
    let client = here.client(dir).ok()?;
    let all: Vec<Session> = client.ask(Call::SessionList { filter: ExecutionFilter::default() }).await.ok()?;
    Some(all.iter().filter(|session| !session.state.ended()).count())
}
