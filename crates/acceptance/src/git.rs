//! What git says of the work: whether it is committed, and whether it can be merged.

use std::collections::BTreeSet;
use std::path::PathBuf;

use protocol::Criterion;
use worktree::{Examined, Found, Root};

use crate::place::find;
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

/// Whether work is to be committed for an agent that left it uncommitted: it must be, and the agent could not do so, or
/// never did. `can`: it could.
pub fn commits_for_agent(criteria: &[Criterion], facts: &Examined, can: bool) -> bool {
    let wanted = criteria.iter().any(|criterion| matches!(criterion, Criterion::Committed {}));
    let possible = facts.problem.is_none() && facts.branch.is_some() && facts.left_out.is_empty();
    // Whoever has committed something is asked about the rest: it may be rubbish.
    wanted && possible && !facts.uncommitted.is_empty() && (!can || facts.new_commits == 0)
}

/// Whether files that must be there are in the commit, too: what is ignored is nowhere among what is not committed.
pub(crate) fn kept(root: &Root, paths: &[String], facts: &Examined, met: String) -> Verdict {
    let places = paths.iter().filter_map(|path| find(root, path).ok());
    // What is not there at all is another criterion's matter.
    let files = places.filter(|place| matches!(place.found, Found::File { .. }));
    let wanted: BTreeSet<PathBuf> = files.flat_map(|place| place.names).collect();
    if wanted.is_empty() {
        return Verdict::Met(met);
    }
    let Some(committed) = &facts.committed else {
        return Verdict::Unclear(
            "the commit has too many files to find out whether all that must be are in it".to_owned(),
        );
    };
    // A submodule stands in the commit for all that is in it.
    let missing: Vec<PathBuf> =
        wanted.into_iter().filter(|path| !path.ancestors().any(|above| committed.contains(above))).collect();
    if missing.is_empty() {
        return Verdict::Met(met);
    }
    let are = if missing.len() == 1 { "is" } else { "are" };
    Verdict::Not(format!(
        "{} {are} there, but not in the commit: ignored by git, or in a repository inside; take it out of .gitignore or \
         use `git add -f`, and commit it",
        names(&missing)
    ))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_counts_as_committed_with_the_submodule_that_it_is_in() {
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
    fn work_is_committed_for_whoever_could_not_or_never_did() {
        let left =
            Examined { branch: Some("b".to_owned()), uncommitted: vec![PathBuf::from("a")], ..Examined::default() };
        let some = Examined { new_commits: 1, ..left.clone() };
        let wanted = [Criterion::Committed {}];
        let check = |facts: &Examined, can| commits_for_agent(&wanted, facts, can);
        assert!(check(&left, true) && check(&left, false) && check(&some, false));
        assert!(!check(&some, true), "it can commit the rest itself");
        assert!(!commits_for_agent(&[], &left, false), "nobody wants it");
        assert!(!check(&Examined { branch: None, ..left.clone() }, false), "there is no branch");
        assert!(!check(&Examined { problem: Some("odd".to_owned()), ..left.clone() }, false));
        assert!(!check(&Examined { uncommitted: vec![], ..left }, false), "there is nothing to commit");
    }
}
