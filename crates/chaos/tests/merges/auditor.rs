//! Walks the target branch after the chaos, and compares it with what was tested, pushed and reported.

use std::collections::{BTreeMap, BTreeSet};

use domain::CandidateState;

use crate::branches::{Branch, Fate};
use crate::fixture::Fixture;
use crate::repository::{Repository, more};

/// Checks everything; what happened, in words.
pub(crate) async fn audit(fixture: &Fixture) -> String {
    let repository = &fixture.repository;
    let states = every_state_was_tested(repository);
    nothing_came_twice_or_went(repository);
    for commit in &repository.pushed {
        repository.said(&["merge-base", "--is-ancestor", commit, "main"]);
    }
    let mut landed = Vec::new();
    for (branch, candidate) in &fixture.added {
        let detail = fixture.shown(*candidate).await;
        let state = detail.candidate.state;
        let there = branch.files.iter().all(|(path, text)| is_there(repository, branch, path, text));
        let said = format!("{branch:?}: {detail:#?}\n{}", fixture.logs());
        match state {
            CandidateState::Landed => assert!(there, "landed, and is not in main: {said}"),
            CandidateState::Ejected => assert!(detail.candidate.reason.is_some(), "without a reason: {said}"),
            _ => panic!("neither landed nor sent back: {said}"),
        }
        let (yes, reason) = (state == CandidateState::Landed, detail.candidate.reason.unwrap_or_default());
        let as_expected = match branch.fate {
            Fate::Lands | Fate::Moved => yes,
            Fate::Fails => !yes && reason.contains("fails with it"),
            Fate::Pair(_) => yes || reason.contains("fails with it"),
            Fate::Rival => yes || reason.contains("conflicts with"),
            Fate::Deleted => yes || reason.contains("has no branch"),
        };
        assert!(as_expected, "{reason}: {said}");
        if yes {
            landed.push(branch);
        }
    }
    one_of_each(fixture, &landed);
    let (all, outside) = (fixture.added.len(), repository.pushed.len());
    format!("{} of {all} branches landed, in {states} steps; {outside} pushes from outside", landed.len())
}

/// Every state of main is the start, a push from outside, or a tree for which the check said green; each follows from
/// the one before. Returns how often the queue moved main.
fn every_state_was_tested(repository: &Repository) -> usize {
    let green: BTreeSet<String> = repository.tested("green").into_iter().collect();
    let log = std::fs::read_to_string(repository.place.join("logs/refs/heads/main")).unwrap();
    let (mut at, mut steps) = (String::new(), 0);
    for line in log.lines() {
        let (from, to) = (&line[..40], &line[41..81]);
        if at.is_empty() {
            assert_eq!(to, repository.start);
        } else {
            assert_eq!(from, at, "the log of main has a gap");
            repository.said(&["merge-base", "--is-ancestor", from, to]);
            if !repository.pushed.iter().any(|commit| commit == to) {
                let tree = repository.said(&["rev-parse", &format!("{to}^{{tree}}")]);
                assert!(green.contains(&tree), "{to} landed, and no check passed on its tree {tree}");
                steps += 1;
            }
        }
        at = to.to_owned();
    }
    assert_eq!(at, repository.said(&["rev-parse", "main"]));
    steps
}

/// Along main, each file is added once and never deleted, and no commit holds what breaks the checks.
fn nothing_came_twice_or_went(repository: &Repository) {
    let range = format!("{}..main", repository.start);
    let log = ["log", "--first-parent", "-m", "--no-renames", "--name-status", "--format=", &range];
    let mut added = BTreeMap::new();
    for line in repository.said(&log).lines().filter(|line| !line.is_empty()) {
        let (status, path) = line.split_once('\t').unwrap();
        assert!(!path.starts_with("bad/"), "{path} has landed");
        assert_ne!(status, "D", "{path} is gone");
        *added.entry(path.to_owned()).or_insert(0) += usize::from(status == "A");
    }
    for (path, times) in added {
        assert!(times <= 1, "{path} was added {times} times");
    }
}

fn is_there(repository: &Repository, branch: &Branch, path: &str, text: &str) -> bool {
    if repository.said(&["ls-tree", "main", "--", path]).is_empty() {
        return false;
    }
    let found = repository.said(&["show", &format!("main:{path}")]);
    found == text.trim_end() || (branch.fate == Fate::Moved && found == more(branch).trim_end())
}

/// One of all rivals has landed, and one of each pair.
fn one_of_each(fixture: &Fixture, landed: &[&Branch]) {
    let mut wanted: Vec<Fate> = fixture.added.iter().map(|(branch, _)| branch.fate).collect();
    wanted.retain(|fate| matches!(fate, Fate::Rival | Fate::Pair(_)));
    for fate in wanted {
        let winners: Vec<&str> = landed.iter().filter(|one| one.fate == fate).map(|one| one.name.as_str()).collect();
        assert_eq!(winners.len(), 1, "{fate:?}: {winners:?}");
    }
}
