//! Finding out that the work of an attempt is over.

use domain::{ArtifactId, ArtifactKind, LandingState, SessionStatus, TaskId};
use engine::recipes::{ErrorKind, Verdict};
use serde_json::{Map, Value as Json, json};

use super::rows::{self, ExecutionRow};
use super::summary;
use super::work::{self, WorkRow};
use super::{budget, printed};
use crate::StoreError;
use crate::sql::text;
use crate::tx::Tx;
use crate::verbs::work::tasks::row::TaskRow;
use crate::verbs::{artifacts, sessions};

/// The longest text of a session that an output holds.
const TEXT: usize = 16 * 1024;

/// How the work of an attempt ended; `None` while it runs. Adds what it cost to the execution.
pub(super) async fn verdict(
    tx: &mut Tx<'_>,
    row: &mut ExecutionRow,
    work: &WorkRow,
) -> Result<Option<Verdict>, StoreError> {
    if work.session.is_some() {
        return of_session(tx, row, work).await;
    }
    if !work.tasks.is_empty() {
        return of_tasks(tx, row, work).await;
    }
    if work.called.is_some() {
        return of_call(tx, row, work).await;
    }
    if work.landing.is_some() {
        return of_landing(tx, work).await;
    }
    Ok(None)
}

fn failed(kind: ErrorKind, message: impl Into<String>) -> Option<Verdict> {
    Some(Verdict::Failed { kind, message: message.into() })
}

async fn of_session(tx: &mut Tx<'_>, row: &mut ExecutionRow, work: &WorkRow) -> Result<Option<Verdict>, StoreError> {
    let Some(id) = work.session else { return Ok(None) };
    let Some((session, _)) = sessions::get(tx.read(), id).await? else {
        return Ok(failed(ErrorKind::Lost, "its session was removed"));
    };
    if !session.state.ended() {
        return Ok(None);
    }
    work::cost(tx, row, work, session.usage.cost_micros).await?;
    let state = &session.state;
    let said = work.said.as_deref().unwrap_or_default().trim();
    if state.status == SessionStatus::Lost {
        let why = state.detail.clone().unwrap_or_else(|| "its session was lost".to_owned());
        return Ok(match work.at_most_once {
            true => Some(Verdict::Interrupted { why }),
            false => failed(ErrorKind::Lost, why),
        });
    }
    Ok(match (state.code, state.signal) {
        (Some(0), _) => {
            let text = end_of(said, TEXT);
            let mut output = Map::new();
            output.insert("exit".to_owned(), json!(0));
            output.insert("data".to_owned(), data(said));
            output.insert("text".to_owned(), json!(text));
            output.insert("summary".to_owned(), json!(text));
            output.insert("session".to_owned(), json!(session.id));
            output.insert("workspace".to_owned(), json!(session.workspace));
            output.insert("activity".to_owned(), json!(session.activity));
            output.insert("branch".to_owned(), json!(work.branch));
            let printed = match printed::of(tx, row, work).await? {
                None if said.len() > TEXT => Some(whole(tx, row, work, said).await?),
                found => found,
            };
            output.extend(printed.map(|id| ("artifact".to_owned(), json!(id))));
            Some(Verdict::Succeeded { output: Json::Object(output) })
        }
        _ if session.stopping => match budget::spent(tx, work).await? {
            Some(why) => failed(ErrorKind::Limit, why),
            None => failed(ErrorKind::Failed, "its session was stopped"),
        },
        (Some(code), _) => ended_badly(tx, row, work, &format!("exited with {code}"), said).await?,
        (None, Some(signal)) => ended_badly(tx, row, work, &format!("ended by signal {signal}"), said).await?,
        (None, None) => {
            let why = state.detail.clone().unwrap_or_else(|| "its session could not be started".to_owned());
            failed(ErrorKind::Refused, why)
        }
    })
}

/// The failure of a command, with the artifact that has all that it printed.
async fn ended_badly(
    tx: &mut Tx<'_>,
    row: &ExecutionRow,
    work: &WorkRow,
    how: &str,
    said: &str,
) -> Result<Option<Verdict>, StoreError> {
    let why = because(how, said);
    Ok(failed(
        ErrorKind::Failed,
        match printed::of(tx, row, work).await? {
            Some(id) => format!("{why}\n(all that it printed: artifact `{id}`)"),
            None => why,
        },
    ))
}

/// Keeps a text that is longer than an output as an artifact.
async fn whole(tx: &mut Tx<'_>, row: &ExecutionRow, work: &WorkRow, said: &str) -> Result<ArtifactId, StoreError> {
    let new = summary::new(row, "output.txt".to_owned(), ArtifactKind::Output, Some(work));
    Ok(artifacts::add(tx, new, said.as_bytes()).await?.id)
}

/// How a command ended, with the last lines that it printed.
fn because(how: &str, said: &str) -> String {
    match end_of(said, 1000) {
        "" => how.to_owned(),
        last => format!("{how}: {last}"),
    }
}

fn end_of(text: &str, most: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(most))..]
}

/// The JSON value that a text consists of or ends with: all of it, its last fenced block, or its last line.
fn data(said: &str) -> Json {
    let fenced = || said.rsplit_once("```json").and_then(|(_, rest)| rest.split("```").next());
    let candidates = [Some(said), fenced(), said.lines().last()];
    let read = |text: &str| serde_json::from_str::<Json>(text.trim()).ok();
    candidates.into_iter().flatten().filter(|text| text.len() <= TEXT).find_map(read).unwrap_or(Json::Null)
}

