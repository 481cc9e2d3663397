//! Answers the hub's requests, concurrently with everything else, in bounded size.

mod diff;
mod land;
mod look;
mod pull_request;
mod question;
mod recording;
mod screen;
mod setup;
mod tips;

pub(crate) use recording::{log, printed};

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use domain::{SessionId, WorkspaceId};
use protocol::link::{FromRunner, RunnerAnswer, RunnerAsk};
use protocol::{LeftOut, Problem, ProblemKind, Save};
use terminal::HostLink;
use tokio::sync::{Semaphore, oneshot};
use worktree::Worktrees;

use crate::background::Background;
use crate::bundles::Bundles;
use crate::index::Index;
use crate::journal::Journal;
use crate::link::Link;
use crate::machine::Machine;
use crate::sessions::{Order, Sessions, left_a_trace};
use crate::workspaces::{Workspaces, problem};

/// Maximum size of an answer as JSON, with room for its frame.
const LARGEST: usize = 900 * 1024;
/// How many saves to list.
const SAVES: usize = 500;
/// How many left-out files of a save to name.
const LEFT_OUT: usize = 20;

/// Answers the hub's requests.
#[derive(Debug)]
pub(crate) struct Asks {
    pub(crate) journal: Arc<Journal>,
    pub(crate) machine: Arc<Machine>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) workspaces: Arc<Workspaces>,
    pub(crate) bundles: Arc<Bundles>,
    pub(crate) index: Arc<Index>,
    /// How many requests to answer at once.
    pub(crate) turns: Semaphore,
    /// How many agents of ended sessions to ask at once.
    pub(crate) questions: Semaphore,
    pub(crate) background: Background,
}

impl Asks {
    /// Answers one request.
    pub(crate) fn answer(self: &Arc<Self>, link: &Link, id: u32, ask: RunnerAsk) {
        let (asks, link) = (self.clone(), link.clone());
        self.background.spawn(async move {
            let frame = match asks.told(ask).await {
                Ok(answer) => FromRunner::Told { id, answer },
                Err(problem) => FromRunner::Refused { id, problem },
            };
            let _ = link.send(&frame).await;
        });
    }

