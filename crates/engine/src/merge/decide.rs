//! The decision: everything that is to be done now, from the whole queue.

use std::collections::BTreeSet;

use domain::CandidateId;

use super::evidence::Suspicion;
use super::{Effect, Ejected, Entry, Gate, Level, Member, Purpose, Queue, Run, Search, Verdict, WINDOW, order};

/// Decides what to do now. The same facts give the same effects; once they are performed, there is nothing to do until
/// the next event.
pub fn decide(queue: &Queue) -> Vec<Effect> {
    let mut queue = queue.clone();
    let mut effects = Vec::new();
    // Who leaves changes what is known about the others.
    while let Some((gone, effect)) = queue.leaves() {
        queue.entries.retain(|entry| entry.id != gone);
        effects.push(effect);
    }
    let gate = queue.watch_tip(&mut effects);
    effects.extend(Plan::of(&queue, gate).effects());
    effects
}

impl Queue {
    /// A branch that leaves the queue now, with the effect.
    fn leaves(&self) -> Option<(CandidateId, Effect)> {
        let mut found = self.entries.iter().filter_map(|entry| {
            if let Some(effect) = self.unmergeable(entry) {
                return Some((entry.id, effect));
            }
            let Suspicion::Guilty { run } = self.judge(entry) else { return None };
            Some((entry.id, Effect::Eject { candidate: entry.id, why: Ejected::Red { run } }))
        });
        found.next()
    }

    /// Whether the last look at a branch, at its present commit and on the present tip, found that it cannot land.
    fn unmergeable(&self, entry: &Entry) -> Option<Effect> {
        let candidate = entry.id;
        let eject = |why| Some(Effect::Eject { candidate, why });
        let level = self.runs.iter().rev().find_map(|run| {
            let tested = run.result.as_ref().filter(|tested| tested.base.is_some() && tested.base == self.tip)?;
            let at = run.stack.iter().position(|member| member.id == entry.id && member.head == entry.head)?;
            tested.levels.get(at)
        });
        match level? {
            Level::Missing => eject(Ejected::Missing),
            Level::Conflict { with_tip: true, paths } => eject(Ejected::Conflict { paths: paths.clone() }),
            Level::Contained => Some(Effect::Contained { candidate }),
            Level::Moved { head } if entry.pinned => eject(Ejected::Moved { head: head.clone() }),
            Level::Merged { .. } | Level::Conflict { .. } | Level::Moved { .. } => None,
        }
    }

    /// Freezes or thaws, as the tip is; returns the gate after that.
    fn watch_tip(&self, effects: &mut Vec<Effect>) -> Gate {
        let Some(tip) = self.tip.as_deref() else { return self.gate };
        match self.gate {
            Gate::Open => match self.tip_red(tip) {
                Some(run) => {
                    effects.push(Effect::Freeze { run });
                    Gate::TipRed
                }
                None => Gate::Open,
            },
            Gate::TipRed if self.proven(tip) => {
                effects.push(Effect::Thaw);
                Gate::Open
            }
            gate => gate,
        }
    }
}

/// The part of the decision about runs and landings.
pub(super) struct Plan<'a> {
    queue: &'a Queue,
    gate: Gate,
    /// Who may move, in order.
    pub(super) movers: Vec<&'a Entry>,
    pub(super) suspects: Vec<&'a Entry>,
}

impl<'a> Plan<'a> {
    pub(super) fn of(queue: &'a Queue, gate: Gate) -> Self {
        let suspects: Vec<&Entry> = queue.entries.iter().filter(|e| queue.judge(e) == Suspicion::Suspect).collect();
        let mut plan = Self { queue, gate, movers: Vec::new(), suspects };
        let movers: Vec<Entry> = plan.may_move().into_iter().cloned().collect();
        let ordered = order(&movers, &plan.started(&movers));
        plan.movers = ordered.iter().filter_map(|id| queue.entry(*id)).take(WINDOW).collect();
        plan
    }

