//! What a workspace changed, committed or not, as it can be judged and compared.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use worktree::{Examined, LineFacts};

use crate::support::{Bench, git, write};

/// The changed files, with where they were before.
fn touched(examined: &Examined) -> Vec<(&str, Option<&str>)> {
    examined.files.iter().map(|file| (name(&file.path), file.from.as_deref().map(name))).collect()
}

fn name(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The changed lines of a description: the number of lines before a change, and up to its end.
fn lines(lines: &LineFacts) -> Vec<(u32, u32)> {
    match lines {
        LineFacts::Changed(lines) => lines.iter().map(|(first, end, _)| (*first, *end)).collect(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn examine_reports_changed_base_lines() {
    let bench = Bench::new().await;
    let made = bench.workspace("work").await;
    let (id, tree) = (made.facts.id, made.path.clone());
    let before = bench.trees.examine(id, 1000).await.unwrap();
    assert_eq!((touched(&before), before.new_commits, before.uncommitted.len()), (vec![], 0, 0));
    write(&tree, "src/lib.rs", "fn one() {}\nfn three() {}\nfn four() {}\n");
    git(&tree, &["commit", "-qam", "two goes, four comes"]);
    git(&tree, &["mv", "README.md", "docs.md"]);
    write(&tree, "new file", "x\n");
    symlink("/etc/passwd", tree.join("link")).unwrap();
    write(&tree, "target/ignored", "x");
    let found = bench.trees.examine(id, 1 << 16).await.unwrap();
    assert_eq!(
        touched(&found),
        [("docs.md", Some("README.md")), ("link", None), ("new file", None), ("src/lib.rs", None)]
    );
    let work = bench.trees.describe(id, &found, &[]).await.unwrap();
    assert_eq!((work.len(), Some(work[0].against.to_string())), (1, found.base.clone()));
    assert_eq!(lines(&work[0].facts.files[3].lines), [(1, 2), (3, 3)], "lines of the base");
    let names: Vec<&str> = found.paths.iter().filter_map(|path| path.to_str()).collect();
    assert_eq!(names, ["README.md", "docs.md", "link", "new file", "src/lib.rs"]);
    assert_eq!(found.uncommitted.len(), 4);
    assert_eq!((found.new_commits, found.commits_change, found.branch.as_deref()), (1, true, Some("work")));
    assert_eq!(found.conflicts, Some(vec![]));
    assert!(found.patch.contains("-fn two() {}"), "{}", found.patch);
    assert_eq!(found.base, made.facts.base_commit);
    assert_eq!(found.head, Some(git(&tree, &["rev-parse", "HEAD"])));
    assert_eq!(found.commits, [git(&tree, &["rev-parse", "HEAD"])]);
    let short = bench.trees.examine(id, 40).await.unwrap();
    assert_eq!(short.patch, &found.patch[..40]);
    assert_eq!(short.tree, found.tree);
}

#[tokio::test]
async fn the_checked_out_branch_is_reported() {
    let bench = Bench::new().await;
    let made = bench.workspace("work").await;
    git(&made.path, &["switch", "-q", "-c", "elsewhere"]);
    write(&made.path, "new", "x\n");
    git(&made.path, &["add", "-A"]);
    git(&made.path, &["commit", "-qm", "on another branch"]);
    let found = bench.trees.examine(made.facts.id, 100).await.unwrap();
    assert_eq!((found.branch.as_deref(), found.new_commits), (Some("elsewhere"), 1));
    git(&made.path, &["switch", "-q", "--detach"]);
    let found = bench.trees.examine(made.facts.id, 100).await.unwrap();
    assert_eq!((found.branch, found.new_commits), (None, 1));
}

#[tokio::test]
async fn the_newest_commits_are_named_and_all_are_counted() {
    let bench = Bench::new().await;
    let made = bench.workspace("work").await;
    let empty = |count: usize| {
        for n in 0..count {
            git(&made.path, &["commit", "-q", "--allow-empty", "-m", &n.to_string()]);
        }
    };
    let id = made.facts.id;
    empty(3);
    let found = bench.trees.examine(id, 1 << 16).await.unwrap();
    let log: Vec<String> = ["HEAD~2", "HEAD~1", "HEAD"].iter().map(|at| git(&made.path, &["rev-parse", at])).collect();
    assert_eq!((found.new_commits, found.commits), (3, log));
    empty(100);
    let found = bench.trees.examine(id, 1 << 16).await.unwrap();
    assert_eq!((found.new_commits, found.commits.len()), (103, 100));
    assert_eq!(found.commits.last(), found.head.as_ref());
    assert_eq!(found.commits[0], git(&made.path, &["rev-parse", "HEAD~99"]));
}

#[tokio::test]
async fn a_committed_file_counts_after_an_uncommitted_deletion() {
    let bench = Bench::new().await;
    let made = bench.workspace("work").await;
    write(&made.path, "secret.pem", "key\n");
    git(&made.path, &["add", "-A"]);
    git(&made.path, &["commit", "-qm", "in"]);
    std::fs::remove_file(made.path.join("secret.pem")).unwrap();
    let found = bench.trees.examine(made.facts.id, 100).await.unwrap();
    assert_eq!(touched(&found), vec![]);
    assert_eq!(found.paths, [PathBuf::from("secret.pem")]);
    assert_eq!(found.uncommitted, [PathBuf::from("secret.pem")]);
}

#[tokio::test]
async fn a_conflict_with_the_base_is_found_in_commits_and_in_files() {
    let bench = Bench::new().await;
    let made = bench.workspace("work").await;
    let id = made.facts.id;
    write(&made.path, "README.md", "mine\nworld\n");
    git(&made.path, &["commit", "-qam", "mine"]);
    write(&bench.seed(), "README.md", "theirs\nworld\n");
    git(&bench.seed(), &["commit", "-qam", "theirs"]);
    git(&bench.seed(), &["push", "-q", "origin", "main"]);
    bench.trees.refresh(&bench.origin(), &worktree::Progress::none()).await.unwrap();
    let found = bench.trees.examine(id, 100).await.unwrap();
    assert_eq!(found.conflicts, Some(vec!["README.md".to_owned()]));
    // Resolved in the files only: the branch itself still conflicts.
    write(&made.path, "README.md", "theirs\nworld\n");
    let found = bench.trees.examine(id, 100).await.unwrap();
    assert_eq!(found.conflicts, Some(vec!["README.md".to_owned()]));
    // What the base got meanwhile is not this workspace's.
    assert_eq!(found.base, made.facts.base_commit);
}

#[tokio::test]
async fn odd_names_have_their_lines_too() {
    let bench = Bench::empty().await;
    let seed = bench.seed();
    let names = ["a b.txt", "quote\"d.txt", "tab\there.txt", "ümlaut.txt"];
    for name in names {
        write(&seed, name, "one\ntwo\nthree\n");
    }
    git(&seed, &["add", "-A"]);
    git(&seed, &["commit", "-qm", "first"]);
    git(&seed, &["push", "-q", "origin", "main"]);
    let made = bench.workspace("work").await;
    for name in names {
        write(&made.path, name, "one\n2\nthree\n");
    }
    let found = bench.trees.examine(made.facts.id, 100).await.unwrap();
    let work = bench.trees.describe(made.facts.id, &found, &[]).await.unwrap().remove(0);
    assert_eq!((found.files.len(), work.facts.files.len()), (names.len(), names.len()));
    for file in &work.facts.files {
        assert_eq!(lines(&file.lines), [(1, 2)], "{}", file.path.display());
        assert!(names.iter().any(|name| file.path == Path::new(name)));
    }
}

#[tokio::test]
async fn a_broken_git_folder_is_a_problem_and_not_a_crash() {
    let bench = Bench::new().await;
    let made = bench.workspace("work").await;
    std::fs::remove_dir_all(made.path.join(".git")).unwrap();
    write(&made.path, "x", "y");
    let found = bench.trees.examine(made.facts.id, 100).await.unwrap();
    assert!(found.problem.is_some());
    assert_eq!(found.head, None);
    assert_eq!(found.uncommitted, [PathBuf::from("x")]);
}
