//! The auditor can fail: each planted fault turns it red.

use std::any::Any;
use std::collections::BTreeSet;
use std::path::Path;

use client::Client;
use protocol::{Call, Execution, ExecutionStart};
use rand::SeedableRng;
use rand::rngs::StdRng;
use testkit::{Raw, wait_until};

use crate::auditor::Auditor;
use crate::effects;
use crate::place::OneHub;
use crate::recipe::ECHO;
use crate::setup::{project, recipe};
use crate::support::free_port;

/// One execution for each kind of waiting: for a time, for a person, for a runner.
const OPEN: [&str; 3] = [
    "name: nap\nsteps:\n  - id: nap\n    wait: {for: 2h}\n",
    "name: ask\nsteps:\n  - id: ask\n    approve: {question: Go on?}\n",
    "name: work\nsteps:\n  - id: work\n    run: [make]\n",
];

/// A fault of the database, and what the auditor says about it.
const FAULTS: [(&str, &str); 9] = [
    ("DELETE FROM events WHERE seq = (SELECT MIN(seq) FROM events)", "events are dense"),
    ("DELETE FROM execution_events WHERE number = 1", "histories are dense"),
    (
        "CREATE TEMP TABLE twice AS SELECT * FROM execution_work WHERE kind = 'notify'; UPDATE twice SET attempt = 2; \
         INSERT INTO execution_work SELECT * FROM twice",
        "no step is recorded twice",
    ),
    (
        "INSERT INTO execution_timers (execution, path, attempt, timer, due_at) SELECT id, 'say', 1, 'retry', 1 FROM \
         executions WHERE ended_at IS NOT NULL",
        "what is over has no timers",
    ),
    ("UPDATE execution_work SET state = 'running' WHERE kind = 'notify'", "what is over has no open work"),
    ("DELETE FROM execution_work WHERE kind = 'run'", "there is no row for it"),
    ("DELETE FROM execution_timers WHERE timer = 'wait'", "there is no row for it"),
    ("UPDATE executions SET needs_person = 0", "there is no row for it"),
    (
        r#"UPDATE executions SET state = REPLACE(state, '"state":"running"', '"state":"held"') WHERE ended_at IS NULL"#,
        "nothing runs, and it waits for nothing",
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn planted_faults_turn_the_auditor_red() {
    let folder = tempfile::tempdir().unwrap();
    let database = url(&folder.path().join("whole.db"));
    prepare(folder.path(), &database).await;
    Auditor::new(&database).look().await;
    for (number, (fault, why)) in FAULTS.into_iter().enumerate() {
        let copy = folder.path().join(format!("fault{number}.db"));
        let mut raw = Raw::connect(&database).await;
        raw.run(&format!("VACUUM INTO '{}'", copy.display())).await;
        raw.close().await;
        let mut raw = Raw::connect(&url(&copy)).await;
        assert!(raw.run(fault).await > 0, "the fault changes something: {fault}");
        raw.close().await;
        let looked = tokio::spawn(async move { Auditor::new(&url(&copy)).look().await }).await;
        let told = looked.map_or_else(|red| said(red.into_panic()), |()| "nothing is wrong".to_owned());
        assert!(told.contains(why), "{fault}: {told}");
    }
}

/// A database with an execution that is over, and one for each kind of waiting; its hub has ended.
async fn prepare(folder: &Path, database: &str) {
    let port = free_port(&mut StdRng::seed_from_u64(rand::random()));
    let mut hub = OneHub::new(folder.join("hub"), database.to_owned(), port);
    let address = hub.start(None, &mut BTreeSet::new()).await;
    let token = std::fs::read_to_string(hub.data.join("token")).unwrap();
    let ann = Client::new(&address, token.trim()).unwrap();
    let project = project(&ann, folder).await;
    let mut started = Vec::new();
    for text in OPEN.into_iter().chain([ECHO]) {
        let recipe = recipe(&ann, project, text).await;
        let call = Call::ExecutionStart { recipe, input: ExecutionStart::default() };
        started.push(ann.ask::<Execution>(call).await.unwrap().id);
    }
    wait_until("one is over", async || {
        let shown: protocol::ExecutionDetail = ann.ask(Call::ExecutionShow { execution: started[3] }).await.ok()?;
        shown.execution.ended_at
    })
    .await;
    hub.process.take().unwrap().kill().await;
}

#[test]
fn planted_effects_turn_the_log_red() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("effects");
    let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<BTreeSet<String>>();
    let look = |text: &str, succeeded: &[&str]| {
        std::fs::write(&log, text).unwrap();
        let (log, succeeded, all) = (log.clone(), keys(succeeded), keys(&["e/a/1", "e/b/1"]));
        let looked = std::panic::catch_unwind(move || effects::check(&log, &succeeded, &all));
        looked.map_or_else(said, |count| format!("{count} effects"))
    };
    assert_eq!(look("once e/a/1\nagain e/b/1\nagain e/b/1\n", &["e/a/1"]), "2 effects");
    assert!(look("once e/a/1\nonce e/a/1\n", &[]).contains("done 2 times"));
    assert!(look("again e/c/1\n", &[]).contains("no attempt has this key"));
    assert!(look("once e/a/1\n", &["e/b/1"]).contains("nothing was done"));
}

fn said(panic: Box<dyn Any + Send>) -> String {
    let owned = panic.downcast_ref::<String>().cloned();
    owned.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

fn url(file: &Path) -> String {
    format!("sqlite:{}", file.display())
}
