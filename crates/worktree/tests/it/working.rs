//! Accepted work is kept, travels, and is what dependants start from.

use std::path::Path;

use domain::WorkspaceId;
use worktree::{Error, Oid, Plan, Progress, Start, Work, Workspace, Worktrees};

use crate::support::{Bench, content, git, write};

const LIMIT: usize = 8 << 20;

/// A workspace on its own branch with one committed file, kept under the branch's name.
async fn done(bench: &Bench, name: &str, file: &str, text: &str) -> Work {
    let made = bench.workspace(name).await;
    finished(bench, &made, name, file, text).await
}

async fn finished(bench: &Bench, made: &Workspace, name: &str, file: &str, text: &str) -> Work {
    write(&made.path, file, text);
    git(&made.path, &["add", "-A"]);
    git(&made.path, &["commit", "-qm", name]);
    let kept = bench.trees.keep_work(made.facts.id, name).await.unwrap();
    assert_eq!(kept.commit.to_string(), git(&made.path, &["rev-parse", "HEAD"]));
    assert_eq!(kept.base.map(|base| base.to_string()), made.facts.base_commit);
    Work { name: name.to_owned(), title: format!("the {name}"), commit: kept.commit, landed: None, bundle: None }
}

async fn start(trees: &Worktrees, bench: &Bench, branch: &str, works: &[&Work]) -> worktree::Result<Workspace> {
    let works = works.iter().map(|work| (*work).clone()).collect();
    let plan = Plan { from: Some(Start::Work(works)), ..bench.plan(branch) };
    trees.create(WorkspaceId::generate(), &plan, &Progress::none()).await
}

fn has(dir: &Path, names: &[&str]) {
    let found = content(dir);
    for name in names {
        assert!(found.contains_key(Path::new(name)), "{name} in {:?}", found.keys());
    }
}

#[tokio::test]
async fn kept_work_outlives_its_workspace_and_moves_forward() {
    let bench = Bench::new().await;
    let made = bench.workspace("one").await;
    let first = finished(&bench, &made, "one", "a", "1\n").await;
    assert_eq!(bench.trees.kept(&bench.origin(), "one").await.unwrap(), Some(first.commit.clone()));
    // What is not committed is not part of it.
    write(&made.path, "draft", "x\n");
    assert_eq!(bench.trees.keep_work(made.facts.id, "one").await.unwrap().commit, first.commit);
    let second = finished(&bench, &made, "one", "a", "2\n").await;
    bench.trees.clean(made.facts.id, worktree::Unfinished::KeepSaved).await.unwrap();
    assert_eq!(bench.reopened().await.kept(&bench.origin(), "one").await.unwrap(), Some(second.commit));
    assert_eq!(bench.trees.kept(&bench.origin(), "other").await.unwrap(), None);
    let error = bench.trees.keep_work(made.facts.id, "../x").await.unwrap_err();
    assert!(matches!(error, Error::Branch { .. }), "{error}");
}

#[tokio::test]
async fn a_dependant_starts_from_its_works_and_only_its_own_changes_count() {
    let bench = Bench::new().await;
    let one = done(&bench, "one", "one.txt", "1\n").await;
    let two = done(&bench, "two", "two.txt", "2\n").await;
    let made = start(&bench.trees, &bench, "three", &[&one, &two]).await.unwrap();
    has(&made.path, &["one.txt", "two.txt", "README.md"]);
    assert_eq!(git(&made.path, &["log", "-1", "--format=%s|%an"]), "Merge the two|Shopfloor");
    assert_eq!(git(&made.path, &["status", "--porcelain"]), "");
    assert_eq!(made.facts.base.as_ref().map(worktree::BranchName::as_str), Some("main"));
    assert_eq!(made.facts.base_commit, Some(git(&made.path, &["rev-parse", "HEAD"])));
    let files = |found: worktree::Examined| found.paths;
    let id = made.facts.id;
    assert!(files(bench.trees.examine(id, 1000).await.unwrap()).is_empty());
    write(&made.path, "three.txt", "3\n");
    git(&made.path, &["add", "-A"]);
    git(&made.path, &["commit", "-qm", "three"]);
    let found = bench.trees.examine(id, 1000).await.unwrap();
    assert_eq!((found.new_commits, found.commits_change), (1, true));
    assert_eq!(files(found), [Path::new("three.txt")]);
    assert_eq!(bench.trees.stats(id).await.unwrap().files, 1);
    // The base goes on, and the agent takes it in: that is not its own change either.
    bench.branch("main", "main", "later.txt", "x\n");
    bench.fetched().await;
    git(&made.path, &["fetch", "-q", "origin"]);
    git(&made.path, &["merge", "-q", "-m", "take in", "origin/main"]);
    has(&made.path, &["later.txt"]);
    assert_eq!(files(bench.trees.examine(id, 1000).await.unwrap()), [Path::new("three.txt")]);
    assert_eq!(bench.trees.diff(id, None, &worktree::DiffLimits::default()).await.unwrap().files.len(), 1);
}

