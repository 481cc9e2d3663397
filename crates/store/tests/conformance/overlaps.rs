//! Overlaps: they appear when described work meets, end when it no longer does, and are shown to those who may see both.

use domain::{ActivityStatus, OverlapKind, RunnerId, Visibility, WorkspaceId};
use protocol::link::{EntryFacts, FactBody, FileFacts, LineFacts, ProjectForks, SymbolFacts, WorkFacts};
use protocol::{ActivityUpdate, Change, GitStats, NewReservation, OverlapFilter, Project, WorkOverlap, verbs};
use store::{Caller, EventBody, StoreError};

use crate::execution::{Memory, in_project, project, runner, spawn};
use crate::fixture::Fixture;

both!(
    an_overlap_appears_and_ends,
    overlaps_are_shown_to_those_who_see_both,
    a_symbol_that_both_change_is_named,
    a_conflict_is_told_once,
    works_are_described_against_the_forks_of_others,
    work_of_one_activity_does_not_meet_itself,
    the_work_of_an_abandoned_activity_meets_nothing,
    malformed_descriptions_are_ignored,
    the_largest_description_is_stored_and_compared,
    nothing_is_left_of_a_deleted_workspace,
    a_conflict_with_the_base_appears_and_ends,
    a_conflict_with_the_base_ends_with_the_work,
    a_conflict_with_the_base_stands_beside_what_is_declared,
);

const OLD: &str = "1111111111111111111111111111111111111111";
const NEW: &str = "2222222222222222222222222222222222222222";

/// A change of lines of a file.
fn edit(path: &str, first: u32, last: u32, new: &str) -> FileFacts {
    let mode = || "100644".to_owned();
    FileFacts {
        path: path.into(),
        from: None,
        before: Some(mode()),
        after: Some(EntryFacts { mode: mode(), content: format!("{first}{last}{new}") }),
        lines: LineFacts::Changed { hunks: vec![(first, last, new.into())] },
        symbols: vec![],
    }
}

/// A change of lines of a file in a symbol.
fn edit_in(name: &str, first: u32, new: &str) -> FileFacts {
    let symbol = SymbolFacts { name: name.into(), before: Some("old".into()), after: Some(new.into()) };
    FileFacts { symbols: vec![symbol], ..edit("parser.rs", first, first + 1, new) }
}

fn work(against: &str, files: Vec<FileFacts>) -> WorkFacts {
    WorkFacts { against: against.into(), files, gone: vec![], truncated: false }
}

fn symbol(name: &str) -> SymbolFacts {
    SymbolFacts { name: name.into(), before: None, after: Some("y".into()) }
}

fn named(symbols: Vec<SymbolFacts>) -> FileFacts {
    FileFacts { symbols, ..edit("a.rs", 5, 9, "y") }
}

/// Two people with a runner and a workspace each, in activities of one project.
struct Pair {
    fixture: Fixture,
    project: Project,
    ada: (Memory, WorkspaceId),
    bo: (Memory, WorkspaceId),
}

impl Pair {
    async fn new(fixture: Fixture, share: bool) -> Self {
        let project = project(&fixture, Visibility::ReadWrite, share).await;
        let ada = workspace(&fixture, &fixture.ada, &project, "ada's").await;
        let bo = workspace(&fixture, &fixture.bo, &project, "bo's").await;
        Self { fixture, project, ada, bo }
    }

    async fn ada_did(&mut self, work: Vec<WorkFacts>) {
        let workspace = self.ada.1;
        self.ada.0.happened(&self.fixture, FactBody::WorkspaceWork { workspace, work }).await;
    }

    async fn bo_did(&mut self, work: Vec<WorkFacts>) {
        let workspace = self.bo.1;
        self.bo.0.happened(&self.fixture, FactBody::WorkspaceWork { workspace, work }).await;
    }

