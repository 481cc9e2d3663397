//! Create, save, count, restore, clean.

use domain::WorkspaceId;
use worktree::{Cleaned, Error, Into, Plan, Progress, Reason, Unfinished};

use crate::support::{Bench, content, git, write};

#[tokio::test]
async fn a_workspace_is_a_clean_clone_on_its_own_branch() {
    let bench = Bench::new().await;
    let space = bench.workspace("ann/work").await;
    assert_eq!(content(&space.path), content(&bench.seed()));
    assert_eq!(git(&space.path, &["status", "--porcelain=v2", "--branch"]).lines().count(), 2);
    assert_eq!(git(&space.path, &["branch", "--show-current"]), "ann/work");
    assert_eq!(git(&space.path, &["remote", "get-url", "origin"]), bench.origin().to_string());
    assert_eq!(git(&space.path, &["rev-parse", "origin/main"]), git(&bench.seed(), &["rev-parse", "HEAD"]));
    write(&space.path, "new.txt", "x");
    git(&space.path, &["add", "-A"]);
    git(&space.path, &["commit", "-qm", "work"]);
    git(&space.path, &["push", "-q"]);
    git(&space.path, &["fsck", "--strict"]);
}

#[tokio::test]
async fn a_restored_save_has_the_same_bytes() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    assert_eq!(bench.trees.save(id).await.unwrap().new, None, "nothing changed");
    write(&space.path, "src/lib.rs", "fn four() {}\r\n");
    write(&space.path, "deep/er/ünïcode \"q\"\n.txt", b"\0\xff\r\n");
    std::os::unix::fs::symlink("/etc/passwd", space.path.join("link")).unwrap();
    std::fs::remove_file(space.path.join("README.md")).unwrap();
    let saved = bench.trees.save(id).await.unwrap().new.unwrap();
    assert_eq!(saved.files, 4);
    assert_eq!(bench.trees.save(id).await.unwrap().new, None, "nothing changed since");
    let want = content(&space.path);
    assert_eq!(git(&space.path, &["rev-list", "--count", "--all"]), "1", "nothing in the agent's git");
    std::fs::remove_dir_all(&space.path).unwrap();
    let into = bench.path().join("back");
    bench.trees.restore(id, None, &Into::Folder(into.clone())).await.unwrap();
    assert_eq!(content(&into), want);
    bench.trees.restore(id, None, &Into::Workspace).await.unwrap();
    assert_eq!(content(&space.path), want);
    assert_eq!(git(&space.path, &["branch", "--show-current"]), "work");
    assert_eq!(git(&space.path, &["status", "--porcelain"]).lines().count(), 4);
}

#[tokio::test]
async fn an_older_save_comes_back_in_place_and_nothing_is_lost() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    write(&space.path, "a.txt", "one");
    bench.trees.save(id).await.unwrap();
    let first = content(&space.path);
    write(&space.path, "a.txt", "two");
    write(&space.path, "b.txt", "two");
    bench.trees.save(id).await.unwrap();
    write(&space.path, "c.txt", "not saved yet");
    write(&space.path, "kept.log", "ignored");
    let third = content(&space.path);
    let saves = bench.trees.saves(id, 10).await.unwrap();
    bench.trees.restore(id, Some(&saves[1].id), &Into::Workspace).await.unwrap();
    assert_eq!(std::fs::read(space.path.join("kept.log")).unwrap(), b"ignored");
    std::fs::remove_file(space.path.join("kept.log")).unwrap();
    assert_eq!(content(&space.path), first);
    assert_eq!(bench.trees.stats(id).await.unwrap().files, 1);
    let saves = bench.trees.saves(id, 10).await.unwrap();
    assert_eq!(saves.len(), 4, "two by hand, one before, one after");
    bench.trees.restore(id, Some(&saves[1].id), &Into::Workspace).await.unwrap();
    write(&space.path, "kept.log", "ignored");
    assert_eq!(content(&space.path), third);
    for odd in ["HEAD", "main", "--all", &"0".repeat(40), &git(&space.path, &["rev-parse", "HEAD"])] {
        let refused = bench.trees.restore(id, Some(odd), &Into::Workspace).await;
        assert!(matches!(refused, Err(Error::NoSave { .. })), "{odd}");
    }
}

