//! The summary of an execution, written in the transaction that ends it.
//!
//! An execution has one summary: if a person retries a step, and the execution ends again, the next summary takes the
//! place of the first.

use std::fmt::Write as _;

use domain::{ArtifactKind, StepKind};
use engine::recipes::{Path, Status, StepState};
use serde_json::Value as Json;

use super::rows::ExecutionRow;
use super::work::WorkRow;
use super::{advance, view, work};
use crate::StoreError;
use crate::sql::args;
use crate::tx::Tx;
use crate::verbs::artifacts::{self, NewArtifact, Place};

/// The name of the summary.
const NAME: &str = "summary.md";
/// The most bytes of a text, of inputs and outputs, and of the whole summary.
const TEXT: usize = 2_000;
const DATA: usize = 8 * 1024;
const WHOLE: usize = 256 * 1024;

/// Writes the summary of an execution that is over, and what its parallel steps left.
pub(super) async fn keep(tx: &mut Tx<'_>, row: &ExecutionRow) -> Result<(), StoreError> {
    let work = work::of(tx.read(), row.id).await?;
    let text = text(row, &work);
    let added = artifacts::add(tx, new(row, NAME.to_owned(), ArtifactKind::Summary, None), text.as_bytes()).await?;
    let sql = "DELETE FROM artifacts WHERE execution = $1 AND kind = $2 AND id <> $3";
    tx.run(sql, args![row.id.to_string(), ArtifactKind::Summary.word(), added.id.to_string()]).await?;
    for one in work.iter().filter(|one| one.branch.is_some() && !one.path.lanes().is_empty()) {
        let commit = commit(tx, one).await?;
        let (left, name) = (to_text(&left(one, commit)), format!("{}.json", work_stem(&one.path)));
        artifacts::add(tx, new(row, name, ArtifactKind::Work, Some(one)), left.as_bytes()).await?;
    }
    Ok(())
}

/// An artifact of an execution, or of one of its attempts.
pub(super) fn new(row: &ExecutionRow, name: String, kind: ArtifactKind, of: Option<&WorkRow>) -> NewArtifact {
    let media_type = match kind {
        ArtifactKind::Summary => "text/markdown",
        ArtifactKind::Work => "application/json",
        ArtifactKind::File | ArtifactKind::Output => "text/plain",
    };
    NewArtifact {
        project: row.project,
        name,
        kind,
        media_type: media_type.to_owned(),
        place: Place {
            execution: Some(row.id),
            path: of.map(|one| one.path.to_string()),
            attempt: of.map(|one| one.attempt),
            session: of.and_then(|one| one.session),
            ran_for: Some(row.owner.id),
        },
        by: row.owner.clone(),
        by_agent: false,
    }
}

/// The commit with the work of a step's task that a runner keeps.
async fn commit(tx: &mut Tx<'_>, one: &WorkRow) -> Result<Option<String>, StoreError> {
    let [task] = &one.tasks[..] else { return Ok(None) };
    let sql = "SELECT kept FROM reports WHERE task = $1 AND kept IS NOT NULL ORDER BY at DESC LIMIT 1";
    let row = tx.read().first(sql, args![task.to_string()]).await?;
    row.map(|row| row.text("kept")).transpose()
}

/// Where the work of a lane is: the work of all lanes is kept with the execution, whichever of it lands.
fn left(one: &WorkRow, commit: Option<String>) -> Json {
    serde_json::json!({
        "path": one.path.to_string(),
        "commit": commit,
        "attempt": one.attempt,
        "state": one.state,
        "branch": one.branch,
        "workspace": one.workspace,
        "session": one.session,
        "tasks": one.tasks,
        "cost_micros": one.cost_micros,
        "said": one.said.as_deref().map(|said| cut(said, DATA)),
    })
}

/// A file name for the work of a step, without an extension.
pub(super) fn work_stem(path: &Path) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = path.to_string().chars().map(plain).take(150).collect();
    format!("work_{name}")
}

fn to_text(value: &Json) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// The summary: what was asked, what each step did, what changed, what it cost.
fn text(row: &ExecutionRow, work: &[WorkRow]) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = head(&mut text, row);
    let _ = asked(&mut text, row);
    let _ = steps(&mut text, row, work);
    let _ = changed(&mut text, row, work);
    if let Status::Completed { outputs } = &row.machine.status
        && !outputs.is_empty()
    {
        let outputs = to_text(&Json::Object(outputs.clone()));
        let _ = write!(text, "\n## Outputs\n\n{}\n", fenced("json", cut(&outputs, DATA)));
    }
    cut(&text, WHOLE).to_owned()
}

fn head(text: &mut String, row: &ExecutionRow) -> std::fmt::Result {
    let status = advance::status(&row.machine);
    writeln!(text, "# {}: {status}\n", row.name)?;
    writeln!(text, "- Execution `{}` of version {} (`{}`)", row.id, row.number, row.version)?;
    let by = if row.schedule.is_some() { " (by a schedule)" } else { "" };
    writeln!(text, "- Started for {} at {}{by}", inline(&row.owner.name), row.created_at)?;
    if let Some(ended) = row.ended_at {
        writeln!(text, "- Ended at {ended}, after {}", lasted(ended.as_millis() - row.created_at.as_millis()))?;
    }
    writeln!(text, "- Cost: {}", cost(row.cost_micros))?;
    match &row.reason {
        Some(reason) => writeln!(text, "\n{}", fenced("text", cut(reason, TEXT))),
        None => Ok(()),
    }
}