    /// What git says of Bo's work and its base.
    async fn bo_conflicts(&mut self, files: &[&str]) {
        let conflicts = files.iter().map(|file| (*file).to_owned()).collect();
        let stats = Some(GitStats { behind: 1, conflicts, ..GitStats::default() });
        let (workspace, disk_bytes, saved_at) = (self.bo.1, None, None);
        let fact = FactBody::WorkspaceStats { workspace, stats, disk_bytes, saved_at };
        self.bo.0.happened(&self.fixture, fact).await;
    }

    async fn seen(&self, caller: &Caller) -> Vec<WorkOverlap> {
        let filter = OverlapFilter { project: Some(self.project.id), ..Default::default() };
        self.fixture.store.overlaps(caller, filter).await.unwrap()
    }

    async fn kinds(&self) -> Vec<OverlapKind> {
        self.seen(&self.fixture.ada).await.into_iter().map(|overlap| overlap.kind).collect()
    }

    async fn said(&self) -> Vec<String> {
        let (ada, project) = (&self.fixture.ada, self.project.id);
        let messages = self.fixture.store.messages(ada, project, Default::default()).await.unwrap();
        messages.into_iter().map(|message| message.content).collect()
    }
}

async fn workspace(fixture: &Fixture, owner: &Caller, project: &Project, name: &str) -> (Memory, WorkspaceId) {
    let runner = runner(fixture, owner, name, 4).await;
    let made = fixture.done(owner, spawn(in_project(project, &format!("work of {name}")), &[runner])).await;
    let mut memory = Memory::new(runner);
    let found = fixture.store.workspace(owner, made.workspace, domain::Action::SeeExecution).await.unwrap();
    memory.ready(fixture, &found).await;
    (memory, made.workspace)
}

async fn an_overlap_appears_and_ends(fixture: Fixture) {
    let mut pair = Pair::new(fixture, true).await;
    pair.ada_did(vec![work(OLD, vec![edit("a.rs", 10, 12, "x"), edit("b.rs", 1, 2, "x")])]).await;
    assert_eq!(pair.kinds().await, []);
    pair.bo_did(vec![work(OLD, vec![edit("a.rs", 50, 51, "y"), edit("c.rs", 1, 2, "y")])]).await;
    assert_eq!(pair.kinds().await, [OverlapKind::SameFile]);
    pair.bo_did(vec![work(OLD, vec![edit("a.rs", 12, 14, "y")])]).await;
    let found = pair.seen(&pair.fixture.ada).await.remove(0);
    assert_eq!((found.kind, found.places.len()), (OverlapKind::SameLines, 1));
    let place = &found.places[0];
    assert_eq!((place.path.as_str(), place.first, place.last), ("a.rs", Some(11), Some(14)));
    let names = [found.one.owner.name.as_str(), found.other.as_ref().unwrap().owner.name.as_str()];
    assert!(names.contains(&"Ada") && names.contains(&"Bo"), "{names:?}");
    assert_eq!(pair.fixture.store.overlap(&pair.fixture.ada, found.id).await.unwrap(), found);
    // The same description again changes nothing.
    let events = pair.fixture.heard().len();
    pair.bo_did(vec![work(OLD, vec![edit("a.rs", 12, 14, "y")])]).await;
    assert_eq!(pair.fixture.heard().len(), events);
    pair.bo_did(vec![work(OLD, vec![])]).await;
    assert_eq!(pair.kinds().await, []);
    let ended = pair.fixture.store.overlap(&pair.fixture.ada, found.id).await.unwrap();
    assert!(ended.ended_at.is_some());
    let filter = OverlapFilter { ended: Some(true), ..Default::default() };
    assert_eq!(pair.fixture.store.overlaps(&pair.fixture.ada, filter).await.unwrap(), std::slice::from_ref(&ended));
    let heard = pair.fixture.heard();
    let last = heard.iter().rev().find_map(|event| match &event.body {
        EventBody::Change { change: Change::Overlap { overlap } } => Some(overlap.clone()),
        _ => None,
    });
    assert_eq!(last, Some(ended), "clients learn that it ended");
}

