//! Reservations, and the files of running tasks: others are warned before the first edit, and only while they stand.

use domain::{ActivityId, ActivityStatus, Actor, OverlapKind, SessionId, Visibility, WorkspaceId};
use protocol::link::{EntryFacts, FactBody, FileFacts, LineFacts, WorkFacts};
use protocol::{
    ActivityCreate, ActivityUpdate, Change, NewReservation, OverlapFilter, Project, Reservation, ReservationFilter,
    TaskAdd, WorkOverlap, verbs,
};
use store::{Caller, EventBody, StoreError, TendDeclared};

use crate::execution::{Memory, in_project, project, runner, spawn};
use crate::fixture::{Fixture, id};
use crate::tasks::{add_one, detail, invalid, taken, task};
use crate::workers::{Shop, plain};

both!(
    a_reservation_meets_the_work_of_others_until_it_ends,
    two_reservations_meet,
    a_reservation_is_visible_with_its_project_and_changes_with_their_execution,
    the_files_of_a_running_task_are_declared,
    a_reservation_ends_with_its_activity,
    wrong_reservations_are_refused,
    an_agent_reserves_for_its_own_activity,
    a_task_whose_files_are_reserved_comes_later,
);

fn reserves(activity: ActivityId, patterns: &[&str]) -> verbs::OverlapReserve {
    let patterns = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    verbs::OverlapReserve { activity, input: NewReservation { patterns, ..Default::default() } }
}

async fn activity(fixture: &Fixture, project: &Project, name: &str) -> ActivityId {
    let input = ActivityCreate { content: name.into(), ..Default::default() };
    fixture.done(&fixture.ada, verbs::ActivityCreate { project: project.id, input }).await.id
}

async fn seen(fixture: &Fixture, caller: &Caller) -> Vec<WorkOverlap> {
    fixture.store.overlaps(caller, OverlapFilter::default()).await.unwrap()
}

async fn standing(fixture: &Fixture) -> Vec<Reservation> {
    fixture.store.reservations(&fixture.ada, ReservationFilter::default()).await.unwrap()
}

async fn tend(fixture: &Fixture, project: &Project) {
    fixture.done(&Caller::hub("surveyor"), TendDeclared { project: project.id }).await;
}

/// A session of Bo's, and what it changes.
struct Work {
    memory: Memory,
    session: SessionId,
    workspace: WorkspaceId,
    activity: ActivityId,
}

impl Work {
    async fn of_bo(fixture: &Fixture, project: &Project) -> Self {
        let runner = runner(fixture, &fixture.bo, "box", 4).await;
        let made = fixture.done(&fixture.bo, spawn(in_project(project, "work of bo"), &[runner])).await;
        let mut memory = Memory::new(runner);
        let found = fixture.store.workspace(&fixture.bo, made.workspace, domain::Action::SeeExecution).await.unwrap();
        memory.ready(fixture, &found).await;
        Self { memory, session: made.id, workspace: made.workspace, activity: made.activity }
    }

    async fn changes(&mut self, fixture: &Fixture, paths: &[&str]) {
        let file = |path: &&str| FileFacts {
            path: (*path).to_owned(),
            from: None,
            before: Some("100644".into()),
            after: Some(EntryFacts { mode: "100644".into(), content: "x".into() }),
            lines: LineFacts::Whole {},
            symbols: vec![],
        };
        let files = paths.iter().map(file).collect();
        let work = vec![WorkFacts { against: "1".repeat(40), files, gone: vec![], truncated: false }];
        self.memory.happened(fixture, FactBody::WorkspaceWork { workspace: self.workspace, work }).await;
    }
}

