//! `shopfloor session`.

mod args;
mod keyboard;
mod questions;
mod spawn;

use client::Client;
use domain::SessionId;
use protocol::{
    Activity, Call, ExecutionFilter, LogPage, Project, Runner, Session, SessionDetail, SessionLog, SessionScreen,
    SessionStop, SessionText,
};

pub(crate) use keyboard::KeyboardCommand;

pub(crate) use args::{ListArgs, ScopeArgs, SessionCommand};

use super::approval::writer;
use super::{attach, words};
use crate::output::clean;
use crate::pick::pick;
use crate::table::{Cell, Style, Table, fields};
use crate::{Context, Exit, Failure, Output, when};

/// Runs the subcommand.
pub(crate) async fn run(command: SessionCommand, context: &Context) -> Result<Exit, Failure> {
    if let SessionCommand::Spawn(args) = &command {
        spawn::check(args)?;
    }
    let (client, out) = (&context.client()?, &context.out);
    match command {
        SessionCommand::Spawn(args) => return spawn::run(*args, context).await,
        SessionCommand::List(args) => {
            let filter = args.filter(client).await?;
            list(client, out, filter).await?;
        }
        SessionCommand::Show { session } => show(client, out, id(client, &session).await?).await?,
        SessionCommand::Stop { session, force } => {
            let session = id(client, &session).await?;
            let session: Session = client.ask(Call::SessionStop { session, input: SessionStop { force } }).await?;
            out.show(&session, |out| line(&session, out))?;
        }
        SessionCommand::Resume { session } => {
            let session = id(client, &session).await?;
            let session: Session = client.ask(Call::SessionResume { session }).await?;
            out.show(&session, |out| line(&session, out))?;
        }
        SessionCommand::Send { session, text, no_submit } => {
            let input = SessionText { text: text.required()?, submit: !no_submit };
            let session = id(client, &session).await?;
            client.ask::<()>(Call::SessionSend { session, input }).await?;
            match out.json {
                true => out.did("sent", session)?,
                false => out.note(&format!("sent to {session}")),
            }
        }
        SessionCommand::Ask { session, question, no_wait } => {
            let session = id(client, &session).await?;
            questions::ask(client, out, (session, question), !no_wait).await?;
        }
        SessionCommand::Questions { session } => questions::list(client, out, id(client, &session).await?).await?,
        SessionCommand::Log { session, lines, setup } => {
            let session = id(client, &session).await?;
            let page = LogPage { lines, setup: setup.then_some(true) };
            let log: SessionLog = client.ask(Call::SessionLog { session, page }).await?;
            if log.setup && !setup && !out.json {
                out.note("the session had no terminal; this is the output of its workspace's setup");
            }
            if log.truncated && !out.json {
                out.note("earlier lines are not shown; use --lines N for more");
            }
            out.show(&log, |_| clean(&log.text))?;
        }
        SessionCommand::Screen { session } => {
            let session = id(client, &session).await?;
            let screen: SessionScreen = client.ask(Call::SessionScreen { session }).await?;
            out.show(&screen, |_| clean(&format!("{}\n", screen.lines.join("\n"))))?;
        }
        SessionCommand::Keyboard(command) => return keyboard::run(command, context).await,
        SessionCommand::Watch(args) => return attach::watch(args, context).await,
    }
    Ok(Exit::Done)
}

/// The session that a person means.
pub(crate) async fn id(client: &Client, text: &str) -> Result<SessionId, Failure> {
    pick::<Session>(client, text).await
}

async fn list(client: &Client, out: &Output, filter: ExecutionFilter) -> Result<(), Failure> {
    let sessions: Vec<Session> = client.ask(Call::SessionList { filter }).await?;
    if out.json {
        return out.show(&sessions, |_| String::new());
    }
    let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await?;
    out.show(&sessions, |out| table(&sessions, &runners, out))
}