#[tokio::test]
async fn numbers_say_what_differs_from_the_base() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    let stats = bench.trees.stats(id).await.unwrap();
    assert_eq!((stats.files, stats.uncommitted, stats.unpushed), (0, false, 0));
    write(&space.path, "README.md", "hello\nthere\n");
    git(&space.path, &["commit", "-qam", "one"]);
    write(&space.path, "new.txt", "a\nb\n");
    write(&space.path, "debug.log", "ignored");
    let stats = bench.trees.stats(id).await.unwrap();
    assert_eq!((stats.ahead, stats.behind, stats.unpushed), (1, 0, 1));
    assert_eq!((stats.files, stats.insertions, stats.deletions), (2, 3, 1));
    assert_eq!((stats.untracked, stats.uncommitted), (1, true));
    assert_eq!(stats.conflict_with_base, Some(vec![]));
    write(&bench.seed(), "README.md", "hello\nelsewhere\n");
    git(&bench.seed(), &["commit", "-qam", "conflict"]);
    git(&bench.seed(), &["push", "-q", "origin", "main"]);
    bench.trees.refresh(&bench.origin(), &Progress::none()).await.unwrap();
    let stats = bench.trees.stats(id).await.unwrap();
    assert_eq!((stats.ahead, stats.behind), (1, 1));
    assert_eq!(stats.conflict_with_base, Some(vec!["README.md".to_owned()]));
}

#[tokio::test]
async fn only_what_is_pushed_is_deleted() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    write(&space.path, "README.md", "changed");
    let refused = bench.trees.clean(id, Unfinished::Refuse).await.unwrap_err();
    assert!(matches!(&refused, Error::WouldLose { reasons, .. } if *reasons == [Reason::Uncommitted { files: 1 }]));
    git(&space.path, &["commit", "-qam", "one"]);
    let refused = bench.trees.clean(id, Unfinished::Refuse).await.unwrap_err();
    assert!(matches!(&refused, Error::WouldLose { reasons, .. } if *reasons == [Reason::Unpushed { commits: 1 }]));
    // A lie in the agent's own refs does not help.
    let tip = git(&space.path, &["rev-parse", "HEAD"]);
    git(&space.path, &["update-ref", "refs/remotes/origin/work", &tip]);
    assert_eq!(bench.trees.stats(id).await.unwrap().unpushed, 0);
    bench.trees.clean(id, Unfinished::Refuse).await.unwrap_err();
    git(&space.path, &["push", "-q"]);
    assert_eq!(bench.trees.clean(id, Unfinished::Refuse).await.unwrap(), Cleaned::Deleted);
    assert!(!space.path.exists());
    assert_eq!(bench.trees.clean(id, Unfinished::Refuse).await.unwrap(), Cleaned::Absent);
}

#[tokio::test]
async fn work_that_is_only_saved_outlives_its_folder() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    write(&space.path, "README.md", "committed");
    git(&space.path, &["commit", "-qam", "one"]);
    let tip = git(&space.path, &["rev-parse", "HEAD"]);
    write(&space.path, "new.txt", "not committed");
    let want = content(&space.path);
    bench.trees.clean(id, Unfinished::Refuse).await.unwrap_err();
    bench.trees.clean(id, Unfinished::KeepSaved).await.unwrap();
    assert!(!space.path.exists());
    let trees = bench.reopened().await;
    let saves = trees.saves(id, 10).await.unwrap();
    assert_eq!(saves[0].head.as_deref(), Some(tip.as_str()));
    let into = bench.path().join("back");
    trees.restore(id, Some(&saves[0].id), &Into::Folder(into.clone())).await.unwrap();
    assert_eq!(content(&into), want);
    trees.forget(id).await.unwrap();
    assert!(matches!(trees.saves(id, 10).await, Err(Error::NoWorkspace(_))));
}

