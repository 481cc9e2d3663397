//! Export, import and backup: all or nothing.

use std::sync::Arc;

use domain::Visibility;
use protocol::link::FactBody;
use protocol::{
    ArtifactConfigure, ArtifactPut, InviteCreate, MarkRead, ObserverCreate, PortRange, ProjectCreate, ProjectUpdate,
    RunnerCreate, Sandbox, SessionSpawn, TokenCreate, Usage, verbs,
};
use store::transfer::{TransferError, backup, export, import};
use store::{
    BeginContent, Caller, Compact, CreateLoginLink, EnterByGithub, Event, MintAgentToken, Secret, Store,
    UseObserverLink,
};

use crate::events::crowd;
use crate::execution::{self, Memory};
use crate::fixture::{Fixture, Place, send};
use crate::tasks;
use testkit::Raw;

both!(
    a_round_trip_keeps_every_row,
    a_cut_off_archive_is_refused_and_nothing_imported,
    a_corrupted_archive_is_refused,
    a_database_in_use_is_not_overwritten,
    a_backup_of_a_live_database_is_consistent,
);

/// Artifacts with content, one whose content is still on its way, and settings.
async fn artifacts(fixture: &Fixture, project: domain::ProjectId) {
    let input = ArtifactPut { name: "a.md".into(), text: Some("# Ünïcode 🦀".into()), ..Default::default() };
    fixture.done(&fixture.ada, verbs::ArtifactPut { project, input }).await;
    let input = ArtifactConfigure { days: Some(3), ..Default::default() };
    fixture.done(&fixture.ada, verbs::ArtifactConfigure { project, input }).await;
    fixture.done(&fixture.ada, BeginContent { project }).await;
}

/// Fills every table and every nullable column.
async fn fill(fixture: &Fixture) {
    let repositories =
        vec![protocol::Repository { location: "/srv/a".into(), base_branch: None, ..Default::default() }];
    let input = ProjectCreate {
        content: "Ünïcode 🦀\n\"quoted\" \\ \t tab".into(),
        visibility: Some(Visibility::ReadWrite),
        retention_days: Some(3),
        repositories,
        ..Default::default()
    };
    let project = fixture.done(&fixture.ada, verbs::ProjectCreate { input }).await.id;
    fixture.project(Visibility::Private).await;
    let input = ProjectUpdate { visibility: Some(Visibility::ReadOnly), ..Default::default() };
    fixture.store.write(&fixture.ada, Some("key".into()), verbs::ProjectUpdate { project, input }).await.unwrap();
    let input = protocol::ActivityCreate { content: "Lexer".into(), ..Default::default() };
    fixture.done(&fixture.ada, verbs::ActivityCreate { project, input }).await;
    for number in 0..1100 {
        fixture.say(&fixture.ada, project, &format!("message {number} for @bo")).await;
    }
    fixture.done(&fixture.bo, verbs::ChatRead { project, input: MarkRead { number: 4 } }).await;
    let (name, expires_at) = ("x".to_owned(), None);
    fixture.done(&fixture.bo, verbs::TokenCreate { input: TokenCreate { name: name.clone(), expires_at } }).await;
    fixture.done(&fixture.bo, verbs::RunnerCreate { input: RunnerCreate { name: name.clone() } }).await;
    fixture.done(&fixture.bo, verbs::InviteCreate { input: InviteCreate { name: name.clone(), expires_at } }).await;
    fixture.done(&fixture.bo, CreateLoginLink { user: None }).await;
    let link = fixture
        .done(&fixture.ada, verbs::ObserverCreate { project, input: ObserverCreate { name, expires_at } })
        .await
        .link;
    // One session with all fields, one with only the required ones.
    let machine = execution::runner(fixture, &fixture.ada, "box", 4).await;
    let shared = execution::project(fixture, Visibility::ReadWrite, true).await;
    let input = SessionSpawn {
        model: Some("big".into()),
        sandbox: Some(Sandbox { network: true, home: true }),
        argv: vec!["a\tb\u{1b}".into()],
        ..execution::in_project(&shared, "Ünïcode 🦀")
    };
    artifacts(fixture, shared.id).await;
    let full = fixture.done(&fixture.ada, execution::spawn(input, &[machine])).await;
    let input = SessionSpawn { project: Some(project), agent: "shell".into(), ..Default::default() };
    fixture.done(&fixture.ada, execution::spawn(input, &[machine])).await;
    let hub = Caller::hub("link");
    fixture.done(&hub, MintAgentToken { runner: machine, session: full.id }).await.unwrap();
    let mut memory = Memory::new(machine);
    let usage = Usage { input_tokens: u64::MAX, cached_tokens: 1, output_tokens: 2, cost_micros: None };
    let (model, conversation) = (None, Some("c-1".into()));
    memory.happened(fixture, FactBody::SessionUsage { session: full.id, usage, model, conversation }).await;
    let ports = Some(PortRange { first: 1, last: 2 });
    let (path, branch, base) = ("/w".to_owned(), None, None);
    let ready = FactBody::WorkspaceReady { workspace: full.workspace, path, branch, base, ports };
    memory.happened(fixture, ready).await;
    let (disk_bytes, saved_at) = (Some(u64::MAX), Some(fixture.store.now()));
    let fact = FactBody::WorkspaceStats { workspace: full.workspace, stats: None, disk_bytes, saved_at };
    memory.happened(fixture, fact).await;
    let (client, address) = ("Firefox".to_owned(), "192.0.2.5".to_owned());
    let hash = Secret::presented(&link).hash();
    fixture.done(&Caller::hub("x"), UseObserverLink { hash, client: client.clone(), address: address.clone() }).await;
    let login = "octo".to_owned();
    fixture.done(&Caller::hub("x"), EnterByGithub { github_id: i64::MAX, login, client, address }).await;
    work(fixture).await;
    fixture.done(&Caller::hub("x"), Compact { keep: 1000 }).await;
}

