//! Watches workspaces: saves and counts their changes soon, and reports differences.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use domain::WorkspaceId;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::bare::Oid;
use crate::describe::WorkFacts;
use crate::ears::{Ears, Heard};
use crate::git::Git;
use crate::pace::{Pace, Tempo};
use crate::save::{Save, Saved};
use crate::scan::{Scope, paths};
use crate::stats::GitStats;
use crate::{Error, Result, Worktrees};

/// Above this number of paths, examine everything.
const MOST_PATHS: usize = 100;
/// How often to examine a workspace that cannot be watched.
const POLL: Duration = Duration::from_secs(6);
/// How often to examine everything, in case an event was lost.
const CERTAIN: Duration = Duration::from_secs(600);

/// An event of a watched workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Its statistics changed.
    Stats {
        /// The workspace.
        workspace: WorkspaceId,
        /// The numbers.
        stats: GitStats,
    },
    /// Work was saved.
    Saved {
        /// The workspace.
        workspace: WorkspaceId,
        /// The save.
        save: Save,
    },
    /// The work changed, or is described against other commits.
    Work {
        /// The workspace.
        workspace: WorkspaceId,
        /// The work: first against the commit where its branch left the base, then against older ones.
        work: Vec<WorkFacts>,
    },
    /// A workspace could not be examined; it is retried.
    Failed {
        /// Which.
        workspace: WorkspaceId,
        /// Why.
        why: String,
    },
}

enum Command {
    Follow(WorkspaceId),
    Leave(WorkspaceId),
    Look(WorkspaceId),
    Describe(WorkspaceId, Vec<Oid>),
}

/// Controls which workspaces are watched; watching ends when it is dropped.
#[derive(Debug, Clone)]
pub struct Watcher {
    commands: mpsc::UnboundedSender<Command>,
}

impl Watcher {
    /// Watches a workspace; it is examined once, and then after each change.
    pub fn follow(&self, id: WorkspaceId) {
        let _ = self.commands.send(Command::Follow(id));
    }

    /// Stops watching it.
    pub fn leave(&self, id: WorkspaceId) {
        let _ = self.commands.send(Command::Leave(id));
    }

    /// Examines a workspace without an event, for example because its base was fetched.
    pub fn look(&self, id: WorkspaceId) {
        let _ = self.commands.send(Command::Look(id));
    }

    /// Describes a workspace's work from now on, also against those of `forks` that are older than the commit where its
    /// branch left the base.
    pub fn describe(&self, id: WorkspaceId, forks: Vec<Oid>) {
        let _ = self.commands.send(Command::Describe(id, forks));
    }
}

impl Worktrees {
    /// Starts a task that watches workspaces. The receiver must be read.
    pub fn watch(&self, tempo: Tempo) -> (Watcher, mpsc::Receiver<Event>) {
        let (commands, orders) = mpsc::unbounded_channel();
        let (events, receiver) = mpsc::channel(64);
        let ears = Ears::open().inspect_err(|error| tracing::warn!(%error, "workspaces are polled")).ok();
        let follower = Follower {
            trees: self.clone(),
            ears,
            pace: Pace::new(tempo, Instant::now()),
            followed: HashMap::new(),
            forks: HashMap::new(),
            looking: JoinSet::new(),
            events,
        };
        tokio::spawn(follower.run(orders));
        (Watcher { commands }, receiver)
    }

    /// One examination: saves, and counts what that changed.
    async fn look(&self, id: WorkspaceId, scope: Scope, forks: Option<&[Oid]>) -> Result<Looked> {
        let space = self.space(id);
        let mut space = space.lock().await;
        let space = self.found(id, &mut space).await?;
        let saved = space.save(self.options(), &scope).await?;
        let base = self.base(space).await?;
        let work = match forks {
            Some(forks) => space.describe(base.as_ref(), forks).await?,
            None => None,
        };
        let parsing = space.parsed.spent();
        let stats = space.count(base).await?;
        Ok(Looked { saved, stats, work, parsing })
    }

    async fn ignored_folders(&self, id: WorkspaceId) -> Result<BTreeSet<PathBuf>> {
        let home = self.layout().home(id);
        let git = Git::new(&home.control(), "ls-files").work_tree(&home.tree());
        let out = git.args(["-z", "--others", "--ignored", "--exclude-standard", "--directory"]).run().await?;
        Ok(paths(&out).into_iter().map(|path| path.components().collect()).collect())
    }
}

/// The result of an examination.
struct Looked {
    saved: Saved,
    stats: GitStats,
    work: Option<Vec<WorkFacts>>,
    /// The time that parsing took, in this process.
    parsing: Duration,
}