async fn overlaps_are_shown_to_those_who_see_both(fixture: Fixture) {
    for share in [true, false] {
        let eve = fixture.join(if share { "Eve" } else { "Eva" }).await;
        let project = project(&fixture, Visibility::ReadWrite, share).await;
        let (mut ada, one) = workspace(&fixture, &fixture.ada, &project, &format!("ada's {share}")).await;
        let (mut bo, other) = workspace(&fixture, &fixture.bo, &project, &format!("bo's {share}")).await;
        let told = |workspace, new: &str| FactBody::WorkspaceWork {
            workspace,
            work: vec![work(OLD, vec![edit("secret.rs", 1, 2, new)])],
        };
        ada.happened(&fixture, told(one, "x")).await;
        bo.happened(&fixture, told(other, "y")).await;
        let filter = OverlapFilter { project: Some(project.id), ..Default::default() };
        let found = fixture.store.overlaps(&fixture.ada, filter).await.unwrap();
        assert_eq!(found.len(), 1, "the owner of the project sees all execution");
        for caller in [&fixture.bo, &eve] {
            assert_eq!(fixture.store.overlaps(caller, filter).await.unwrap().len(), usize::from(share));
            let shown = fixture.store.overlap(caller, found[0].id).await;
            assert_eq!(shown.is_ok(), share);
            assert!(share || matches!(shown, Err(StoreError::NotFound(_))));
            let (_, state) = fixture.store.state(caller).await.unwrap();
            let synced = state
                .iter()
                .filter(|change| matches!(change, Change::Overlap { overlap } if overlap.project == project.id));
            assert_eq!(synced.count(), usize::from(share));
        }
        let execution_of = fixture.heard().iter().rev().find_map(|event| match &event.body {
            EventBody::Change { change: Change::Overlap { overlap } } if overlap.id == found[0].id => {
                Some(event.execution_of)
            }
            _ => None,
        });
        assert_eq!(execution_of, Some(Some(project.owner.id)), "as for the project's own execution");
        let said = fixture.store.messages(&eve, project.id, Default::default()).await.unwrap();
        assert_eq!(said.len(), usize::from(share), "the chat is told only if everybody may know");
    }
}

async fn a_symbol_that_both_change_is_named(fixture: Fixture) {
    let mut pair = Pair::new(fixture, true).await;
    pair.ada_did(vec![work(OLD, vec![edit_in("Parser::next", 10, "x")])]).await;
    pair.bo_did(vec![work(OLD, vec![edit_in("Parser::peek", 50, "y")])]).await;
    assert_eq!(pair.kinds().await, [OverlapKind::SameFile]);
    pair.bo_did(vec![work(OLD, vec![edit_in("Parser::next", 50, "y")])]).await;
    let found = pair.seen(&pair.fixture.bo).await.remove(0);
    assert_eq!((found.kind, found.places.len()), (OverlapKind::SameSymbol, 1));
    let place = &found.places[0];
    assert_eq!((place.path.as_str(), place.symbol.as_deref()), ("parser.rs", Some("Parser::next")));
    assert_eq!(place.why, "both branches change it, at different lines");
    assert_eq!(pair.said().await, Vec::<String>::new(), "it is no conflict");
    pair.bo_did(vec![work(OLD, vec![edit_in("Parser::next", 11, "y")])]).await;
    assert_eq!(pair.kinds().await, [OverlapKind::SameLines]);
    pair.bo_did(vec![work(OLD, vec![edit_in("Parser::next", 10, "x")])]).await;
    assert_eq!(pair.kinds().await, [], "both did the same");
}

async fn a_conflict_is_told_once(fixture: Fixture) {
    let mut pair = Pair::new(fixture, true).await;
    pair.ada_did(vec![work(OLD, vec![edit("a.rs", 10, 12, "x")])]).await;
    for at in 10..14 {
        pair.bo_did(vec![work(OLD, vec![edit("a.rs", at, 20, "y")])]).await;
        pair.fixture.pass(1000);
    }
    let said = pair.said().await;
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("conflicts with") && said[0].contains("`a.rs`, lines 11 to 20"), "{}", said[0]);
    // Gone for a moment.
    pair.bo_did(vec![work(OLD, vec![edit("a.rs", 50, 51, "y")])]).await;
    pair.fixture.pass(60_000);
    pair.bo_did(vec![work(OLD, vec![edit("a.rs", 11, 12, "y")])]).await;
    assert_eq!(pair.said().await.len(), 1);
    // Gone for a while.
    pair.bo_did(vec![work(OLD, vec![])]).await;
    pair.fixture.pass(31 * 60_000);
    pair.bo_did(vec![work(OLD, vec![edit("a.rs", 11, 12, "y")])]).await;
    assert_eq!(pair.said().await.len(), 2);
}

