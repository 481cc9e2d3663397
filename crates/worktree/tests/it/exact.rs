//! The numbers are those of plain git in a clone that is trusted, and saves never leave the folder.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use worktree::{GitStats, Into, Progress};

use crate::support::{Bench, content, git, try_git, write};

/// A small generator, so that a failure comes again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// Does something that an agent does.
fn act(tree: &Path, dice: &mut Dice) {
    let file = format!("d{}/f{}.txt", dice.roll(3), dice.roll(6));
    match dice.roll(14) {
        0..=4 => {
            let lines: Vec<String> = (0..dice.roll(30)).map(|_| format!("line {}", dice.roll(9))).collect();
            write(tree, &file, lines.join("\n"));
        }
        5 => drop(std::fs::remove_file(tree.join(&file))),
        6 => drop(std::fs::rename(tree.join(&file), tree.join("moved.txt"))),
        7 => {
            try_git(tree, &["add", "-A"]);
            try_git(tree, &["commit", "-qm", "work"]);
        }
        8 => {
            try_git(tree, &["commit", "-qam", "part"]);
        }
        9 => write(tree, "bin.dat", [0, 1, 2, dice.roll(9) as u8]),
        10 => {
            let _ = std::fs::remove_file(tree.join("link"));
            symlink(format!("f{}", dice.roll(5)), tree.join("link")).unwrap();
        }
        11 => {
            if let Ok(meta) = std::fs::metadata(tree.join("README.md")) {
                let mode = meta.permissions().mode() ^ 0o111;
                std::fs::set_permissions(tree.join("README.md"), std::fs::Permissions::from_mode(mode)).unwrap();
            }
        }
        12 => {
            try_git(tree, &["push", "-q"]);
        }
        _ => {
            try_git(tree, &["merge", "-q", "-m", "merge", "origin/main"]);
            try_git(tree, &["merge", "--abort"]);
        }
    }
}

/// What plain git says; an index of its own stands for "everything is added".
fn plain(tree: &Path, base: &str) -> GitStats {
    let index = tree.join(".git/plain-index");
    // Git takes an entry for unchanged whose time is before that of its index: a copy must not look newer than it is.
    std::fs::copy(tree.join(".git/index"), &index).unwrap();
    let read = std::fs::metadata(tree.join(".git/index")).unwrap().modified().unwrap();
    std::fs::File::options().write(true).open(&index).unwrap().set_modified(read).unwrap();
    let with = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        let out = command.args(args).current_dir(tree).env("GIT_INDEX_FILE", &index).output().unwrap();
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    let from = git(tree, &["merge-base", "HEAD", base]);
    with(&["add", "-A"]);
    let mut stats = GitStats::default();
    for line in with(&["diff", "--cached", "-M", "--numstat", &from]).lines() {
        let mut columns = line.split('\t');
        stats.files += 1;
        stats.insertions += columns.next().unwrap().parse().unwrap_or(0);
        stats.deletions += columns.next().unwrap().parse().unwrap_or(0);
    }
    let status = with(&["diff", "--cached", "--no-renames", "--name-status", "HEAD"]);
    stats.untracked = u32::try_from(status.lines().filter(|line| line.starts_with('A')).count()).unwrap();
    stats.uncommitted = !status.is_empty();
    let count = |range: &[&str]| git(tree, range).parse::<u32>().unwrap();
    stats.ahead = count(&["rev-list", "--count", &format!("{base}..HEAD")]);
    stats.behind = count(&["rev-list", "--count", &format!("HEAD..{base}")]);
    stats.unpushed = count(&["rev-list", "--count", "--branches", "--not", "--remotes"]);
    stats.head = Some(git(tree, &["rev-parse", "HEAD"]));
    stats.branch = Some(git(tree, &["branch", "--show-current"]));
    std::fs::remove_file(index).unwrap();
    stats
}

