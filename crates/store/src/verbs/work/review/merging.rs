//! Tasks that require their work to be merged: a report that meets everything else waits for the merge queue.

use domain::{EscalationKind, ReportId};
use engine::tasks::life::Event;
use engine::tasks::verdict::Outcome;
use protocol::{Criterion, CriterionResult, EscalationContext};

use super::ask::{self, Ask};
use super::judge;
use crate::StoreError;
use crate::sql::{args, text, to_json};
use crate::tx::Tx;
use crate::verbs::landing;
use crate::verbs::work::life::step;
use crate::verbs::work::tasks::row::TaskRow;
use crate::verbs::work::workers::facts;

/// How the landing of a report ended.
pub(crate) enum Ended {
    /// The work is on this branch.
    Landed(String),
    /// The merge queue sent the work back, with these words for its worker.
    SentBack(String),
    /// Nothing decided about the work: it could not be published, or somebody took it out of the queue.
    Undecided(String),
}

/// The results of criteria, for the verdict.
pub(super) fn outcomes(acceptance: &[Criterion], results: &[CriterionResult]) -> Vec<Outcome> {
    let merged = |at: u32| matches!(acceptance.get(at as usize), Some(Criterion::Merged {}));
    results.iter().map(|one| Outcome { passed: one.passed, merged: merged(one.criterion) }).collect()
}

/// Whether a person's acceptance leads to the merge queue: the task requires it, and the work was not there yet.
pub(super) async fn is_next(tx: &mut Tx<'_>, report: ReportId, acceptance: &[Criterion]) -> Result<bool, StoreError> {
    let sql = "SELECT r.id FROM reports r WHERE r.id = $1 AND r.kept IS NOT NULL AND NOT EXISTS \
               (SELECT 1 FROM landings l WHERE l.report = r.id)";
    Ok(acceptance.contains(&Criterion::Merged {}) && tx.read().first(sql, vec![text(report)]).await?.is_some())
}

/// Begins the landing of a report's work; its verdict waits for the merge queue.
pub(super) async fn begin(
    tx: &mut Tx<'_>,
    row: TaskRow,
    report: ReportId,
    results: &[CriterionResult],
) -> Result<(), StoreError> {
    tx.run("UPDATE reports SET results = $1 WHERE id = $2", args![to_json(&results), report.to_string()]).await?;
    if landing::of_report(tx, &row, report).await? {
        let why = "it waits for the merge queue".to_owned();
        return step(tx, row, Event::AwaitMerge { why }).await.map(|_| ());
    }
    undecided(tx, row, "the work left no commits").await
}

async fn undecided(tx: &mut Tx<'_>, row: TaskRow, why: &str) -> Result<(), StoreError> {
    let question = format!("The work could not be merged: {why}. Is it accepted?");
    let ask = Ask::new(EscalationKind::Uncheckable, question, EscalationContext::default());
    ask::escalate(tx, row.id, ask).await.map(|_| ())
}

/// Applies the end of a landing to its report, if that waits for it.
pub(crate) async fn ended(tx: &mut Tx<'_>, report: ReportId, how: Ended) -> Result<(), StoreError> {
    let sql = "SELECT task, results FROM reports WHERE id = $1 AND verdict = 'pending'";
    let Some(found) = tx.read().first(sql, vec![text(report)]).await? else { return Ok(()) };
    let row = tx.known_task(found.parsed("task")?).await?;
    let (passed, reason) = match &how {
        Ended::Landed(target) => (true, format!("merged into `{target}`")),
        Ended::SentBack(words) => (false, words.clone()),
        Ended::Undecided(why) => return undecided(tx, row, why).await,
    };
    let mut results: Vec<CriterionResult> = found.json("results")?;
    for result in &mut results {
        if let Some(Criterion::Merged {}) = row.acceptance.get(result.criterion as usize) {
            (result.passed, result.reason) = (Some(passed), reason.clone());
        }
    }
    if passed {
        return judge::accept(tx, report, &results).await.map(|_| ());
    }
    let fence = row.fence;
    judge::refuse(tx, report, &results, &reason, None).await?;
    let after = tx.known_task(row.id).await?;
    if after.fence == fence && after.hold().is_some() {
        let say = facts::back(tx, row.id, &reason).await?;
        tx.say(say);
    }
    Ok(())
}
