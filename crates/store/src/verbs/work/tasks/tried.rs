//! Previous workers of escalated tasks.

use std::collections::{BTreeSet, HashMap};

use domain::TaskId;
use protocol::{AttemptLine, Escalation, only_first_line};

use super::reach::list;
use crate::StoreError;
use crate::sql::{Connection, Row};
use crate::verbs::sight::Sight;

/// The maximum number of attempts shown with a question.
const NAMED: usize = 20;
/// The maximum length of an attempt's reason, in characters.
const WORDS: usize = 500;

fn line(row: &Row, seen: bool) -> Result<AttemptLine, StoreError> {
    let mut reason = row.text_or_none("reason")?;
    if !seen {
        only_first_line(&mut reason);
    }
    Ok(AttemptLine {
        number: row.count("number")?,
        worker_name: row.text("worker_name")?,
        agent: row.text("agent")?,
        outcome: row.parsed("outcome")?,
        reason: reason.map(|reason| shortened(&reason)),
        started_at: row.time("started_at")?,
        ended_at: row.time_or_none("ended_at")?,
    })
}

fn shortened(reason: &str) -> String {
    match reason.char_indices().nth(WORDS) {
        Some((end, _)) => format!("{}…", &reason[..end]),
        None => reason.to_owned(),
    }
}

/// Adds the newest attempts at its task to each question, oldest first.
pub(super) async fn tried(
    c: &mut Connection<'_>,
    sight: &Sight<'_>,
    asked: &mut [Escalation],
) -> Result<(), StoreError> {
    let tasks: Vec<TaskId> = asked.iter().map(|one| one.task).collect::<BTreeSet<_>>().into_iter().collect();
    let mut known: HashMap<TaskId, Vec<AttemptLine>> = HashMap::new();
    for some in tasks.chunks(128) {
        let (places, values) = list(some);
        let sql = format!(
            "SELECT task, project, worker, number, worker_name, agent, outcome, reason, started_at, ended_at FROM attempts \
             WHERE task IN ({places}) ORDER BY task, number"
        );
        for row in c.all(&sql, values).await? {
            let seen = sight.by(row.parsed("project")?, Some(row.parsed("worker")?));
            known.entry(row.parsed("task")?).or_default().push(line(&row, seen)?);
        }
    }
    for one in asked {
        let all = known.get(&one.task).map(Vec::as_slice).unwrap_or_default();
        one.context.attempts = all[all.len().saturating_sub(NAMED)..].to_vec();
    }
    Ok(())
}
