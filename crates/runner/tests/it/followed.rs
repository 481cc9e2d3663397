//! Which workspaces a restarted runner continues to save.

use domain::{SessionId, SessionStatus};
use protocol::link::{DesiredSession, FactBody, RunnerAsk};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, SqliteConnection};

use crate::hub::FakeHub;
use crate::support::{TestRunner, fixture, repository, shell, stopped};

const LONG_AGO: &str = "2020-01-01T00:00:00.000Z";

async fn journal(runner: &TestRunner) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(runner.data_dir().join("journal.db"));
    options.connect().await.unwrap()
}

/// Ends a runner and starts it again as if nothing had changed in its workspaces for years.
async fn restart_long_after(runner: &mut TestRunner) {
    runner.end().await;
    let mut journal = journal(runner).await;
    let sql = "UPDATE workspaces SET body = json_set(body, '$.used_at', $1)";
    let changed = sqlx::query(sql).bind(LONG_AGO).execute(&mut journal).await.unwrap();
    assert_eq!(changed.rows_affected(), 1);
    drop(journal);
    runner.spawn();
}

#[tokio::test]
async fn running_work_unchanged_for_years_is_still_saved() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let origin = fixture(&[("file.txt", "one\n")]);
    let mut session = shell("echo ready; read line; echo two >> file.txt; echo written; read line");
    session.workspace.repository = Some(repository(origin.path()));
    hub.desire(vec![session.clone()]);
    hub.log_has(session.session, "ready").await;
    restart_long_after(&mut runner).await;
    hub.connected(2).await;
    let say = RunnerAsk::Send { session: session.session, text: String::new(), submit: true };
    testkit::wait_until("the session can be talked to", || async { hub.ask(say.clone()).await.ok() }).await;
    hub.log_has(session.session, "written").await;
    hub.fact("that the work of a running session is saved", |fact| match fact {
        FactBody::WorkspaceStats { stats: Some(stats), saved_at: Some(_), .. } => stats.uncommitted.then_some(()),
        _ => None,
    })
    .await;
    hub.desire(vec![stopped(&session)]);
    hub.over(session.session).await;
}

#[tokio::test]
async fn a_new_session_in_an_old_workspace_marks_it_as_used() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let origin = fixture(&[("file.txt", "one\n")]);
    let mut first = shell("true");
    first.workspace.repository = Some(repository(origin.path()));
    hub.desire(vec![first.clone()]);
    hub.over(first.session).await;
    restart_long_after(&mut runner).await;
    hub.connected(2).await;
    let second = DesiredSession { argv: shell("read line").argv, session: SessionId::generate(), ..first };
    hub.desire(vec![second.clone()]);
    hub.state(second.session, |state| state.status == SessionStatus::Working).await;
    runner.end().await;
    let sql = "SELECT json_extract(body, '$.used_at') FROM workspaces";
    let used_at: String = sqlx::query_scalar(sql).fetch_one(&mut journal(&runner).await).await.unwrap();
    assert_ne!(used_at, LONG_AGO);
}
