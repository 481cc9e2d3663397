//! The no-progress breaker: the same task and agent, and nothing changed, however well every run "succeeded".

/// What one attempt at a task left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The agent and model that worked.
    pub agent: String,
    /// Names the content of the worktree afterwards.
    pub tree: String,
    /// Names what the worker said.
    pub report: String,
}

/// How many attempts in a row that change nothing open the breaker.
pub const SAME: usize = 3;

/// Going on with the same agent would change nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// How many attempts in a row changed nothing.
    pub same: usize,
    /// What did not change, in words.
    pub reason: String,
}

impl Stuck {
    /// Whether the breaker opens with the last attempt; with those that follow it just stays open.
    pub fn is_news(&self) -> bool {
        self.same == SAME
    }
}

/// Whether going on with the same agent would change nothing; attempts are oldest first.
pub fn stuck(attempts: &[Attempt]) -> Option<Stuck> {
    let last = attempts.last()?;
    let same = attempts.iter().rev().take_while(|attempt| *attempt == last).count();
    let reason = || format!("{same} reports by {} left the same worktree and the same report", last.agent);
    (same >= SAME).then(|| Stuck { same, reason: reason() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(agent: &str, tree: &str, report: &str) -> Attempt {
        Attempt { agent: agent.into(), tree: tree.into(), report: report.into() }
    }

    #[test]
    fn only_what_changes_nothing_is_stuck() {
        let same = attempt("codex", "t1", "r1");
        assert_eq!(stuck(&[]), None);
        assert_eq!(stuck(&[same.clone(), same.clone()]), None);
        let third = stuck(&[same.clone(), same.clone(), same.clone()]).unwrap();
        assert!(third.is_news() && third.reason.contains("3 reports by codex"), "{third:?}");
        let fourth = stuck(&vec![same.clone(); 4]).unwrap();
        assert!(!fourth.is_news() && fourth.reason.contains("4 reports by codex"), "{fourth:?}");
        for other in [attempt("claude", "t1", "r1"), attempt("codex", "t2", "r1"), attempt("codex", "t1", "r2")] {
            assert_eq!(stuck(&[same.clone(), other.clone(), same.clone()]), None);
            assert_eq!(stuck(&[same.clone(), same.clone(), other]), None);
        }
    }
}