async fn works_are_described_against_the_forks_of_others(fixture: Fixture) {
    let mut pair = Pair::new(fixture, true).await;
    let named = async |pair: &Pair, runner: RunnerId| pair.fixture.store.desired(runner).await.unwrap().unwrap();
    let before = named(&pair, pair.bo.0.runner).await;
    pair.ada_did(vec![work(OLD, vec![edit("a.rs", 10, 12, "x")])]).await;
    let one = named(&pair, pair.bo.0.runner).await;
    assert_eq!((one.forks.len(), one.generation), (0, before.generation), "with one fork there is nothing to name");
    // Bo's branch is newer: its lines are elsewhere in Ada's coordinates.
    pair.bo_did(vec![work(NEW, vec![edit("a.rs", 110, 112, "y")])]).await;
    assert_eq!(pair.kinds().await, [], "not described against the same commit yet");
    for runner in [pair.ada.0.runner, pair.bo.0.runner] {
        let after = named(&pair, runner).await;
        let forks = vec![OLD.to_owned(), NEW.to_owned()];
        assert_eq!(after.forks, [ProjectForks { project: pair.project.id, forks }]);
        assert!(after.generation > before.generation || runner == pair.ada.0.runner);
    }
    let newer = work(NEW, vec![edit("a.rs", 110, 112, "y")]);
    pair.bo_did(vec![newer, work(OLD, vec![edit("a.rs", 10, 12, "y")])]).await;
    assert_eq!(pair.kinds().await, [OverlapKind::SameLines]);
}

async fn work_of_one_activity_does_not_meet_itself(fixture: Fixture) {
    let mut pair = Pair::new(fixture, true).await;
    pair.ada_did(vec![work(OLD, vec![edit("a.rs", 1, 2, "x")])]).await;
    let ada = pair.fixture.ada.clone();
    let made = pair.fixture.store.workspace(&ada, pair.ada.1, domain::Action::SeeExecution).await.unwrap();
    let input =
        protocol::SessionSpawn { activity: Some(made.activity), project: None, ..in_project(&pair.project, "more") };
    let second = pair.fixture.done(&ada, spawn(input, &[pair.ada.0.runner])).await.workspace;
    assert_ne!(second, pair.ada.1);
    let work = vec![work(OLD, vec![edit("a.rs", 1, 2, "y")])];
    pair.ada.0.happened(&pair.fixture, FactBody::WorkspaceWork { workspace: second, work }).await;
    assert_eq!(pair.kinds().await, []);
}

async fn the_work_of_an_abandoned_activity_meets_nothing(fixture: Fixture) {
    let mut pair = Pair::new(fixture, true).await;
    pair.ada_did(vec![work(OLD, vec![edit("a.rs", 1, 2, "x")])]).await;
    pair.bo_did(vec![work(OLD, vec![edit("a.rs", 1, 2, "y")])]).await;
    let ada = pair.fixture.ada.clone();
    let made = pair.fixture.store.workspace(&ada, pair.ada.1, domain::Action::SeeExecution).await.unwrap();
    for (status, expected) in [(ActivityStatus::Abandoned, 0), (ActivityStatus::Active, 1)] {
        let input = ActivityUpdate { status: Some(status), ..Default::default() };
        pair.fixture.done(&ada, verbs::ActivityUpdate { activity: made.activity, input }).await;
        assert_eq!(pair.kinds().await.len(), expected, "{status}");
    }
}