/// A table of sessions.
pub(crate) fn table(sessions: &[Session], runners: &[Runner], out: &Output) -> String {
    let titles = &["ID", "STATE…", "AGENT", "TITLE…", "WORKER…", "OWNER…", "RUNNER…", "SINCE"];
    // "failed (exit 127)" matters more than the rest of a title.
    let mut table = Table::new(titles, "no sessions; start one with `shopfloor session spawn`").at_least("STATE", 17);
    for session in sessions {
        let runner = runners.iter().find(|runner| runner.id == session.runner);
        table.row([
            session.id.into(),
            words::state_cell(session, runner, out.now),
            (&session.agent).into(),
            (&session.title).into(),
            worker_cell(session),
            (&session.owner.name).into(),
            runner.map_or("-", |runner| runner.name.as_str()).into(),
            when::relative(session.state.since, out.now).into(),
        ]);
    }
    table.render(out)
}

/// A session's worker in its colour.
fn worker_cell(session: &Session) -> Cell {
    session.worker.as_ref().map_or("-".into(), |worker| Cell::styled(&worker.name, Style::Worker(worker.colour)))
}

/// A session in one line.
pub(crate) fn line(session: &Session, out: &Output) -> String {
    clean(&format!("{}  {}  {}", session.id, words::state(session, None, out.now), session.title))
}

async fn show(client: &Client, out: &Output, session: SessionId) -> Result<(), Failure> {
    let detail: SessionDetail = client.ask(Call::SessionShow { session }).await?;
    if out.json {
        return out.show(&detail, |_| String::new());
    }
    let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await?;
    let project: Project = client.ask(Call::ProjectShow { project: detail.session.project }).await?;
    let activity: Activity = client.ask(Call::ActivityShow { activity: detail.session.activity }).await?;
    out.show(&detail, |out| details(&detail, &runners, &project, &activity, out))
}

fn details(detail: &SessionDetail, runners: &[Runner], project: &Project, activity: &Activity, out: &Output) -> String {
    let (session, workspace) = (&detail.session, &detail.workspace);
    let runner = runners.iter().find(|runner| runner.id == session.runner);
    let mut pairs = vec![
        ("id", session.id.into()),
        ("state", words::state_cell(session, runner, out.now)),
        ("since", when::relative(session.state.since, out.now).into()),
        ("agent", format!("{}, {}", session.agent, session.mode).into()),
        ("owner", (&session.owner.name).into()),
        ("project", (&project.name).into()),
        ("activity", format!("{} ({})", activity.name, activity.id).into()),
        ("runner", runner.map_or_else(|| session.runner.to_string(), |runner| runner.name.clone()).into()),
        ("workspace", workspace.id.into()),
    ];
    if session.worker.is_some() {
        pairs.push(("worker", worker_cell(session)));
    }
    let mut add = |name, value: Option<String>| pairs.extend(value.map(|value| (name, value.into())));
    add("asked by", session.asked_by.as_ref().map(writer));
    add("task", session.task.map(|id| id.to_string()));
    add("model", session.model.clone());
    add("branch", words::branch(workspace));
    add("folder", workspace.path.clone());
    add("changes", workspace.stats.as_ref().map(words::stats));
    let shared = session.keyboard != protocol::Keyboard::default();
    add("keyboard", shared.then(|| keyboard::who(session)));
    add("sandbox", session.sandbox.then(|| "writes only in its workspace".to_owned()));
    add("resumes", session.resumes.map(|id| id.to_string()));
    let resumable = session.state.ended() && session.resumable;
    add("resumable", resumable.then(|| format!("with `shopfloor session resume {}`", session.id)));
    let used = session.usage.input_tokens + session.usage.output_tokens > 0;
    add("usage", used.then(|| words::usage(&session.usage)));
    let (length, size) = (words::clock(session.recording.duration_ms), words::bytes(session.recording.disk_bytes));
    add("recording", Some(format!("{length}, {size}{}", if session.recording.keep { ", kept" } else { "" })));
    add("command", (!detail.argv.is_empty()).then(|| detail.argv.join(" ")));
    match detail.prompt.trim() {
        "" => fields(out, &pairs),
        prompt => format!("{}\n\n{}", fields(out, &pairs), clean(prompt)),
    }
}
