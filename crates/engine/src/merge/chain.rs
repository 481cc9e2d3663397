//! Whether a run still says something about the tip, after other branches have landed.

use super::{Member, Queue, Run};

impl Queue {
    /// The part of a run's stack that has not landed, if the run stands on the tip: its base is the tip, or everything
    /// that landed since is the bottom of its stack.
    pub(super) fn left<'a>(&self, run: &'a Run) -> Option<&'a [Member]> {
        let tip = self.tip.as_deref()?;
        let found = run.result.as_ref().and_then(|tested| tested.base.as_deref());
        let mut at = found.or(run.base.as_deref())?;
        let mut landed = 0;
        // Each landing is followed at most once, so a tip that was reset backwards ends the loop, too.
        for _ in 0..=self.landings.len() {
            if at == tip {
                let same = landed == 0 || run.result.is_none() || run.commit(landed - 1) == Some(tip);
                return same.then(|| &run.stack[landed..]);
            }
            let next = self.landings.iter().rev().find(|landing| landing.from == at)?;
            let stack = &run.stack[landed..];
            let bottom = stack.get(..next.candidates.len())?;
            if !bottom.iter().map(|member| &member.id).eq(&next.candidates) {
                return None;
            }
            landed += next.candidates.len();
            at = &next.to;
        }
        None
    }

    /// Whether the checks are known to pass on a commit.
    pub(super) fn proven(&self, commit: &str) -> bool {
        let green = |run: &Run| run.said() == Some(super::Verdict::Green) && run.top() == Some(commit);
        self.runs.iter().any(green) || self.landings.iter().any(|landing| landing.to == commit)
    }
}
