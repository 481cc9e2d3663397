//! Reports under a fence, and late ones.

use domain::limits::MAX_LATE_REPORTS;
use domain::{Action, Actor, SessionId, TaskId, UserId};
use protocol::{Report, TaskReport, Verb, verbs};
use serde::{Deserialize, Serialize};

use super::check;
use super::lease::holding;
use crate::sql::args;
use crate::tx::Tx;
use crate::verbs::room::room;
use crate::verbs::work::review::judge::{self, NewReport, Source};
use crate::{Caller, Command, StoreError};

/// Outcome of an incoming report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "almost every one was taken")]
pub enum Reported {
    /// The report was accepted, or waits for a check or a person.
    Taken(Report),
    /// The lease was lost: the hub keeps and shows the report, and the worker must stop.
    Late {
        /// The stored report.
        report: Report,
        /// Why it is late, for the worker.
        why: String,
    },
}

impl Command for verbs::TaskReport {
    type Output = Reported;
    const VERB: &'static str = verbs::TaskReport::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Reported, StoreError> {
        check::report(&self.input)?;
        report(tx, self.task, &self.input).await
    }

    fn foresee(&self, _: &Caller, wanted: &mut super::Wanted) {
        wanted.tasks.push(self.task);
        wanted.ends.push(self.task);
    }
}

/// Takes a report, or keeps it as late.
pub(super) async fn report(tx: &mut Tx<'_>, task: TaskId, input: &TaskReport) -> Result<Reported, StoreError> {
    let new = NewReport {
        summary: input.summary.clone(),
        deliverables: input.deliverables.clone().unwrap_or_default(),
        context_score: input.context_score,
        usage: input.usage.clone(),
        source: Source::Worker,
        failed: input.failed.clone(),
    };
    let why = match holding(tx, task, input.fence).await {
        Ok(_) => return judge::report_in(tx, task, input.fence, new).await.map(Reported::Taken),
        Err(StoreError::Conflict(why)) => why,
        Err(error) => return Err(error),
    };
    if !had_it(tx, task, input.fence).await? {
        return Err(StoreError::Conflict(why));
    }
    let sql = "SELECT COUNT(*) AS total FROM reports WHERE task = $1 AND fence = $2 AND verdict = 'late'";
    let full = || format!("{why}; {MAX_LATE_REPORTS} late reports of that hold are kept already");
    room(tx, sql, args![task.to_string(), input.fence], MAX_LATE_REPORTS, full).await?;
    let report = judge::late(tx, task, input.fence, new).await?;
    Ok(Reported::Late { report, why })
}

/// Whether a worker of the caller held the task under this fence and its report was not accepted: only then is a report
/// late, and kept.
async fn had_it(tx: &mut Tx<'_>, task: TaskId, fence: u64) -> Result<bool, StoreError> {
    let sql = "SELECT w.owner, a.outcome, a.sessions FROM attempts a JOIN workers w ON w.id = a.worker \
               WHERE a.task = $1 AND a.fence = $2";
    let Some(row) = tx.read().first(sql, args![task.to_string(), fence]).await? else { return Ok(false) };
    let owner: UserId = row.parsed("owner")?;
    let own = match tx.caller.actor() {
        None => true,
        Some(Actor::User { id, .. }) => *id == owner,
        Some(Actor::Agent { user, session, .. }) => {
            *user == owner && row.json::<Vec<SessionId>>("sessions")?.contains(session)
        }
        Some(Actor::Observer { .. } | Actor::Runner { .. }) => false,
    };
    if own && row.text("outcome")? != "accepted" {
        let project = tx.known_task(task).await?.project;
        tx.check(project, Action::See, "task").await?;
        return Ok(true);
    }
    Ok(false)
}
