//! Stacks of candidates: what is built, what is left out, and the same commits everywhere.

use worktree::{Candidate, Level, Method, Oid, Stacked, Worktrees};

use crate::support::{Bench, git, write};

fn candidate(name: &str, head: &Oid, method: Method) -> Candidate {
    Candidate { name: name.to_owned(), head: head.clone(), title: format!("Add {name}"), method }
}

async fn stack(trees: &Worktrees, bench: &Bench, base: &Oid, all: &[(&str, &Oid)], method: Method) -> Vec<Level> {
    trees.refresh(&bench.origin(), &worktree::Progress::none()).await.unwrap();
    let all: Vec<Candidate> = all.iter().map(|(name, head)| candidate(name, head, method)).collect();
    trees.stack(&bench.origin(), base, &all).await.unwrap()
}

fn commit(level: &Level) -> &Oid {
    match &level.built {
        Stacked::Built { commit, .. } => commit,
        other => panic!("{}: {other:?}", level.name),
    }
}

fn differs(level: &Level) -> Vec<String> {
    match &level.built {
        Stacked::Built { contribution, .. } => contribution.differs.clone(),
        other => panic!("{}: {other:?}", level.name),
    }
}

/// What people see of a commit in the store.
fn show(bench: &Bench, commit: &Oid, format: &str) -> String {
    let store = std::fs::read_dir(bench.data().join("repositories")).unwrap().next().unwrap().unwrap().path();
    git(&store, &["show", "-s", &format!("--format={format}"), commit.as_str()])
}

fn files(bench: &Bench, commit: &Oid) -> String {
    let store = std::fs::read_dir(bench.data().join("repositories")).unwrap().next().unwrap().unwrap().path();
    git(&store, &["ls-tree", "-r", "--name-only", commit.as_str()]).replace('\n', " ")
}

#[tokio::test]
async fn each_method_builds_every_level_on_the_one_before() {
    let bench = Bench::new().await;
    let base = bench.tip("main");
    let one = bench.branch("one", base.as_str(), "one.txt", "1\n");
    bench.branch("two", base.as_str(), "two.txt", "2\n");
    let two = bench.branch("two", "two", "three.txt", "3\n");
    for method in [Method::Merge, Method::Squash, Method::Rebase] {
        let levels = stack(&bench.trees, &bench, &base, &[("one", &one), ("two", &two)], method).await;
        let (first, second) = (commit(&levels[0]), commit(&levels[1]));
        assert_eq!(files(&bench, second), ".gitignore README.md one.txt src/lib.rs three.txt two.txt");
        assert!(levels.iter().all(|level| differs(level).is_empty()), "{levels:?}");
        let parents = show(&bench, second, "%P");
        let subject = show(&bench, second, "%s|%an");
        match method {
            Method::Merge => {
                assert_eq!(parents, format!("{first} {two}"));
                assert_eq!(subject, "Merge Add two|Shopfloor");
            }
            Method::Squash => {
                assert_eq!(parents, first.to_string());
                assert_eq!(subject, "Add two|T");
            }
            Method::Rebase => {
                assert_eq!(*first, one);
                assert_eq!(subject, "change two|T");
                assert_eq!(show(&bench, &parents.parse().unwrap(), "%P"), first.to_string());
            }
        }
    }
}

#[tokio::test]
async fn the_same_order_gives_the_same_commits_on_every_runner() {
    let bench = Bench::new().await;
    let base = bench.tip("main");
    let one = bench.branch("one", base.as_str(), "one.txt", "1\n");
    let two = bench.branch("two", base.as_str(), "two.txt", "2\n");
    let other = bench.elsewhere().await;
    for method in [Method::Merge, Method::Squash, Method::Rebase] {
        let here = stack(&bench.trees, &bench, &base, &[("one", &one), ("two", &two)], method).await;
        let there = stack(&other, &bench, &base, &[("one", &one), ("two", &two)], method).await;
        assert_eq!(here, there);
        // When the first has landed, the second stands on it unchanged.
        let rest = stack(&bench.trees, &bench, commit(&here[0]), &[("two", &two)], method).await;
        assert_eq!(commit(&rest[0]), commit(&here[1]));
    }
}

#[tokio::test]
async fn a_conflict_is_left_out_with_its_files_and_its_side() {
    let bench = Bench::new().await;
    let old = bench.tip("main");
    let stale = bench.branch("stale", old.as_str(), ".gitignore", "stale\n");
    let base = bench.branch("main", "main", ".gitignore", "base\n");
    let one = bench.branch("one", base.as_str(), "README.md", "one\n");
    let two = bench.branch("two", base.as_str(), "README.md", "two\n");
    let three = bench.branch("three", base.as_str(), "three.txt", "3\n");
    let all = [("one", &one), ("two", &two), ("stale", &stale), ("three", &three)];
    for method in [Method::Merge, Method::Squash, Method::Rebase] {
        let levels = stack(&bench.trees, &bench, &base, &all, method).await;
        let left_out = |file: &str, with_base| Stacked::Conflict { paths: vec![file.to_owned()], with_base };
        assert_eq!(levels[1].built, left_out("README.md", false));
        assert_eq!(levels[2].built, left_out(".gitignore", true));
        assert_eq!(files(&bench, commit(&levels[3])), ".gitignore README.md src/lib.rs three.txt");
    }
    let sides = bench.trees.sides(&bench.origin(), &base, &stale).await.unwrap();
    let expected = "--- .gitignore\n<<<<<<< on the target branch\nbase\n=======\nstale\n>>>>>>> on your branch\n";
    assert_eq!(sides, expected);
    assert_eq!(bench.trees.sides(&bench.origin(), &base, &three).await.unwrap(), "");
}

