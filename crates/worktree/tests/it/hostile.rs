//! TRUST §5: whatever a repository or an agent prepares, nothing of it is executed by us.

use std::os::unix::fs::symlink;

use domain::WorkspaceId;
use testkit::Canary;
use worktree::{DiffLimits, Error, Into, Progress, Reason, Unfinished, Workspace};

use crate::support::{Bench, content, git, try_git, write};
use crate::traps;

/// Every operation there is; what they say does not matter here.
async fn everything(bench: &Bench, space: &Workspace) {
    let (trees, id) = (bench.reopened().await, space.facts.id);
    let _ = trees.refresh(&bench.origin(), &Progress::none()).await;
    let _ = trees.default_branch(&bench.origin()).await;
    let _ = trees.find(id).await;
    let _ = trees.list().await;
    let _ = trees.save(id).await;
    let _ = trees.stats(id).await;
    let _ = trees.diff(id, None, &DiffLimits::default()).await;
    let _ = trees.executable_config(id).await;
    let _ = trees.saves(id, 100).await;
    let _ = trees.disk_usage(id).await;
    let _ = trees.would_lose(id).await;
    let _ = trees.clean(id, Unfinished::Refuse).await;
    let into = bench.path().join(format!("back-{}", WorkspaceId::generate()));
    let _ = trees.restore(id, None, &Into::Folder(into)).await;
}

async fn trapped() -> (Bench, Canary, Workspace) {
    let bench = Bench::new().await;
    let canary = Canary::new(&bench.path());
    traps::in_the_tree(&bench.seed(), &canary);
    let first = bench.workspace("first").await;
    everything(&bench, &first).await;
    assert!(!first.path.exists(), "nothing differed, so that it could be cleaned");
    let space = bench.workspace("work").await;
    assert!(canary.sung().is_empty(), "by what is committed: {:?}", canary.sung());
    traps::in_dot_git(&space.path.join(".git"), &canary);
    traps::in_the_folder(&space.path, &canary);
    let made = canary.sung();
    assert!(made.is_empty(), "by making the traps: {made:?}");
    (bench, canary, space)
}

#[tokio::test]
async fn no_trap_springs() {
    let (bench, canary, space) = trapped().await;
    everything(&bench, &space).await;
    assert!(canary.sung().is_empty(), "{:?}", canary.sung());
    let stats = bench.trees.stats(space.facts.id).await.unwrap();
    assert!(stats.files >= 8 && stats.uncommitted, "{stats:?}");
    // A move of the branch makes us import.
    let tip = git(&bench.seed(), &["commit-tree", "-p", "HEAD", "-m", "x", "HEAD^{tree}"]);
    git(&bench.seed(), &["push", "-q", "origin", &format!("{tip}:refs/heads/side")]);
    let objects = space.path.join(".git/objects");
    let out = try_git(
        &bench.seed(),
        &["-c", "core.hooksPath=/dev/null", "pack-objects", "--all", objects.join("pack/pack").to_str().unwrap()],
    );
    assert!(out.status.success());
    write(&space.path, ".git/refs/heads/work", format!("{tip}\n"));
    everything(&bench, &space).await;
    assert_eq!(bench.trees.stats(space.facts.id).await.unwrap().head, Some(tip));
    assert!(canary.sung().is_empty(), "{:?}", canary.sung());
}

