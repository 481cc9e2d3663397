//! What a save has of large files, which save is brought back, and whose branch and name the work carries.

use domain::WorkspaceId;
use worktree::{Cleaned, Error, Facts, Into, Options, Plan, Progress, Reason, Start, Unfinished, Worktrees};

use crate::support::{Bench, content, feed_git, git, try_git, write};

/// The same data directory, with small limits.
async fn small(bench: &Bench) -> Worktrees {
    let options = Options { largest_file: 1000, ..Options::default() };
    Worktrees::open(&bench.data(), options).await.unwrap()
}

#[tokio::test]
async fn a_file_that_grew_too_large_is_not_saved_as_it_was_before() {
    let bench = Bench::new().await;
    let trees = small(&bench).await;
    let id = WorkspaceId::generate();
    let space = trees.create(id, &bench.plan("work"), &Progress::none()).await.unwrap();
    write(&space.path, "data.csv", "short");
    trees.save(id).await.unwrap().new.unwrap();
    write(&space.path, "data.csv", "x".repeat(2000));
    let saved = trees.save(id).await.unwrap().new.expect("a save that says what it has not");
    assert_eq!(saved.left_out.len(), 1, "{saved:?}");
    assert_eq!(saved.left_out[0].path, "data.csv");
    assert!(saved.left_out[0].why.contains("1000"), "{saved:?}");
    assert_eq!(trees.save(id).await.unwrap().new, None, "once is enough");
    let into = bench.path().join("back");
    trees.restore(id, Some(&saved.id), &Into::Folder(into.clone())).await.unwrap();
    assert!(!into.join("data.csv").exists(), "no older version is passed off as this one");
    assert!(into.join("README.md").exists());
    // The file itself stays where it is, and an older save does not overwrite what nobody else has.
    trees.restore(id, Some(&saved.id), &Into::Workspace).await.unwrap();
    assert_eq!(std::fs::metadata(space.path.join("data.csv")).unwrap().len(), 2000);
    let older = trees.saves(id, 10).await.unwrap().pop().unwrap();
    let refused = trees.restore(id, Some(&older.id), &Into::Workspace).await.unwrap_err();
    assert!(refused.to_string().contains("data.csv"), "{refused}");
    assert_eq!(std::fs::metadata(space.path.join("data.csv")).unwrap().len(), 2000);
    std::fs::rename(space.path.join("data.csv"), bench.path().join("away")).unwrap();
    trees.restore(id, Some(&older.id), &Into::Workspace).await.unwrap();
    assert_eq!(std::fs::read(space.path.join("data.csv")).unwrap(), b"short");
    assert!(trees.saves(id, 1).await.unwrap()[0].left_out.is_empty());
}

#[tokio::test]
async fn a_large_file_is_reported_even_if_nothing_else_changed() {
    let bench = Bench::new().await;
    let trees = small(&bench).await;
    let id = WorkspaceId::generate();
    let space = trees.create(id, &bench.plan("work"), &Progress::none()).await.unwrap();
    write(&space.path, "core.dump", "x".repeat(5000));
    trees.save(id).await.unwrap();
    let told = |saves: Vec<worktree::Save>| saves.first().map(|save| save.left_out.len());
    assert_eq!(told(trees.saves(id, 10).await.unwrap()), Some(1));
    let again = small(&bench).await;
    assert_eq!(again.save(id).await.unwrap().new, None, "it is remembered");
    std::fs::remove_file(space.path.join("core.dump")).unwrap();
    again.save(id).await.unwrap();
    assert_eq!(told(again.saves(id, 10).await.unwrap()), Some(0));
}