#[tokio::test]
async fn a_branch_whose_changes_have_landed_adds_no_commit() {
    let bench = Bench::new().await;
    let base = bench.tip("main");
    let one = bench.branch("one", base.as_str(), "one.txt", "1\n");
    let same = bench.branch("same", base.as_str(), "one.txt", "1\n");
    for method in [Method::Merge, Method::Squash, Method::Rebase] {
        let levels = stack(
            &bench.trees,
            &bench,
            &base,
            &[("old", &base), ("one", &one), ("again", &one), ("same", &same)],
            method,
        )
        .await;
        assert_eq!(levels[0].built, Stacked::Contained, "{method:?}");
        // What is only in the stack has not landed: it lands with the stack.
        for n in [2, 3] {
            assert_eq!(commit(&levels[n]), commit(&levels[1]), "{n} {method:?}");
        }
        let rest = stack(&bench.trees, &bench, commit(&levels[1]), &[("same", &same)], method).await;
        assert_eq!(rest[0].built, Stacked::Contained, "{method:?}");
    }
}

#[tokio::test]
async fn a_branch_on_another_one_adds_only_its_own_part() {
    let bench = Bench::new().await;
    let base = bench.tip("main");
    bench.branch("one", base.as_str(), "README.md", "hello\nworld\n1\n");
    let one = bench.branch("one", "one", "README.md", "hello\nworld\none\n");
    let two = bench.branch("two", "one", "README.md", "hello\nworld\none\ntwo\n");
    // So that even the first one is rebased.
    let base = bench.branch("main", base.as_str(), "later", "x\n");
    for method in [Method::Merge, Method::Squash, Method::Rebase] {
        let levels = stack(&bench.trees, &bench, &base, &[("one", &one), ("two", &two)], method).await;
        assert!(levels.iter().all(|level| differs(level).is_empty()), "{method:?} {levels:?}");
        // The same after the first has landed.
        let rest = stack(&bench.trees, &bench, commit(&levels[0]), &[("two", &two)], method).await;
        assert_eq!(commit(&rest[0]), commit(&levels[1]));
    }
}

#[tokio::test]
async fn moved_files_and_equal_changes_are_no_difference() {
    let bench = Bench::new().await;
    let seed = bench.seed();
    let long: String = (0..40).map(|n| format!("line {n}\n")).collect();
    let base = bench.branch("main", "main", "long.txt", &long);
    git(&seed, &["checkout", "-qB", "moves", "main"]);
    git(&seed, &["mv", "long.txt", "moved.txt"]);
    let moves = bench.push("moves");
    let edited = long.replace("line 20\n", "line twenty\n");
    let edits = bench.branch("edits", base.as_str(), "long.txt", &edited);
    // The same change, and one more far away.
    let again = bench.branch("again", base.as_str(), "long.txt", edited.replace("line 3\n", "line three\n"));
    for order in [
        [("moves", &moves), ("edits", &edits), ("again", &again)],
        [("edits", &edits), ("again", &again), ("moves", &moves)],
    ] {
        for method in [Method::Merge, Method::Squash, Method::Rebase] {
            let levels = stack(&bench.trees, &bench, &base, &order, method).await;
            assert!(levels.iter().all(|level| differs(level).is_empty()), "{method:?} {levels:?}");
        }
    }
}

#[tokio::test]
async fn a_change_that_both_sides_merged_is_no_difference() {
    let bench = Bench::new().await;
    let seed = bench.seed();
    let merge = |onto: &str, name: &str| {
        git(&seed, &["checkout", "-qB", name, onto]);
        git(&seed, &["merge", "-q", "--no-commit", "moss"]);
        bench.push(name)
    };
    let start = bench.branch("main", "main", "list.txt", "trees:\n");
    bench.branch("moss", start.as_str(), "moss.txt", "moss\n");
    let later = bench.branch("main", start.as_str(), "list.txt", "trees: ash\n");
    // One starts from main and moss; main goes on, and merges moss itself.
    let reed = merge(later.as_str(), "reed");
    let reed = bench.branch("reed", reed.as_str(), "reed.txt", "reed\n");
    let base = bench.branch("main", later.as_str(), "list.txt", "trees: ash cedar\n");
    let base = merge(base.as_str(), "main");
    for method in [Method::Merge, Method::Squash, Method::Rebase] {
        let levels = stack(&bench.trees, &bench, &base, &[("reed", &reed)], method).await;
        assert_eq!(differs(&levels[0]), Vec::<String>::new(), "{method:?}");
    }
}

#[tokio::test]
async fn a_level_that_changes_something_else_is_told() {
    let bench = Bench::new().await;
    let base = bench.tip("main");
    let one = bench.branch("one", base.as_str(), "README.md", "hello\nworld\none\n");
    // A merge by hand that takes back what it merged: its own changes undo the first one's.
    git(&bench.seed(), &["checkout", "-qB", "evil", base.as_str()]);
    git(&bench.seed(), &["merge", "-q", "--no-ff", "--no-commit", "one"]);
    write(&bench.seed(), "README.md", "hello\nworld\n");
    write(&bench.seed(), "evil.txt", "x\n");
    let evil = bench.push("evil");
    let levels = stack(&bench.trees, &bench, &base, &[("one", &one), ("evil", &evil)], Method::Merge).await;
    assert_eq!(differs(&levels[1]), ["README.md"]);
}