#[tokio::test]
async fn a_chain_is_fast_forwarded_and_what_is_there_already_is_skipped() {
    let bench = Bench::new().await;
    let one = done(&bench, "one", "one.txt", "1\n").await;
    let made = start(&bench.trees, &bench, "two", &[&one]).await.unwrap();
    assert_eq!(git(&made.path, &["rev-parse", "HEAD"]), one.commit.to_string());
    let two = finished(&bench, &made, "two", "two.txt", "2\n").await;
    for works in [[&one, &two], [&two, &one]] {
        let made = start(&bench.trees, &bench, &format!("three-{}", works[0].name), &works).await.unwrap();
        assert_eq!(git(&made.path, &["rev-parse", "HEAD"]), two.commit.to_string());
    }
    // Landed meanwhile: nothing to merge.
    git(
        &bench.seed(),
        &[
            "fetch",
            "-q",
            bench.data().join("workspaces").join(made.facts.id.to_string()).join("tree").to_str().unwrap(),
            "two",
        ],
    );
    git(&bench.seed(), &["push", "-q", "origin", "FETCH_HEAD:refs/heads/main"]);
    let made = start(&bench.trees, &bench, "four", &[&one, &two]).await.unwrap();
    assert_eq!(git(&made.path, &["rev-parse", "HEAD"]), bench.tip("main").to_string());
}

#[tokio::test]
async fn works_in_conflict_are_found_before_anything_is_checked_out() {
    let bench = Bench::new().await;
    let one = done(&bench, "one", "README.md", "hello\none\n").await;
    let two = done(&bench, "two", "README.md", "hello\ntwo\n").await;
    let error = start(&bench.trees, &bench, "three", &[&one, &two]).await.unwrap_err();
    let Error::Conflict { first, second, paths } = &error else { panic!("{error}") };
    assert_eq!((first.as_str(), second.as_str()), ("\u{201c}the one\u{201d}", "\u{201c}the two\u{201d}"));
    assert_eq!(paths, &["README.md"]);
    assert_eq!(bench.trees.list().await.unwrap().len(), 2);
    bench.branch("main", "main", "README.md", "hello\nbase\n");
    let error = start(&bench.trees, &bench, "three", &[&one]).await.unwrap_err();
    assert_eq!(error.to_string(), "the base branch and \u{201c}the one\u{201d} conflict in README.md");
}