async fn a_reservation_meets_the_work_of_others_until_it_ends(fixture: Fixture) {
    let project = project(&fixture, Visibility::ReadWrite, true).await;
    let parser = activity(&fixture, &project, "Add parser").await;
    let mut bo = Work::of_bo(&fixture, &project).await;
    bo.changes(&fixture, &["src/parser.rs", "README.md"]).await;
    assert_eq!(seen(&fixture, &fixture.ada).await, [], "nothing is declared");
    let made = fixture.done(&fixture.ada, reserves(parser, &["src/**", "./docs/"])).await;
    assert_eq!(made.patterns, ["docs/", "src/**"]);
    assert_eq!(made.expires_at, fixture.store.now().plus_millis(2 * 3_600_000));
    for caller in [&fixture.ada, &fixture.bo] {
        let found = seen(&fixture, caller).await;
        let [found] = found.as_slice() else { panic!("{found:?}") };
        let other = found.other.as_ref().unwrap();
        let (mine, theirs) = match found.one.reservation.is_some() {
            true => (&found.one, other),
            false => (other, &found.one),
        };
        assert_eq!((found.kind, found.kind.conflicts()), (OverlapKind::Declared, false));
        assert_eq!(
            (mine.reservation, mine.until, mine.name.as_str()),
            (Some(made.id), Some(made.expires_at), "Add parser")
        );
        assert_eq!((theirs.workspace, theirs.activity), (Some(bo.workspace), bo.activity));
        let places: Vec<&str> = found.places.iter().map(|place| place.path.as_str()).collect();
        assert_eq!(places, ["src/parser.rs"]);
    }
    // It follows the work.
    bo.changes(&fixture, &["README.md"]).await;
    assert_eq!(seen(&fixture, &fixture.ada).await, []);
    bo.changes(&fixture, &["docs/a.md"]).await;
    assert_eq!(seen(&fixture, &fixture.ada).await.len(), 1);
    // The same patterns again move the end.
    fixture.pass(3_600_000);
    let again = fixture.done(&fixture.ada, reserves(parser, &["src/**", "docs/"])).await;
    assert_eq!((again.id, standing(&fixture).await.len()), (made.id, 1));
    let until = fixture.heard().iter().rev().find_map(|event| match &event.body {
        EventBody::Change { change: Change::Overlap { overlap } } => {
            Some(overlap.one.until.or(overlap.other.as_ref()?.until))
        }
        _ => None,
    });
    assert_eq!(until, Some(Some(again.expires_at)), "clients learn the new end");
    fixture.pass(2 * 3_600_000 - 1);
    assert_eq!(seen(&fixture, &fixture.ada).await.len(), 1);
    // Its time is over: it counts no more, also before the hub has marked it.
    fixture.pass(1);
    assert_eq!((seen(&fixture, &fixture.ada).await, standing(&fixture).await), (vec![], vec![]));
    let (_, state) = fixture.store.state(&fixture.bo).await.unwrap();
    assert!(!state.iter().any(|change| matches!(change, Change::Overlap { .. } | Change::Reservation { .. })));
    tend(&fixture, &project).await;
    let heard = fixture.heard();
    let ended = heard.iter().rev().filter_map(|event| match &event.body {
        EventBody::Change { change: Change::Overlap { overlap } } => Some(overlap.ended_at),
        EventBody::Change { change: Change::Reservation { reservation } } => Some(reservation.ended_at),
        _ => None,
    });
    assert_eq!(ended.take(2).filter(Option::is_some).count(), 2, "clients learn that both ended");
}

async fn two_reservations_meet(fixture: Fixture) {
    let project = project(&fixture, Visibility::ReadWrite, true).await;
    let (parser, lexer) = (activity(&fixture, &project, "Parser").await, activity(&fixture, &project, "Lexer").await);
    let first = fixture.done(&fixture.ada, reserves(parser, &["src/{parser,lexer}.rs"])).await;
    fixture.done(&fixture.bo, reserves(lexer, &["docs", "src/lexer.rs"])).await;
    let found = seen(&fixture, &fixture.bo).await;
    assert_eq!((found.len(), found[0].places[0].path.as_str()), (1, "src/lexer.rs"));
    let events = fixture.heard().len();
    tend(&fixture, &project).await;
    assert_eq!(fixture.heard().len(), events, "a second comparison changes nothing");
    let ended = fixture.done(&fixture.bo, verbs::OverlapRelease { reservation: first.id }).await;
    assert!(ended.ended_at.is_some(), "whoever may write may end it");
    assert_eq!(seen(&fixture, &fixture.ada).await, []);
    let events = fixture.heard().len();
    let again = fixture.done(&fixture.ada, verbs::OverlapRelease { reservation: first.id }).await;
    assert_eq!((again, fixture.heard().len()), (ended, events));
    let filter = ReservationFilter { activity: Some(lexer), ..Default::default() };
    assert_eq!(fixture.store.reservations(&fixture.ada, filter).await.unwrap().len(), 1);
}

