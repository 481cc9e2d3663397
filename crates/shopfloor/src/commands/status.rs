//! `shopfloor status`: what runs on this machine.

use std::path::{Path, PathBuf};

use client::Client;
use domain::Timestamp;
use protocol::{Call, ExecutionFilter, Health, Runner, Session};
use serde::Serialize;

use super::runner::{Noted, Registration};
use super::up::log;
use crate::here::Here;
use crate::table::{Cell, Style, fields};
use crate::{Context, Exit, Failure, Output, when};

/// What the exit code says, in the help.
pub(crate) const AFTER: &str = "\
The exit code is 0 if the hub runs and is well, 1 if it or the runner beside it is not, and 5 if no hub answers.";

/// How the hub is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// It answers and is well, and so is its runner.
    Running,
    /// It answers; `reason` says what is wrong.
    Unwell,
    /// Its process runs, but does not answer.
    Silent,
    /// It does not run.
    Stopped,
}

/// The runner beside the hub.
#[derive(Debug, Serialize)]
struct Beside {
    pid: u32,
    name: Option<String>,
    connected: bool,
    trouble: Option<String>,
}

/// What runs.
#[derive(Debug, Serialize)]
struct Status {
    state: State,
    url: Option<String>,
    pid: Option<u32>,
    since: Option<Timestamp>,
    version: Option<String>,
    /// What is wrong.
    reason: Option<String>,
    runner: Option<Beside>,
    /// How many sessions run; absent: the hub did not say.
    sessions: Option<usize>,
    data_dir: PathBuf,
    /// The log of a hub in the background.
    log: Option<PathBuf>,
}

/// Shows what runs.
pub(crate) async fn run(context: &Context) -> Result<Exit, Failure> {
    let settings = &context.settings;
    let dir = &settings.data_dir.value;
    let here = Here::look(dir).await?.filter(|here| here.is_at(settings.hub.as_ref()));
    let status = match here {
        Some(here) => local(&here, dir, context).await?,
        None => elsewhere(dir, context).await?,
    };
    context.out.show(&status, |out| text(&status, out))?;
    if status.state == State::Stopped && !context.out.json {
        context.out.note("start it with `shopfloor up`, or in the background with `shopfloor up --background`");
    }
    Ok(match status.state {
        State::Running => Exit::Done,
        State::Unwell => Exit::Other,
        State::Silent | State::Stopped => Exit::Unreachable,
    })
}

async fn local(here: &Here, dir: &Path, context: &Context) -> Result<Status, Failure> {
    let log = log::of_hub(dir);
    let mut status = Status {
        state: State::Silent,
        url: Some(here.file.url.clone()),
        pid: here.has_process.then_some(here.file.pid),
        since: here.file.since,
        version: here.file.version.clone(),
        reason: None,
        runner: beside(dir)?,
        sessions: None,
        data_dir: dir.to_owned(),
        log: log.exists().then_some(log),
    };
    let Some(health) = &here.health else {
        status.reason = Some("its process runs, but does not answer".to_owned());
        return Ok(status);
    };
    status.judge(health);
    match context.client() {
        Ok(client) => status.ask(&client, dir).await,
        Err(failure) => status.is_unwell(failure.render(false)),
    }
    Ok(status)
}

/// A hub that is not this data directory's, or none.
async fn elsewhere(dir: &Path, context: &Context) -> Result<Status, Failure> {
    let mut status = Status {
        state: State::Stopped,
        url: None,
        pid: None,
        since: None,
        version: None,
        reason: None,
        runner: beside(dir)?,
        sessions: None,
        data_dir: dir.to_owned(),
        log: None,
    };
    let Ok(hub) = context.hub() else {
        return Ok(status);
    };
    if let Ok(health) = context.anonymous()?.health().await {
        status.url = Some(hub.to_owned());
        // That runner belongs to another hub.
        status.runner = None;
        status.judge(&health);
        if let Ok(client) = context.client() {
            status.sessions = sessions(&client).await;
        }
    }
    Ok(status)
}

fn beside(dir: &Path) -> Result<Option<Beside>, Failure> {
    let noted = Noted::of_running(&dir.join("runner"))?;
    Ok(noted.map(|noted| Beside { pid: noted.pid, name: None, connected: false, trouble: None }))
}

async fn sessions(client: &Client) -> Option<usize> {
    let all: Vec<Session> = client.ask(Call::SessionList { filter: ExecutionFilter::default() }).await.ok()?;
    Some(all.iter().filter(|session| !session.state.ended()).count())
}

impl Status {
    fn judge(&mut self, health: &Health) {
        self.version = Some(health.version.clone());
        self.state = State::Running;
        if let Some(reason) = &health.reason {
            self.is_unwell(reason.clone());
        }
    }

    fn is_unwell(&mut self, reason: String) {
        self.state = State::Unwell;
        self.reason.get_or_insert(reason);
    }

    async fn ask(&mut self, client: &Client, dir: &Path) {
        self.sessions = sessions(client).await;
        let known = Registration::read(&dir.join("runner")).ok().flatten();
        let (Some(beside), Some(known)) = (&mut self.runner, known) else {
            return;
        };
        let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await.unwrap_or_default();
        if let Some(runner) = runners.into_iter().find(|runner| runner.id == known.runner) {
            beside.name = Some(runner.name);
            beside.connected = runner.connected;
            beside.trouble = runner.trouble;
        }
        if !beside.connected {
            self.is_unwell("the runner of this machine is not connected; its log says why".to_owned());
        } else if let Some(trouble) = beside.trouble.clone() {
            self.is_unwell(trouble);
        }
    }
}

fn text(status: &Status, out: &Output) -> String {
    let state = match status.state {
        State::Running => Cell::styled("running", Style::Green),
        State::Unwell => Cell::styled("running, but not well", Style::Yellow),
        State::Silent => Cell::styled("does not answer", Style::Red),
        State::Stopped => Cell::styled("not running", Style::Dim),
    };
    let process = status.pid.map(|pid| match status.since {
        Some(since) => format!("{pid}, started {}", when::relative(since, out.now)),
        None => pid.to_string(),
    });
    let runner = status.runner.as_ref().map(|runner| {
        let name = runner.name.as_deref().unwrap_or("this machine");
        let state = if runner.connected { "connected" } else { "not connected" };
        format!("{name}: {state} (process {})", runner.pid)
    });
    let sessions = status.sessions.map(|count| format!("{count} running"));
    let mut pairs = vec![("hub", state)];
    let optional = [
        ("reason", status.reason.clone()),
        ("page", status.url.clone()),
        ("process", process),
        ("version", status.version.clone()),
        ("runner", runner),
        ("sessions", sessions),
        ("data", Some(status.data_dir.display().to_string())),
        ("log", status.log.as_ref().map(|log| log.display().to_string())),
    ];
    pairs.extend(optional.into_iter().filter_map(|(name, value)| Some((name, Cell::from(value?)))));
    fields(out, &pairs)
}
