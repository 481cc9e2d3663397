//! The no-progress breaker: detects attempts of one agent that change nothing, even if each run "succeeded".

/// The result of one attempt at a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The agent and model.
    pub agent: String,
    /// Identifies the content of the workspace after the attempt.
    pub tree: String,
    /// Identifies the worker's summary.
    pub report: String,
}

/// The number of consecutive attempts without a change that opens the breaker.
pub const SAME: usize = 3;

/// Another attempt by the same agent would change nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// The number of consecutive attempts without a change.
    pub same: usize,
    /// What did not change.
    pub reason: String,
}

impl Stuck {
    /// Whether the last attempt opened the breaker, rather than kept it open.
    pub fn is_news(&self) -> bool {
        self.same == SAME
    }
}

/// Whether another attempt by the same agent would change nothing; attempts are oldest first.
pub fn stuck(attempts: &[Attempt]) -> Option<Stuck> {
    let last = attempts.last()?;
    let same = attempts.iter().rev().take_while(|attempt| *attempt == last).count();
    let reason = || format!("{same} reports by {} left the same files and the same report", last.agent);
    (same >= SAME).then(|| Stuck { same, reason: reason() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(agent: &str, tree: &str, report: &str) -> Attempt {
        Attempt { agent: agent.into(), tree: tree.into(), report: report.into() }
    }

    #[test]
    fn three_equal_reports_in_a_row_are_stuck() {
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
