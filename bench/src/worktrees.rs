//! What following the workspaces of a busy repository costs: looking at them, saving, counting what changed.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use domain::WorkspaceId;
use worktree::{Event, Options, Plan, Progress, Tempo, Worktrees};

use crate::report::{Goal, Report, Row, section};

const SPACES: usize = 50;
const FILES: usize = 2_000;
const FOLDERS: usize = 100;
/// How long nothing is changed, and how long something is.
const QUIET: Duration = Duration::from_secs(10);
const BUSY: Duration = Duration::from_secs(60);
/// How often a file of each workspace is changed.
const EVERY: Duration = Duration::from_secs(10);

/// Follows workspaces that nobody works in, then all of them being worked in.
pub(crate) async fn measure(report: &mut Report) -> anyhow::Result<()> {
    section(&format!("Worktrees: {SPACES} of a repository with {FILES} files"));
    let folder = tempfile::tempdir()?;
    let seed = folder.path().join("seed");
    plant(&seed)?;
    let trees = Worktrees::open(&folder.path().join("data"), Options::default()).await?;
    let location = seed.to_str().context("a temporary folder has a plain name")?.parse()?;
    let plan = Plan { location: Some(location), branch: Some("work".parse()?), ..Plan::default() };
    let mut spaces = Vec::new();
    for _ in 0..SPACES {
        spaces.push(trees.create(WorkspaceId::generate(), &plan, &Progress::none()).await?);
    }
    let (watcher, mut events) = trees.watch(Tempo::default());
    spaces.iter().for_each(|space| watcher.follow(space.facts.id));
    let mut known = 0;
    while known < SPACES {
        let event = events.recv().await.context("the watcher ended")?;
        known += usize::from(matches!(event, Event::Stats { .. }));
    }

    let (began, before) = (Instant::now(), spent()?);
    tokio::time::sleep(QUIET).await;
    let quiet = (spent()? - before) / began.elapsed().as_secs_f64() * 100.0;
    let goal = Some(Goal::AtMost(1.0));
    report.add(Row {
        what: "followed while nothing changes".into(),
        ours: quiet,
        baseline: None,
        unit: "% of one",
        goal,
    });

    let mut edits = 0_usize;
    let mut edit = tokio::time::interval(EVERY / u32::try_from(SPACES)?);
    let (began, before) = (Instant::now(), spent()?);
    while began.elapsed() < BUSY {
        tokio::select! {
            _ = edit.tick() => {
                edits += 1;
                let file = file(edits.wrapping_mul(2_654_435_761) % FILES);
                std::fs::write(spaces[edits % SPACES].path.join(file), format!("edit {edits}\n").repeat(100))?;
            }
            // Somebody must take what is told, as a runner does.
            event = events.recv() => ensure!(event.is_some(), "the watcher ended"),
        }
    }
    let busy = (spent()? - before) / began.elapsed().as_secs_f64() * 100.0;
    let what = format!("followed and saved, each changed every {} s", EVERY.as_secs());
    report.add(Row { what, ours: busy, baseline: None, unit: "% of one", goal: Some(Goal::AtMost(5.0)) });
    Ok(())
}

fn file(number: usize) -> String {
    format!("d{}/f{number}.txt", number % FOLDERS)
}

/// A repository with one commit.
fn plant(seed: &Path) -> anyhow::Result<()> {
    for number in 0..FOLDERS {
        std::fs::create_dir_all(seed.join(format!("d{number}")))?;
    }
    for number in 0..FILES {
        std::fs::write(seed.join(file(number)), format!("line {number}\n").repeat(100))?;
    }
    for args in [&["init", "-q", "-b", "main"] as &[&str], &["add", "-A"], &["commit", "-qm", "seed"]] {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=B", "-c", "user.email=b@localhost"]).args(args).current_dir(seed);
        ensure!(git.status()?.success(), "git {args:?} failed");
    }
    Ok(())
}

/// Processor seconds of this process and of its children that have ended.
fn spent() -> anyhow::Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').context("the kernel says so")?;
    let times: Vec<f64> = fields.split_whitespace().skip(11).take(4).map(str::parse).collect::<Result<_, _>>()?;
    Ok(times.iter().sum::<f64>() / 100.0)
}