#[tokio::test]
async fn work_travels_to_another_runner() {
    let bench = Bench::new().await;
    let one = done(&bench, "one", "one.txt", "1\n").await;
    let two = done(&bench, "two", "two.txt", "2\n").await;
    let made = start(&bench.trees, &bench, "three", &[&one, &two]).await.unwrap();
    let mut three = finished(&bench, &made, "three", "three.txt", "3\n").await;
    let trees = bench.elsewhere().await;
    let error = start(&trees, &bench, "four", &[&three]).await.unwrap_err();
    assert!(error.to_string().starts_with("the work of the three is not on this runner"), "{error}");
    let file = bench.path().join("three.bundle");
    std::fs::write(&file, bench.trees.pack_work(&bench.origin(), "three", LIMIT).await.unwrap()).unwrap();
    three.bundle = Some(file.clone());
    let taken = start(&trees, &bench, "four", &[&three]).await.unwrap();
    assert_eq!(content(&taken.path), content(&made.path));
    assert_eq!(trees.kept(&bench.origin(), "three").await.unwrap(), Some(three.commit.clone()));
    assert_eq!(trees.take_work(&bench.origin(), "three", &file).await.unwrap(), three.commit);
    // Continued there, it still counts from the same commit, and comes back.
    write(&taken.path, "four.txt", "4\n");
    let packed = trees.pack(taken.facts.id, LIMIT).await.unwrap();
    assert_eq!(packed.base, Some(three.commit.to_string()));
    // What landed is packed as well.
    git(&bench.seed(), &["fetch", "-q", made.path.to_str().unwrap(), "three"]);
    git(&bench.seed(), &["push", "-q", "origin", "FETCH_HEAD:refs/heads/main"]);
    bench.fetched().await;
    std::fs::write(&file, bench.trees.pack_work(&bench.origin(), "three", LIMIT).await.unwrap()).unwrap();
    assert_eq!(trees.take_work(&bench.origin(), "three", &file).await.unwrap(), three.commit);
    let error = bench.trees.pack_work(&bench.origin(), "nothing", LIMIT).await.unwrap_err();
    assert!(matches!(error, Error::NoWork { .. }), "{error}");
}

#[tokio::test]
async fn a_bundle_with_something_else_is_refused() {
    let bench = Bench::new().await;
    let mut one = done(&bench, "one", "one.txt", "1\n").await;
    let bytes = bench.trees.pack_work(&bench.origin(), "one", LIMIT).await.unwrap();
    let trees = bench.elsewhere().await;
    let file = bench.path().join("one.bundle");
    std::fs::write(&file, &bytes).unwrap();
    // Another name than the one that was asked for.
    let error = trees.take_work(&bench.origin(), "two", &file).await.unwrap_err();
    assert!(matches!(error, Error::Bundle { .. }), "{error}");
    std::fs::write(&file, &bytes[..bytes.len() - 30]).unwrap();
    let error = trees.take_work(&bench.origin(), "one", &file).await.unwrap_err();
    assert!(matches!(error, Error::Bundle { .. }), "{error}");
    // Another commit than the one that was accepted.
    std::fs::write(&file, &bytes).unwrap();
    one.bundle = Some(file);
    one.commit = "1234567890123456789012345678901234567890".parse::<Oid>().unwrap();
    let error = start(&trees, &bench, "two", &[&one]).await.unwrap_err();
    assert!(matches!(error, Error::NoWork { .. }), "{error}");
}

#[tokio::test]
async fn a_commit_is_checked_out_clean_and_leaves_nothing_behind() {
    let bench = Bench::new().await;
    let head = bench.branch("topic", "main", "new", "x\n");
    bench.fetched().await;
    assert_eq!(bench.trees.fetched_tip(&bench.origin(), &"topic".parse().unwrap()).await.unwrap(), Some(head.clone()));
    let made = bench.trees.checkout_clean(&bench.origin(), &head, &[]).await.unwrap();
    assert_eq!(git(made.path(), &["rev-parse", "HEAD"]), head.to_string());
    assert_eq!(git(made.path(), &["status", "--porcelain", "--ignored"]), "");
    assert!(bench.trees.list().await.unwrap().is_empty());
    let folder = made.path().to_owned();
    drop(made);
    testkit::wait_until("it is deleted", || async { (!folder.exists()).then_some(()) }).await;
    // What a kill leaves is deleted at the next start.
    let left = bench.trees.checkout_clean(&bench.origin(), &head, &[]).await.unwrap();
    bench.reopened().await;
    assert!(!left.path().exists());
    let unknown = "1234567890123456789012345678901234567890".parse().unwrap();
    let error = bench.trees.checkout_clean(&bench.origin(), &unknown, &[]).await.unwrap_err();
    assert!(matches!(error, Error::NoWork { .. }), "{error}");
}
