//! Criteria about git: whether the work is committed, and whether it can be merged.

use std::collections::BTreeSet;
use std::path::PathBuf;

use domain::text::counted;
use protocol::Criterion;
use worktree::{Examined, Found, Root};

use crate::place::find;
use crate::verdict::{Verdict, names};

const NO_REPOSITORY: &str = "the project has no repository, so nothing can be committed or merged";

/// Whether everything is committed, with at least one new commit.
pub(crate) fn committed(repository: bool, facts: &Examined) -> Verdict {
    if !repository {
        return Verdict::Unclear(NO_REPOSITORY.to_owned());
    }
    if let Some(problem) = &facts.problem {
        return Verdict::Not(format!("could not read the commits: {problem}"));
    }
    if !facts.uncommitted.is_empty() {
        return Verdict::Not(format!(
            "{} not committed: {}; commit, undo or ignore them",
            counted(facts.uncommitted.len(), "path is", "paths are"),
            names(&facts.uncommitted)
        ));
    }
    if facts.new_commits == 0 {
        return Verdict::Not("nothing was committed".to_owned());
    }
    if !facts.commits_change {
        return Verdict::Not("the new commits change nothing".to_owned());
    }
    if facts.branch.is_none() {
        return Verdict::Not("the commits are on no branch (HEAD is detached): put them on a branch".to_owned());
    }
    Verdict::Met(format!("everything is committed, in {}", counted(facts.new_commits, "new commit", "new commits")))
}

/// Whether to commit for an agent that left work uncommitted: a criterion requires it, and the agent could not commit
/// (`can` is false) or never did.
pub fn commits_for_agent(criteria: &[Criterion], facts: &Examined, can: bool) -> bool {
    let wanted = criteria.iter().any(|criterion| matches!(criterion, Criterion::Committed {}));
    let possible = facts.problem.is_none() && facts.branch.is_some() && facts.left_out.is_empty();
    // If the agent committed something, the rest may be rubbish: it must decide.
    wanted && possible && !facts.uncommitted.is_empty() && (!can || facts.new_commits == 0)
}

/// Whether required files are in the commit, too: an ignored file does not count as uncommitted.
pub(crate) fn kept(root: &Root, paths: &[String], facts: &Examined, met: String) -> Verdict {
    let places = paths.iter().filter_map(|path| find(root, path).ok());
    // Another criterion reports a missing file.
    let files = places.filter(|place| matches!(place.found, Found::File { .. }));
    let wanted: BTreeSet<PathBuf> = files.flat_map(|place| place.names).collect();
    if wanted.is_empty() {
        return Verdict::Met(met);
    }
    let Some(committed) = &facts.committed else {
        return Verdict::Unclear(
            "the commit has too many files to check that it contains all required ones".to_owned(),
        );
    };
    // A submodule stands for all files in it.
    let missing: Vec<PathBuf> =
        wanted.into_iter().filter(|path| !path.ancestors().any(|above| committed.contains(above))).collect();
    if missing.is_empty() {
        return Verdict::Met(met);
    }
    Verdict::Not(format!(
        "not in the commit: {} (ignored by git, or in a nested repository); remove it from .gitignore or use \
         `git add -f`, and commit it",
        names(&missing)
    ))
}

/// Whether the work merges into the branch that it started from.
pub(crate) fn mergeable(repository: bool, facts: &Examined) -> Verdict {
    if !repository {
        return Verdict::Unclear(NO_REPOSITORY.to_owned());
    }
    match (&facts.problem, &facts.conflicts) {
        (Some(problem), _) => Verdict::Not(format!("could not read the commits: {problem}")),
        (None, None) => {
            Verdict::Not("the work cannot be merged: it has no common history with the base branch".to_owned())
        }
        (None, Some(files)) if files.is_empty() => Verdict::Met("it merges into the base branch".to_owned()),
        (None, Some(files)) => Verdict::Not(format!(
            "it conflicts with the base branch in {}; merge the newest base or rebase onto it, and resolve the conflicts",
            names(files)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_a_submodule_counts_as_committed_with_it() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("sub")).unwrap();
        std::fs::write(dir.path().join("sub/a"), "a").unwrap();
        let root = Root::open(dir.path()).unwrap();
        let facts = |names: &[&str]| Examined {
            committed: Some(names.iter().map(PathBuf::from).collect()),
            ..Examined::default()
        };
        let check = |facts: &Examined| kept(&root, &["sub/a".to_owned()], facts, String::new());
        assert_eq!(check(&facts(&["sub"])), Verdict::Met(String::new()));
        assert!(matches!(check(&facts(&["su", "sub/b"])), Verdict::Not(_)));
        assert!(matches!(check(&Examined::default()), Verdict::Unclear(_)));
    }

    #[test]
    fn work_is_committed_for_agents_that_could_not_or_never_did() {
        let left =
            Examined { branch: Some("b".to_owned()), uncommitted: vec![PathBuf::from("a")], ..Examined::default() };
        let some = Examined { new_commits: 1, ..left.clone() };
        let wanted = [Criterion::Committed {}];
        let check = |facts: &Examined, can| commits_for_agent(&wanted, facts, can);
        assert!(check(&left, true) && check(&left, false) && check(&some, false));
        assert!(!check(&some, true), "it can commit the rest itself");
        assert!(!commits_for_agent(&[], &left, false), "no criterion requires it");
        assert!(!check(&Examined { branch: None, ..left.clone() }, false), "there is no branch");
        assert!(!check(&Examined { problem: Some("odd".to_owned()), ..left.clone() }, false));
        assert!(!check(&Examined { uncommitted: vec![], ..left }, false), "there is nothing to commit");
    }
}