    async fn told(&self, ask: RunnerAsk) -> Result<RunnerAnswer, Problem> {
        if let RunnerAsk::Send { session, text, submit } = ask {
            return say(&self.sessions, session, text, submit).await;
        }
        // It has a short time, and no large files to read.
        if let RunnerAsk::Search { text, projects, limit } = ask {
            return self.index.search(&text, &projects, limit).await.map(RunnerAnswer::Lines);
        }
        // An agent takes minutes: it has turns of its own.
        if let RunnerAsk::Question {
            question,
            session,
            project,
            workspace,
            agent,
            model,
            conversation,
            sandbox,
            text,
            seconds,
        } = ask
        {
            let asked = question::Question {
                question,
                session,
                project,
                workspace,
                agent,
                model,
                conversation,
                sandbox,
                text,
                seconds,
            };
            return self.question(asked).await.map(RunnerAnswer::Said);
        }
        // A few at a time: a caller with many requests waits, and others do not notice.
        let _turn =
            self.turns.acquire().await.map_err(|_| Problem::new(ProblemKind::Unavailable, "the runner is stopping"))?;
        match ask {
            RunnerAsk::Send { .. } | RunnerAsk::Search { .. } | RunnerAsk::Question { .. } => Ok(RunnerAnswer::Done),
            RunnerAsk::Log { session, lines, setup } => {
                // Before there is a terminal, people want to read the setup's output.
                if setup || !left_a_trace(&self.machine.folders.session(session)) {
                    let printed = setup::log(self, session, lines as usize).await;
                    if setup || printed.is_ok() {
                        return printed.map(RunnerAnswer::Log);
                    }
                }
                let dir = written(self.machine.folders.session(session)).await;
                on_a_thread(move || recording::log(&dir, lines as usize)).await.map(RunnerAnswer::Log)
            }
            RunnerAsk::Screen { session } => {
                screen::screen(&self.machine.folders.session(session)).await.map(RunnerAnswer::Screen)
            }
            RunnerAsk::RecordingShow { session } => {
                let dir = written(self.machine.folders.session(session)).await;
                on_a_thread(move || recording::show(&dir)).await.map(RunnerAnswer::Recording)
            }
            RunnerAsk::RecordingPart { session, from_ms } => {
                let dir = written(self.machine.folders.session(session)).await;
                on_a_thread(move || recording::part(&dir, from_ms)).await.map(RunnerAnswer::Part)
            }
            RunnerAsk::RecordingSearch { session, text } => {
                let dir = written(self.machine.folders.session(session)).await;
                on_a_thread(move || recording::search(&dir, &text)).await.map(RunnerAnswer::Hits)
            }
            RunnerAsk::Diff { workspace, tree } => {
                diff::diff(&self.workspaces.worktrees, workspace, tree.as_deref()).await.map(RunnerAnswer::Diff)
            }
            RunnerAsk::DiffKept { location, report, base } => {
                let location = self.location(&location)?;
                let worktrees = &self.workspaces.worktrees;
                diff::kept(worktrees, &location, report, &base).await.map(RunnerAnswer::Diff)
            }
            RunnerAsk::Saves { workspace } => {
                saves(&self.workspaces.worktrees, workspace).await.map(RunnerAnswer::Saves)
            }
            RunnerAsk::Restore { workspace, save } => {
                self.workspaces.restore(workspace, save.as_deref()).await.map(|()| RunnerAnswer::Done)
            }
            RunnerAsk::Bundle { workspace } => {
                self.bundles.pack(&self.workspaces.worktrees, workspace).await.map(RunnerAnswer::Bundle)
            }
            RunnerAsk::BundlePart { bundle, offset } => {
                let bundles = self.bundles.clone();
                let part = move || bundles.part(&bundle, offset);
                on_a_thread(part).await.map(RunnerAnswer::BundlePart)
            }
            RunnerAsk::BundleTake { bundle, bytes, offset, data } => {
                self.bundles.take(&bundle, bytes, offset, &data).await.map(|()| RunnerAnswer::Done)
            }
            RunnerAsk::PackWork { location, report } => {
                self.pack_work(&location, report).await.map(RunnerAnswer::Bundle)
            }
            RunnerAsk::Publish { location, work, branch, replaces } => {
                let published = self.publish(&location, work, &branch, replaces.as_deref()).await;
                published.map(RunnerAnswer::Published)
            }
            RunnerAsk::Tips { location } => self.tips(&location).await.map(RunnerAnswer::Tips),
            RunnerAsk::KeepAll { workspace, handoff, note } => {
                self.keep_all(workspace, handoff, note).await.map(RunnerAnswer::KeptAll)
            }
            RunnerAsk::PullRequest { location, branch, target, title, body } => {
                let opened = self.pull_request(&location, &branch, &target, &title, &body).await;
                opened.map(RunnerAnswer::PullRequest)
            }
            RunnerAsk::Look { path } => self.look(&path).await.map(RunnerAnswer::Seen),
            RunnerAsk::Discard { workspace } => self.workspaces.discard(workspace).await.map(|()| RunnerAnswer::Done),
            RunnerAsk::Clean { workspace } => self.workspaces.clean(workspace).await.map(|()| RunnerAnswer::Done),
        }
    }
}

/// A session's folder, once the recording there contains all output so far.
async fn written(dir: PathBuf) -> PathBuf {
    // An exited session has no host, and its recording is complete.
    if let Ok((host, mut events)) = HostLink::connect(&dir).await
        && host.observe(Duration::from_secs(60)).is_ok()
    {
        // Do not wait for a host that does not answer: then the last second is missing.
        let _ = tokio::time::timeout(Duration::from_secs(2), events.next()).await;
    }
    dir
}

async fn say(sessions: &Sessions, session: SessionId, text: String, submit: bool) -> Result<RunnerAnswer, Problem> {
    let conflict = |why: &str| Problem::new(ProblemKind::Conflict, why);
    let (done, answer) = oneshot::channel();
    if !sessions.order(session, Order::Say { text, submit, done }) {
        return Err(conflict("the session has exited, or is not on this runner"));
    }
    match answer.await {
        Ok(Ok(())) => Ok(RunnerAnswer::Done),
        Ok(Err(why)) => Err(conflict(&why)),
        Err(_) => Err(conflict("the session exited before it got the message")),
    }
}

async fn saves(worktrees: &Worktrees, workspace: WorkspaceId) -> Result<Vec<Save>, Problem> {
    let saves = worktrees.saves(workspace, SAVES).await.map_err(problem)?;
    let mut room = LARGEST;
    let size = |save: &Save| serde_json::to_string(save).map_or(usize::MAX, |text| text.len() + 1);
    let fits = |save: &Save| match room.checked_sub(size(save)) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    };
    Ok(saves.into_iter().map(saved).take_while(fits).collect())
}

fn saved(save: worktree::Save) -> Save {
    let left_out = save.left_out.into_iter().take(LEFT_OUT).map(|out| LeftOut { path: out.path, why: out.why });
    Save { id: save.id, at: save.at, files: save.files, left_out: left_out.collect(), restored: save.restored }
}

/// Reads large files on a blocking thread.
async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let failed = |error: tokio::task::JoinError| Problem::new(ProblemKind::Internal, error.to_string());
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}