#[tokio::test]
async fn a_large_file_that_is_committed_and_pushed_keeps_no_workspace() {
    let bench = Bench::new().await;
    let trees = small(&bench).await;
    let id = WorkspaceId::generate();
    let space = trees.create(id, &bench.plan("work"), &Progress::none()).await.unwrap();
    write(&space.path, "data/big one.bin", "x".repeat(5000));
    trees.save(id).await.unwrap();
    let refused = trees.clean(id, Unfinished::Refuse).await.unwrap_err();
    assert!(refused.to_string().contains("big one.bin could not be saved"), "{refused}");
    git(&space.path, &["add", "-A"]);
    git(&space.path, &["commit", "-qm", "large"]);
    let saved = trees.save(id).await.unwrap();
    assert_eq!(saved.left_out, [], "what was committed is kept with the commit");
    let stats = trees.stats(id).await.unwrap();
    assert!(!stats.uncommitted && stats.problem.is_none(), "{stats:?}");
    let refused = trees.clean(id, Unfinished::Refuse).await.unwrap_err();
    assert!(matches!(&refused, Error::WouldLose { reasons, .. } if *reasons == [Reason::Unpushed { commits: 1 }]));
    // The same size is not the same file.
    write(&space.path, "data/big one.bin", "y".repeat(5000));
    assert_eq!(trees.save(id).await.unwrap().left_out.len(), 1);
    git(&space.path, &["push", "-q"]);
    let refused = trees.clean(id, Unfinished::Refuse).await.unwrap_err();
    assert!(refused.to_string().contains("big one.bin could not be saved"), "{refused}");
    write(&space.path, "data/big one.bin", "x".repeat(5000));
    assert_eq!(trees.clean(id, Unfinished::Refuse).await.unwrap(), Cleaned::Deleted);
    let into = bench.path().join("back");
    trees.restore(id, None, &Into::Folder(into.clone())).await.unwrap();
    assert_eq!(std::fs::read(into.join("data/big one.bin")).unwrap(), "x".repeat(5000).into_bytes());
}

#[tokio::test]
async fn deleted_files_are_restored_from_the_newest_save() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    write(&space.path, "precious.txt", "precious");
    bench.trees.save(id).await.unwrap();
    let want = content(&space.path);
    std::fs::remove_file(space.path.join("precious.txt")).unwrap();
    // The watcher may have saved that already, or not.
    bench.trees.save(id).await.unwrap();
    bench.trees.restore(id, None, &Into::Workspace).await.unwrap();
    assert_eq!(content(&space.path), want);
    let newest = bench.trees.saves(id, 1).await.unwrap().remove(0);
    let before = bench.trees.saves(id, 10).await.unwrap().pop().unwrap();
    assert_eq!(newest.restored, Some(before.id), "the chain says what was brought back");
    std::fs::remove_file(space.path.join("precious.txt")).unwrap();
    bench.trees.restore(id, None, &Into::Workspace).await.unwrap();
    assert_eq!(content(&space.path), want);
    // What was spoilt comes back, too; what only came since is no reason.
    write(&space.path, "precious.txt", "spoilt");
    bench.trees.restore(id, None, &Into::Workspace).await.unwrap();
    assert_eq!(content(&space.path), want);
}

#[tokio::test]
async fn without_anything_to_bring_back_nothing_is_touched() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    write(&space.path, "one.txt", "one");
    bench.trees.save(id).await.unwrap();
    write(&space.path, "two.txt", "two");
    let refused = bench.trees.restore(id, None, &Into::Workspace).await.unwrap_err();
    assert!(matches!(refused, Error::NothingBack { .. }), "{refused}");
    assert!(refused.to_string().contains("--save"), "{refused}");
    assert!(space.path.join("two.txt").exists());
}

#[tokio::test]
async fn a_save_is_known_by_its_first_digits() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    write(&space.path, "a.txt", "one");
    let first = bench.trees.save(id).await.unwrap().new.unwrap();
    write(&space.path, "a.txt", "two");
    bench.trees.save(id).await.unwrap();
    for short in [&first.id[..12], &first.id[..12].to_uppercase()] {
        bench.trees.restore(id, Some(short), &Into::Workspace).await.unwrap();
        assert_eq!(std::fs::read(space.path.join("a.txt")).unwrap(), b"one");
        write(&space.path, "a.txt", "three");
    }
    for odd in [&first.id[..3], "zzzz", "", "--all", &format!("{}0", first.id)] {
        let refused = bench.trees.restore(id, Some(odd), &Into::Workspace).await;
        assert!(matches!(refused, Err(Error::NoSave { .. })), "{odd}: {refused:?}");
    }
}