async fn a_reservation_is_visible_with_its_project_and_changes_with_their_execution(fixture: Fixture) {
    let eve = fixture.join("Eve").await;
    let project = project(&fixture, Visibility::ReadWrite, false).await;
    let parser = activity(&fixture, &project, "Add parser").await;
    let mut bo = Work::of_bo(&fixture, &project).await;
    bo.changes(&fixture, &["src/secret.rs"]).await;
    let made = fixture.done(&eve, reserves(parser, &["src"])).await;
    for (caller, overlaps) in [(&fixture.ada, 1), (&fixture.bo, 1), (&eve, 0)] {
        assert_eq!(seen(&fixture, caller).await.len(), overlaps, "Eve may not see what Bo changes");
        let standing = fixture.store.reservations(caller, ReservationFilter::default()).await.unwrap();
        assert_eq!(standing, std::slice::from_ref(&made));
        let (_, state) = fixture.store.state(caller).await.unwrap();
        let synced = state.iter().filter(|change| matches!(change, Change::Overlap { .. })).count();
        assert_eq!(synced, overlaps);
    }
    let scope = fixture.heard().iter().rev().find_map(|event| match &event.body {
        EventBody::Change { change: Change::Overlap { .. } } => Some(event.execution_of),
        _ => None,
    });
    assert_eq!(scope, Some(Some(id(&fixture.bo))));
    // Two reservations are as visible as the project.
    let other = activity(&fixture, &project, "Other").await;
    fixture.done(&fixture.bo, reserves(other, &["src/a.rs"])).await;
    assert_eq!(seen(&fixture, &eve).await.len(), 1);
    // Nobody else learns of it.
    let input = protocol::ProjectUpdate { visibility: Some(Visibility::Private), ..Default::default() };
    fixture.done(&fixture.ada, verbs::ProjectUpdate { project: project.id, input }).await;
    assert_eq!(seen(&fixture, &eve).await, []);
    assert_eq!(fixture.store.reservations(&eve, ReservationFilter::default()).await.unwrap(), []);
    for error in [
        fixture.refused(&eve, reserves(parser, &["src"])).await,
        fixture.refused(&eve, verbs::OverlapRelease { reservation: made.id }).await,
    ] {
        assert!(matches!(error, StoreError::NotFound(_)), "{error}");
    }
}

async fn the_files_of_a_running_task_are_declared(fixture: Fixture) {
    let project = project(&fixture, Visibility::ReadWrite, true).await;
    let lexer = activity(&fixture, &project, "Lexer").await;
    let parser = activity(&fixture, &project, "Parser").await;
    fixture.done(&fixture.ada, reserves(parser, &["src/**"])).await;
    let files = vec!["src/lexer.rs".to_owned()];
    let new = TaskAdd { files, activity: Some(lexer), ..task("Write the lexer") };
    let added = add_one(&fixture, project.id, new).await;
    tend(&fixture, &project).await;
    assert_eq!(seen(&fixture, &fixture.ada).await, [], "nobody works on it yet");
    let held = taken(&fixture, project.id, "w").await;
    assert_eq!(held.task.id, added, "nothing is refused");
    tend(&fixture, &project).await;
    let found = seen(&fixture, &fixture.ada).await;
    let tasks: Vec<_> = found.iter().map(|one| one.one.task.or(one.other.as_ref()?.task)).collect();
    assert_eq!(tasks, [Some(added)]);
    let declared = fixture.store.declared().await.unwrap();
    assert_eq!((declared[0].tasks.len(), declared[0].reservations.len()), (1, 1));
    crate::tasks::cancel(&fixture, added).await;
    tend(&fixture, &project).await;
    assert_eq!(seen(&fixture, &fixture.ada).await, []);
    assert!(detail(&fixture, added).await.task.status.is_over());
}

async fn a_reservation_ends_with_its_activity(fixture: Fixture) {
    let project = project(&fixture, Visibility::ReadWrite, true).await;
    let parser = activity(&fixture, &project, "Parser").await;
    let mut bo = Work::of_bo(&fixture, &project).await;
    bo.changes(&fixture, &["src/a.rs"]).await;
    fixture.done(&fixture.ada, reserves(parser, &["src"])).await;
    assert_eq!(seen(&fixture, &fixture.ada).await.len(), 1);
    let input = ActivityUpdate { status: Some(ActivityStatus::Completed), ..Default::default() };
    fixture.done(&fixture.ada, verbs::ActivityUpdate { activity: parser, input }).await;
    assert_eq!((seen(&fixture, &fixture.ada).await, standing(&fixture).await), (vec![], vec![]));
    let error = fixture.refused(&fixture.ada, reserves(parser, &["src"])).await;
    assert!(error.to_string().contains("the activity is completed"), "{error}");
}

