//! Search in terminals: which runners are asked about which projects, and which of their lines reach whom.

use domain::{RunnerId, SessionId, SessionStatus, Timestamp, Visibility};
use protocol::link::FactBody;
use protocol::{ProjectUpdate, TerminalQuery, TerminalResults, verbs};
use store::{Caller, FoundLine, TerminalPlace};

use crate::execution::{self, Memory, in_project, runner, spawn};
use crate::fixture::Fixture;

both! {
    runners_are_asked_only_about_projects_whose_recordings_the_caller_may_see,
    a_line_reaches_only_those_who_may_see_its_session,
}

fn query() -> TerminalQuery {
    TerminalQuery { text: "walrus".into(), ..Default::default() }
}

fn line(runner: RunnerId, session: SessionId, at_ms: u64, line: &str) -> FoundLine {
    FoundLine { runner, session, at_ms, at: Timestamp::from_millis(at_ms.cast_signed()), line: line.into() }
}

async fn places(fixture: &Fixture, caller: &Caller) -> Vec<TerminalPlace> {
    fixture.store.terminal_places(caller, &query()).await.unwrap()
}

async fn runners_are_asked_only_about_projects_whose_recordings_the_caller_may_see(fixture: Fixture) {
    let shared = execution::project(&fixture, Visibility::ReadWrite, true).await;
    let kept = execution::project(&fixture, Visibility::ReadWrite, false).await;
    let laptop = runner(&fixture, &fixture.ada, "laptop", 4).await;
    let desktop = runner(&fixture, &fixture.ada, "desktop", 4).await;
    fixture.done(&fixture.ada, spawn(in_project(&shared, "one"), &[laptop])).await;
    fixture.done(&fixture.ada, spawn(in_project(&kept, "two"), &[laptop])).await;
    let ended = fixture.done(&fixture.ada, spawn(in_project(&kept, "three"), &[desktop])).await.id;
    let mut memory = Memory::new(desktop);
    let all = places(&fixture, &fixture.ada).await;
    let count = |runner| all.iter().find(|place| place.runner == runner).map(|place| place.projects.len());
    assert_eq!((count(laptop), count(desktop)), (Some(2), Some(1)));
    let his = [TerminalPlace { runner: laptop, projects: vec![shared.id] }];
    assert_eq!(places(&fixture, &fixture.bo).await, his);
    let nothing = TerminalQuery { text: "…".into(), ..Default::default() };
    assert_eq!(fixture.store.terminal_places(&fixture.ada, &nothing).await.unwrap(), []);
    let one = TerminalQuery { project: Some(kept.id), ..query() };
    assert_eq!(fixture.store.terminal_places(&fixture.ada, &one).await.unwrap().len(), 2);
    // A recording that was deleted is not asked for.
    let recorded = |disk_bytes| FactBody::Recorded { session: ended, output_bytes: 10, disk_bytes, duration_ms: 10 };
    memory.happened(&fixture, recorded(5)).await;
    memory.at(&fixture, ended, SessionStatus::Exited).await;
    assert_eq!(places(&fixture, &fixture.ada).await.len(), 2);
    memory.happened(&fixture, recorded(0)).await;
    assert_eq!(places(&fixture, &fixture.ada).await.len(), 1);
}

async fn a_line_reaches_only_those_who_may_see_its_session(fixture: Fixture) {
    let project = execution::project(&fixture, Visibility::ReadWrite, false).await;
    let laptop = runner(&fixture, &fixture.ada, "laptop", 4).await;
    let other = runner(&fixture, &fixture.bo, "other", 4).await;
    let session = fixture.done(&fixture.ada, spawn(in_project(&project, "Hunt"), &[laptop])).await.id;
    let found = async |caller: &Caller| -> TerminalResults {
        let lines = vec![
            line(laptop, session, 1000, "the walrus"),
            line(laptop, session, 1000, "the walrus"),
            line(other, session, 2000, "a forged walrus"),
            line(laptop, SessionId::generate(), 3000, "a walrus of nothing"),
        ];
        fixture.store.terminal_hits(caller, &query(), lines).await.unwrap()
    };
    let hers = found(&fixture.ada).await.hits;
    assert_eq!((hers.len(), hers[0].session, hers[0].title.as_str()), (1, session, "Hunt"));
    assert!(hers[0].open && hers[0].line.iter().any(|piece| piece.hit && piece.text == "walrus"), "{hers:?}");
    assert_eq!(found(&fixture.bo).await.hits, []);
    let share = ProjectUpdate { share_execution: Some(true), ..Default::default() };
    fixture.done(&fixture.ada, verbs::ProjectUpdate { project: project.id, input: share }).await;
    assert_eq!(found(&fixture.bo).await.hits.len(), 1);
}
