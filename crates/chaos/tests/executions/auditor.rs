//! Looks into the database behind the hubs' backs, and holds it against what executions promise.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use client::Client;
use domain::ExecutionStatus;
use engine::recipes::{Owner, Path as StepPath, Snapshot, owners, stuck};
use protocol::{Call, Execution, ExecutionDetail, ExecutionReplay};
use testkit::Raw;

use crate::effects;

/// An independent reader of the database.
pub(crate) struct Auditor {
    database: String,
}

/// Each gives 0 in a database where nothing is half-written.
const WHOLE: [(&str, &str); 7] = [
    ("events are dense", "SELECT (SELECT COUNT(*) FROM events) - seq FROM ledger"),
    (
        "histories are dense",
        "SELECT COUNT(*) FROM executions e WHERE e.events <> (SELECT COUNT(*) FROM execution_events x WHERE \
         x.execution = e.id) OR e.events <> (SELECT COALESCE(MAX(x.number), 0) FROM execution_events x WHERE \
         x.execution = e.id)",
    ),
    (
        "no step is recorded twice",
        "SELECT COUNT(*) FROM (SELECT execution, path FROM execution_work WHERE state = 'succeeded' \
         GROUP BY execution, path HAVING COUNT(*) > 1) AS twice",
    ),
    (
        "one attempt of a step is open at a time",
        "SELECT COUNT(*) FROM (SELECT execution, path FROM execution_work WHERE state IN ('waiting', 'running') \
         GROUP BY execution, path HAVING COUNT(*) > 1) AS twice",
    ),
    (
        "what is over has no timers",
        "SELECT COUNT(*) FROM execution_timers t JOIN executions e ON e.id = t.execution WHERE e.ended_at IS NOT NULL",
    ),
    (
        "what is over has no open work",
        "SELECT COUNT(*) FROM execution_work w JOIN executions e ON e.id = w.execution WHERE e.ended_at IS NOT NULL \
         AND w.state IN ('waiting', 'running')",
    ),
    (
        "a call is made once",
        "SELECT COUNT(*) FROM (SELECT parent, parent_path, parent_attempt FROM executions WHERE parent_path IS NOT NULL \
         GROUP BY parent, parent_path, parent_attempt HAVING COUNT(*) > 1) AS twice",
    ),
];

impl Auditor {
    pub(crate) fn new(database: &str) -> Self {
        Self { database: database.to_owned() }
    }

    /// Nothing is half-written, and somebody or something makes each execution go on; the hubs may be at work.
    pub(crate) async fn look(&self) {
        let mut raw = Raw::connect(&self.database).await;
        raw.hold_still().await;
        for (what, sql) in WHOLE {
            assert_eq!(raw.number(sql).await, 0, "{what}");
        }
        let sql = "SELECT e.id, e.state, v.model FROM executions e JOIN recipe_versions v ON v.recipe = e.recipe AND \
                   v.number = e.number";
        for row in raw.rows(sql).await {
            let snapshot: Snapshot = serde_json::from_str(&row[1]).unwrap();
            let execution = snapshot.into_execution(Arc::new(serde_json::from_str(&row[2]).unwrap()));
            assert_eq!(stuck(&execution), None, "{}", row[0]);
            for owner in owners(&execution) {
                is_there(&mut raw, &row[0], &owner).await;
            }
        }
        raw.close().await;
    }

    /// Every execution is completed, its history decides the same again, and its outputs are those of its own attempts.
    pub(crate) async fn settled(&self, client: &Client, all: &[Execution]) {
        let mut raw = Raw::connect(&self.database).await;
        for execution in all {
            assert_eq!(execution.status, ExecutionStatus::Completed, "{execution:#?}");
            let call = Call::ExecutionReplay { execution: execution.id };
            let replay: ExecutionReplay = client.ask(call).await.unwrap();
            assert_eq!(replay.differences, Vec::<String>::new(), "{}", execution.id);
            let said = match execution.name.as_str() {
                "durable" => format!("{} is through", execution.id),
                _ => format!("echo of {}", execution.id),
            };
            let sql = format!("SELECT COUNT(*) FROM messages WHERE content = '{said}'");
            assert_eq!(raw.number(&sql).await, 1, "`{said}` is said once");
            let shown = client.ask::<ExecutionDetail>(Call::ExecutionShow { execution: execution.id }).await.unwrap();
            for step in &shown.steps {
                if let Some(key) = step.output.as_ref().and_then(|output| output["data"]["key"].as_str()) {
                    assert_eq!(key, format!("{}/{}/{}", execution.id, step.path, step.attempt));
                }
            }
        }
        raw.close().await;
    }

    /// Holds the log of effects against the attempts; returns how many effects there were.
    pub(crate) async fn effects(&self, log: &Path) -> usize {
        let mut raw = Raw::connect(&self.database).await;
        let key = "SELECT execution || '/' || path || '/' || attempt FROM execution_work WHERE kind = 'run'";
        let all: BTreeSet<String> = raw.column(key).await.into_iter().collect();
        let succeeded = raw.column(&format!("{key} AND state = 'succeeded'")).await.into_iter().collect();
        raw.close().await;
        effects::check(log, &succeeded, &all)
    }
}

/// There is a row for what makes an execution go on, so that any hub finds it.
async fn is_there(raw: &mut Raw, id: &str, owner: &Owner) {
    let open = |path: &StepPath| {
        format!(
            "SELECT COUNT(*) FROM execution_work WHERE execution = '{id}' AND path = '{path}' AND (state = 'waiting' OR \
             (state = 'running' AND (session IS NOT NULL OR called IS NOT NULL OR landing IS NOT NULL OR tasks <> '[]' \
             OR kind = 'approve' OR awaits IS NOT NULL)))"
        )
    };
    let sql = match owner {
        Owner::Work(path) | Owner::Event(path, _) => open(path),
        Owner::Timer(path) => {
            format!("SELECT COUNT(*) FROM execution_timers WHERE execution = '{id}' AND path = '{path}'")
        }
        Owner::People(_) => {
            format!("SELECT COUNT(*) FROM executions WHERE id = '{id}' AND needs_person = 1")
        }
        // A hub starts an execution in the transaction that creates it; a person resumes a paused one.
        Owner::Hub => panic!("{id} was created and not started"),
        Owner::Paused => return,
    };
    assert!(raw.number(&sql).await > 0, "{id} waits for {owner:?}, and there is no row for it");
}