#[tokio::test]
async fn an_empty_repository_and_none_at_all_work_too() {
    let bench = Bench::empty().await;
    let space = bench.workspace("work").await;
    write(&space.path, "a.txt", "a\n");
    let stats = bench.trees.stats(space.facts.id).await.unwrap();
    assert_eq!((stats.files, stats.insertions, stats.untracked, stats.uncommitted), (1, 1, 1, true));
    git(&space.path, &["add", "-A"]);
    git(&space.path, &["commit", "-qm", "first"]);
    let stats = bench.trees.stats(space.facts.id).await.unwrap();
    assert_eq!((stats.files, stats.untracked, stats.uncommitted, stats.unpushed), (1, 0, false, 1));

    let id = WorkspaceId::generate();
    let space = bench.trees.create(id, &Plan::default(), &Progress::none()).await.unwrap();
    assert!(content(&space.path).is_empty() && !space.path.join(".git").exists());
    assert_eq!(bench.trees.save(id).await.unwrap().new, None);
    write(&space.path, "notes.md", "one\n");
    assert_eq!(bench.trees.stats(id).await.unwrap().insertions, 1);
    bench.trees.clean(id, Unfinished::Refuse).await.unwrap_err();
    bench.trees.clean(id, Unfinished::KeepSaved).await.unwrap();
    let into = bench.path().join("back");
    bench.trees.restore(id, None, &Into::Folder(into.clone())).await.unwrap();
    assert_eq!(std::fs::read(into.join("notes.md")).unwrap(), b"one\n");
}

#[tokio::test]
async fn a_missing_branch_is_named_with_similar_ones() {
    let bench = Bench::new().await;
    let plan = Plan { base: Some("mian".parse().unwrap()), ..bench.plan("work") };
    let error = bench.trees.create(WorkspaceId::generate(), &plan, &Progress::none()).await.unwrap_err();
    assert!(error.to_string().ends_with("has no branch `mian`; did you mean `main`?"), "{error}");
}

#[tokio::test]
async fn work_in_a_submodule_keeps_its_workspace() {
    let bench = Bench::new().await;
    let head = git(&bench.seed(), &["rev-parse", "HEAD"]);
    git(&bench.seed(), &["update-index", "--add", "--cacheinfo", &format!("160000,{head},sub")]);
    git(&bench.seed(), &["commit", "-qm", "a submodule"]);
    git(&bench.seed(), &["push", "-q", "origin", "main"]);
    let space = bench.workspace("work").await;
    let (id, sub) = (space.facts.id, space.path.join("sub"));
    git(&bench.path(), &["clone", "-q", bench.origin().to_string().as_str(), sub.to_str().unwrap()]);
    git(&sub, &["checkout", "-q", &head]);
    write(&sub, "uncommitted.txt", "only here");
    for unfinished in [Unfinished::Refuse, Unfinished::KeepSaved] {
        let refused = bench.trees.clean(id, unfinished).await.unwrap_err();
        assert!(refused.to_string().contains("sub is a nested repository"), "{refused}");
    }
    assert!(sub.join("uncommitted.txt").exists());
}

#[tokio::test]
async fn many_workspaces_are_made_at_once() {
    let bench = Bench::new().await;
    let mut making = tokio::task::JoinSet::new();
    for number in 0..12 {
        let (trees, mut plan) = (bench.trees.clone(), bench.plan(&format!("work/{number}")));
        if number % 2 == 0 {
            plan.location = None;
        }
        making.spawn(async move { trees.create(WorkspaceId::generate(), &plan, &Progress::none()).await.map(drop) });
    }
    while let Some(made) = making.join_next().await {
        made.unwrap().unwrap();
    }
    assert_eq!(bench.trees.list().await.unwrap().len(), 12);
}