fn asked(text: &mut String, row: &ExecutionRow) -> std::fmt::Result {
    writeln!(text, "\n## What was asked\n")?;
    let about = row.machine.recipe.description.trim();
    if !about.is_empty() {
        writeln!(text, "{}\n", fenced("text", cut(about, TEXT)))?;
    }
    match row.machine.inputs.is_empty() {
        true => writeln!(text, "No inputs."),
        false => {
            let inputs = to_text(&Json::Object(row.machine.inputs.clone()));
            writeln!(text, "{}", fenced("json", cut(&inputs, DATA)))
        }
    }
}

fn steps(text: &mut String, row: &ExecutionRow, work: &[WorkRow]) -> std::fmt::Result {
    writeln!(text, "\n## What the steps did\n")?;
    for (path, run, step) in view::ordered(&row.machine) {
        let kind = view::kind(step);
        if matches!(kind, StepKind::Parallel | StepKind::ForEach | StepKind::Branch) {
            continue;
        }
        let (state, said) = outcome(&run.state);
        write!(text, "- `{}` ({kind}): {state}", code(&path.to_string()))?;
        if run.attempt > 1 {
            write!(text, ", attempt {}", run.attempt)?;
        }
        if let (Some(begun), Some(over)) = (run.begun_at, run.over_at) {
            write!(text, ", {}", lasted(over.as_millis() - begun.as_millis()))?;
        }
        let own = || work.iter().filter(|one| one.path == *path);
        let spent: Option<u64> = own().filter_map(|one| one.cost_micros).reduce(u64::saturating_add);
        if spent.is_some() {
            write!(text, ", {}", cost(spent))?;
        }
        if let Some(session) = own().next_back().and_then(|one| one.session) {
            write!(text, ", session `{session}`")?;
        }
        writeln!(text)?;
        if let Some(said) = said.filter(|said| !said.trim().is_empty()) {
            let block = fenced("text", cut(said.trim(), TEXT));
            writeln!(text, "\n  {}\n", block.replace('\n', "\n  "))?;
        }
    }
    Ok(())
}

/// How a step ended, and what it said.
fn outcome(state: &StepState) -> (&'static str, Option<&str>) {
    match state {
        StepState::Succeeded { output } => ("succeeded", output["summary"].as_str().or(output["text"].as_str())),
        StepState::Failed { error } | StepState::Retrying { error, .. } => ("failed", Some(&error.message)),
        StepState::Skipped { why, .. } => ("skipped", Some(why)),
        StepState::Interrupted { why } => ("interrupted", Some(why)),
        other => (other.word(), None),
    }
}

fn changed(text: &mut String, row: &ExecutionRow, work: &[WorkRow]) -> std::fmt::Result {
    writeln!(text, "\n## What changed\n")?;
    let mut any = false;
    for one in work {
        if let Some(branch) = &one.branch {
            let place = one.workspace.map(|id| format!(", workspace `{id}`")).unwrap_or_default();
            writeln!(
                text,
                "- Branch `{}`{place} (step `{}`, {})",
                code(branch),
                code(&one.path.to_string()),
                one.state
            )?;
            any = true;
        }
    }
    for (path, run, step) in view::ordered(&row.machine) {
        if let (StepKind::Merge, StepState::Succeeded { output }) = (view::kind(step), &run.state) {
            let commit = output["commit"].as_str().unwrap_or("unknown");
            let branch = output["branch"].as_str().unwrap_or("unknown");
            writeln!(
                text,
                "- Landed `{}` as commit `{}` (step `{}`)",
                code(branch),
                code(commit),
                code(&path.to_string())
            )?;
            any = true;
        }
    }
    match any {
        true => Ok(()),
        false => writeln!(text, "No step worked on a branch."),
    }
}

fn cost(micros: Option<u64>) -> String {
    match micros {
        Some(micros) => format!("${}.{:04}, as reported by the agents", micros / 1_000_000, micros % 1_000_000 / 100),
        None => "unknown".to_owned(),
    }
}

fn lasted(millis: i64) -> String {
    let seconds = millis.max(0) / 1000;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// A text in a code block that it cannot leave.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

/// A text for the inside of a code span, which it cannot leave.
fn code(text: &str) -> String {
    text.replace(['`', '\n', '\r'], "'")
}

/// A name without Markdown.
fn inline(text: &str) -> String {
    format!("`{}`", code(text))
}

fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_leave_its_code() {
        assert_eq!(fenced("text", "a ``` b ```` c"), "`````text\na ``` b ```` c\n`````");
        assert_eq!(fenced("text", "plain"), "```text\nplain\n```");
        assert_eq!(code("a`b\nc"), "a'b'c");
        assert_eq!(cut("ä", 1), "");
    }

    #[test]
    fn times_and_costs_are_for_people() {
        assert_eq!([lasted(0), lasted(61_000), lasted(3_720_000)], ["0 s", "1 min 1 s", "1 h 2 min"]);
        assert_eq!(cost(Some(1_234_500)), "$1.2345, as reported by the agents");
        assert_eq!(cost(None), "unknown");
    }
}