/// The state of one watched workspace.
#[derive(Debug, Default)]
struct Followed {
    tree: PathBuf,
    changed: BTreeSet<PathBuf>,
    /// Anything may have changed.
    anything: bool,
    /// New folders that are not watched yet.
    folders: BTreeSet<PathBuf>,
    /// Whether all folders must be walked again.
    rewatch: bool,
    polled: bool,
    looked: Option<Instant>,
    told: Option<GitStats>,
    told_work: Option<Vec<WorkFacts>>,
    failed: Option<String>,
}

/// The end of an examination.
enum Done {
    Ignored(WorkspaceId, BTreeSet<PathBuf>),
    Looked(WorkspaceId, Box<Result<Looked>>, Duration),
}

struct Follower {
    trees: Worktrees,
    ears: Option<Ears>,
    pace: Pace,
    followed: HashMap<WorkspaceId, Followed>,
    /// What to describe each workspace's work against, besides its own fork point.
    forks: HashMap<WorkspaceId, Vec<Oid>>,
    looking: JoinSet<Done>,
    events: mpsc::Sender<Event>,
}

impl Follower {
    async fn run(mut self, mut orders: mpsc::UnboundedReceiver<Command>) {
        let mut tick = tokio::time::interval(POLL);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let idle = self.looking.is_empty();
            let due = if idle { self.pace.next(Instant::now()) } else { None };
            let sleep = tokio::time::sleep_until(due.unwrap_or_else(|| Instant::now() + POLL).into());
            tokio::select! {
                order = orders.recv() => match order {
                    Some(order) => self.obey(order),
                    None => return,
                },
                heard = hear(self.ears.as_mut()) => self.heard(heard),
                Some(done) = self.looking.join_next() => match done {
                    Ok(Done::Ignored(id, ignored)) => self.listen(id, &ignored),
                    Ok(Done::Looked(id, result, cost)) => self.looked(id, *result, cost).await,
                    Err(error) => tracing::error!(%error, "an examination of a workspace failed"),
                },
                _ = tick.tick() => self.poll(),
                () = sleep, if idle && due.is_some() => self.start(),
            }
        }
    }

    fn obey(&mut self, order: Command) {
        let now = Instant::now();
        match order {
            Command::Follow(id) => {
                let tree = self.trees.layout().home(id).tree();
                let followed = self.followed.entry(id).or_default();
                *followed = Followed { tree, anything: true, rewatch: true, ..Followed::default() };
                self.pace.changed(id, now);
            }
            Command::Leave(id) => self.leave(id),
            Command::Look(id) => {
                if self.followed.contains_key(&id) {
                    self.pace.changed(id, now);
                }
            }
            Command::Describe(id, forks) => {
                if self.forks.get(&id) != Some(&forks) {
                    self.forks.insert(id, forks);
                    if self.followed.contains_key(&id) {
                        self.pace.changed(id, now);
                    }
                }
            }
        }
    }

    fn leave(&mut self, id: WorkspaceId) {
        self.followed.remove(&id);
        self.forks.remove(&id);
        self.pace.forget(id);
        if let Some(ears) = &mut self.ears {
            ears.stop(id, Path::new(""));
        }
    }

    fn heard(&mut self, heard: Vec<(WorkspaceId, Heard)>) {
        let now = Instant::now();
        for (id, heard) in heard {
            let Some(followed) = self.followed.get_mut(&id) else { continue };
            match heard {
                Heard::Path(path) => {
                    followed.rewatch |= path.file_name().is_some_and(|name| name == ".gitignore");
                    followed.changed.insert(path);
                }
                Heard::Folder(path) => {
                    followed.folders.insert(path.clone());
                    followed.changed.insert(path);
                }
                Heard::Refs => {
                    if let Some(ears) = &mut self.ears {
                        ears.listen_to_refs(id, &followed.tree);
                    }
                }
                Heard::Anything => followed.anything = true,
            }
            if followed.changed.len() > MOST_PATHS {
                followed.changed.clear();
                followed.anything = true;
            }
            if followed.folders.len() > MOST_PATHS {
                followed.folders.clear();
                followed.rewatch = true;
            }
            self.pace.changed(id, now);
        }
    }

    fn poll(&mut self) {
        self.trees.differs().rest();
        let now = Instant::now();
        for (id, followed) in &mut self.followed {
            let certain = followed.looked.is_some_and(|at| now.saturating_duration_since(at) > CERTAIN);
            if followed.polled || certain {
                followed.anything = true;
                self.pace.changed(*id, now);
            }
        }
    }

    /// Starts the one that is due; one at a time, so that many workspaces never take more than one core.
    fn start(&mut self) {
        let Some(id) = self.pace.take(Instant::now()) else { return };
        let Some(followed) = self.followed.get(&id) else { return };
        if (followed.rewatch || !followed.folders.is_empty()) && self.ears.is_some() {
            let trees = self.trees.clone();
            self.looking.spawn(async move { Done::Ignored(id, trees.ignored_folders(id).await.unwrap_or_default()) });
        } else {
            self.look(id);
        }
    }

    /// Watches before examining: a change in between is either seen or heard.
    fn listen(&mut self, id: WorkspaceId, ignored: &BTreeSet<PathBuf>) {
        if let (Some(ears), Some(followed)) = (&mut self.ears, self.followed.get_mut(&id)) {
            let rewatch = std::mem::take(&mut followed.rewatch);
            let folders = std::mem::take(&mut followed.folders);
            let mut all = true;
            if rewatch {
                all &= ears.listen(id, &followed.tree, Path::new(""), ignored);
                all &= ears.listen_to_refs(id, &followed.tree);
            } else {
                let inside = |path: &PathBuf| path.ancestors().any(|above| ignored.contains(above));
                for path in folders.iter().filter(|path| !inside(path)) {
                    all &= ears.listen(id, &followed.tree, path, ignored);
                }
            }
            if !all && !followed.polled {
                tracing::warn!(workspace = %id, "too many folders to watch; polling");
                followed.polled = true;
            }
        }
        self.look(id);
    }

    fn look(&mut self, id: WorkspaceId) {
        let Some(followed) = self.followed.get_mut(&id) else { return };
        let changed = std::mem::take(&mut followed.changed);
        let scope = if std::mem::take(&mut followed.anything) || self.ears.is_none() {
            followed.looked = Some(Instant::now());
            Scope::All
        } else {
            Scope::Paths(changed)
        };
        followed.polled |= self.ears.is_none();
        let (trees, forks) = (self.trees.clone(), self.forks.get(&id).cloned());
        self.looking.spawn(async move {
            let (start, before) = (Instant::now(), spent_by_children());
            let result = trees.look(id, scope, forks.as_deref()).await;
            let cost = match (before, spent_by_children()) {
                (Some(before), Some(after)) => after.saturating_sub(before).min(start.elapsed()),
                _ => start.elapsed(),
            };
            let cost = cost + result.as_ref().map_or(Duration::ZERO, |looked| looked.parsing);
            Done::Looked(id, Box::new(result), cost)
        });
    }

    async fn looked(&mut self, id: WorkspaceId, result: Result<Looked>, cost: Duration) {
        let now = Instant::now();
        self.pace.spent(cost, now);
        let Some(followed) = self.followed.get_mut(&id) else { return };
        match result {
            Ok(Looked { saved, stats, work, .. }) => {
                if followed.failed.take().is_some() {
                    followed.polled = false;
                }
                if let Some(save) = saved.new {
                    let _ = self.events.send(Event::Saved { workspace: id, save }).await;
                }
                // The save was reported above; here only visible differences.
                let same = |told: &GitStats| GitStats { saved_at: stats.saved_at, ..told.clone() } == stats;
                if !followed.told.as_ref().is_some_and(same) {
                    followed.told = Some(stats.clone());
                    let _ = self.events.send(Event::Stats { workspace: id, stats }).await;
                }
                if let Some(work) = work.filter(|work| followed.told_work.as_ref() != Some(work)) {
                    followed.told_work = Some(work.clone());
                    let _ = self.events.send(Event::Work { workspace: id, work }).await;
                }
            }
            Err(Error::NoWorkspace(_)) => self.leave(id),
            Err(error) => {
                // It is unknown what was to be examined.
                followed.anything = true;
                followed.rewatch = true;
                followed.polled = true;
                let why = error.to_string();
                if followed.failed.as_ref() != Some(&why) {
                    followed.failed = Some(why.clone());
                    let _ = self.events.send(Event::Failed { workspace: id, why }).await;
                }
            }
        }
    }
}

async fn hear(ears: Option<&mut Ears>) -> Vec<(WorkspaceId, Heard)> {
    match ears {
        Some(ears) => ears.hear().await,
        None => std::future::pending().await,
    }
}

/// Processor time of all exited children, in hundredths of a second.
fn spent_by_children() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let after_name = stat.rsplit_once(')')?.1;
    let mut ticks = after_name.split_whitespace().skip(13).map(|field| field.parse::<u64>());
    let (user, system) = (ticks.next()?.ok()?, ticks.next()?.ok()?);
    Some(Duration::from_millis((user + system) * 10))
}
