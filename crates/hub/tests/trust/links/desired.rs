//! A runner's desired state: sent at once, complete, only its own, again after each connect, and from any hub.

use domain::{SessionStatus, Visibility};
use protocol::link::{Retention, ToRunner};
use protocol::{Call, ProjectUpdate, RecordingKeep, SessionStop};
use testkit::{Postgres, TestHub};

use super::{Fixture, project, spawn};
use crate::support::runner::Heard;
use crate::support::{FakeRunner, join, view};

#[tokio::test]
async fn session_changes_reach_the_runner_with_growing_generations() {
    let mut fixture = Fixture::new().await;
    let session = fixture.session.id;
    let (first, sessions, keep) = fixture.runner.desired("the spawn", |sessions| !sessions.is_empty()).await;
    assert_eq!((sessions.len(), keep.len()), (1, 0));
    let plan = &sessions[0];
    assert_eq!((plan.session, plan.run, plan.prompt.as_str()), (session, true, "work"));
    assert!(plan.context.contains("a project") && plan.workspace.repository_by.is_none(), "{plan:?}");

    let mut last = first;
    for force in [false, true] {
        let call = Call::SessionStop { session, input: SessionStop { force } };
        assert!(view!(&fixture.hub, &fixture.olga, Session, call).stopping);
        let wanted = |plan: &protocol::link::DesiredSession| !plan.run && plan.force == force;
        let (generation, ..) =
            fixture.runner.desired("the stop", |sessions| !sessions.is_empty() && sessions.iter().all(wanted)).await;
        assert!(generation > last, "{generation} after {last}");
        last = generation;
    }
    let input = RecordingKeep { keep: true };
    view!(&fixture.hub, &fixture.olga, Session, Call::RecordingKeep { session, input });
    let kept = |frame: &ToRunner| matches!(frame, ToRunner::Desired { keep, .. } if keep == &[session]);
    fixture.runner.told("keep", kept).await;
    fixture.runner.at(session, SessionStatus::Exited).await;

    // After a reconnect it is all told again, without what is over.
    fixture.runner.again(fixture.hub.url()).await;
    let acknowledged = fixture.runner.hello(8).await;
    assert!(acknowledged >= 1);
    let (generation, sessions, keep) = fixture.runner.desired("everything again", |_| true).await;
    assert!(generation > last && sessions.is_empty() && keep == [session]);
}

#[tokio::test]
async fn recording_retention_reaches_the_projects_runners() {
    let mut fixture = Fixture::new().await;
    let project = fixture.project;
    for days in [Some(30), None] {
        let input = ProjectUpdate { retention_days: Some(days), ..Default::default() };
        view!(&fixture.hub, &fixture.olga, Project, Call::ProjectUpdate { project, input });
        let wanted: Vec<_> = days.map(|days| Retention { project, days }).into_iter().collect();
        let told = |frame: &ToRunner| matches!(frame, ToRunner::Desired { retention, .. } if *retention == wanted);
        fixture.runner.told("how long recordings are kept", told).await;
    }
}

#[tokio::test]
async fn a_runner_receives_only_its_own_sessions() {
    let mut fixture = Fixture::new().await;
    let mut petes = FakeRunner::start(&fixture.hub, &fixture.pete, "pete's").await;
    let his = spawn(&fixture.hub, &fixture.pete, fixture.project, "his").await;
    assert_eq!(his.runner, petes.id, "a session goes to a runner of who spawned it");
    let (_, sessions, _) = petes.desired("his", |sessions| !sessions.is_empty()).await;
    assert_eq!(sessions.iter().map(|plan| plan.session).collect::<Vec<_>>(), [his.id]);
    let by = sessions[0].workspace.repository_by.as_ref().map(|by| by.user.name.as_str());
    assert_eq!(by, Some("olga"), "another's project");
    fixture.runner.desired("hers", |sessions| !sessions.is_empty()).await;
    let more = spawn(&fixture.hub, &fixture.olga, fixture.project, "more").await;
    let (_, sessions, _) = fixture.runner.desired("more", |sessions| sessions.len() == 2).await;
    assert!(sessions.iter().all(|plan| [fixture.session.id, more.id].contains(&plan.session)));
    for heard in petes.sync().await {
        assert!(!format!("{heard:?}").contains(&more.id.to_string()), "{heard:?}");
    }
}

#[tokio::test]
async fn a_spawn_at_one_hub_reaches_the_runner_at_another() {
    let database = Postgres::shared().database().await;
    let on = |options: &mut hub::Options| options.database = database.url().to_owned();
    let (one, two) = (TestHub::with(on).await, TestHub::with(on).await);
    let olga = join(&one, "olga").await;
    let mut runner = FakeRunner::start(&one, &olga, "box").await;
    let plan = project(&one, &olga, Visibility::Private, false).await;
    let there = |runners: Vec<protocol::Runner>| runners[0].connected;
    assert!(there(view!(&one, &olga, Runners, Call::RunnerList {})));
    assert!(there(view!(&two, &olga, Runners, Call::RunnerList {})), "every hub knows that it is there");
    let made = spawn(&two, &olga, plan, "from afar").await;
    let (_, sessions, _) = runner.desired("the spawn", |sessions| !sessions.is_empty()).await;
    assert_eq!(sessions[0].session, made.id);
    runner.at(made.id, SessionStatus::Working).await;
    let shown = view!(&two, &olga, SessionDetail, Call::SessionShow { session: made.id });
    assert_eq!(shown.session.state.status, SessionStatus::Working);
    let call = Call::SessionStop { session: made.id, input: SessionStop { force: false } };
    view!(&two, &olga, Session, call);
    runner.desired("the stop", |sessions| sessions.iter().any(|plan| !plan.run)).await;

    // The runner goes over to the other hub; the end of its older link, whenever it comes, is no news.
    let older = runner.again(two.url()).await;
    runner.hello(8).await;
    drop(older);
    testkit::wait_until("the older link's end", async || {
        let one = there(view!(&one, &olga, Runners, Call::RunnerList {}));
        let two = there(view!(&two, &olga, Runners, Call::RunnerList {}));
        (one && two).then_some(())
    })
    .await;
    assert!(runner.sync().await.iter().all(|heard| !matches!(heard, Heard::Closed(_))));
    one.stop().await;
    two.stop().await;
}
