//! One work beside 1,000 others: the decision alone, and the fact's whole way through the store.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use anyhow::Context;
use domain::{JournalId, RunnerId, Timestamp, Visibility, WorkspaceId};
use engine::overlaps::{Branch, Change, Content, Entry, EntryKind, Hunk, Prepared, Work};
use protocol::link::{EntryFacts, Fact, FactBody, FileFacts, LineFacts, WorkFacts};
use protocol::{
    FoundAgent, NewRunner, Project, ProjectCreate, Repository, RunnerAbout, RunnerCreate, SessionSpawn, verbs,
};
use store::{Caller, EnterHubOwner, Placed, SeeRunner, Store, TakeFacts};

use crate::report::{Goal, Report, Row, percentile, section};

/// The other works, the files that each changes, the places in each file, and the files of the repository.
const OTHERS: usize = 1000;
const FILES: usize = 8;
const PLACES: u32 = 3;
const REPOSITORY: usize = 5000;
const TIMES: usize = 50;
const FORK: &str = "1111111111111111111111111111111111111111";

/// Measures the decision, and the store with SQLite.
pub(crate) async fn measure(report: &mut Report) -> anyhow::Result<()> {
    section(&format!("Overlaps: one changed work beside {OTHERS} others of {FILES} files"));
    let mut times = decided();
    let goal = Some(Goal::AtMost(1.0));
    let mut add = |what: &str, ours, goal| {
        report.add(Row { what: what.into(), ours, baseline: None, unit: "ms", goal });
    };
    add("the decision about all of them, p50", percentile(&mut times, 0.5), goal);
    add("the decision about all of them, p95", percentile(&mut times, 0.95), None);
    let (mut apart, mut together) = stored().await?;
    add("stored, no file in common, p50", percentile(&mut apart, 0.5), None);
    add("stored, no file in common, p95", percentile(&mut apart, 0.95), None);
    add("stored, one file in common with each, p50", percentile(&mut together, 0.5), None);
    add("stored, one file in common with each, p95", percentile(&mut together, 0.95), None);
    Ok(())
}

/// The files of a work, spread over the repository, so that few works have one in common. `turn` changes the content.
fn files(of: usize, turn: usize) -> impl Iterator<Item = (String, String)> {
    (0..FILES).map(move |at| {
        let number = (of * FILES + at).wrapping_mul(2_654_435_761) % REPOSITORY;
        (format!("src/part{}/file{number}.rs", number % 100), format!("{of} {turn}"))
    })
}

fn places() -> impl Iterator<Item = (u32, u32)> {
    (0..PLACES).map(|at| (at * 20, at * 20 + 2))
}

fn decided() -> Vec<f64> {
    let change = |(path, content): (String, String)| Change {
        path,
        from: None,
        before: Some(EntryKind::File),
        after: Some(Entry { kind: EntryKind::File, content: content.clone() }),
        content: Content::Lines(places().map(|(first, end)| Hunk { first, end, new: content.clone() }).collect()),
        symbols: vec![],
    };
    let work = |of, turn| {
        let branch = Branch { changes: files(of, turn).map(change).collect(), ..Branch::default() };
        Work { fork: FORK.into(), against: BTreeMap::from([(FORK.to_owned(), branch)]) }
    };
    let others: Vec<Work> = (1..=OTHERS).map(|of| work(of, 0)).collect();
    let once = |turn| {
        let mine = work(0, turn);
        let begun = Instant::now();
        let mine = Prepared::new(black_box(&mine));
        black_box(others.iter().filter_map(|other| mine.with(other)).map(|met| met.len()).sum::<usize>());
        begun.elapsed().as_secs_f64() * 1e3
    };
    (0..TIMES).map(once).collect()
}

