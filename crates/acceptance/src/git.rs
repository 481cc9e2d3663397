//! What git says of the work: whether it is committed, and whether it can be merged.

use worktree::Examined;

use crate::verdict::{Verdict, names};

const NO_REPOSITORY: &str = "the project has no repository, so that nothing can be committed or merged";

/// Whether everything is committed, and at least one commit is new.
pub(crate) fn committed(repository: bool, facts: &Examined) -> Verdict {
    if !repository {
        return Verdict::Unclear(NO_REPOSITORY.to_owned());
    }
    if let Some(problem) = &facts.problem {
        return Verdict::Not(format!("the commits cannot be looked at: {problem}"));
    }
    if !facts.uncommitted.is_empty() {
        return Verdict::Not(format!(
            "{} paths are not committed: {}; commit them, or undo or ignore them",
            facts.uncommitted.len(),
            names(&facts.uncommitted)
        ));
    }
    if facts.new_commits == 0 {
        return Verdict::Not("nothing was committed: the branch is where it started".to_owned());
    }
    if !facts.commits_change {
        return Verdict::Not("the new commits change nothing".to_owned());
    }
    if facts.branch.is_none() {
        return Verdict::Not("the commits are on no branch (HEAD is detached); put them on one".to_owned());
    }
    Verdict::Met(format!("{} new commits, and nothing that is not committed", facts.new_commits))
}

/// Whether the work can be merged into the branch that it started from.
pub(crate) fn mergeable(repository: bool, facts: &Examined) -> Verdict {
    if !repository {
        return Verdict::Unclear(NO_REPOSITORY.to_owned());
    }
    match (&facts.problem, &facts.conflicts) {
        (Some(problem), _) => Verdict::Not(format!("the commits cannot be looked at: {problem}")),
        (None, None) => Verdict::Not("the work cannot be merged: it has no history in common with the base".to_owned()),
        (None, Some(files)) if files.is_empty() => Verdict::Met("it can be merged into the base".to_owned()),
        (None, Some(files)) => Verdict::Not(format!(
            "it conflicts with the base in {}; merge or rebase onto the newest base and resolve that",
            names(files)
        )),
    }
}