#[tokio::test]
async fn numbers_and_saves_are_exact_after_anything() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    let mut dice = Dice(0x2545_F491_4F6C_DD1D);
    for step in 0..30 {
        for _ in 0..3 {
            act(&space.path, &mut dice);
        }
        if step % 6 == 5 {
            write(&bench.seed(), "README.md", format!("theirs {step}\n"));
            git(&bench.seed(), &["commit", "-qam", "theirs"]);
            git(&bench.seed(), &["push", "-q", "origin", "main"]);
            bench.trees.refresh(&bench.origin(), &Progress::none()).await.unwrap();
            git(&space.path, &["fetch", "-q"]);
        }
        let told = bench.trees.stats(id).await.unwrap();
        let want = plain(&space.path, "origin/main");
        let numbers = |s: &GitStats| {
            let lines = (s.files, s.insertions, s.deletions, s.untracked, s.uncommitted);
            (lines, s.ahead, s.behind, s.unpushed, s.head.clone(), s.branch.clone())
        };
        assert_eq!(numbers(&told), numbers(&want), "step {step}");
        if step % 5 == 4 {
            let into = bench.path().join(format!("back-{step}"));
            bench.trees.restore(id, None, &Into::Folder(into.clone())).await.unwrap();
            assert_eq!(content(&into), content(&space.path), "step {step}");
        }
    }
}

/// Git's times have seconds: what is written twice in one must not hide behind its size.
#[tokio::test]
async fn a_second_change_in_the_same_second_is_saved() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let (id, file) = (space.facts.id, space.path.join("same.txt"));
    let second = || std::fs::metadata(&file).unwrap().ctime();
    for turn in 0.. {
        assert!(turn < 50, "no second was long enough");
        write(&space.path, "same.txt", format!("before {turn:02}"));
        let began = second();
        bench.trees.stats(id).await.unwrap();
        // Now our index knows the file's times, and something else that it must catch up with.
        write(&space.path, "other.txt", format!("{turn}"));
        bench.trees.stats(id).await.unwrap();
        write(&space.path, "same.txt", format!("after  {turn:02}"));
        if second() != began {
            continue;
        }
        // The index must be written in another second than the file was.
        let clock = bench.path().join("clock");
        while std::fs::write(&clock, "").and_then(|()| std::fs::metadata(&clock)).unwrap().ctime() == began {
            tokio::task::yield_now().await;
        }
        bench.trees.stats(id).await.unwrap();
        let into = bench.path().join("back");
        bench.trees.restore(id, None, &Into::Folder(into.clone())).await.unwrap();
        return assert_eq!(content(&into), content(&space.path));
    }
}

/// While folders and links take turns, saves go on, and nothing from outside is ever in one.
#[tokio::test]
async fn swapping_folders_for_links_during_a_save_saves_no_outside_file() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let outside = bench.path().join("outside");
    write(&outside, "file.txt", "SECRET-OF-SOMEBODY-ELSE");
    write(&space.path, "real/file.txt", "inside");
    symlink(&outside, space.path.join("trap")).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let (tree, ended) = (space.path.clone(), stop.clone());
    let swapper = std::thread::spawn(move || {
        let mut swaps = 0_u32;
        while swaps < 10_000 || !ended.load(Ordering::Relaxed) {
            for name in ["real", "trap"] {
                std::fs::rename(tree.join(name), tree.join("d")).unwrap();
                std::fs::rename(tree.join("d"), tree.join(name)).unwrap();
                swaps += 1;
            }
        }
    });
    for _ in 0..15 {
        bench.trees.save(space.facts.id).await.unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    bench.trees.save(space.facts.id).await.unwrap();
    let store = std::fs::read_dir(bench.data().join("repositories")).unwrap().next().unwrap().unwrap().path();
    let all = git(&store, &["cat-file", "--batch-all-objects", "--batch"]);
    assert!(all.contains("inside") && !all.contains("SECRET"), "only what is inside is saved");
    let into = bench.path().join("back");
    bench.trees.restore(space.facts.id, None, &Into::Folder(into.clone())).await.unwrap();
    assert_eq!(content(&into), content(&space.path));
}
