//! Validation of new and edited tasks; every refusal names the position in the list, or the field.

use domain::labels;
use domain::text::{Field, NAME, PROMPT};
use engine::tasks::order::MAX_PRIORITY;
use protocol::{Criterion, TaskAdd, TaskEdit, TaskReport};

use super::edit::as_added;
use crate::StoreError;

/// The maximum number of tasks added together.
pub(super) const MAX_TASKS: usize = 10_000;
/// The maximum numbers of criteria, files, dependencies and needs of a task.
const MAX_CRITERIA: usize = 50;
const MAX_FILES: usize = 200;
const MAX_DEPS: usize = 200;
const MAX_NEEDS: usize = 20;
/// The maximum time-out of a command, in seconds.
const MAX_TIMEOUT: u32 = 24 * 3600;

const DESCRIPTION: Field = Field { name: "tasks", optional: false, ..PROMPT };
const CONTEXT: Field = Field { name: "tasks", ..PROMPT };
const PATH: Field = Field { name: "tasks", limit: 1024, lines: false, optional: false };
const WORD: Field = Field { name: "tasks", limit: 80, lines: false, optional: false };
const LOCAL_NAME: Field = Field { name: "tasks", limit: 200, lines: false, optional: false };
/// A worker's summary of its work.
pub(super) const SUMMARY: Field = Field { name: "summary", optional: false, ..PROMPT };
/// Why a person or worker did or asked something, or failed.
pub(super) const REASON: Field = Field { name: "reason", limit: 4096, lines: true, optional: true };
/// A worker's progress note.
pub(super) const PROGRESS: Field = Field { name: "progress", limit: 500, lines: false, optional: true };

/// An error that names the position in the list.
pub(super) fn wrong(place: impl std::fmt::Display, what: impl std::fmt::Display) -> StoreError {
    StoreError::invalid("tasks", format!("`{place}`: {what}"))
}

fn text(field: Field, place: &str, value: &str) -> Result<(), StoreError> {
    field.check(value).map_err(|error| wrong(place, error.to_string().replace("`tasks`", "it")))
}

fn few<T>(place: &str, values: &[T], most: usize) -> Result<(), StoreError> {
    match values.len() > most {
        true => Err(wrong(place, format!("{} are given; the limit is {most}", values.len()))),
        false => Ok(()),
    }
}

/// Refuses a new task that exceeds a limit.
pub(super) fn task(at: usize, task: &TaskAdd) -> Result<(), StoreError> {
    limits(&format!("tasks[{at}]."), task)
}

/// Refuses an edit that exceeds a limit.
pub(super) fn edit(input: &TaskEdit) -> Result<(), StoreError> {
    limits("", &as_added(input))
}

/// `before` is what the names of fields begin with.
fn limits(before: &str, task: &TaskAdd) -> Result<(), StoreError> {
    let place = |field: &str| format!("{before}{field}");
    if let Some(name) = &task.id {
        text(LOCAL_NAME, &place("id"), name)?;
    }
    text(DESCRIPTION, &place("description"), &task.description)?;
    text(CONTEXT, &place("context"), &task.context)?;
    if let Some(priority) = task.priority.filter(|priority| *priority > MAX_PRIORITY) {
        return Err(wrong(place("priority"), format!("{priority} is given; it is 0 to {MAX_PRIORITY}")));
    }
    few(&place("acceptance"), &task.acceptance, MAX_CRITERIA)?;
    for (index, criterion) in task.acceptance.iter().enumerate() {
        self::criterion(&place(&format!("acceptance[{index}]")), criterion)?;
    }
    few(&place("files"), &task.files, MAX_FILES)?;
    for (index, file) in task.files.iter().enumerate() {
        path(&place(&format!("files[{index}]")), file)?;
    }
    few(&place("deps"), &task.deps, MAX_DEPS)?;
    few(&place("needs"), &task.needs, MAX_NEEDS)?;
    for (index, need) in task.needs.iter().enumerate() {
        text(WORD, &place(&format!("needs[{index}]")), need)?;
    }
    match labels::check(&task.labels) {
        Err((None, why)) => Err(wrong(place("labels"), why)),
        Err((Some(index), why)) => Err(wrong(place(&format!("labels[{index}]")), why)),
        Ok(()) => Ok(()),
    }
}