async fn malformed_descriptions_are_ignored(fixture: Fixture) {
    let mut pair = Pair::new(fixture, true).await;
    pair.ada_did(vec![work(OLD, vec![edit("a.rs", 1, 2, "x")])]).await;
    pair.bo_did(vec![work(OLD, vec![edit("a.rs", 1, 2, "y")])]).await;
    let before = pair.seen(&pair.fixture.ada).await;
    let mut turned = edit("a.rs", 5, 9, "y");
    turned.lines = LineFacts::Changed { hunks: vec![(5, 9, "y".into()), (1, 2, "y".into())] };
    let strange = FileFacts { before: Some("777".into()), ..edit("a.rs", 5, 9, "y") };
    let nothing = FileFacts { before: None, after: None, ..edit("a.rs", 5, 9, "y") };
    let bad = vec![
        vec![],
        vec![work("main", vec![])],
        vec![work(OLD, vec![]), work(OLD, vec![])],
        vec![work(OLD, vec![edit("a.rs", 9, 5, "y")])],
        vec![work(OLD, vec![turned])],
        vec![work(OLD, vec![strange])],
        vec![work(OLD, vec![nothing])],
        vec![work(OLD, vec![edit("", 1, 2, "y")])],
        vec![work(OLD, vec![edit("a\0b", 1, 2, "y")])],
        vec![work(OLD, vec![edit(&"long/".repeat(1000), 1, 2, "y")])],
        vec![work(OLD, vec![edit("a.rs", 1, 2, &"y".repeat(1000))])],
        vec![work(OLD, vec![edit_in("", 1, "y")])],
        vec![work(OLD, vec![edit_in("a\nb", 1, "y")])],
        vec![work(OLD, vec![edit_in(&"long".repeat(100), 1, "y")])],
        vec![work(OLD, vec![named(vec![SymbolFacts { name: "f".into(), before: None, after: None }])])],
        vec![work(OLD, vec![named(vec![symbol("f"); 201])])],
        vec![work(OLD, (0..21).map(|_| named(vec![symbol("f"); 200])).collect())],
        vec![work(OLD, (0..21).map(|_| named(vec![symbol(&"f".repeat(200)); 100])).collect())],
        vec![work(OLD, (0..5000).map(|at| edit(&format!("f{at}"), 1, 2, "y")).collect())],
        vec![work(OLD, vec![places(50_000)])],
        vec![work(OLD, vec![places(25_000)]), work(NEW, vec![places(25_000)])],
        vec![work(OLD, (0..200).map(|at| edit(&format!("{at}/{}", "x".repeat(4000)), 1, 2, "y")).collect())],
    ];
    for described in bad {
        pair.bo_did(described.clone()).await;
        assert_eq!(pair.seen(&pair.fixture.ada).await, before, "{}", described.len());
    }
    // Work in a workspace of somebody else.
    let (workspace, forged) = (pair.ada.1, vec![work(OLD, vec![])]);
    pair.bo.0.happened(&pair.fixture, FactBody::WorkspaceWork { workspace, work: forged }).await;
    assert_eq!(pair.seen(&pair.fixture.ada).await, before);
    // The largest numbers, and names that are too long for an index.
    let long = format!("{}/x", "folder".repeat(600));
    let strange = vec![edit("a.rs", u32::MAX, u32::MAX, "y"), FileFacts { before: None, ..edit(&long, 0, 0, "y") }];
    pair.bo_did(vec![work(OLD, strange)]).await;
    assert_eq!(pair.kinds().await, [OverlapKind::SameFile]);
}

