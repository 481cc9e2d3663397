//! What the queue knows.

use domain::{CandidateId, MergeRunId, Timestamp};

use super::Rates;

/// The facts about a queue, as [`decide`](super::decide()) reads them.
#[derive(Debug, Clone, Default)]
pub struct Queue {
    /// Whether anything may move.
    pub gate: Gate,
    /// The commit that the target branch was last seen at.
    pub tip: Option<String>,
    /// The branches that have neither landed nor left.
    pub entries: Vec<Entry>,
    /// Test runs, oldest first: open ones, and finished ones that may still say something about an entry or the tip.
    pub runs: Vec<Run>,
    /// What landed through this queue, oldest first.
    pub landings: Vec<Landing>,
    /// Whether an order to land is open.
    pub landing: bool,
    /// How often branches and runs fail.
    pub rates: Rates,
    /// Maximum number of runs at once.
    pub capacity: usize,
}

/// Whether anything may move.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Gate {
    /// Everything moves.
    #[default]
    Open,
    /// Nothing is started and nothing lands.
    Paused,
    /// Only fixes move, until a person opens the gate.
    Frozen,
    /// Only fixes move, until the tip is known to be green.
    TipRed,
}

/// A branch in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The candidate.
    pub id: CandidateId,
    /// The highest goes first; 0 to 9.
    pub priority: u8,
    /// When it was added.
    pub added_at: Timestamp,
    /// Candidates of the queue that must land before it.
    pub after: Vec<CandidateId>,
    /// The commit that its branch was last seen at; absent until a run has looked.
    pub head: Option<String>,
    /// Whether only that commit may land, because it was accepted; otherwise a push to the branch starts it over.
    pub pinned: bool,
    /// The paths that it changes, as far as they are known.
    pub paths: Vec<String>,
    /// Whether it may move while the queue is frozen.
    pub fix: bool,
    /// Why a person must confirm it before it moves.
    pub held: Option<Held>,
}

/// Why a branch moves only once a person has confirmed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// The project has no checks, so nothing can be proved about it.
    Unchecked,
    /// It builds on this branch, which left the queue without landing.
    Orphaned(CandidateId),
}

impl Held {
    /// Whether a branch is held, in a project with or without checks, if `left` is a branch below it that left.
    pub fn of(confirmed: bool, checks: bool, left: Option<CandidateId>) -> Option<Self> {
        match left {
            _ if confirmed => None,
            Some(left) => Some(Self::Orphaned(left)),
            None => (!checks).then_some(Self::Unchecked),
        }
    }
}

/// A branch at a commit, in a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The candidate.
    pub id: CandidateId,
    /// The commit that its branch was at; absent: unknown.
    pub head: Option<String>,
}

/// Why a run exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Builds without checks: finds heads, conflicts and the tip.
    Look,
    /// Tests a prefix of the order.
    Search,
    /// Tests a suspect alone.
    Confirm,
    /// Tests the tip without any branch.
    Bare,
}

/// A test run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The run.
    pub id: MergeRunId,
    /// Why it exists.
    pub purpose: Purpose,
    /// The tip that it was ordered on.
    pub base: Option<String>,
    /// The branches, bottom first.
    pub stack: Vec<Member>,
    /// Its result; absent while it is open.
    pub result: Option<Tested>,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tested {
    /// The tip that it found.
    pub base: Option<String>,
    /// One for each member of the stack; empty if nothing was built.
    pub levels: Vec<Level>,
    /// What the checks said about the top of the stack.
    pub verdict: Verdict,
}

/// What became of a branch in a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Level {
    /// It was merged.
    Merged {
        /// The commit.
        commit: String,
        /// Paths where more, or something else, would land than the branch changes.
        differs: Vec<String>,
    },
    /// It conflicts and was left out.
    Conflict {
        /// Whether with the tip itself.
        with_tip: bool,
        /// The paths in conflict.
        paths: Vec<String>,
    },
    /// Everything in it has landed already.
    Contained,
    /// Its branch is at another commit.
    Moved {
        /// That commit.
        head: Option<String>,
    },
    /// Its branch is gone.
    Missing,
}

/// What the checks said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every check ran and passed.
    Green,
    /// A check failed, or did not end in time.
    Red,
    /// The checks did not run: not ordered, the stack could not be built, or the machine failed.
    Unproven,
}

/// Branches that landed together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landing {
    /// The tip before.
    pub from: String,
    /// The tip after.
    pub to: String,
    /// The branches, bottom first.
    pub candidates: Vec<CandidateId>,
}

impl Queue {
    /// The entry of a candidate.
    pub fn entry(&self, id: CandidateId) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    /// Whether every member is in the queue, at the commit that was tested.
    pub(super) fn stands(&self, members: &[Member]) -> bool {
        let same = |member: &Member| {
            member.head.is_some() && self.entry(member.id).is_some_and(|entry| entry.head == member.head)
        };
        members.iter().all(same)
    }
}

impl Run {
    /// What the checks said; `None` while it is open, or if they did not run.
    pub fn said(&self) -> Option<Verdict> {
        self.result.as_ref().map(|tested| tested.verdict).filter(|verdict| *verdict != Verdict::Unproven)
    }

    /// The commit of a level, if it was built.
    pub(super) fn commit(&self, level: usize) -> Option<&str> {
        match self.result.as_ref()?.levels.get(level)? {
            Level::Merged { commit, .. } => Some(commit),
            _ => None,
        }
    }

    /// The commit that the checks ran on.
    pub fn top(&self) -> Option<&str> {
        match self.stack.len().checked_sub(1) {
            Some(last) => self.commit(last),
            None => self.result.as_ref()?.base.as_deref(),
        }
    }

    /// The commit below the last branch.
    pub(super) fn below(&self) -> Option<&str> {
        match self.stack.len() {
            0 => None,
            1 => self.result.as_ref()?.base.as_deref(),
            more => self.commit(more - 2),
        }
    }
}
