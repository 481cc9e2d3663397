//! Reports whose runner is offline: another runner checks them, or a person decides until the runner returns.

use domain::{AnswerAct, EscalationKind, ProjectId, ReportId, RunnerId, TaskId, TaskStatus, Timestamp};
use engine::workers::decision::Decision;
use engine::workers::liveness::check_given_up_at;
use protocol::{Escalation, EscalationContext};
use serde::Serialize;

use super::ask::{self, Ask};
use super::{evidence, judge, place};
use crate::sql::{Connection, Row, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::work::workers::log::decided;
use crate::verbs::work::workers::settings;
use crate::verbs::workspaces::json_or_none;
use crate::{Command, Store, StoreError};

/// A report that a runner must check.
struct Owed {
    report: ReportId,
    task: TaskId,
    project: ProjectId,
    summary: String,
    runner: RunnerId,
    /// The runner's name and when it was last connected; absent if the runner was removed.
    known: Option<(String, Option<Timestamp>)>,
    lease_ms: i64,
}

/// All reports that a runner must check.
async fn owed(c: &mut Connection<'_>) -> Result<Vec<Owed>, StoreError> {
    let sql = "SELECT r.id, r.task, r.project, r.summary, r.runner, n.name, n.last_seen_at, s.settings FROM reports r \
               JOIN tasks t ON t.id = r.task AND t.fence = r.fence LEFT JOIN runners n ON n.id = r.runner \
               LEFT JOIN work_settings s ON s.project = r.project \
               WHERE r.verdict = 'pending' AND r.runner IS NOT NULL AND t.status IN ('reported', 'validating') AND \
               NOT EXISTS (SELECT 1 FROM landings l WHERE l.report = r.id) ORDER BY r.at, r.id";
    c.all(sql, args![]).await?.iter().map(Owed::read).collect()
}

impl Owed {
    fn read(row: &Row) -> Result<Self, StoreError> {
        let name = row.text_or_none("name")?;
        let known = name.map(|name| Ok::<_, StoreError>((name, row.time_or_none("last_seen_at")?))).transpose()?;
        let settings = json_or_none(row, "settings")?.unwrap_or(settings::DEFAULTS);
        Ok(Self {
            report: row.parsed("id")?,
            task: row.parsed("task")?,
            project: row.parsed("project")?,
            summary: row.text("summary")?,
            runner: row.parsed("runner")?,
            known,
            lease_ms: i64::from(settings.lease_seconds) * 1000,
        })
    }

    /// When the hub stops waiting for the runner, if it stays offline.
    fn given_up_at(&self, hub: Timestamp) -> Timestamp {
        let last = self.known.as_ref().map(|(_, last)| last.unwrap_or(hub));
        check_given_up_at(last, hub, self.lease_ms)
    }

    /// Why the report was not checked.
    fn why(&self) -> String {
        match &self.known {
            Some((name, Some(last))) => format!("the runner `{name}` has been away since {last}"),
            Some((name, None)) => format!("the runner `{name}` is away"),
            None => "its runner was removed".to_owned(),
        }
    }
}

impl Store {
    /// The runners with reports to check, each with the time when the hub stops waiting for it if it is offline. `hub`
    /// is when the hub started listening for runners.
    pub async fn owed_checks(&self, hub: Timestamp) -> Result<Vec<(RunnerId, Timestamp)>, StoreError> {
        let owed = owed(&mut self.readers.get().await?.borrow()).await?;
        Ok(owed.iter().map(|one| (one.runner, one.given_up_at(hub))).collect())
    }
}

/// Stops waiting for runners that have been offline too long; returns the reports that they had to check.
#[derive(Debug, Serialize)]
pub struct GiveUpChecks {
    /// The connected runners.
    pub connected: Vec<RunnerId>,
    /// When the hub started listening for runners.
    pub hub: Timestamp,
}

impl Command for GiveUpChecks {
    type Output = Vec<ReportId>;
    const VERB: &'static str = "work.unchecked";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<ReportId>, StoreError> {
        let mut given_up = Vec::new();
        for one in owed(tx.read()).await? {
            if self.connected.contains(&one.runner) || one.given_up_at(self.hub) > tx.now {
                continue;
            }
            given_up.push(one.report);
            give_up(tx, one).await?;
        }
        Ok(given_up)
    }
}

async fn give_up(tx: &mut Tx<'_>, one: Owed) -> Result<(), StoreError> {
    let (row, why) = (tx.known_task(one.task).await?, one.why());
    if judge::not_compared(tx, one.report, &why).await? {
        return Ok(());
    }
    let worker = row.worker();
    if place::elsewhere(tx, row, one.report, Some(one.runner)).await? {
        return decided(tx, one.project, worker, Some(one.task), Decision::CheckMoved { why }).await;
    }
    let runner = one.known.as_ref().map(|_| one.runner);
    let context = EscalationContext { text: one.summary, runner, ..Default::default() };
    let question = format!("The acceptance criteria could not be checked: {why}. Accept the work?");
    ask::escalate(tx, one.task, Ask::new(EscalationKind::Uncheckable, question, context)).await.map(|_| ())
}

/// The open escalation that was raised because this runner was offline.
pub(super) async fn asked(tx: &mut Tx<'_>, task: TaskId, runner: RunnerId) -> Result<Option<Escalation>, StoreError> {
    let sql = format!("{} WHERE e.task = $1 AND e.kind = 'uncheckable' AND e.answered_at IS NULL", ask::COLUMNS);
    let rows = tx.read().all(&sql, vec![text(task)]).await?;
    let open = rows.iter().map(ask::escalation).collect::<Result<Vec<_>, _>>()?;
    Ok(open.into_iter().find(|open| open.context.runner == Some(runner)))
}

/// The runner returned with results: settles the escalation.
pub(super) async fn answered(tx: &mut Tx<'_>, open: Escalation, runner: RunnerId) -> Result<(), StoreError> {
    let act = match tx.known_task(open.task).await?.status() {
        TaskStatus::Done => AnswerAct::Accept,
        TaskStatus::Escalated => AnswerAct::Tell,
        _ => AnswerAct::Retry,
    };
    let found = tx.read().first("SELECT name FROM runners WHERE id = $1", vec![text(runner)]).await?;
    let name = found.map(|row| row.text("name")).transpose()?.unwrap_or_default();
    ask::close(tx, open, act, &format!("the runner `{name}` came back and checked it"), None).await.map(|_| ())
}

/// The runner returned but could not check the report either: adds the reason to the escalation.
pub(super) async fn still_unchecked(tx: &mut Tx<'_>, mut open: Escalation, detail: String) -> Result<(), StoreError> {
    open.context.runner = None;
    open.context.text = detail;
    let sql = "UPDATE escalations SET context = $1 WHERE id = $2";
    tx.run(sql, args![to_json(&open.context), open.id.to_string()]).await?;
    evidence::announce(tx, &open).await
}
