//! Expired recordings are deleted, and only those.

use protocol::link::{DesiredSession, FactBody};
use sqlx::ConnectOptions as _;
use sqlx::sqlite::SqliteConnectOptions;

use crate::hub::FakeHub;
use crate::support::{TestRunner, shell, stopped};

#[tokio::test]
async fn only_old_unkept_recordings_of_exited_sessions_expire() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let (running, young, kept, other) = (shell("echo on; read line"), shell("true"), shell("true"), shell("true"));
    let project = running.project;
    let in_project = |session| DesiredSession { project, ..session };
    // The newest is looked at last.
    let (young, kept, gone) = (in_project(young), in_project(kept), in_project(shell("true")));
    let old = in_project(shell("echo long ago"));
    let all = [&running, &young, &kept, &other, &gone, &old];
    hub.desire_from(1, all.map(Clone::clone).to_vec(), vec![kept.session]);
    for session in [&young, &kept, &other, &gone, &old] {
        hub.over(session.session).await;
    }
    hub.log_has(running.session, "on").await;
    runner.end().await;
    let options = SqliteConnectOptions::new().filename(runner.data_dir().join("journal.db"));
    let mut journal = options.connect().await.unwrap();
    let sql = "UPDATE sessions SET memory = json_set(memory, '$.state.since', '2020-01-01T00:00:00.000Z') \
               WHERE session <> $1";
    let changed = sqlx::query(sql).bind(young.session.to_string()).execute(&mut journal).await.unwrap();
    assert_eq!(changed.rows_affected(), 5);
    // Of this session, an earlier release deleted only the recording.
    let sql = "UPDATE sessions SET memory = json_set(memory, '$.forgotten', json('true')) WHERE session = $1";
    sqlx::query(sql).bind(gone.session.to_string()).execute(&mut journal).await.unwrap();
    drop(journal);
    std::fs::remove_dir_all(runner.session_dir(gone.session).join("recording")).unwrap();
    for session in all {
        std::fs::write(runner.session_dir(session.session).join("events.jsonl"), "{}\n").unwrap();
    }
    hub.keeps_for(project, 30);
    runner.spawn();
    hub.fact("that a recording has expired", |fact| match fact {
        FactBody::Recorded { session, disk_bytes: 0, .. } => (*session == old.session).then_some(()),
        _ => None,
    })
    .await;
    let has = |name| all.map(|session: &DesiredSession| runner.session_dir(session.session).join(name).exists());
    assert_eq!(has("recording"), [true, true, true, true, false, false]);
    assert_eq!(has("events.jsonl"), [true, true, true, true, false, false]);
    hub.desire_from(2, vec![stopped(&running)], vec![kept.session]);
    hub.over(running.session).await;
}
