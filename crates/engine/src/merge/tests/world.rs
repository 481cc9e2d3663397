//! A repository, its outsiders and its runners, with a virtual clock; performs effects as the store does.

use std::collections::BTreeSet;

use domain::{CandidateId, MergeRunId, Timestamp};

use crate::merge::*;

/// The duration of the checks, in minutes.
pub(super) const CHECK: u64 = 5;

/// A reproducible source of chance.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn happens(&mut self, probability: f64) -> bool {
        ((self.next() >> 11) as f64) < probability * (1u64 << 53) as f64
    }
}

/// What is true, whatever the queue knows.
#[derive(Debug, Clone, Default)]
pub(super) struct Truth {
    /// Branches whose checks fail.
    pub(super) bad: BTreeSet<CandidateId>,
    /// Branches that conflict with each other.
    pub(super) conflicts: Vec<(CandidateId, CandidateId)>,
    /// Whether the bare tip is red.
    pub(super) tip_bad: bool,
}

/// The queue and everything around it.
pub(super) struct World {
    pub(super) queue: Queue,
    pub(super) truth: Truth,
    pub(super) now: u64,
    pub(super) chance: Chance,
    pub(super) flaky: f64,
    /// Whether every run takes the same time.
    pub(super) steady: bool,
    /// When open runs end, in the order of their start.
    ends: Vec<(MergeRunId, u64)>,
    /// Each commit's parent and the branch that it merges.
    commits: Vec<(usize, Option<CandidateId>)>,
    /// Where the target branch is.
    tip: String,
    pub(super) landed: Vec<CandidateId>,
    pub(super) ejected: Vec<(CandidateId, Ejected)>,
    /// What was said to land before what, also of branches that have landed or left.
    pub(super) builds_on: Vec<(CandidateId, CandidateId)>,
    pub(super) froze: usize,
    /// Every commit whose checks passed.
    passed: BTreeSet<String>,
}

pub(super) fn entry(at: i64) -> Entry {
    Entry {
        id: CandidateId::generate(),
        priority: 0,
        added_at: Timestamp::from_millis(at),
        after: Vec::new(),
        head: None,
        pinned: false,
        paths: Vec::new(),
        fix: false,
        held: None,
    }
}

impl World {
    pub(super) fn new(entries: Vec<Entry>, capacity: usize, seed: u64) -> Self {
        // The tip was landed by the queue itself, long ago.
        let landing = Landing { from: "c".into(), to: "c0".into(), candidates: Vec::new() };
        let queue = Queue { entries, capacity, landings: vec![landing], ..Queue::default() };
        Self {
            queue,
            truth: Truth::default(),
            now: 0,
            chance: Chance(seed),
            flaky: 0.0,
            steady: true,
            ends: Vec::new(),
            commits: vec![(0, None)],
            tip: "c0".to_owned(),
            landed: Vec::new(),
            ejected: Vec::new(),
            builds_on: Vec::new(),
            froze: 0,
            passed: BTreeSet::from(["c0".to_owned()]),
        }
    }

    /// Somebody else pushes to the target branch.
    pub(super) fn outsider(&mut self, bad: bool) {
        self.truth.tip_bad = bad;
        self.tip = self.commit(&self.tip.clone(), None);
    }

    /// The commit that puts a branch on another commit: always the same one.
    fn commit(&mut self, parent: &str, branch: Option<CandidateId>) -> String {
        let commit = (parent[1..].parse().unwrap_or_default(), branch);
        let known = self.commits.iter().position(|other| *other == commit && branch.is_some());
        let at = known.unwrap_or_else(|| {
            self.commits.push(commit);
            self.commits.len() - 1
        });
        format!("c{at}")
    }

    /// Whether a commit contains another.
    fn contains(&self, commit: &str, other: &str) -> bool {
        let (mut at, other): (usize, usize) = (commit[1..].parse().unwrap_or(0), other[1..].parse().unwrap_or(0));
        while at > other {
            at = self.commits[at].0;
        }
        at == other
    }