#[tokio::test]
async fn ambiguous_save_prefixes_are_refused() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    write(&space.path, "a.txt", "one");
    bench.trees.save(id).await.unwrap();
    // Enough that two of them begin with the same four digits.
    let store = std::fs::read_dir(bench.data().join("repositories")).unwrap();
    let name = format!("refs/shopfloor/saved/{id}");
    let has = |store: &std::path::PathBuf| try_git(store, &["rev-parse", "-q", "--verify", &name]).status.success();
    let store = store.map(|entry| entry.unwrap().path()).find(has).unwrap();
    let note = git(&store, &["log", "-1", "--format=%B", &name]);
    let one = |n: u32| {
        let who = format!("Shopfloor <shopfloor@localhost> {} +0000", 1_800_000_000 + n);
        format!("commit {name}\ncommitter {who}\ndata {}\n{note}\n", note.len())
    };
    let stream = one(0) + &format!("from {name}^0\n\n") + &(1..2000).map(|n| one(n) + "\n").collect::<String>();
    feed_git(&store, &["fast-import", "--quiet"], &stream);
    let trees = bench.reopened().await;
    let saves = trees.saves(id, 5000).await.unwrap();
    assert!(saves.len() >= 2000, "{}", saves.len());
    let mut ids: Vec<&str> = saves.iter().map(|save| save.id.as_str()).collect();
    ids.sort_unstable();
    let pair = ids.windows(2).find(|pair| pair[0][..4] == pair[1][..4]).expect("two that begin alike");
    write(&space.path, "a.txt", "two");
    let refused = trees.restore(id, Some(&pair[0][..4]), &Into::Workspace).await.unwrap_err();
    assert!(matches!(refused, Error::ManySaves { .. }), "{refused}");
    for id in pair {
        assert!(refused.to_string().contains(&id[..8]), "{refused} does not name {id}");
    }
    assert_eq!(std::fs::read(space.path.join("a.txt")).unwrap(), b"two", "nothing is touched");
    trees.restore(id, Some(pair[0]), &Into::Workspace).await.unwrap();
    assert_eq!(std::fs::read(space.path.join("a.txt")).unwrap(), b"one");
}

#[tokio::test]
async fn a_new_branch_cannot_have_a_name_that_the_remote_uses() {
    let bench = Bench::new().await;
    git(&bench.seed(), &["push", "-q", "origin", "main:taken", "main:deep/er"]);
    for name in ["main", "taken", "taken/sub", "deep"] {
        let id = WorkspaceId::generate();
        let refused = bench.trees.create(id, &bench.plan(name), &Progress::none()).await.unwrap_err().to_string();
        assert!(refused.contains("choose another name"), "{name}: {refused}");
        assert!(!bench.data().join("workspaces").join(id.to_string()).exists());
    }
    // Continuing a branch is another matter; so is a workspace that lost its folder after a push.
    let mut plan = bench.plan("taken");
    plan.from = Some(Start::Branch("taken".parse().unwrap()));
    bench.trees.create(WorkspaceId::generate(), &plan, &Progress::none()).await.unwrap();
    let space = bench.workspace("fresh").await;
    git(&space.path, &["push", "-q"]);
    bench.trees.clean(space.facts.id, Unfinished::Refuse).await.unwrap();
    bench.trees.create(space.facts.id, &bench.plan("fresh"), &Progress::none()).await.unwrap();
}

#[tokio::test]
async fn commits_carry_the_persons_name_without_their_home() {
    let bench = Bench::empty().await;
    let author = Some(worktree::Author { name: "Ann \"the\" B\\x #1".into(), email: "ann@example.org".into() });
    let trees = Worktrees::open(&bench.data(), Options { author, ..Options::default() }).await.unwrap();
    let space = trees.create(WorkspaceId::generate(), &bench.plan("work"), &Progress::none()).await.unwrap();
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(args).current_dir(&space.path).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        let out = git.env("HOME", "/nonexistent").env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    write(&space.path, "a.txt", "one");
    git(&["add", "-A"]);
    git(&["commit", "-qm", "one"]);
    assert_eq!(
        git(&["log", "-1", "--format=%an <%ae>, %cn"]),
        "Ann \"the\" B\\x #1 <ann@example.org>, Ann \"the\" B\\x #1\n"
    );
}

#[tokio::test]
async fn a_repository_of_this_machine_says_who_commits_in_it() {
    let bench = Bench::empty().await;
    let origin = bench.path().join("origin.git");
    for (name, value) in [("user.name", "Ann at work"), ("user.email", "ann@work.example")] {
        git(&origin, &["config", name, value]);
    }
    let author = Some(worktree::Author { name: "Ann".into(), email: "ann@home.example".into() });
    let trees = Worktrees::open(&bench.data(), Options { author, ..Options::default() }).await.unwrap();
    let space = trees.create(WorkspaceId::generate(), &bench.plan("work"), &Progress::none()).await.unwrap();
    let said = |name: &str| git(&space.path, &["config", "--local", name]);
    assert_eq!((said("user.name"), said("user.email")), ("Ann at work".into(), "ann@work.example".into()));
    // Half of a name is none, and included settings do not count.
    git(&origin, &["config", "--unset", "user.email"]);
    write(&origin, "more", "[user]\n\temail = other@work.example\n");
    git(&origin, &["config", "include.path", "more"]);
    let space = trees.create(WorkspaceId::generate(), &bench.plan("more"), &Progress::none()).await.unwrap();
    assert_eq!(git(&space.path, &["config", "--local", "user.email"]), "ann@home.example");
}