    fn effects(&self) -> Vec<Effect> {
        if self.queue.landing || self.gate == Gate::Paused {
            return Vec::new();
        }
        if let Some(effect) = self.lands() {
            return vec![effect];
        }
        let unseen = self.movers.iter().any(|entry| entry.head.is_none());
        let looks = self.open().any(|run| run.purpose == Purpose::Look);
        let anybody = !self.movers.is_empty() || !self.suspects.is_empty();
        match self.queue.tip.as_deref() {
            Some(tip) if !unseen => self.tests(tip),
            _ if looks || !anybody => Vec::new(),
            _ => {
                let stack = self.movers.iter().map(|entry| entry.id).collect();
                vec![Effect::Start { purpose: Purpose::Look, base: None, stack }]
            }
        }
    }

    fn open(&self) -> impl Iterator<Item = &'a Run> {
        self.queue.runs.iter().filter(|run| run.result.is_none())
    }

    /// Everybody who may move: allowed, let through, not under suspicion, and not waiting for somebody.
    fn may_move(&self) -> Vec<&'a Entry> {
        let shut = matches!(self.gate, Gate::Frozen | Gate::TipRed);
        let suspect = |entry: &Entry| self.suspects.iter().any(|other| other.id == entry.id);
        let out = |entry: &&Entry| {
            entry.held.is_some() || (shut && !entry.fix) || suspect(entry) || self.conflicts_with_others(entry)
        };
        let mut stays: BTreeSet<CandidateId> = self.queue.entries.iter().filter(out).map(|entry| entry.id).collect();
        // Who builds on somebody who stays, stays.
        loop {
            let before = stays.len();
            let waits = |entry: &&Entry| entry.after.iter().any(|id| stays.contains(id));
            let more: Vec<CandidateId> = self.queue.entries.iter().filter(waits).map(|entry| entry.id).collect();
            stays.extend(more);
            if stays.len() == before {
                break;
            }
        }
        self.queue.entries.iter().filter(|entry| !stays.contains(&entry.id)).collect()
    }

    /// Whether a branch conflicts with branches that are before it and still there: it waits for them.
    fn conflicts_with_others(&self, entry: &Entry) -> bool {
        let conflicts = |run: &Run| {
            let tested = run.result.as_ref().filter(|tested| tested.base.is_some() && tested.base == self.queue.tip)?;
            let at = run.stack.iter().position(|member| member.id == entry.id && member.head == entry.head)?;
            let conflict = matches!(tested.levels.get(at)?, Level::Conflict { with_tip: false, .. });
            let built = |(_, level): &(&Member, &Level)| matches!(level, Level::Merged { .. });
            let mut below = run.stack.iter().zip(&tested.levels).take(at).filter(built).map(|(member, _)| member);
            Some(conflict && below.all(|member| self.queue.stands(std::slice::from_ref(member))))
        };
        self.queue.runs.iter().rev().find_map(conflicts).unwrap_or(false)
    }

    /// The longest stack that is being tested or known to hold a failure.
    fn started(&self, movers: &[Entry]) -> Vec<CandidateId> {
        let moves = |member: &Member| movers.iter().any(|entry| entry.id == member.id);
        let stacks = self.queue.runs.iter().enumerate().filter_map(|(at, run)| {
            let counts = run.purpose == Purpose::Search
                && match run.result {
                    None => true,
                    Some(_) => run.said() == Some(Verdict::Red) && !self.queue.refuted(at),
                };
            let left = self.queue.left(run).filter(|_| counts)?;
            (self.queue.stands(left) && left.iter().all(moves)).then_some(left)
        });
        let longest = stacks.max_by_key(|stack| stack.len()).unwrap_or_default();
        longest.iter().map(|member| member.id).collect()
    }

    /// Lands the longest green stack.
    fn lands(&self) -> Option<Effect> {
        let base = self.queue.tip.clone()?;
        let may = |member: &Member| {
            let entry = self.queue.entry(member.id);
            entry.is_some_and(|entry| entry.held.is_none() && (self.gate == Gate::Open || entry.fix))
        };
        let green = self.queue.runs.iter().filter(|run| run.said() == Some(Verdict::Green)).filter_map(|run| {
            let left = self.queue.left(run).filter(|left| !left.is_empty())?;
            (self.queue.stands(left) && left.iter().all(may)).then_some((run, left))
        });
        let (run, left) = green.max_by_key(|(_, left)| left.len())?;
        let first = run.stack.len() - left.len();
        for (member, level) in left.iter().zip(&run.result.as_ref()?.levels[first..]) {
            if let Level::Merged { differs, .. } = level
                && !differs.is_empty()
            {
                return Some(Effect::Halt { candidate: member.id, paths: differs.clone() });
            }
        }
        let candidates = left.iter().map(|member| member.id).collect();
        Some(Effect::Land { run: run.id, base, commit: run.top()?.to_owned(), candidates })
    }

    /// Which runs to start and to cancel on a known tip.
    fn tests(&self, tip: &str) -> Vec<Effect> {
        let red = self.shortest_red();
        let unproven = !self.queue.proven(tip);
        // A red run on a tip that may be red itself says nothing yet.
        let known_red = self.queue.tip_red(tip).is_some();
        let asked = red == Some(1) || !self.suspects.is_empty() || self.gate == Gate::TipRed;
        let bare = unproven && !known_red && asked;
        let bare_open = self.open().any(|run| run.purpose == Purpose::Bare && run.base.as_deref() == Some(tip));
        let mut effects = Vec::new();
        let mut kept: Vec<usize> = Vec::new();
        let (mut busy, mut confirming) = (0, Vec::new());
        for run in self.open() {
            match self.keeps(run, red, bare, tip) {
                true if run.purpose == Purpose::Search => kept.extend(self.queue.left(run).map(<[Member]>::len)),
                true => {
                    busy += usize::from(run.purpose != Purpose::Look);
                    confirming.extend(run.stack.first().filter(|_| run.purpose == Purpose::Confirm).map(|m| m.id));
                }
                false => effects.push(Effect::Cancel { run: run.id }),
            }
        }
        let base = Some(tip.to_owned());
        let free = |busy: usize| self.queue.capacity.saturating_sub(busy + kept.len());
        if bare && !bare_open && free(busy) > 0 {
            effects.push(Effect::Start { purpose: Purpose::Bare, base: base.clone(), stack: Vec::new() });
            busy += 1;
        }
        for suspect in &self.suspects {
            if free(busy) > 0 && !confirming.contains(&suspect.id) {
                let stack = vec![suspect.id];
                effects.push(Effect::Start { purpose: Purpose::Confirm, base: base.clone(), stack });
                busy += 1;
            }
        }
        // Everything on a tip in doubt would be red for the same reason.
        let slots = if bare && red == Some(1) { 0 } else { self.queue.capacity.saturating_sub(busy) };
        if slots > kept.len() {
            let search = Search::of(self.queue.rates.failure(), self.queue.capacity);
            let red = red.filter(|m| *m > 1).unwrap_or(0);
            for length in search.prefixes(self.movers.len(), red, slots, &kept) {
                if !kept.contains(&length) {
                    let stack = self.movers[..length].iter().map(|entry| entry.id).collect();
                    effects.push(Effect::Start { purpose: Purpose::Search, base: base.clone(), stack });
                }
            }
        }
        effects
    }

    /// The length of the shortest prefix that is known to hold a failure.
    pub(super) fn shortest_red(&self) -> Option<usize> {
        let red =
            self.queue.runs.iter().enumerate().filter(|(at, run)| {
                run.said() == Some(Verdict::Red) && !run.stack.is_empty() && !self.queue.refuted(*at)
            });
        red.filter_map(|(_, run)| self.prefix(run)).min()
    }

    /// The length of the prefix that a run tests, if it tests one.
    fn prefix(&self, run: &Run) -> Option<usize> {
        let left = self.queue.left(run).filter(|left| !left.is_empty() && self.queue.stands(left))?;
        let same = left.iter().map(|member| member.id).eq(self.movers.iter().take(left.len()).map(|entry| entry.id));
        same.then_some(left.len())
    }

    /// Whether the result of an open run can still matter.
    fn keeps(&self, run: &Run, red: Option<usize>, bare: bool, tip: &str) -> bool {
        match run.purpose {
            Purpose::Look => true,
            Purpose::Bare => bare && run.base.as_deref() == Some(tip),
            Purpose::Confirm => {
                let suspect = |entry: &&Entry| run.stack.first().is_some_and(|first| first.id == entry.id);
                self.suspects.iter().any(suspect) && self.queue.stands(&run.stack)
            }
            Purpose::Search => self.prefix(run).is_some_and(|length| red.is_none_or(|red| length < red)),
        }
    }
}