async fn wrong_reservations_are_refused(fixture: Fixture) {
    let project = project(&fixture, Visibility::ReadOnly, true).await;
    let parser = activity(&fixture, &project, "Parser").await;
    for (patterns, part) in [
        (vec![], "give 1 to 20"),
        (vec!["a"; 21], "give 1 to 20"),
        (vec!["a", ""], "patterns[1]: a pattern is empty"),
        (vec!["/etc/passwd"], "root of the repository"),
        (vec!["a/../b"], "`..`"),
        (vec!["src/[a"], "add `]`"),
    ] {
        let error = fixture.refused(&fixture.ada, reserves(parser, &patterns)).await;
        assert!(invalid(&error).contains(part), "{patterns:?}: {error}");
    }
    for seconds in [0, 59, 86_401] {
        let mut command = reserves(parser, &["a"]);
        command.input.seconds = Some(seconds);
        let error = fixture.refused(&fixture.ada, command).await;
        assert!(error.to_string().contains("60 to 86400 seconds"), "{error}");
    }
    let mut command = reserves(parser, &["a"]);
    command.input.reason = Some("x".repeat(201));
    assert!(fixture.refused(&fixture.ada, command).await.to_string().contains("the limit is 200"));
    let error = fixture.refused(&fixture.bo, reserves(parser, &["a"])).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error}");
    for number in 0..20 {
        fixture.done(&fixture.ada, reserves(parser, &[&format!("a{number}")])).await;
    }
    let error = fixture.refused(&fixture.ada, reserves(parser, &["more"])).await;
    assert!(error.to_string().contains("the activity has 20 reservations"), "{error}");
}

async fn an_agent_reserves_for_its_own_activity(fixture: Fixture) {
    let project = project(&fixture, Visibility::ReadWrite, true).await;
    let parser = activity(&fixture, &project, "Parser").await;
    let bo = Work::of_bo(&fixture, &project).await;
    let actor = Actor::Agent { user: id(&fixture.bo), project: project.id, session: bo.session };
    let agent = Caller::bearer(actor, "Bo", "agent");
    let own = fixture.done(&agent, reserves(bo.activity, &["src"])).await;
    assert!(own.by_agent && own.by.id == id(&fixture.bo), "{own:?}");
    let other = fixture.done(&fixture.ada, reserves(parser, &["src"])).await;
    for error in [
        fixture.refused(&agent, reserves(parser, &["docs"])).await,
        fixture.refused(&agent, verbs::OverlapRelease { reservation: other.id }).await,
    ] {
        assert!(matches!(error, StoreError::Forbidden(_)), "{error}");
    }
    fixture.done(&agent, verbs::OverlapRelease { reservation: own.id }).await;
}

async fn a_task_whose_files_are_reserved_comes_later(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let parser = activity(&shop.fixture, &shop.project, "Add parser").await;
    shop.fixture.done(&shop.fixture.ada, reserves(parser, &["src/**"])).await;
    let files = vec!["src/lexer.rs".to_owned()];
    let ids = shop.add(vec![TaskAdd { files, ..plain("Write the lexer") }, plain("Write the guide")]).await;
    shop.start(1).await;
    assert_eq!(shop.dispatch().await, 1);
    assert!(shop.task(ids[1]).await.session.is_some(), "the other one goes first");
    let reason = shop.task(ids[0]).await.reason.unwrap_or_default();
    let said = "it comes later: its files are reserved by `Add parser` until ";
    assert!(reason.contains(said) && reason.ends_with(" UTC"), "{reason}");
    // An external worker, too.
    let id = add_one(&shop.fixture, shop.project.id, plain("Write more")).await;
    assert_eq!(taken(&shop.fixture, shop.project.id, "w").await.task.id, id);
    assert_eq!(taken(&shop.fixture, shop.project.id, "v").await.task.id, ids[0], "nothing is refused");
}
