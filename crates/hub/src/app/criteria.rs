//! Whether the criteria of tasks to be added can be used. To find out takes its time, so that no transaction waits for it.

use engine::criteria;
use protocol::{Criterion, TasksAdd};
use store::StoreError;

use crate::AppError;

/// How much is looked at: what comes after it shows whether it can be used when work is checked.
const LOOKED_AT: usize = 128 * 1024;

/// The tasks, if all of their criteria can be used; each refusal names the place in the list.
pub(super) async fn usable(input: TasksAdd) -> Result<TasksAdd, AppError> {
    let plain =
        |criterion: &Criterion| !matches!(criterion, Criterion::FileMatches { .. } | Criterion::OnlyTouches { .. });
    if input.tasks.iter().all(|task| task.acceptance.iter().all(plain)) {
        return Ok(input);
    }
    let looked = tokio::task::spawn_blocking(move || fault(&input).map_or(Ok(input), Err)).await;
    let looked = looked.map_err(|error| AppError::Internal(error.into()))?;
    looked.map_err(|message| StoreError::invalid("tasks", message).into())
}

/// The first criterion that cannot be used, and why.
fn fault(input: &TasksAdd) -> Option<String> {
    let mut left = LOOKED_AT;
    for (at, task) in input.tasks.iter().enumerate() {
        for (index, criterion) in task.acceptance.iter().enumerate() {
            let size = size(criterion);
            if size > left {
                return None;
            }
            left -= size;
            if let Some((field, why)) = unusable(criterion) {
                return Some(format!("`tasks[{at}].acceptance[{index}].{field}`: {why}"));
            }
        }
    }
    None
}

/// How much there is to look at.
fn size(criterion: &Criterion) -> usize {
    match criterion {
        Criterion::FileMatches { regex, not_regex, json_schema, .. } => {
            let texts = regex.iter().chain(not_regex).map(String::len).sum::<usize>();
            texts + json_schema.as_ref().map_or(0, |schema| schema.to_string().len())
        }
        Criterion::OnlyTouches { globs } => globs.iter().map(String::len).sum(),
        _ => 0,
    }
}

fn unusable(criterion: &Criterion) -> Option<(&'static str, String)> {
    match criterion {
        Criterion::FileMatches { regex, not_regex, json_schema, .. } => {
            let wrong = |pattern: &Option<String>| pattern.as_ref().and_then(|pattern| criteria::regex(pattern).err());
            let no_regex = |why: String| format!("it is not a regular expression: {why}");
            let no_schema = |why: String| format!("it is not a JSON Schema that can be used: {why}");
            let schema = || json_schema.as_ref().and_then(|schema| criteria::json_schema(schema).err());
            wrong(regex)
                .map(|why| ("regex", no_regex(why)))
                .or_else(|| wrong(not_regex).map(|why| ("not_regex", no_regex(why))))
                .or_else(|| schema().map(|why| ("json_schema", no_schema(why))))
        }
        Criterion::OnlyTouches { globs } => {
            criteria::patterns(globs).err().map(|why| ("globs", format!("it is not a pattern: {why}")))
        }
        _ => None,
    }
}
