//! What the red runs say about one branch.

use domain::MergeRunId;

use super::{Entry, Member, Queue, Run, Verdict};

/// The highest accepted probability that an ejected branch is innocent.
const DOUBT: f64 = 0.0015;

/// What is held against a branch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Suspicion {
    /// Nothing.
    None,
    /// It was red alone on a green commit, which may have been a flaky run: test it again, alone.
    Suspect,
    /// It fails.
    Guilty {
        /// The last run that showed it.
        run: MergeRunId,
    },
}

impl Queue {
    /// Judges a branch. Only runs of its present commit count, and only those after its last green one.
    pub(super) fn judge(&self, entry: &Entry) -> Suspicion {
        let contains = |run: &&Run| run.stack.iter().any(|member| member.id == entry.id && member.head == entry.head);
        let runs: Vec<&Run> = self.runs.iter().filter(contains).filter(|run| run.said().is_some()).collect();
        let red = runs.iter().rev().take_while(|run| run.said() == Some(Verdict::Red)).copied();
        let rates = self.rates;
        let (mut odds, mut support, mut last) = ((1.0 - rates.failure()) / rates.failure(), 1.0_f64, None);
        for run in red {
            let above = run.stack.iter().rev().take_while(|member| member.id != entry.id).count();
            if above == 0 && run.below().is_some_and(|commit| self.blames(entry, commit)) {
                odds *= rates.flake();
                last = last.or(Some(run.id));
            } else {
                // The probability that the run is red although this branch is good. Such runs often have one common
                // cause, so only the strongest counts.
                support = support.min(1.0 - (1.0 - rates.flake()) * self.others_good(entry, run));
            }
        }
        odds *= support;
        match last {
            None => Suspicion::None,
            Some(run) if odds / (1.0 + odds) <= DOUBT => Suspicion::Guilty { run },
            Some(_) => Suspicion::Suspect,
        }
    }

    /// Whether a branch is to blame if it is red on this commit: the commit is green, or a fix was to make it green.
    fn blames(&self, entry: &Entry, below: &str) -> bool {
        self.proven(below) || (entry.fix && self.tip_red(below).is_some())
    }

    /// The probability that the other branches of a red run are good.
    fn others_good(&self, entry: &Entry, run: &Run) -> f64 {
        let others = run.stack.iter().filter(|member| member.id != entry.id);
        let landed = |member: &Member| self.landings.iter().any(|landing| landing.candidates.contains(&member.id));
        let chance = |member: &Member| match self.entry(member.id) {
            Some(_) => 1.0 - self.rates.failure(),
            None if landed(member) => 1.0,
            // Who was sent back may have been the cause.
            None => 0.0,
        };
        others.map(chance).product()
    }

    /// The run that proves the tip red by itself: two red runs of the bare tip, and no green one.
    pub(super) fn tip_red(&self, tip: &str) -> Option<MergeRunId> {
        let bare = |run: &&Run| run.stack.is_empty() && run.top() == Some(tip);
        let mut red = self.runs.iter().rev().filter(bare).filter(|run| run.said() == Some(Verdict::Red));
        let last = red.next()?;
        (red.next().is_some() && !self.proven(tip)).then_some(last.id)
    }

    /// Whether a red run is refuted: each of its branches was green in a later run.
    pub(super) fn refuted(&self, at: usize) -> bool {
        let green = |member: &Member| {
            let contains = |run: &Run| run.said() == Some(Verdict::Green) && run.stack.contains(member);
            self.runs[at + 1..].iter().any(contains)
        };
        self.runs[at].stack.iter().all(green)
    }
}