/// Tasks that are ready, blocked, reported with all fields and with few, and one with a question.
async fn work(fixture: &Fixture) {
    let project = tasks::shared(fixture).await;
    let named = |name: &str, deps: &[&str]| tasks::named(name, deps);
    tasks::add(fixture, project, vec![named("first", &[]), named("waits", &["first"])]).await;
    let costly = tasks::taken(fixture, project, "worker-1").await;
    let mut report = tasks::report(costly.task.id, costly.lease.fence, "Ünïcode 🦀");
    report.input.usage = Some(Usage { input_tokens: 1, cached_tokens: 0, output_tokens: 2, cost_micros: Some(3) });
    fixture.done(&fixture.ada, report).await;
    tasks::finish(fixture, &tasks::taken(fixture, project, "worker-1").await).await;
    tasks::add(fixture, project, ["asked", "held", "ready"].map(tasks::task).into()).await;
    let asked = tasks::taken(fixture, project, "worker-2").await;
    let (question, options, context) = ("Tabs?".to_owned(), vec![], String::new());
    let input = protocol::TaskAsk { fence: asked.lease.fence, question, options, context, give_up: true };
    fixture.done(&fixture.ada, verbs::TaskAsk { task: asked.task.id, input }).await;
    tasks::taken(fixture, project, "worker-2").await;
    let input = protocol::WorkConfigure { lease_seconds: Some(100), ..Default::default() };
    fixture.done(&fixture.ada, verbs::WorkConfigure { project, input }).await;
    fixture.done(&fixture.ada, verbs::FloorFreeze { input: protocol::Freeze { project: Some(project) } }).await;
}

const TABLES: [&str; 33] = [
    "ledger",
    "users",
    "projects",
    "activities",
    "versions",
    "messages",
    "reads",
    "runners",
    "workspaces",
    "sessions",
    "tasks",
    "task_queue",
    "task_deps",
    "task_gists",
    "attempts",
    "reports",
    "escalations",
    "workers",
    "artifacts",
    "artifact_contents",
    "artifact_chunks",
    "artifact_settings",
    "work_settings",
    "work_log",
    "freezes",
    "tokens",
    "observers",
    "logins",
    "login_links",
    "invites",
    "events",
    "audit",
    "requests",
];

/// Every row of every table, sorted.
async fn rows(url: &str) -> Vec<(String, Vec<Vec<String>>)> {
    let mut raw = Raw::connect(url).await;
    let mut all = Vec::new();
    for table in TABLES {
        let mut rows = raw.rows(&format!("SELECT * FROM {table}")).await;
        assert!(!rows.is_empty(), "{table} is empty, the test shows nothing");
        rows.sort();
        all.push((table.to_owned(), rows));
    }
    all
}

async fn archive(url: &str) -> Vec<u8> {
    let mut archive = Vec::new();
    export(url, &mut archive).await.unwrap();
    archive
}

/// The other kind of database.
async fn other(fixture: &Fixture) -> Place {
    match fixture.place {
        Place::Sqlite(_) => Place::postgres().await,
        Place::Postgres(_) => Place::sqlite(),
    }
}

async fn open(url: &str) -> Store {
    Store::open(url, || domain::Timestamp::from_millis(1_800_000_000_000), |_: &[Arc<Event>]| {}).await.unwrap()
}

