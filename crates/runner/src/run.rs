//! Runs a runner until a signal stops it; its sessions continue without it.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch};
use worktree::{Tempo, Worktrees};

use crate::approvals::Approvals;
use crate::asks::Asks;
use crate::background::Background;
use crate::bundles::Bundles;
use crate::checks::{Checker, Checks};
use crate::clock::now;
use crate::desired::Reconciler;
use crate::desk::{Desk, Hearers};
use crate::disk::Disk;
use crate::index::{Follower, Index};
use crate::journal::Journal;
use crate::lease::{Leases, Pulse};
use crate::machine::Machine;
use crate::merges::Merger;
use crate::recordings::Recordings;
use crate::sessions::{Sessions, Supervisor};
use crate::terminals::Terminals;
use crate::tokens::Tokens;
use crate::workspaces::{Occupants, Workspaces, follow_changes};
use crate::{JournalError, Options, about, index, link, programs};

/// How many requests to answer at once.
const ASKS: usize = 6;
/// How many agents of ended sessions to ask at once.
const QUESTIONS: usize = 2;
/// How many merge runs to check at once.
const MERGES: usize = 4;
/// Workspaces used within this time are watched, besides those with a session: people continue to work in them after a
/// session has exited.
const FOLLOWED_MS: i64 = 24 * 3600 * 1000;

/// Why a runner cannot run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Its journal is not usable.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Its workspaces are not usable.
    #[error("the workspaces cannot be used: {0}")]
    Worktrees(#[from] worktree::Error),
}

/// Runs a runner until `shutdown`. Running sessions continue, and the next runner finds them.
pub async fn run(mut options: Options, shutdown: impl Future<Output = ()>) -> Result<(), RunError> {
    let journal = Arc::new(Journal::open(&options.data_dir).await?);
    // Every user of this path must mean the same folder, even behind a link.
    options.data_dir = std::fs::canonicalize(&options.data_dir)
        .map_err(|error| JournalError::Folder(options.data_dir.clone(), error))?;
    let person: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    if let Some(git) = programs::find("git", &person) {
        if options.git.author.is_none() {
            options.git.author = worktree::author(&git, &person).await;
        }
        if options.own_helpers {
            options.git.helpers = worktree::helpers(&git, &person).await;
        }
    }
    let worktrees = Worktrees::open(&options.data_dir, options.git.clone()).await?;
    let options = Arc::new(options);
    let machine = Arc::new(Machine::new(options.clone(), person));
    let background = Background::default();
    let desk = set_up(&journal, &machine, worktrees, &background).await?;
    let about = about::follow(&machine, &background).await;
    tracing::info!(name = options.name, hub = options.hub, data_dir = %options.data_dir.display(), "the runner is up");
    tokio::select! {
        () = link::run(options.clone(), journal, about, Arc::new(desk)) => {}
        () = shutdown => {}
    }
    tracing::info!("the runner is stopping; its sessions continue");
    background.end().await;
    Ok(())
}

/// Builds the parts of the runner, adopts what an earlier runner left, and returns the desk that hears the hub.
async fn set_up(
    journal: &Arc<Journal>,
    machine: &Arc<Machine>,
    worktrees: Worktrees,
    background: &Background,
) -> Result<Desk, RunError> {
    let (options, folders) = (&machine.options, &machine.folders);
    let link = watch::Sender::new(None);
    let (sessions, checks, pulse) = (Arc::<Sessions>::default(), Arc::<Checks>::default(), Arc::<Pulse>::default());
    let approvals = Arc::new(Approvals::new(journal.clone()));
    let tokens = Arc::new(Tokens::new(link.subscribe()));
    let bundles = Arc::new(Bundles::new(folders));
    let limit = options.recordings_limit;
    let index = Index::new(folders, options.search_limit, index::PATIENCE);
    let recordings =
        Arc::new(Recordings::new(journal.clone(), folders.clone(), index.clone(), limit, link.subscribe()));
    let (watcher, changes) = worktrees.watch(Tempo::default());
    let workspaces = Arc::new(Workspaces::new(
        (worktrees, watcher),
        journal.clone(),
        machine.clone(),
        bundles.clone(),
        Occupants { sessions: sessions.clone(), checks: checks.clone() },
    ));
    let supervisor = Arc::new(Supervisor {
        sessions: sessions.clone(),
        journal: journal.clone(),
        machine: machine.clone(),
        workspaces: workspaces.clone(),
        index: index.clone(),
        approvals: approvals.clone(),
        tokens: tokens.clone(),
        pulse: pulse.clone(),
        background: background.clone(),
    });
    let checker = Arc::new(Checker {
        checks,
        journal: journal.clone(),
        machine: machine.clone(),
        workspaces: workspaces.clone(),
        approvals: approvals.clone(),
        background: background.clone(),
    });
    let merger = Arc::new(Merger {
        running: Mutex::default(),
        turns: Semaphore::new(MERGES),
        journal: journal.clone(),
        machine: machine.clone(),
        worktrees: workspaces.worktrees.clone(),
        approvals: approvals.clone(),
        background: background.clone(),
    });
    background.spawn(follow_changes(workspaces.clone(), changes));
    let looked_after = journal.clone();
    background.spawn(async move { looked_after.look_after().await });
    resume(journal, &workspaces, &supervisor).await?;
    let follower = Follower {
        index: index.clone(),
        journal: journal.clone(),
        machine: machine.clone(),
        sessions: sessions.clone(),
    };
    background.spawn(follower.follow());
    checker.resume().await?;
    merger.resume().await?;
    let disk = Disk {
        quota: options.disk_quota,
        folders: folders.clone(),
        journal: journal.clone(),
        workspaces: workspaces.clone(),
        recordings: recordings.clone(),
    };
    background.spawn(disk.watch());
    let leases =
        Leases { pulse: pulse.clone(), sessions: sessions.clone(), journal: journal.clone(), folders: folders.clone() };
    background.spawn(leases.keep());
    let reconciler = Reconciler {
        journal: journal.clone(),
        folders: folders.clone(),
        sessions: sessions.clone(),
        supervisor,
        checker,
        merger,
        approvals,
        recordings: recordings.clone(),
        workspaces: workspaces.clone(),
    };
    let asks = Asks {
        journal: journal.clone(),
        machine: machine.clone(),
        sessions: sessions.clone(),
        workspaces,
        bundles,
        index,
        turns: Semaphore::new(ASKS),
        questions: Semaphore::new(QUESTIONS),
        background: background.clone(),
    };
    let hearers = Hearers {
        link,
        journal: journal.clone(),
        pulse,
        terminals: Terminals::new(sessions.clone(), folders.clone(), background.clone()),
        sessions,
        tokens,
        recordings,
        asks: Arc::new(asks),
    };
    Ok(Desk::open(hearers, reconciler, background))
}

/// Adopts the sessions and workspaces of an earlier runner, before anything new starts.
async fn resume(journal: &Journal, workspaces: &Workspaces, supervisor: &Arc<Supervisor>) -> Result<(), JournalError> {
    workspaces.remember_sandboxes().await?;
    let mut worked_in = HashSet::new();
    for row in journal.sessions(false).await? {
        worked_in.insert(row.desired.workspace.workspace);
        supervisor.begin(row);
    }
    for (workspace, row) in journal.workspaces().await? {
        let idle_ms = now().as_millis() - row.used_at.as_millis();
        let used = idle_ms < FOLLOWED_MS || worked_in.contains(&workspace);
        if row.ready && !row.cleaned && used {
            workspaces.follow(workspace);
        }
    }
    Ok(())
}
