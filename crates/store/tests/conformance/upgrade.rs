//! A database of an earlier release is brought up to date with all that is in it.

use domain::{Seq, Timestamp, Visibility};
use protocol::{Change, Worker, WorkerUpdate};
use sqlx::migrate::{Migration, Migrator};
use sqlx::{Connection, PgConnection, SqliteConnection};
use store::transfer::export;
use store::{Bearer, CreateProject, EventBody, Secret, Store, UpdateWorker};
use testkit::Raw;

use crate::execution;
use crate::floor::{Floor, Place};
use crate::tasks;
use crate::workers::Shop;

both!(
    a_first_database_keeps_everything,
    what_was_told_of_one_worker_is_told_of_workers,
    what_was_ready_is_in_the_queue,
    a_queue_that_an_earlier_release_wrote_past_is_put_right,
);

/// The schema as it was up to a migration.
async fn schema_of(url: &str, last: i64) {
    let all = Migrator::new(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations"))).await.unwrap();
    let until: Vec<Migration> = all.iter().filter(|migration| migration.version <= last).cloned().collect();
    assert_eq!(until.last().map(|migration| migration.version), Some(last));
    let only = Migrator { migrations: until.into(), ..Migrator::DEFAULT };
    match url.strip_prefix("sqlite:") {
        Some(file) => {
            let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file).create_if_missing(true);
            let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
            only.run(&mut connection).await.unwrap();
            connection.close().await.unwrap();
        }
        None => {
            let mut connection = PgConnection::connect(url).await.unwrap();
            only.run(&mut connection).await.unwrap();
            connection.close().await.unwrap();
        }
    }
}

