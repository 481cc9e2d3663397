//! Who sees sessions and workspaces, in lists and by id.

use domain::{Action, Actor, SessionId, SessionStatus, UserId, Visibility};
use protocol::{Change, ExecutionFilter};
use store::{Caller, StoreError};

use super::{Memory, in_project, project, runner, spawn};
use crate::fixture::{DAY, Fixture, id};

both!(lists_show_only_visible_sessions, old_sessions_are_only_in_the_list);

fn agent(user: UserId, project: domain::ProjectId) -> Caller {
    let actor = Actor::Agent { user, project, session: SessionId::generate() };
    Caller::bearer(actor, "Ada", "192.0.2.9")
}

async fn lists_show_only_visible_sessions(fixture: Fixture) {
    let quin = fixture.join("Quin").await;
    let mine = runner(&fixture, &fixture.ada, "ada's", 40).await;
    let his = runner(&fixture, &fixture.bo, "bo's", 40).await;
    for visibility in Visibility::ALL {
        for share in [false, true] {
            let project = project(&fixture, *visibility, share).await;
            let hers = fixture.done(&fixture.ada, spawn(in_project(&project, "hers"), &[mine])).await;
            let mut made = vec![hers.clone()];
            if *visibility == Visibility::ReadWrite {
                made.push(fixture.done(&fixture.bo, spawn(in_project(&project, "his"), &[his])).await);
            }
            let shown = share && *visibility != Visibility::Private;
            let observer = Fixture::observer(project.id);
            for (caller, sees) in [
                (&fixture.ada, made.len()),
                (&fixture.bo, if shown { made.len() } else { made.len() - 1 }),
                (&quin, if shown { made.len() } else { 0 }),
                (&observer, if share { made.len() } else { 0 }),
                (&agent(id(&fixture.ada), project.id), made.len()),
                (&agent(id(&fixture.ada), domain::ProjectId::generate()), 0),
                (&Fixture::observer(domain::ProjectId::generate()), 0),
            ] {
                let about = format!("{visibility} {share} {caller:?}");
                let all = ExecutionFilter::default();
                let seen = fixture.store.sessions(caller, all).await.unwrap();
                let seen: Vec<_> = seen.into_iter().filter(|session| session.project == project.id).collect();
                assert_eq!(seen.len(), sees, "{about}");
                let workspaces = fixture.store.workspaces(caller, all).await.unwrap();
                let workspaces = workspaces.iter().filter(|workspace| workspace.project == project.id).count();
                assert_eq!(workspaces, sees, "{about}");
                let named = ExecutionFilter { project: Some(project.id), ..all };
                match fixture.store.sessions(caller, named).await {
                    Ok(listed) => assert_eq!(listed, seen, "{about}"),
                    Err(StoreError::NotFound("project")) => assert_eq!(sees, 0, "{about}"),
                    Err(other) => panic!("{about}: {other:?}"),
                }
                for session in &made {
                    let one = fixture.store.session(caller, session.id, Action::SeeExecution).await;
                    let detail = fixture.store.session_detail(caller, session.id).await;
                    let place = fixture.store.workspace(caller, session.workspace, Action::SeeExecution).await;
                    let sees = seen.iter().any(|listed| listed.id == session.id);
                    assert_eq!((one.is_ok(), detail.is_ok(), place.is_ok()), (sees, sees, sees), "{about}");
                    if !sees {
                        assert!(matches!(one, Err(StoreError::NotFound("session"))), "{about}");
                        assert!(matches!(place, Err(StoreError::NotFound("workspace"))), "{about}");
                    }
                }
                let in_state = fixture.store.state(caller).await.unwrap().1;
                let told =
                    |change: &&Change| matches!(change, Change::Session { session } if session.project == project.id);
                assert_eq!(in_state.iter().filter(told).count(), sees, "{about}");
                let one = fixture.store.state_of(caller, project.id).await.unwrap();
                assert_eq!(one.iter().filter(told).count(), sees, "{about}");
            }
        }
    }
}

async fn old_sessions_are_only_in_the_list(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 4).await;
    let session = fixture.done(&fixture.ada, spawn(in_project(&project, "work"), &[mine])).await.id;
    Memory::new(mine).at(&fixture, session, SessionStatus::Exited).await;
    let in_state = async || {
        let changes = fixture.store.state(&fixture.ada).await.unwrap().1;
        changes.iter().filter(|change| matches!(change, Change::Session { .. })).count()
    };
    let listed = async |ended| {
        let filter = ExecutionFilter { ended, ..Default::default() };
        fixture.store.sessions(&fixture.ada, filter).await.unwrap().len()
    };
    assert_eq!((in_state().await, listed(None).await, listed(Some(true)).await), (1, 0, 1));
    fixture.pass(8 * DAY);
    assert_eq!((in_state().await, listed(None).await, listed(Some(true)).await), (0, 0, 1));
}