#[tokio::test]
async fn a_workspace_without_its_git_folder_says_how_to_go_on() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    write(&space.path, "new.txt", "new");
    std::fs::remove_dir_all(space.path.join(".git")).unwrap();
    let refused = bench.trees.clean(id, Unfinished::Refuse).await.unwrap_err();
    let said = refused.to_string();
    assert!(!said.contains("os error"), "{said}");
    assert!(said.contains(".git") && said.contains("workspace restore"), "{said}");
    assert_eq!(std::fs::read(space.path.join("new.txt")).unwrap(), b"new");
    // What it says works: the `.git` is there again, and what was not committed is not committed.
    bench.trees.restore(id, None, &Into::Workspace).await.unwrap();
    assert_eq!(std::fs::read(space.path.join("new.txt")).unwrap(), b"new");
    assert_eq!(git(&space.path, &["status", "--porcelain"]), "?? new.txt");
    assert_eq!(git(&space.path, &["branch", "--show-current"]), "work");
    let refused = bench.trees.clean(id, Unfinished::Refuse).await.unwrap_err();
    assert!(matches!(&refused, Error::WouldLose { reasons, .. } if reasons.len() == 1), "{refused}");
}

/// Losing only `.git` is no reason to bring older files back.
#[tokio::test]
async fn a_workspace_that_lost_only_its_git_folder_keeps_its_newest_files() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    write(&space.path, "work.txt", "first");
    bench.trees.save(id).await.unwrap();
    write(&space.path, "work.txt", "second");
    bench.trees.save(id).await.unwrap();
    write(&space.path, "work.txt", "third");
    std::fs::remove_dir_all(space.path.join(".git")).unwrap();
    bench.trees.restore(id, None, &Into::Workspace).await.unwrap();
    assert_eq!(std::fs::read(space.path.join("work.txt")).unwrap(), b"third");
    assert_eq!(git(&space.path, &["status", "--porcelain"]), "?? work.txt");
    // One that is named comes back as before.
    let first = bench.trees.saves(id, 10).await.unwrap().into_iter().rev().find(|save| save.files > 0).unwrap().id;
    bench.trees.restore(id, Some(&first), &Into::Workspace).await.unwrap();
    assert_eq!(std::fs::read(space.path.join("work.txt")).unwrap(), b"first");
}

/// The folder of a workspace is gone with everything in it; its saves and commits are in the shared store.
#[tokio::test]
async fn a_workspace_whose_whole_folder_was_deleted_comes_back() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    write(&space.path, "committed.txt", "committed");
    git(&space.path, &["add", "-A"]);
    git(&space.path, &["commit", "-q", "-m", "mine"]);
    let head = git(&space.path, &["rev-parse", "HEAD"]);
    write(&space.path, "loose.txt", "not committed");
    bench.trees.save(id).await.unwrap();
    let want = content(&space.path);
    std::fs::remove_dir_all(space.path.parent().unwrap()).unwrap();
    let plan = Plan { base: space.facts.base.clone(), ..bench.plan("work") };
    for trees in [bench.trees.clone(), bench.reopened().await] {
        let revived = trees.revive(id, &plan, None).await.unwrap();
        let made = Facts { created_at: space.facts.created_at, ..revived.facts };
        assert_eq!((made, content(&revived.path)), (space.facts.clone(), want.clone()));
        assert_eq!(git(&revived.path, &["rev-parse", "HEAD"]), head);
        assert_eq!(git(&revived.path, &["branch", "--show-current"]), "work");
        assert_eq!(git(&revived.path, &["status", "--porcelain"]), "?? loose.txt");
        let stats = trees.stats(id).await.unwrap();
        assert_eq!((stats.ahead, stats.untracked), (1, 1), "{stats:?}");
        std::fs::remove_dir_all(revived.path.parent().unwrap()).unwrap();
    }
    let stranger = bench.trees.revive(WorkspaceId::generate(), &plan, None).await.unwrap_err();
    assert!(matches!(stranger, Error::NoWorkspace(_)), "{stranger}");
}