/// Milliseconds to store a changed work that nobody else's touches, and one that has a file in common with all others,
/// changed alike.
async fn stored() -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
    let folder = tempfile::tempdir()?;
    let place = Place::new(&format!("sqlite:{}", folder.path().join("overlaps.db").display())).await?;
    let mut journal = Journal { runner: place.runner, journal: JournalId::generate(), next: 1 };
    for of in 1..=OTHERS {
        let workspace = place.workspace(of).await?;
        journal.tell(&place.store, workspace, described(of, 0, true)).await?;
    }
    let workspace = place.workspace(0).await?;
    let (mut apart, mut together) = (Vec::new(), Vec::new());
    for turn in 0..TIMES {
        for (shared, times) in [(false, &mut apart), (true, &mut together)] {
            let begun = Instant::now();
            journal.tell(&place.store, workspace, described(0, turn * 2 + usize::from(shared), shared)).await?;
            times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
    }
    place.store.close().await;
    Ok((apart, together))
}

fn described(of: usize, turn: usize, shared: bool) -> Vec<WorkFacts> {
    let mode = || "100644".to_owned();
    let file = |(path, content): (String, String)| FileFacts {
        path,
        from: None,
        before: Some(mode()),
        after: Some(EntryFacts { mode: mode(), content: content.clone() }),
        lines: LineFacts::Changed { hunks: places().map(|(first, end)| (first, end, content.clone())).collect() },
        symbols: vec![],
    };
    let own = (0..FILES).zip(files(of, turn)).map(|(at, (_, content))| (format!("own{of}/file{at}.rs"), content));
    let common = shared.then(|| ("Cargo.lock".to_owned(), "alike".to_owned()));
    let files = own.chain(common).map(file).collect();
    vec![WorkFacts { against: FORK.into(), files, gone: vec![], truncated: false }]
}

struct Journal {
    runner: RunnerId,
    journal: JournalId,
    next: u64,
}

impl Journal {
    async fn tell(&mut self, store: &Store, workspace: WorkspaceId, work: Vec<WorkFacts>) -> anyhow::Result<()> {
        let body = FactBody::WorkspaceWork { workspace, work };
        let facts = vec![Fact { number: self.next, at: Timestamp::from_millis(0), body }];
        self.next += 1;
        let command = TakeFacts { runner: self.runner, journal: self.journal, facts };
        store.write(&Caller::hub("link"), None, command).await?;
        Ok(())
    }
}

struct Place {
    store: Store,
    ada: Caller,
    project: Project,
    runner: RunnerId,
}

impl Place {
    async fn new(url: &str) -> anyhow::Result<Self> {
        let now = || Timestamp::from_millis(jiff::Timestamp::now().as_millisecond());
        let store = Store::open(url, now, |_: &[std::sync::Arc<store::Event>]| {}).await?;
        let ada = store.write(&Caller::hub("bench"), None, EnterHubOwner { name: "Ada".into() }).await?.value;
        let ada = Caller::user(ada.id, true, "Ada", "bench");
        let repository = Repository { location: "/srv/bench".into(), ..Repository::default() };
        let input = ProjectCreate {
            content: "Bench".into(),
            visibility: Some(Visibility::ReadWrite),
            repositories: vec![repository],
            ..ProjectCreate::default()
        };
        let project: Project = store.write(&ada, None, verbs::ProjectCreate { input }).await?.value;
        let command = verbs::RunnerCreate { input: RunnerCreate { name: "box".into() } };
        let runner: NewRunner = store.write(&ada, None, command).await?.value;
        let runner = runner.runner.id;
        let agent = FoundAgent {
            name: "codex".into(),
            label: "codex".into(),
            version: Some("1".into()),
            install: None,
            headless: true,
            modes: None,
        };
        let about = RunnerAbout {
            machine: "box".into(),
            version: "1".into(),
            labels: vec![],
            capacity: u32::try_from(OTHERS)? + 10,
            agents: vec![agent],
        };
        let seen = SeeRunner { runner, link: "box".into(), about: Some(about) };
        store.write(&Caller::hub("link"), None, seen).await?;
        Ok(Self { store, ada, project, runner })
    }

    async fn workspace(&self, of: usize) -> anyhow::Result<WorkspaceId> {
        let input = SessionSpawn {
            project: Some(self.project.id),
            agent: "codex".into(),
            prompt: Some(format!("work {of}")),
            ..SessionSpawn::default()
        };
        let spawn = Placed { verb: verbs::SessionSpawn { input }, connected: vec![self.runner] };
        let made = self.store.write(&self.ada, None, spawn).await.context("a session is spawned")?;
        Ok(made.value.workspace)
    }
}
