//! What following busy workspaces costs: `busy [workspaces] [files] [seconds] [ms between edits in each]`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement, run by hand")]

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use domain::WorkspaceId;
use worktree::{Event, Options, Plan, Progress, Tempo, Worktrees};

fn git(dir: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=B", "-c", "user.email=b@localhost"]).args(args).current_dir(dir);
    assert!(command.status().unwrap().success());
}

/// Processor seconds of this process, and of its children.
fn spent() -> (f64, f64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<f64> =
        stat.rsplit_once(')').unwrap().1.split_whitespace().skip(11).take(4).map(|f| f.parse().unwrap()).collect();
    ((fields[0] + fields[1]) / 100.0, (fields[2] + fields[3]) / 100.0)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arg = |n: usize, or: u64| std::env::args().nth(n).map_or(or, |text| text.parse().unwrap());
    let (spaces, files, seconds, every) = (arg(1, 50), arg(2, 2000), arg(3, 60), arg(4, 10_000));
    let dir = tempfile::tempdir().unwrap();
    let seed = dir.path().join("seed");
    std::fs::create_dir(&seed).unwrap();
    git(&seed, &["init", "-q", "-b", "main"]);
    for n in 0..files {
        let folder = seed.join(format!("d{}", n % 100));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("f{n}.txt")), format!("line {n}\n").repeat(100)).unwrap();
    }
    git(&seed, &["add", "-A"]);
    git(&seed, &["commit", "-qm", "seed"]);
    let trees = Worktrees::open(&dir.path().join("data"), Options::default()).await.unwrap();
    let location = seed.to_str().unwrap().parse().unwrap();
    let plan = Plan { location: Some(location), branch: Some("work".parse().unwrap()), ..Plan::default() };
    let started = Instant::now();
    let mut all = Vec::new();
    for _ in 0..spaces {
        all.push(trees.create(WorkspaceId::generate(), &plan, &Progress::none()).await.unwrap());
    }
    println!("{spaces} workspaces of {files} files made in {:?}", started.elapsed());
    let (watcher, mut events) = trees.watch(Tempo::default());
    for space in &all {
        watcher.follow(space.facts.id);
    }
    let mut known = 0;
    while known < spaces {
        known += u64::from(matches!(events.recv().await, Some(Event::Stats { .. })));
    }
    let idle = (Instant::now(), spent());
    tokio::time::sleep(Duration::from_secs(10)).await;
    let rate = |from: &(Instant, (f64, f64))| {
        let now = spent();
        let wall = from.0.elapsed().as_secs_f64();
        ((now.0 - from.1.0) / wall * 100.0, (now.1 - from.1.1) / wall * 100.0)
    };
    println!("quiet: {:.2} % of a core in this process, {:.2} % in git", rate(&idle).0, rate(&idle).1);
    let (busy, mut edits, mut saves) = ((Instant::now(), spent()), 0_u64, 0_u64);
    let mut pending: HashMap<WorkspaceId, Instant> = HashMap::new();
    let (mut worst, mut sum) = (Duration::ZERO, Duration::ZERO);
    let mut tick = tokio::time::interval(Duration::from_micros(every * 1000 / spaces));
    while busy.0.elapsed() < Duration::from_secs(seconds) {
        tokio::select! {
            _ = tick.tick() => {
                edits += 1;
                let space = &all[usize::try_from(edits % spaces).unwrap()];
                let n = edits.wrapping_mul(2_654_435_761) % files;
                let path = space.path.join(format!("d{}/f{n}.txt", n % 100));
                std::fs::write(path, format!("edit {edits}\n").repeat(100)).unwrap();
                pending.insert(space.facts.id, Instant::now());
            }
            Some(event) = events.recv() => if let Event::Saved { workspace, .. } = event {
                saves += 1;
                if let Some(at) = pending.remove(&workspace) {
                    worst = worst.max(at.elapsed());
                    sum += at.elapsed();
                }
            }
        }
    }
    let (own, children) = rate(&busy);
    println!(
        "busy: {edits} edits, {saves} saves in {seconds} s: {own:.2} % of a core in this process, {children:.2} % in git; \
         from the last edit to its save {:?} on average, {worst:?} at most",
        sum / u32::try_from(saves.max(1)).unwrap()
    );
}