/// The same traps with the git that people use: a fixture that cannot spring would prove nothing.
#[tokio::test]
async fn the_traps_are_real() {
    let (_bench, canary, space) = trapped().await;
    let tree = &space.path;
    // A pipe and a terabyte would stop plain git before the traps do.
    for name in ["huge.bin", "fifo"] {
        std::fs::remove_file(tree.join(name)).unwrap();
    }
    let config = tree.join(".git/config");
    for round in 0..2 {
        for args in [
            &["status"][..],
            &["add", "f.txt", "c.two"],
            &["diff", "HEAD"],
            &["diff", "--no-ext-diff", "HEAD"],
            &["commit", "-qm", "x"],
            &["-c", "commit.gpgSign=false", "commit", "-qm", "x", "--allow-empty"],
            &["-c", "commit.gpgSign=false", "commit", "--amend", "--allow-empty"],
            &["fetch", "ssh://localhost/x"],
            &["fetch", "origin"],
            &["push", "origin", "HEAD"],
            &["-c", "commit.gpgSign=false", "rebase", "-i", "--root"],
            &["rebase", "--abort"],
            &["checkout", "-qfb", "other"],
            &["-c", "commit.gpgSign=false", "commit", "-qm", "y", "--allow-empty"],
            &["merge", "work"],
            &["gc", "--auto"],
        ] {
            try_git(tree, args);
        }
        if round == 0 {
            // Without those that cover others.
            let text = std::fs::read_to_string(&config).unwrap();
            let covers =
                |line: &&str| !["insteadOf", "path =", "clean =", "smudge ="].iter().any(|key| line.contains(key));
            let text: Vec<&str> = text.lines().filter(covers).collect();
            std::fs::write(&config, text.join("\n")).unwrap();
            std::fs::remove_file(tree.join(".git/config.worktree")).unwrap();
            git(tree, &["config", "filter.evil.clean", &format!("cat; {}", canary.command("clean"))]);
            git(tree, &["config", "filter.evil.smudge", "cat"]);
        }
    }
    let sung = canary.sung();
    assert!(sung.len() >= 20, "{} of the traps spring: {sung:?}", sung.len());
}

#[tokio::test]
async fn nested_work_is_saved_and_keeps_its_workspace() {
    let (bench, _canary, space) = trapped().await;
    let id = space.facts.id;
    let saved = bench.trees.save(id).await.unwrap();
    let out: Vec<&str> = saved.left_out.iter().map(|out| out.path.as_str()).collect();
    // Only the superuser can look into a folder that nobody may.
    let closed = std::fs::read_dir(space.path.join("locked")).is_err();
    assert_eq!(
        out,
        if closed { vec!["huge.bin", "locked"] } else { vec!["huge.bin"] },
        "pipes and sockets hold no work"
    );
    let into = bench.path().join("back");
    bench.trees.restore(id, None, &Into::Folder(into.clone())).await.unwrap();
    assert_eq!(std::fs::read(into.join("nested/n.txt")).unwrap(), b"nested work, changed\n");
    let (mut want, got) = (content(&space.path), content(&into));
    want.retain(|path, _| path.as_os_str() != "huge.bin" && !path.starts_with("sub"));
    assert_eq!(got, want);
    let kept = bench.trees.clean(id, Unfinished::KeepSaved).await.unwrap_err();
    let Error::WouldLose { reasons, .. } = kept else { panic!("{kept}") };
    assert!(reasons.iter().any(|r| matches!(r, Reason::Nested { path } if path == "nested")), "{reasons:?}");
    assert!(reasons.iter().any(|r| matches!(r, Reason::Nested { path } if path == "sub")), "{reasons:?}");
    assert!(reasons.iter().any(|r| matches!(r, Reason::NotSaved { path, .. } if path == "huge.bin")), "{reasons:?}");
}

