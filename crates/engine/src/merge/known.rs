//! Where the search for a failing branch stands, for people.

use domain::CandidateId;

use super::decide::Plan;
use super::{Entry, Queue};

/// What the runs have shown so far about branches that still wait.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// The branches that failed together: at least one of them fails. Empty: no failure is known.
    pub failed_together: Vec<CandidateId>,
    /// The branches that failed alone on a green commit: each is tested again before it is sent back.
    pub suspects: Vec<CandidateId>,
}

impl Queue {
    /// Where the search stands.
    pub fn known(&self) -> Known {
        let plan = Plan::of(self, self.gate);
        let ids = |entries: &[&Entry]| entries.iter().map(|entry| entry.id).collect();
        Known { failed_together: ids(&plan.movers[..plan.shortest_red().unwrap_or(0)]), suspects: ids(&plan.suspects) }
    }
}