async fn a_round_trip_keeps_every_row(fixture: Fixture) {
    fill(&fixture).await;
    let before = rows(&fixture.url).await;
    let (there, back) = (
        other(&fixture).await,
        match fixture.place {
            Place::Sqlite(_) => Place::sqlite(),
            Place::Postgres(_) => Place::postgres().await,
        },
    );
    let exported = archive(&fixture.url).await;
    let count = import(&there.url(), &mut exported.as_slice()).await.unwrap();
    assert_eq!(count, before.iter().map(|(_, rows)| rows.len() as u64).sum::<u64>());
    assert_eq!(rows(&there.url()).await, before);
    import(&back.url(), &mut archive(&there.url()).await.as_slice()).await.unwrap();
    assert_eq!(rows(&back.url()).await, before);
    for place in [&there, &back] {
        let moved = open(&place.url()).await;
        assert_eq!(moved.hub(), fixture.store.hub());
        assert_eq!(moved.verify_audit().await.unwrap(), fixture.store.verify_audit().await.unwrap());
        let seq = moved.extent().await.unwrap().newest;
        let project = moved.projects(&fixture.ada).await.unwrap()[0].id;
        moved.write(&fixture.ada, None, send(project, "it goes on")).await.unwrap();
        assert_eq!(moved.extent().await.unwrap().newest.0, seq.0 + 1);
        moved.close().await;
    }
}

async fn a_cut_off_archive_is_refused_and_nothing_imported(fixture: Fixture) {
    fixture.project(Visibility::Private).await;
    let exported = String::from_utf8(archive(&fixture.url).await).unwrap();
    let lines: Vec<&str> = exported.lines().collect();
    let there = other(&fixture).await;
    for kept in [0, 1, lines.len() / 2, lines.len() - 1] {
        let cut = lines[..kept].join("\n");
        let error = import(&there.url(), &mut cut.as_bytes()).await.unwrap_err();
        assert!(matches!(error, TransferError::Archive { .. }), "{kept} lines: {error}");
    }
    let middle = &exported.as_bytes()[..exported.len() - 30];
    assert!(import(&there.url(), &mut &middle[..]).await.is_err());
    assert_eq!(Raw::connect(&there.url()).await.number("SELECT COUNT(*) FROM users").await, 0);
    import(&there.url(), &mut exported.as_bytes()).await.unwrap();
}

async fn a_corrupted_archive_is_refused(fixture: Fixture) {
    fixture.project(Visibility::Private).await;
    let exported = String::from_utf8(archive(&fixture.url).await).unwrap();
    let lines: Vec<&str> = exported.lines().collect();
    let there = other(&fixture).await;
    let table = r#"{"line":"row","table":"pg_user","row":{"x":1}}"#;
    let column = r#"{"line":"row","table":"users","row":{"id) VALUES (1); --":1}}"#;
    let number = lines[1].replacen(r#""seq":"#, r#""seq":0.5,"x":"#, 1);
    for bad in [table, column, number.as_str(), "", "{}", lines[0], lines[1]] {
        let spoiled = [&lines[..2], &[bad], &lines[2..]].concat().join("\n");
        assert!(import(&there.url(), &mut spoiled.as_bytes()).await.is_err(), "{bad}");
        assert_eq!(Raw::connect(&there.url()).await.number("SELECT COUNT(*) FROM users").await, 0);
    }
}

async fn a_database_in_use_is_not_overwritten(fixture: Fixture) {
    let exported = archive(&fixture.url).await;
    let there = other(&fixture).await;
    import(&there.url(), &mut exported.as_slice()).await.unwrap();
    let error = import(&there.url(), &mut exported.as_slice()).await.unwrap_err();
    assert!(matches!(error, TransferError::NotEmpty), "{error}");
}

async fn a_backup_of_a_live_database_is_consistent(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("copy.db");
    let (_, made) = tokio::join!(crowd(&fixture.store, &fixture.bo, project, 16, 40), backup(&fixture.url, &file));
    made.unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600, "a backup is for its owner only");
    let error = backup(&fixture.url, &file).await.unwrap_err();
    assert!(matches!(error, TransferError::Exists(_)), "{error}");
    let (url, _keep) = match &fixture.place {
        Place::Sqlite(_) => (format!("sqlite:{}", file.display()), None),
        Place::Postgres(_) => {
            let place = Place::sqlite();
            import(&place.url(), &mut std::fs::read(&file).unwrap().as_slice()).await.unwrap();
            (place.url(), Some(place))
        }
    };
    let mut raw = Raw::connect(&url).await;
    assert_eq!(raw.column("PRAGMA integrity_check").await, ["ok"]);
    assert_eq!(raw.rows("PRAGMA foreign_key_check").await, Vec::<Vec<String>>::new());
    let sql = "SELECT COUNT(*) - MAX(seq) FROM events";
    assert_eq!(raw.number(sql).await, 0, "dense");
    assert_eq!(raw.number("SELECT (SELECT MAX(seq) FROM events) - seq FROM ledger").await, 0);
    let sql = "SELECT COUNT(*) - (SELECT last_message FROM projects) FROM messages";
    assert_eq!(raw.number(sql).await, 0);
    assert!(open(&url).await.verify_audit().await.unwrap().is_ok());
}
