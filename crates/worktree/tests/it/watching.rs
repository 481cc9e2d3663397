//! Following workspaces: saved soon, told once.

use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use worktree::{Event, GitStats, Into, Save, Tempo};

use crate::support::{Bench, content, git, write};

fn quick() -> Tempo {
    Tempo { quiet: Duration::from_millis(50), restless: Duration::from_millis(400), ..Tempo::default() }
}

/// The next event that `pick` wants; a test that waits for ever is ended by its runner.
async fn until<T>(events: &mut Receiver<Event>, mut pick: impl FnMut(Event) -> Option<T>) -> T {
    loop {
        let event = events.recv().await.unwrap();
        if let Some(wanted) = pick(event) {
            return wanted;
        }
    }
}

async fn stats(events: &mut Receiver<Event>, mut wanted: impl FnMut(&GitStats) -> bool) -> GitStats {
    until(events, |event| match event {
        Event::Stats { stats, .. } if wanted(&stats) => Some(stats),
        _ => None,
    })
    .await
}

async fn save(events: &mut Receiver<Event>) -> Save {
    until(events, |event| if let Event::Saved { save, .. } = event { Some(save) } else { None }).await
}

#[tokio::test]
async fn a_change_is_saved_and_told_by_itself() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    let (watcher, mut events) = bench.trees.watch(quick());
    watcher.follow(id);
    assert_eq!(stats(&mut events, |_| true).await.files, 0);
    write(&space.path, "README.md", "changed\n");
    assert_eq!(save(&mut events).await.files, 1);
    assert_eq!(stats(&mut events, |_| true).await.deletions, 2);
    // Folders that come later are followed too, as deep as they are.
    write(&space.path, "a/b/c/d.txt", "one\n");
    stats(&mut events, |s| s.files == 2).await;
    write(&space.path, "a/b/c/e.txt", "one\n");
    stats(&mut events, |s| s.files == 3).await;
    std::fs::rename(space.path.join("a"), space.path.join("z")).unwrap();
    save(&mut events).await;
    write(&space.path, "z/b/c/f.txt", "one\n");
    stats(&mut events, |s| s.files == 4).await;
    // The agent commits: no file changes, the numbers do.
    git(&space.path, &["add", "-A"]);
    git(&space.path, &["commit", "-qm", "one"]);
    stats(&mut events, |s| s.ahead == 1 && !s.uncommitted).await;
    git(&space.path, &["push", "-q"]);
    stats(&mut events, |s| s.unpushed == 0).await;
    std::fs::remove_dir_all(space.path.join("z")).unwrap();
    stats(&mut events, |s| s.files == 1).await;
    let want = content(&space.path);
    std::fs::remove_dir_all(&space.path).unwrap();
    let into = bench.path().join("back");
    bench.trees.restore(id, None, &Into::Folder(into.clone())).await.unwrap();
    assert_eq!(content(&into), want);
}

#[tokio::test]
async fn changes_that_git_does_not_see_are_not_reported() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let (watcher, mut events) = bench.trees.watch(quick());
    watcher.follow(space.facts.id);
    stats(&mut events, |_| true).await;
    // Ignored, and the same content again.
    write(&space.path, "target/debug/x.o", "x");
    write(&space.path, "a.log", "x");
    write(&space.path, "README.md", "hello\nworld\n");
    watcher.look(space.facts.id);
    write(&space.path, "marker.txt", "x\n");
    let Event::Saved { save, .. } = events.recv().await.unwrap() else { panic!("only the marker is news") };
    assert_eq!(save.files, 1);
    let Event::Stats { stats, .. } = events.recv().await.unwrap() else { panic!("only the marker is news") };
    assert_eq!((stats.files, stats.insertions), (1, 1));
    watcher.leave(space.facts.id);
    drop(watcher);
    assert_eq!(events.recv().await, None, "following ends with its handle");
}

#[tokio::test]
async fn a_deleted_folder_is_reported_and_recreated() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    let (watcher, mut events) = bench.trees.watch(quick());
    watcher.follow(id);
    write(&space.path, "new.txt", "x\n");
    stats(&mut events, |s| s.files == 1).await;
    let away = bench.path().join("away");
    std::fs::rename(&space.path, &away).unwrap();
    watcher.look(id);
    let why = until(&mut events, |event| if let Event::Failed { why, .. } = event { Some(why) } else { None }).await;
    assert!(why.contains("tree"), "{why}");
    assert_eq!(bench.trees.saves(id, 9).await.unwrap().len(), 1, "its files were not taken for deleted");
    std::fs::rename(&away, &space.path).unwrap();
    write(&space.path, "more.txt", "x\n");
    stats(&mut events, |s| s.files == 2).await;
}