/// What a hub of the first release left: a person, a project with an activity, a runner, its token, and the events.
async fn rows_of_then(raw: &mut Raw, hash: &str) {
    let (user, project) = ("usr_01a1e119f8407696a1b328e2f374b476", "prj_01a1e119fc25762f9ee82f00f5eb03ff");
    let (runner, token) = ("run_01a1e119fc25762f9ee82f00f5eb0301", "tok_01a1e119fc25762f9ee82f00f5eb0302");
    let activity = "act_01a1e119fc94774e959a06e6cb55cb07";
    let owner = format!(r#"{{"id":"{user}","name":"Ada"}}"#);
    let body = format!(
        r#"{{"about":"change","change":{{"kind":"runner","runner":{{"id":"{runner}","name":"laptop","owner":{owner},"connected":false,"last_seen_at":null,"created_at":"2026-11-15T21:25:37.868Z"}}}}}}"#
    );
    for sql in [
        "INSERT INTO ledger VALUES (1, 'hub_01a1e119f7ce75098aed4a97f220a95d', 1, 0, 0, '')".to_owned(),
        format!("INSERT INTO users VALUES ('{user}', 'Ada', 'ada', 1, 0, NULL, NULL, 5)"),
        format!(
            "INSERT INTO projects VALUES ('{project}', '{user}', 'read-write', 1, 0, NULL, 'Parser', 1, '[]', 0, 5, 5)"
        ),
        format!(
            "INSERT INTO activities VALUES ('{activity}', '{project}', '{user}', 'active', 'Lexer', 1, '[]', 5, 5)"
        ),
        format!("INSERT INTO runners VALUES ('{runner}', '{user}', 'laptop', 7, 5)"),
        format!(
            "INSERT INTO tokens VALUES ('{token}', '{user}', 'runner', '{runner}', 'laptop', '{hash}', 5, NULL, NULL)"
        ),
        format!("INSERT INTO events VALUES (1, 5, NULL, NULL, NULL, NULL, '{body}')"),
    ] {
        raw.run(&sql).await;
    }
}

/// Another database of the same kind.
async fn another(floor: &Floor) -> Place {
    match floor.place {
        Place::Sqlite(_) => Place::sqlite(),
        Place::Postgres(_) => Place::postgres().await,
    }
}

/// A worker whose name has what a careless rewrite stumbles over, and the event that told of one alone.
pub(crate) async fn of_one_worker(shop: &Shop) -> (Worker, String) {
    let worker = shop.start(1).await.remove(0);
    let name = Some(r#"Ünï 🦀 }}]' "worker":{"#.to_owned());
    let input = WorkerUpdate { name, ..Default::default() };
    let worker = shop.floor.done(&shop.floor.ada, UpdateWorker { worker: worker.id, input }).await;
    let view = serde_json::to_string(&worker).unwrap();
    let told = format!(r#"{{"about":"change","change":{{"kind":"worker","worker":{view}}}}}"#);
    (worker, told)
}

async fn what_was_told_of_one_worker_is_told_of_workers(floor: Floor) {
    let place = another(&floor).await;
    let shop = Shop::open(floor).await;
    let (worker, told) = of_one_worker(&shop).await;
    let gone = format!(r#"{{"about":"change","change":{{"kind":"worker_gone","worker":"{}"}}}}"#, worker.id);
    let url = place.url();
    schema_of(&url, 7).await;
    let mut raw = Raw::connect(&url).await;
    raw.run("INSERT INTO ledger VALUES (1, 'hub_01a1e119f7ce75098aed4a97f220a95d', 3, 0, 0, '')").await;
    for (seq, body) in [(1, &told), (2, &gone), (3, &told)] {
        let (project, body) = (worker.project, body.replace('\'', "''"));
        raw.run(&format!("INSERT INTO events (seq, at, project, body) VALUES ({seq}, 5, '{project}', '{body}')")).await;
    }
    raw.close().await;

    let store = Store::open(&url, || Timestamp::from_millis(1_800_000_000_000), |_| {}).await.unwrap();
    let events = store.events_after(Seq(0), 10).await.unwrap();
    assert!(events.iter().all(|event| event.project == Some(worker.project)));
    let found: Vec<EventBody> = events.into_iter().map(|event| event.body).collect();
    let change = |change| EventBody::Change { change };
    let gone = change(Change::WorkerGone { worker: worker.id });
    let told = change(Change::Workers { workers: vec![worker] });
    assert_eq!(found, [told.clone(), gone, told]);
    store.close().await;
    drop(store);
    drop(place);
}

async fn a_first_database_keeps_everything(floor: Floor) {
    let place = another(&floor).await;
    let url = place.url();
    schema_of(&url, 1).await;
    let secret = "sf_of_the_first_release";
    let mut raw = Raw::connect(&url).await;
    rows_of_then(&mut raw, &Secret::presented(secret).hash()).await;
    drop(raw);

    let store = Store::open(&url, || Timestamp::from_millis(1_800_000_000_000), |_| {}).await.unwrap();
    let credential = store.authenticate(&Bearer::Token(Secret::presented(secret))).await.unwrap().unwrap();
    let domain::Actor::Runner { user, runner } = credential.actor else {
        panic!("it is still the runner's: {credential:?}")
    };
    let ada = store::Caller::user(user, true, "Ada", "192.0.2.1");
    let runners = store.runners(&ada).await.unwrap();
    assert_eq!((runners[0].id, runners[0].about.clone(), runners[0].connected), (runner, None, false));
    assert_eq!(runners[0].last_seen_at, Some(Timestamp::from_millis(7)));
    assert_eq!(store.desired(runner).await.unwrap().unwrap().generation, 0);
    let events = store.events_after(Seq(0), 10).await.unwrap();
    assert_eq!((events.len(), events[0].execution_of), (1, None), "what was told then can be told again");
    let project = store.projects(&ada).await.unwrap().remove(0);
    assert!(store.sessions(&ada, Default::default()).await.unwrap().is_empty());

    // And it goes on from there.
    let about = Some(execution::about(1));
    let hub = store::Caller::hub("link");
    store.write(&hub, None, store::SeeRunner { runner, link: "x".into(), about }).await.unwrap();
    let made = store.write(&ada, None, execution::spawn(execution::in_project(&project, "work"), &[runner])).await;
    assert_eq!(made.unwrap().value.runner, runner);
    let more: CreateProject = crate::floor::create_project("more", Visibility::Private);
    store.write(&ada, None, more).await.unwrap();
    store.close().await;
    drop(store);
    drop(place);
}

async fn what_was_ready_is_in_the_queue(floor: Floor) {
    let project = tasks::shared(&floor).await;
    let added = tasks::add(&floor, project, vec![tasks::named("a", &[]), tasks::named("b", &["a"])]).await;
    let mut raw = floor.raw().await;
    for sql in [
        "DROP VIEW all_attempts",
        "DROP INDEX reports_as_attempts",
        "DROP INDEX reports_with_scores",
        "DROP INDEX reports_with_changes",
        "DROP TABLE approvals",
        "DROP TABLE grants",
        "DROP TABLE outages",
        "ALTER TABLE runners DROP COLUMN policy",
        "ALTER TABLE runners DROP COLUMN sandbox_others",
        "ALTER TABLE runners DROP COLUMN trouble",
        "ALTER TABLE projects DROP COLUMN sandbox_others",
        "ALTER TABLE tasks DROP COLUMN author_session",
        "ALTER TABLE sessions DROP COLUMN asked_by",
        "ALTER TABLE sessions DROP COLUMN asked_session",
        "ALTER TABLE sessions DROP COLUMN asked_for",
        "ALTER TABLE sessions DROP COLUMN asked_by_agent",
        "ALTER TABLE tasks DROP COLUMN by_agent",
        "ALTER TABLE sessions DROP COLUMN held_up",
        "ALTER TABLE workspaces DROP COLUMN code_by",
        "ALTER TABLE audit DROP COLUMN via",
        "ALTER TABLE messages DROP COLUMN author_session",
        "ALTER TABLE versions DROP COLUMN author_kind",
        "ALTER TABLE versions DROP COLUMN author_session",
        "ALTER TABLE escalations DROP COLUMN other_owner",
        "ALTER TABLE tasks DROP COLUMN noted",
        "ALTER TABLE reports DROP COLUMN worker_name",
        "ALTER TABLE reports DROP COLUMN agent",
        "ALTER TABLE reports DROP COLUMN began",
        "CREATE INDEX reports_by_project ON reports (project, at)",
        "DROP TABLE task_queue",
        "CREATE INDEX tasks_ready ON tasks (project, queue_key, id) WHERE status = 'ready'",
        "CREATE INDEX tasks_held ON tasks (lease_until) WHERE lease_until IS NOT NULL",
        "DELETE FROM _sqlx_migrations WHERE version >= 15",
    ] {
        raw.run(sql).await;
    }
    raw.close().await;
    let mut before = Vec::new();
    export(&floor.url, &mut before).await.unwrap();
    let before = String::from_utf8(before).unwrap();
    assert!(before.lines().next().unwrap().contains(r#""schema":14"#), "a copy from before the upgrade says so");
    assert_eq!(before.matches(r#""table":"tasks""#).count(), 2);

    let floor = floor.reopened().await;
    tasks::sound(&mut floor.raw().await, project).await;
    let taken = tasks::taken(&floor, project, "w").await;
    assert_eq!(taken.task.id, added.tasks[0].id);
    tasks::sound(&mut floor.raw().await, project).await;
}

async fn a_queue_that_an_earlier_release_wrote_past_is_put_right(floor: Floor) {
    let project = tasks::shared(&floor).await;
    let added = tasks::add(&floor, project, vec![tasks::named("a", &[]), tasks::named("b", &[])]).await;
    let mut raw = floor.raw().await;
    let (added_then, taken_then) = (added.tasks[0].id, added.tasks[1].id);
    raw.run(&format!("DELETE FROM task_queue WHERE task = '{added_then}'")).await;
    raw.run(&format!("UPDATE tasks SET status = 'cancelled' WHERE id = '{taken_then}'")).await;
    let floor = floor.reopened().await;
    assert!(tasks::take(&floor, project, "w").await.taken.is_none(), "what is not ready is not handed out");
    floor.done(&store::Caller::hub("foreman"), store::GraceLeases { seconds: 1 }).await;
    tasks::sound(&mut raw, project).await;
    assert_eq!(tasks::taken(&floor, project, "w").await.task.id, added_then);
}