    /// How long the next run takes.
    fn takes(&mut self) -> u64 {
        if self.steady { CHECK } else { 1 + self.chance.next() % (2 * CHECK) }
    }

    /// Decides and performs until nothing is left to do at this time.
    pub(super) fn settle(&mut self) {
        for round in 0.. {
            assert!(round < 1000, "the queue does not come to rest: {:?}", self.queue);
            let effects = decide(&self.queue);
            if effects.is_empty() {
                return;
            }
            effects.into_iter().for_each(|effect| self.perform(effect));
        }
    }

    /// Advances to the end of the next runs; `false` if none is open.
    pub(super) fn advance(&mut self) -> bool {
        let Some(next) = self.ends.iter().map(|(_, end)| *end).min() else { return false };
        self.now = next;
        let over: Vec<MergeRunId> = self.ends.iter().filter(|(_, end)| *end == next).map(|(id, _)| *id).collect();
        for run in over {
            self.finish(run);
        }
        true
    }

    /// Runs until the queue is empty or nothing moves.
    pub(super) fn run(&mut self) {
        self.settle();
        while self.advance() {
            self.settle();
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Start { purpose, base, stack } => self.start(purpose, base, &stack),
            Effect::Cancel { run } => {
                self.ends.retain(|(id, _)| *id != run);
                self.queue.runs.retain(|other| other.id != run);
            }
            Effect::Land { base, commit, candidates, .. } => self.land(base, commit, candidates),
            Effect::Eject { candidate, why } => {
                self.queue.rates.failed += u32::from(matches!(why, Ejected::Red { .. }));
                self.leaves(candidate);
                self.ejected.push((candidate, why));
            }
            Effect::Contained { candidate } => self.queue.entries.retain(|entry| entry.id != candidate),
            Effect::Freeze { .. } => {
                assert!(self.truth.tip_bad || self.flaky > 0.0, "froze a green tip");
                self.froze += 1;
                self.queue.gate = Gate::TipRed;
            }
            Effect::Thaw => self.queue.gate = Gate::Open,
            Effect::Halt { .. } => self.queue.gate = Gate::Paused,
        }
    }

    /// Adds a branch, as the store does: it is held if a branch that it builds on has left.
    pub(super) fn add(&mut self, mut added: Entry) {
        let landed = |id: &CandidateId| self.landed.contains(id);
        let waits = |id: &CandidateId| self.queue.entry(*id).is_some();
        let left = added.after.iter().find(|id| !landed(id) && !waits(id)).copied();
        added.held = Held::of(false, true, left);
        self.builds_on.extend(added.after.iter().map(|below| (added.id, *below)));
        added.after.retain(|id| self.queue.entry(*id).is_some());
        self.queue.entries.push(added);
    }

    /// A branch leaves the queue without landing: those that build on it are held.
    pub(super) fn leaves(&mut self, left: CandidateId) {
        let there = self.queue.entries.len();
        self.queue.entries.retain(|entry| entry.id != left);
        if self.queue.entries.len() < there {
            for entry in self.queue.entries.iter_mut().filter(|entry| entry.after.contains(&left)) {
                entry.held = Held::of(false, true, Some(left));
            }
        }
    }

    fn start(&mut self, purpose: Purpose, base: Option<String>, stack: &[CandidateId]) {
        let member = |id: &CandidateId| Member { id: *id, head: self.queue.entry(*id).and_then(|e| e.head.clone()) };
        let run =
            Run { id: MergeRunId::generate(), purpose, base, stack: stack.iter().map(member).collect(), result: None };
        let id = run.id;
        self.queue.runs.push(run);
        let open = self.queue.runs.iter().filter(|run| run.result.is_none() && run.purpose != Purpose::Look).count();
        assert!(open <= self.queue.capacity, "{open} runs at once");
        if purpose == Purpose::Look {
            return self.finish(id);
        }
        let end = self.now + self.takes();
        self.ends.push((id, end));
    }