async fn of_tasks(tx: &mut Tx<'_>, row: &mut ExecutionRow, work: &WorkRow) -> Result<Option<Verdict>, StoreError> {
    let found = tx.tasks(&work.tasks).await?;
    if found.len() < work.tasks.len() {
        return Ok(failed(ErrorKind::Failed, "one of its tasks was removed"));
    }
    if found.iter().any(|task| !task.status().is_over()) {
        let Some(why) = budget::spent(tx, work).await? else { return Ok(None) };
        work::stop(tx, row, &work.path, work.attempt).await?;
        return Ok(failed(ErrorKind::Limit, why));
    }
    let (mut outputs, mut cost) = (Vec::new(), None);
    for task in &found {
        let (output, micros) = of_task(tx, task).await?;
        if found.len() == 1 {
            let text = |name: &str| output[name].as_str().map(str::to_owned);
            let workspace = text("workspace").and_then(|id| id.parse().ok());
            work::left(tx, row, work, workspace, text("branch")).await?;
        }
        outputs.push(output);
        cost = micros.map_or(cost, |micros| Some(cost.unwrap_or(0) + micros));
    }
    work::cost(tx, row, work, cost).await?;
    work::dismiss(tx, row, work).await?;
    if let Some(bad) = found.iter().find(|task| task.status() != domain::TaskStatus::Done) {
        let why = bad.reason.clone().map(|reason| format!(": {reason}")).unwrap_or_default();
        return Ok(failed(ErrorKind::Failed, format!("{} is {}{why}", bad.named(), bad.status())));
    }
    let mut output = match &outputs[..] {
        [Json::Object(one)] => one.clone(),
        _ => Map::new(),
    };
    output.insert("tasks".to_owned(), Json::Array(outputs));
    Ok(Some(Verdict::Succeeded { output: Json::Object(output) }))
}

/// What a task left, and what its attempts cost.
async fn of_task(tx: &mut Tx<'_>, task: &TaskRow) -> Result<(Json, Option<u64>), StoreError> {
    let sql = "SELECT usage, branch, workspace FROM attempts WHERE task = $1 ORDER BY number";
    let (mut cost, mut branch, mut workspace) = (None, None, None);
    for attempt in tx.read().all(sql, vec![text(task.id)]).await? {
        let usage: protocol::Usage = attempt.json("usage")?;
        cost = usage.cost_micros.map_or(cost, |micros| Some(cost.unwrap_or(0) + micros));
        branch = attempt.text_or_none("branch")?.or(branch);
        workspace = attempt.text_or_none("workspace")?.or(workspace);
    }
    let sql = "SELECT summary FROM reports WHERE task = $1 AND verdict = 'accepted' ORDER BY at DESC LIMIT 1";
    let summary = tx.read().first(sql, vec![text(task.id)]).await?.map(|row| row.text("summary")).transpose()?;
    let output = json!({
        "task": TaskId::to_string(&task.id),
        "name": task.short.to_string(),
        "title": task.title,
        "status": task.status().word(),
        "summary": summary.map(|summary| end_of(&summary, TEXT).to_owned()),
        "branch": branch,
        "workspace": workspace,
    });
    Ok((output, cost))
}

async fn of_call(tx: &mut Tx<'_>, row: &mut ExecutionRow, work: &WorkRow) -> Result<Option<Verdict>, StoreError> {
    let Some(id) = work.called else { return Ok(None) };
    let Some(called) = rows::find(tx.read(), id).await? else {
        return Ok(failed(ErrorKind::Failed, "the execution that it called was removed"));
    };
    if called.ended_at.is_none() {
        return Ok(None);
    }
    work::cost(tx, row, work, called.cost_micros).await?;
    Ok(match called.machine.status {
        engine::recipes::Status::Completed { outputs } => Some(Verdict::Succeeded { output: Json::Object(outputs) }),
        engine::recipes::Status::Failed { error } => {
            failed(error.kind, format!("recipe `{}` failed at `{}`: {}", called.name, error.path, error.message))
        }
        _ => failed(ErrorKind::Failed, format!("the execution of `{}` was cancelled", called.name)),
    })
}

async fn of_landing(tx: &mut Tx<'_>, work: &WorkRow) -> Result<Option<Verdict>, StoreError> {
    let Some(id) = work.landing else { return Ok(None) };
    let sql = "SELECT state, detail, landed, branch FROM landings WHERE id = $1";
    let Some(found) = tx.read().first(sql, vec![text(id)]).await? else {
        return Ok(failed(ErrorKind::Failed, "its landing was removed"));
    };
    Ok(match found.parsed("state")? {
        LandingState::Publishing | LandingState::Queued => None,
        LandingState::Published | LandingState::Landed => Some(Verdict::Succeeded {
            output: json!({ "commit": found.text_or_none("landed")?, "branch": found.text("branch")? }),
        }),
        LandingState::Refused => {
            let why = found.text_or_none("detail")?.unwrap_or_else(|| "the branch could not land".to_owned());
            failed(ErrorKind::Failed, why)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_the_json_that_a_text_is_or_ends_with() {
        assert_eq!(data(r#"{"a": 1}"#), json!({"a": 1}));
        assert_eq!(data("done\n```json\n{\"a\": 2}\n```\nthat is it"), json!({"a": 2}));
        assert_eq!(data("first\n[1, 2]"), json!([1, 2]));
        assert_eq!(data("just words"), Json::Null);
        assert_eq!(data(""), Json::Null);
    }
}
