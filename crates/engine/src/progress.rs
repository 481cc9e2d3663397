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

/// Why going on with the same agent would change nothing; attempts are oldest first.
pub fn stuck(attempts: &[Attempt]) -> Option<String> {
    let last = attempts.last()?;
    let same = attempts.iter().rev().take_while(|attempt| *attempt == last).count();
    (same >= SAME).then(|| format!("{same} attempts by {} left the same worktree and the same report", last.agent))
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
        assert!(stuck(&[same.clone(), same.clone(), same.clone()]).unwrap().contains("3 attempts by codex"));
        for other in [attempt("claude", "t1", "r1"), attempt("codex", "t2", "r1"), attempt("codex", "t1", "r2")] {
            assert_eq!(stuck(&[same.clone(), other.clone(), same.clone()]), None);
            assert_eq!(stuck(&[same.clone(), same.clone(), other]), None);
        }
    }
}