#[tokio::test]
async fn files_are_saved_although_the_git_folder_was_replaced() {
    let bench = Bench::new().await;
    let canary = Canary::new(&bench.path());
    let evil = bench.path().join("evil");
    git(&bench.path(), &["init", "-q", "evil"]);
    // A commit that only somebody else's repository has.
    write(&evil, "secret.txt", "secret");
    git(&evil, &["add", "secret.txt"]);
    git(&evil, &["commit", "-qm", "secret"]);
    let stolen = git(&evil, &["rev-parse", "HEAD"]);
    traps::in_dot_git(&evil.join(".git"), &canary);
    for (n, how) in ["file", "link", "gone", "head-link", "reftable", "alternates", "objects-link", "blob", "commondir"]
        .iter()
        .enumerate()
    {
        let space = bench.workspace(&format!("work-{n}")).await;
        let (id, dot_git) = (space.facts.id, space.path.join(".git"));
        let aside = bench.path().join(format!("aside-{n}"));
        match *how {
            "file" => {
                std::fs::rename(&dot_git, aside).unwrap();
                std::fs::write(&dot_git, format!("gitdir: {}\n", evil.join(".git").display())).unwrap();
            }
            "link" => {
                std::fs::rename(&dot_git, aside).unwrap();
                symlink(evil.join(".git"), &dot_git).unwrap();
            }
            "gone" => std::fs::rename(&dot_git, aside).unwrap(),
            "head-link" => {
                std::fs::remove_file(dot_git.join("HEAD")).unwrap();
                symlink("/etc/passwd", dot_git.join("HEAD")).unwrap();
            }
            "reftable" => write(&dot_git, "reftable/tables.list", "x"),
            "alternates" | "objects-link" => {
                write(&dot_git, "refs/heads/stolen", format!("{stolen}\n"));
                if *how == "alternates" {
                    write(&dot_git, "objects/info/alternates", format!("{}\n", evil.join(".git/objects").display()));
                } else {
                    std::fs::remove_dir_all(dot_git.join("objects/pack")).unwrap();
                    symlink(evil.join(".git/objects/pack"), dot_git.join("objects/pack")).unwrap();
                    for entry in std::fs::read_dir(evil.join(".git/objects")).unwrap() {
                        let entry = entry.unwrap();
                        let _ = symlink(entry.path(), dot_git.join("objects").join(entry.file_name()));
                    }
                }
            }
            "blob" => {
                let blob = git(&space.path, &["hash-object", "-w", "README.md"]);
                write(&dot_git, "refs/heads/odd", format!("{blob}\n"));
            }
            _ => {
                std::fs::write(dot_git.join("commondir"), evil.join(".git").to_str().unwrap()).unwrap();
                std::fs::write(dot_git.join("gitdir"), evil.join(".git").to_str().unwrap()).unwrap();
            }
        }
        write(&space.path, "work.txt", "work\n");
        let saved = bench.trees.save(id).await.unwrap();
        assert!(saved.new.is_some(), "{how}");
        assert_eq!(saved.not_kept.is_none(), *how == "commondir", "{how}: {:?}", saved.not_kept);
        let stats = bench.trees.stats(id).await.unwrap();
        assert!(stats.files == 1 && stats.uncommitted, "{how}: {stats:?}");
        bench.trees.diff(id, None, &DiffLimits::default()).await.unwrap();
        assert!(bench.trees.clean(id, Unfinished::Refuse).await.is_err(), "{how}");
        let kept = bench.trees.clean(id, Unfinished::KeepSaved).await;
        assert_eq!(kept.is_ok(), *how == "commondir", "{how}: {kept:?}");
        everything(&bench, &space).await;
    }
    let store = std::fs::read_dir(bench.data().join("repositories")).unwrap().next().unwrap().unwrap().path();
    let all = git(&store, &["cat-file", "--batch-all-objects", "--batch"]);
    assert!(!all.contains("secret"), "nothing of another repository came in");
    let sung = canary.sung();
    assert!(sung.is_empty(), "{sung:?}");
}

#[tokio::test]
async fn a_submodule_that_is_an_option_is_refused_at_the_door() {
    let bench = Bench::new().await;
    let canary = Canary::new(&bench.path());
    for (n, line) in ["path = -x/y", "url = --upload-pack=CMD", "update = !CMD"].iter().enumerate() {
        let line = line.replace("CMD", &canary.command("gitmodules"));
        write(&bench.seed(), ".gitmodules", format!("[submodule \"s\"]\n\tpath = s\n\turl = x\n\t{line}\n"));
        git(&bench.seed(), &["add", "-A"]);
        git(&bench.seed(), &["commit", "-qm", "evil"]);
        git(&bench.seed(), &["push", "-qf", "origin", &format!("HEAD:refs/heads/evil-{n}")]);
        let error = bench.trees.refresh(&bench.origin(), &Progress::none()).await.unwrap_err();
        assert!(matches!(error, Error::Unsafe { .. }), "{error}");
        git(&bench.seed(), &["push", "-q", "origin", "--delete", &format!("evil-{n}")]);
        git(&bench.seed(), &["reset", "-q", "--hard", "HEAD~"]);
    }
    assert!(canary.sung().is_empty());
}

#[tokio::test]
async fn a_pipe_in_place_of_an_ignore_list_is_named() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    std::fs::create_dir(space.path.join("d")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(space.path.join("d/.gitignore")).status().unwrap().success());
    assert!(std::process::Command::new("mkfifo").arg(space.path.join("d/.gitattributes")).status().unwrap().success());
    write(&space.path, "d/work.txt", "work\n");
    let error = bench.trees.save(space.facts.id).await.unwrap_err().to_string();
    assert!(error.contains("d/.gitignore") && error.contains("pipe"), "{error}");
    std::fs::remove_file(space.path.join("d/.gitignore")).unwrap();
    assert_eq!(bench.trees.save(space.facts.id).await.unwrap().new.unwrap().files, 1);
}