async fn the_largest_description_is_stored_and_compared(fixture: Fixture) {
    let mut pair = Pair::new(fixture, true).await;
    let strange = ["-x", "a\nb", "\u{fffd}", "Twin", "twin"];
    let mut files: Vec<FileFacts> = strange.iter().map(|path| edit(path, 1, 2, "x")).collect();
    files.push(places(30_000));
    // Each of these names two thousand folders.
    let deep = |at: u32| FileFacts { before: None, ..edit(&format!("{at}/{}f", "d/".repeat(2000)), 1, 2, "x") };
    files.extend((0..40).map(deep));
    files.extend((0..3900).map(|at| edit(&format!("f{at}"), 1, 2, "x")));
    pair.ada_did(vec![work(OLD, files.clone())]).await;
    for file in &mut files {
        file.after.as_mut().unwrap().content.push('y');
        if let LineFacts::Changed { hunks } = &mut file.lines {
            hunks.iter_mut().for_each(|(_, _, new)| new.push('y'));
        }
    }
    pair.bo_did(vec![work(OLD, files)]).await;
    let found = pair.seen(&pair.fixture.ada).await.remove(0);
    assert_eq!((found.kind, found.places.len()), (OverlapKind::Contradiction, 50));
    assert!(found.more >= 3900, "{}", found.more);
    let names = pair.fixture.raw().await.number("SELECT COUNT(*) FROM work_names").await;
    assert!(names <= 2 * 20_000, "{names}");
    pair.bo_did(vec![work(OLD, vec![edit("twin", 1, 2, "y")])]).await;
    let found = pair.seen(&pair.fixture.ada).await.remove(0);
    let paths: Vec<_> = found.places.iter().map(|place| place.path.as_str()).collect();
    assert_eq!((paths, found.more), (vec!["twin"], 0), "another file than its twin");
}

/// A file that is changed in so many places.
fn places(count: u32) -> FileFacts {
    let hunks = (0..count).map(|at| (at * 3, at * 3 + 1, "y".to_owned())).collect();
    FileFacts { lines: LineFacts::Changed { hunks }, ..edit("places", 1, 2, "y") }
}

async fn nothing_is_left_of_a_deleted_workspace(fixture: Fixture) {
    let mut pair = Pair::new(fixture, true).await;
    pair.ada_did(vec![work(OLD, vec![edit("a.rs", 1, 2, "x")])]).await;
    pair.bo_did(vec![work(OLD, vec![edit("a.rs", 1, 2, "y")])]).await;
    assert_eq!(pair.kinds().await.len(), 1);
    let workspace = pair.bo.1;
    pair.bo.0.happened(&pair.fixture, FactBody::WorkspaceCleaned { workspace }).await;
    assert_eq!(pair.kinds().await, []);
    let mut raw = pair.fixture.raw().await;
    for table in ["workspace_work", "work_names"] {
        let rows = raw.rows(&format!("SELECT workspace FROM {table}")).await;
        assert!(rows.iter().all(|row| row[0] == pair.ada.1.to_string()), "{table}: {rows:?}");
    }
    // Described while it was deleted.
    pair.bo_did(vec![work(OLD, vec![edit("a.rs", 1, 2, "y")])]).await;
    assert_eq!(pair.kinds().await, []);
}

