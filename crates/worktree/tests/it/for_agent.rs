//! Work that an agent could not commit is committed for it, and nothing of the agent's decides how.

use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::{Bench, git, write};

#[tokio::test]
async fn everything_that_is_not_ignored_is_committed_on_the_branch_that_is_checked_out() {
    let bench = Bench::new().await;
    let made = bench.workspace("work").await;
    let (id, tree) = (made.facts.id, made.path.clone());
    assert_eq!(bench.trees.commit(id, "Nothing").await.unwrap(), None, "there is nothing to commit");
    git(&tree, &["switch", "-q", "-c", "deep/er"]);
    write(&tree, "README.md", "other\n");
    write(&tree, "new/file", "x\n");
    write(&tree, "target/ignored", "x");
    std::fs::remove_file(tree.join("src/lib.rs")).unwrap();
    let commit = bench.trees.commit(id, "Do it\n\nAll of it.").await.unwrap().unwrap();
    assert_eq!(git(&tree, &["rev-parse", "HEAD"]), commit);
    assert_eq!(git(&tree, &["log", "-1", "--format=%an %B"]), "Shopfloor Do it\n\nAll of it.");
    assert_eq!(git(&tree, &["status", "--porcelain"]), "", "the agent's own git finds nothing to do");
    assert_eq!(git(&tree, &["symbolic-ref", "--short", "HEAD"]), "deep/er");
    let found = bench.trees.examine(id, 1000).await.unwrap();
    assert_eq!((found.new_commits, found.uncommitted.len(), found.problem), (1, 0, None));
    write(&tree, "more", "y\n");
    git(&tree, &["add", "-A"]);
    git(&tree, &["commit", "-qm", "the agent goes on"]);
    assert_eq!(bench.trees.examine(id, 1000).await.unwrap().new_commits, 2);
    git(&tree, &["fsck", "--strict"]);
}

#[tokio::test]
async fn hooks_filters_and_links_of_an_agent_do_nothing() {
    let bench = Bench::new().await;
    let made = bench.workspace("work").await;
    let (id, tree) = (made.facts.id, made.path.clone());
    let (canary, outside) = (bench.path().join("canary"), bench.path().join("outside"));
    let run = format!("touch {}; exit 1", canary.display());
    for (key, value) in
        [("core.fsmonitor", &run), ("filter.x.clean", &run), ("commit.gpgSign", &"true".into()), ("gpg.program", &run)]
    {
        git(&tree, &["config", key, value]);
    }
    write(&tree, ".gitattributes", "* filter=x\n");
    for hook in ["pre-commit", "reference-transaction"] {
        let path = format!(".git/hooks/{hook}");
        write(&tree, &path, format!("#!/bin/sh\n{run}\n"));
        std::fs::set_permissions(tree.join(path), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::write(&outside, "untouched").unwrap();
    std::fs::remove_file(tree.join(".git/index")).unwrap();
    symlink(&outside, tree.join(".git/index")).unwrap();
    let reference = tree.join(".git/refs/heads/work");
    let head = std::fs::read_to_string(&reference).unwrap();
    std::fs::remove_file(&reference).unwrap();
    write(&tree, ".git/packed-refs", format!("{} refs/heads/work\n", head.trim()));
    symlink(&outside, &reference).unwrap();
    let commit = bench.trees.commit(id, "Do it").await.unwrap().unwrap();
    assert_eq!(std::fs::read_to_string(&reference).unwrap().trim(), commit, "the link is gone");
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "untouched");
    assert!(!canary.exists(), "nothing of the agent's ran");
}

#[tokio::test]
async fn a_git_folder_that_leads_elsewhere_and_a_git_at_work_are_left_alone() {
    let bench = Bench::new().await;
    let made = bench.workspace("work").await;
    let (id, tree) = (made.facts.id, made.path.clone());
    write(&tree, "new", "x\n");
    write(&tree, ".git/index.lock", "");
    assert_eq!(bench.trees.commit(id, "Do it").await.unwrap(), None, "its own git is at work");
    std::fs::remove_file(tree.join(".git/index.lock")).unwrap();
    git(&tree, &["checkout", "-q", "--detach"]);
    assert_eq!(bench.trees.commit(id, "Do it").await.unwrap(), None, "there is no branch");
    git(&tree, &["checkout", "-q", "work"]);
    std::fs::rename(tree.join(".git"), bench.path().join("moved")).unwrap();
    symlink(bench.path().join("moved"), tree.join(".git")).unwrap();
    assert_eq!(bench.trees.commit(id, "Do it").await.unwrap(), None, "it is not the workspace's own");
}