fn path(place: &str, path: &str) -> Result<(), StoreError> {
    text(PATH, place, path)?;
    if path.starts_with('/') || path.split('/').any(|part| part == "..") {
        return Err(wrong(place, format!("`{path}` leads out of the workspace: give a path inside it")));
    }
    Ok(())
}

fn criterion(place: &str, criterion: &Criterion) -> Result<(), StoreError> {
    let part = |field: &str| format!("{place}.{field}");
    match criterion {
        Criterion::FileExists { path: file } => path(&part("path"), file),
        Criterion::FileMatches { path: file, regex, not_regex, min_words, json_schema, parses } => {
            path(&part("path"), file)?;
            for (field, pattern) in [("regex", regex), ("not_regex", not_regex)] {
                if let Some(pattern) = pattern {
                    text(Field { limit: 4096, lines: true, ..PATH }, &part(field), pattern)?;
                }
            }
            if json_schema.as_ref().is_some_and(|schema| schema.to_string().len() > PROMPT.limit) {
                return Err(wrong(part("json_schema"), format!("it has more than {} bytes", PROMPT.limit)));
            }
            let nothing = regex.is_none() && not_regex.is_none() && min_words.is_none();
            if nothing && json_schema.is_none() && parses.is_none() {
                return Err(wrong(
                    place,
                    "say what the file must match: `regex`, `not_regex`, `min_words`, `json_schema` or `parses`",
                ));
            }
            Ok(())
        }
        Criterion::Command { argv, timeout_seconds, .. } => {
            few(&part("argv"), argv, 500)?;
            if argv.first().is_none_or(|program| program.trim().is_empty()) {
                return Err(wrong(part("argv"), "name the program to run"));
            }
            if argv.iter().any(|argument| argument.contains('\0')) {
                return Err(wrong(part("argv"), "an argument has a control character (U+0000)"));
            }
            if argv.iter().map(String::len).sum::<usize>() > PROMPT.limit {
                return Err(wrong(part("argv"), format!("it has more than {} bytes", PROMPT.limit)));
            }
            match timeout_seconds {
                Some(seconds) if *seconds == 0 || *seconds > MAX_TIMEOUT => {
                    Err(wrong(part("timeout_seconds"), format!("{seconds} is given; it is 1 to {MAX_TIMEOUT}")))
                }
                _ => Ok(()),
            }
        }
        Criterion::OnlyTouches { globs } => {
            few(&part("globs"), globs, MAX_FILES)?;
            if globs.is_empty() {
                return Err(wrong(part("globs"), "name at least one pattern"));
            }
            globs.iter().enumerate().try_for_each(|(index, glob)| path(&part(&format!("globs[{index}]")), glob))
        }
        Criterion::NoConflictWithBase {} | Criterion::Committed {} | Criterion::Approved {} | Criterion::Merged {} => {
            Ok(())
        }
        Criterion::Text { text: words } => text(Field { limit: 4096, lines: true, ..PATH }, &part("text"), words),
    }
}

/// Refuses a report that exceeds a limit.
pub(super) fn report(input: &TaskReport) -> Result<(), StoreError> {
    SUMMARY.check(&input.summary)?;
    if let Some(score) = input.context_score.filter(|score| !(1..=5).contains(score)) {
        return Err(StoreError::invalid("context_score", format!("`context_score` is 1 to 5, not {score}")));
    }
    if let Some(failed) = &input.failed {
        Field { name: "failed", optional: false, ..REASON }.check(failed)?;
    }
    let Some(made) = &input.deliverables else { return Ok(()) };
    if made.files.len() > 1000 || made.commits.len() > 1000 {
        return Err(StoreError::invalid("deliverables", "a report names at most 1000 files and 1000 commits"));
    }
    let mut texts = made.files.iter().chain(&made.commits).chain(&made.branch);
    texts.try_for_each(|text| Ok(Field { name: "deliverables", ..PATH }.check(text)?))
}

/// Refuses a worker's name or abilities that exceed a limit; returns the normalized name.
pub(super) fn worker(name: &str, abilities: &[String]) -> Result<String, StoreError> {
    let name = Field { name: "worker", ..NAME }.name(name)?;
    if abilities.len() > 100 {
        return Err(StoreError::invalid("abilities", "a worker has at most 100 abilities"));
    }
    for ability in abilities {
        Field { name: "abilities", ..NAME }.check(ability)?;
    }
    Ok(name)
}