async fn a_conflict_with_the_base_appears_and_ends(fixture: Fixture) {
    let mut pair = Pair::new(fixture, true).await;
    pair.bo_conflicts(&[]).await;
    assert_eq!(pair.kinds().await, []);
    pair.bo_conflicts(&["b.rs", "a.rs"]).await;
    let found = pair.seen(&pair.fixture.ada).await.remove(0);
    assert_eq!((found.kind, found.one.workspace, found.other.clone()), (OverlapKind::Base, Some(pair.bo.1), None));
    assert_eq!(found.base.as_deref(), Some("main"));
    let paths: Vec<_> = found.places.iter().map(|place| place.path.as_str()).collect();
    assert_eq!(paths, ["a.rs", "b.rs"]);
    assert_eq!(pair.fixture.store.overlap(&pair.fixture.ada, found.id).await.unwrap(), found);
    let filter = OverlapFilter { activity: Some(found.one.activity), ..Default::default() };
    assert_eq!(pair.fixture.store.overlaps(&pair.fixture.ada, filter).await.unwrap(), std::slice::from_ref(&found));
    let said = pair.said().await;
    assert_eq!(said, ["The work of Bo in `work of bo's` conflicts with `main`: `a.rs` and one more place."]);
    // The same files again change nothing, and overlaps with other work are beside it.
    let events = pair.fixture.heard().len();
    pair.bo_conflicts(&["b.rs", "a.rs"]).await;
    assert!(pair.fixture.heard().len() <= events + 1, "the workspace at most");
    pair.ada_did(vec![work(OLD, vec![edit("a.rs", 1, 2, "x")])]).await;
    pair.bo_did(vec![work(OLD, vec![edit("a.rs", 50, 52, "y")])]).await;
    assert_eq!(pair.kinds().await, [OverlapKind::Base, OverlapKind::SameFile], "conflicts first");
    pair.bo_conflicts(&["a.rs"]).await;
    let fewer = pair.fixture.store.overlap(&pair.fixture.ada, found.id).await.unwrap();
    assert_eq!((fewer.places.len(), fewer.ended_at), (1, None));
    pair.bo_conflicts(&[]).await;
    assert_eq!(pair.kinds().await, [OverlapKind::SameFile]);
    let ended = pair.fixture.store.overlap(&pair.fixture.ada, found.id).await.unwrap();
    assert!(ended.ended_at.is_some());
    pair.bo_conflicts(&["a.rs"]).await;
    let again = pair.seen(&pair.fixture.ada).await.remove(0);
    assert_eq!((again.id, again.kind, again.ended_at), (found.id, OverlapKind::Base, None));
    assert_eq!(pair.said().await.len(), 1, "it was gone for a moment");
}

async fn a_conflict_with_the_base_ends_with_the_work(fixture: Fixture) {
    let mut pair = Pair::new(fixture, false).await;
    let bo = pair.fixture.bo.clone();
    let made = pair.fixture.store.workspace(&bo, pair.bo.1, domain::Action::SeeExecution).await.unwrap();
    pair.bo_conflicts(&["a.rs"]).await;
    assert_eq!(pair.seen(&bo).await.len(), 1, "Bo sees it without the project's execution");
    assert_eq!(pair.said().await, Vec::<String>::new(), "not everybody may know");
    for (status, expected) in
        [(ActivityStatus::Completed, 0), (ActivityStatus::Active, 1), (ActivityStatus::Abandoned, 0)]
    {
        let input = ActivityUpdate { status: Some(status), ..Default::default() };
        pair.fixture.done(&bo, verbs::ActivityUpdate { activity: made.activity, input }).await;
        assert_eq!(pair.seen(&bo).await.len(), expected, "{status}");
    }
    let input = ActivityUpdate { status: Some(ActivityStatus::Active), ..Default::default() };
    pair.fixture.done(&bo, verbs::ActivityUpdate { activity: made.activity, input }).await;
    assert_eq!(pair.seen(&bo).await.len(), 1);
    let workspace = pair.bo.1;
    pair.bo.0.happened(&pair.fixture, FactBody::WorkspaceCleaned { workspace }).await;
    assert_eq!(pair.seen(&bo).await.len(), 0);
}

async fn a_conflict_with_the_base_stands_beside_what_is_declared(fixture: Fixture) {
    let mut pair = Pair::new(fixture, true).await;
    let ada = pair.fixture.ada.clone();
    let made = pair.fixture.store.workspace(&ada, pair.ada.1, domain::Action::SeeExecution).await.unwrap();
    pair.bo_conflicts(&["a.rs"]).await;
    pair.bo_did(vec![work(OLD, vec![edit("a.rs", 1, 2, "y")])]).await;
    let input = NewReservation { patterns: vec!["a.rs".into()], ..Default::default() };
    let made = pair.fixture.done(&ada, verbs::OverlapReserve { activity: made.activity, input }).await;
    assert_eq!(pair.kinds().await, [OverlapKind::Base, OverlapKind::Declared], "conflicts first");
    pair.bo_conflicts(&[]).await;
    assert_eq!(pair.kinds().await, [OverlapKind::Declared]);
    pair.bo_conflicts(&["a.rs"]).await;
    pair.fixture.done(&ada, verbs::OverlapRelease { reservation: made.id }).await;
    assert_eq!(pair.kinds().await, [OverlapKind::Base]);
}
