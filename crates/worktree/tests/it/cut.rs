//! Cut off anywhere: a dropped call or a killed process leaves nothing that the next call does not finish.

use std::future::Future;
use std::io::{BufRead, BufReader};
use std::pin::Pin;
use std::process::{Command, Stdio};
use std::task::{Context, Poll};

use domain::WorkspaceId;
use worktree::{Into, Options, Plan, Progress, Unfinished, Worktrees};

use crate::support::{Bench, content, git, write};

/// Cancels a future after it was polled this many times.
struct Cut<F>(Pin<Box<F>>, usize);

impl<F: Future> Future for Cut<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.1 == 0 {
            return Poll::Ready(None);
        }
        self.1 -= 1;
        self.0.as_mut().poll(context).map(Some)
    }
}

fn cut<F: Future>(after: usize, future: F) -> Cut<F> {
    Cut(Box::pin(future), after)
}

#[tokio::test]
async fn a_create_that_is_cut_off_anywhere_converges() {
    let bench = Bench::new().await;
    let mut after = 1;
    loop {
        let id = WorkspaceId::generate();
        let plan = bench.plan("work");
        let whole = cut(after, bench.trees.create(id, &plan, &Progress::none())).await.is_some();
        let trees = if after % 2 == 0 { bench.reopened().await } else { bench.trees.clone() };
        let space = trees.create(id, &plan, &Progress::none()).await.unwrap();
        assert_eq!(content(&space.path), content(&bench.seed()), "after {after}");
        assert_eq!(git(&space.path, &["status", "--porcelain"]), "");
        git(&space.path, &["fsck"]);
        assert_eq!(trees.save(id).await.unwrap().new, None);
        trees.clean(id, Unfinished::Refuse).await.unwrap();
        if whole {
            break;
        }
        after += 1;
    }
    assert!(after > 10, "it was cut at {after} places");
}

#[tokio::test]
async fn a_save_that_is_cut_off_anywhere_converges_and_loses_nothing() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    let mut after = 1;
    loop {
        write(&space.path, "README.md", format!("{after}\n"));
        write(&space.path, &format!("new/{after}.txt"), "x");
        if after % 3 == 0 {
            git(&space.path, &["add", "-A"]);
            git(&space.path, &["commit", "-qm", "x"]);
        }
        let length = bench.trees.saves(id, 10_000).await.unwrap().len();
        let whole = cut(after, bench.trees.save(id)).await.is_some();
        bench.trees.save(id).await.unwrap();
        let saves = bench.trees.saves(id, 10_000).await.unwrap();
        assert!(saves.len() > length, "no link of the chain is ever lost");
        let into = bench.path().join(format!("back-{after}"));
        bench.trees.restore(id, None, &Into::Folder(into.clone())).await.unwrap();
        assert_eq!(content(&into), content(&space.path), "after {after}");
        assert_eq!(bench.trees.save(id).await.unwrap().new, None);
        if whole && after % 3 == 0 {
            break;
        }
        after += 1;
    }
    assert!(after > 10, "it was cut at {after} places");
}

#[tokio::test]
async fn a_clean_that_is_cut_off_anywhere_deletes_all_or_nothing() {
    let bench = Bench::new().await;
    let mut after = 1;
    loop {
        let space = bench.workspace("work").await;
        let id = space.facts.id;
        write(&space.path, "new.txt", format!("{after}"));
        let want = content(&space.path);
        let whole = cut(after, bench.trees.clean(id, Unfinished::KeepSaved)).await.is_some();
        let trees = bench.reopened().await;
        if space.path.exists() {
            assert_eq!(content(&space.path), want, "after {after}");
        }
        trees.clean(id, Unfinished::KeepSaved).await.unwrap();
        assert!(!space.path.exists());
        let into = bench.path().join(format!("back-{after}"));
        trees.restore(id, None, &Into::Folder(into.clone())).await.unwrap();
        assert_eq!(content(&into), want, "after {after}");
        if whole {
            break;
        }
        after += 1;
    }
    assert!(after > 5, "it was cut at {after} places");
}

/// What the process does that is killed below; not a test of its own.
#[tokio::test]
#[ignore = "started by the test below"]
async fn worker() {
    let Some(dir) = std::env::var_os("SHOPFLOOR_TEST_DIR").map(std::path::PathBuf::from) else { return };
    let location = dir.join("origin.git").to_str().unwrap().parse().unwrap();
    let plan = Plan { location: Some(location), branch: Some("work".parse().unwrap()), ..Plan::default() };
    let trees = Worktrees::open(&dir.join("data"), Options::default()).await.unwrap();
    let id: WorkspaceId = std::env::var("SHOPFLOOR_TEST_ID").unwrap().parse().unwrap();
    for n in 0.. {
        let space = trees.create(id, &plan, &Progress::none()).await.unwrap();
        write(&space.path, "n.txt", format!("{n}"));
        trees.save(id).await.unwrap();
        println!("\nsaved {n}");
        let other = WorkspaceId::generate();
        trees.create(other, &plan, &Progress::none()).await.unwrap();
        trees.clean(other, Unfinished::Refuse).await.unwrap();
    }
}

#[tokio::test]
async fn a_process_that_is_killed_leaves_what_it_had_saved() {
    let bench = Bench::new().await;
    let id = WorkspaceId::generate();
    for round in 0..6_u32 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "cut::worker", "--nocapture"])
            .env("SHOPFLOOR_TEST_DIR", bench.path())
            .env("SHOPFLOOR_TEST_ID", id.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut saved = None;
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for _ in 0..=round {
            saved = lines.by_ref().find_map(|line| line.unwrap().strip_prefix("saved ").map(str::to_owned));
        }
        // It is somewhere in the next save, create or clean by now.
        child.kill().unwrap();
        child.wait().unwrap();
        let trees = bench.reopened().await;
        let space = trees.create(id, &bench.plan("work"), &Progress::none()).await.unwrap();
        let into = bench.path().join(format!("back-{round}"));
        trees.restore(id, None, &Into::Folder(into.clone())).await.unwrap();
        let kept: u32 = String::from_utf8(std::fs::read(into.join("n.txt")).unwrap()).unwrap().parse().unwrap();
        assert!(kept >= saved.unwrap().parse::<u32>().unwrap());
        trees.save(id).await.unwrap();
        let stats = trees.stats(id).await.unwrap();
        assert_eq!((stats.files, stats.uncommitted), (1, true));
        assert_eq!(content(&space.path).len(), 4);
        for other in trees.list().await.unwrap() {
            if other.facts.id != id {
                trees.clean(other.facts.id, Unfinished::Refuse).await.unwrap();
            }
        }
        let left = std::fs::read_dir(bench.data().join("workspaces")).unwrap().count();
        assert_eq!(left, 3, "the workspace and two empty folders of ours");
    }
}