    fn land(&mut self, base: String, commit: String, candidates: Vec<CandidateId>) {
        if base != self.tip {
            self.queue.tip = Some(self.tip.clone());
            return;
        }
        assert!(self.passed.contains(&commit), "{commit} lands and was never green");
        assert!(candidates.iter().all(|id| !self.landed.contains(id)), "landed twice");
        assert!(self.contains(&commit, &base), "not a fast-forward");
        for (at, id) in candidates.iter().enumerate() {
            let there = |below: &CandidateId| self.landed.contains(below) || candidates[..at].contains(below);
            let below = self.builds_on.iter().filter(|(above, _)| above == id).map(|(_, below)| below);
            assert!(below.into_iter().all(there), "{id} landed before what it builds on");
        }
        self.queue.entries.retain(|entry| !candidates.contains(&entry.id));
        self.queue.rates.landed += u32::try_from(candidates.len()).unwrap_or(0);
        self.landed.extend(&candidates);
        self.queue.landings.push(Landing { from: base, to: commit.clone(), candidates });
        self.tip.clone_from(&commit);
        self.queue.tip = Some(commit);
        self.truth.tip_bad = false;
    }

    fn finish(&mut self, id: MergeRunId) {
        self.ends.retain(|(run, _)| *run != id);
        let tip = self.tip.clone();
        let Some(at) = self.queue.runs.iter().position(|run| run.id == id) else { return };
        let run = self.queue.runs[at].clone();
        let base = run.base.clone().unwrap_or_else(|| tip.clone());
        self.queue.tip = Some(tip);
        let (mut levels, mut commit, mut merged) = (Vec::new(), base.clone(), Vec::<CandidateId>::new());
        for member in &run.stack {
            let clash = |a: &CandidateId| {
                let pairs = &self.truth.conflicts;
                pairs.contains(&(*a, member.id)) || pairs.contains(&(member.id, *a))
            };
            let with_tip = self.landed.iter().any(clash);
            if with_tip || merged.iter().any(clash) {
                levels.push(Level::Conflict { with_tip, paths: vec!["a".into()] });
                continue;
            }
            commit = self.commit(&commit, Some(member.id));
            merged.push(member.id);
            levels.push(Level::Merged { commit: commit.clone(), differs: Vec::new() });
        }
        let whole = merged.len() == run.stack.len();
        let fixed = |id: &CandidateId| self.queue.entry(*id).is_some_and(|entry| entry.fix);
        let base_bad = self.truth.tip_bad && !merged.iter().any(fixed);
        let bad = base_bad || merged.iter().any(|id| self.truth.bad.contains(id));
        let red = bad || self.chance.happens(self.flaky);
        let verdict = match run.purpose {
            Purpose::Look => Verdict::Unproven,
            _ if !whole => Verdict::Unproven,
            _ if red => Verdict::Red,
            _ => Verdict::Green,
        };
        if verdict != Verdict::Unproven {
            self.queue.rates.runs += 1;
            let same = |other: &Run| other.result.is_some() && other.top() == Some(commit.as_str());
            let said = |wanted: Verdict| self.queue.runs.iter().any(|r| same(r) && r.said() == Some(wanted));
            let contradicted = match verdict {
                Verdict::Green => said(Verdict::Red),
                _ => said(Verdict::Green),
            };
            self.queue.rates.flaky += u32::from(contradicted);
        }
        if verdict == Verdict::Green {
            self.passed.insert(commit);
        }
        for entry in &mut self.queue.entries {
            if run.stack.iter().any(|member| member.id == entry.id) && entry.head.is_none() {
                entry.head = Some(format!("head of {}", entry.id));
            }
        }
        let run = &mut self.queue.runs[at];
        for member in &mut run.stack {
            member.head.get_or_insert_with(|| format!("head of {}", member.id));
        }
        run.result = Some(Tested { base: Some(base), levels, verdict });
        self.forget();
    }

    /// Drops the runs that the store would not load.
    fn forget(&mut self) {
        let (entries, tip) = (&self.queue.entries, &self.queue.tip);
        let lives = |member: &Member| entries.iter().any(|entry| entry.id == member.id);
        let matters = |run: &Run| run.stack.iter().any(lives) || run.top() == tip.as_deref();
        self.queue.runs.retain(|run| run.result.is_none() || matters(run));
    }
}
