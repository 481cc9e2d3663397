//! Runs a runner until a signal stops it; its sessions continue without it.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use worktree::{Tempo, Worktrees};

use crate::adapters::Known;
use crate::approvals::Approvals;
use crate::bundles::Bundles;
use crate::checks::Checks;
use crate::clock::now;
use crate::desk::Desk;
use crate::floor::Floor;
use crate::journal::Journal;
use crate::lease::Pulse;
use crate::sessions::Sessions;
use crate::terminals::Terminals;
use crate::tokens::Tokens;
use crate::workspaces::{Workspaces, follow_changes};
use crate::{JournalError, Options, about, disk, lease, link, programs};

/// How many requests to answer at once.
const ASKS: usize = 6;
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
    let person: std::collections::BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    if options.git.author.is_none()
        && let Some(git) = programs::find("git", &person)
    {
        options.git.author = worktree::author(&git, &person).await;
    }
    let worktrees = Worktrees::open(&options.data_dir, options.git.clone()).await?;
    let (watcher, changes) = worktrees.watch(Tempo::default());
    let adapters = Known::read(&options.config_dir);
    let options = Arc::new(options);
    let floor = Arc::new(Floor {
        options: options.clone(),
        journal: journal.clone(),
        adapters,
        person,
        workspaces: Workspaces::new(worktrees, watcher),
        sessions: Sessions::default(),
        terminals: Terminals::default(),
        tokens: Tokens::default(),
        checks: Checks::default(),
        bundles: Bundles::default(),
        approvals: Approvals::default(),
        pulse: Pulse::default(),
        asks: Semaphore::new(ASKS),
        retention: watch::Sender::default(),
        line: watch::Sender::new(None),
        stop: CancellationToken::new(),
        tasks: TaskTracker::new(),
    });
    floor.spawn(follow_changes(floor.clone(), changes));
    let looked_after = journal.clone();
    floor.spawn(async move { looked_after.look_after().await });
    floor.workspaces.remember_sandboxes(&floor).await?;
    // Before anything new: adopt the running sessions.
    let mut worked_in = HashSet::new();
    for row in journal.sessions(false).await? {
        worked_in.insert(row.desired.workspace.workspace);
        floor.sessions.begin(&floor, row);
    }
    for (workspace, row) in journal.workspaces().await? {
        let idle_ms = now().as_millis() - row.used_at.as_millis();
        let used = idle_ms < FOLLOWED_MS || worked_in.contains(&workspace);
        if row.ready && !row.cleaned && used {
            floor.workspaces.follow(workspace);
        }
    }
    floor.checks.resume(&floor).await?;
    floor.spawn(disk::watch(floor.clone()));
    floor.spawn(lease::keep(floor.clone()));
    let about = about::follow(&floor).await;
    let desk = Arc::new(Desk::open(&floor));
    tracing::info!(name = options.name, hub = options.hub, data_dir = %options.data_dir.display(), "the runner is up");
    tokio::select! {
        () = link::run(options.clone(), journal, about, desk) => {}
        () = shutdown => {}
    }
    tracing::info!("the runner is stopping; its sessions continue");
    floor.stop.cancel();
    floor.tasks.close();
    floor.tasks.wait().await;
    Ok(())
}
