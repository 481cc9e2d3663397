//! Checks that the criteria of new and edited tasks are usable. This may be slow, so it happens outside of transactions.
//! Checks take turns.

use std::time::Duration;

use engine::tasks::criteria;
use protocol::{Criterion, TaskEdit, TasksAdd};
use store::StoreError;
use tokio::sync::Semaphore;

use crate::AppError;

/// How much to check; a runner's check shows whether the rest is usable.
const LOOKED_AT: usize = 128 * 1024;
/// Time limit.
const LOOK: Duration = Duration::from_secs(5);
/// How many checks run at once.
static TURNS: Semaphore = Semaphore::const_new(4);

/// The tasks, if all of their criteria are usable; each error names its place in the list.
pub(super) async fn usable(input: TasksAdd) -> Result<TasksAdd, AppError> {
    if input.tasks.iter().all(|task| task.acceptance.iter().all(is_plain)) {
        return Ok(input);
    }
    let lists = input.tasks.iter().map(|task| task.acceptance.clone());
    let lists = lists.enumerate().map(|(at, acceptance)| (format!("tasks[{at}]."), acceptance)).collect();
    look("tasks", lists).await.map(|()| input)
}

/// The edit, if its criteria are usable.
pub(super) async fn usable_edit(input: TaskEdit) -> Result<TaskEdit, AppError> {
    let lists = input.acceptance.iter().map(|acceptance| (String::new(), acceptance.clone())).collect();
    look("acceptance", lists).await.map(|()| input)
}

/// Whether a criterion has nothing to look at.
fn is_plain(criterion: &Criterion) -> bool {
    !matches!(criterion, Criterion::FileMatches { .. } | Criterion::OnlyTouches { .. })
}

/// Refuses unusable criteria; each list comes with what its name begins with.
async fn look(field: &'static str, lists: Vec<(String, Vec<Criterion>)>) -> Result<(), AppError> {
    if lists.iter().all(|(_, acceptance)| acceptance.iter().all(is_plain)) {
        return Ok(());
    }
    match in_turn(field, move || fault(&lists)).await? {
        // Without a free turn, skip the check: a runner checks in a process that can be killed.
        None | Some(None) => Ok(()),
        Some(Some(message)) => Err(StoreError::invalid(field, message).into()),
    }
}

/// Runs `look` on the criteria of `field`; `None` if no turn became free. A thread cannot be killed: if one never ends, the
/// others still run.
pub(super) async fn in_turn<T: Send + 'static>(
    field: &'static str,
    look: impl FnOnce() -> T + Send + 'static,
) -> Result<Option<T>, AppError> {
    let Ok(Ok(turn)) = tokio::time::timeout(LOOK, TURNS.acquire()).await else { return Ok(None) };
    let looking = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        look()
    });
    match tokio::time::timeout(LOOK, looking).await {
        Ok(Ok(found)) => Ok(Some(found)),
        Ok(Err(error)) => Err(AppError::Internal(error.into())),
        Err(_) => {
            let message = format!("checking its criteria took longer than {} s: make them simpler", LOOK.as_secs());
            Err(StoreError::invalid(field, message).into())
        }
    }
}

/// The first unusable criterion, and why.
fn fault(lists: &[(String, Vec<Criterion>)]) -> Option<String> {
    let mut left = LOOKED_AT;
    for (before, acceptance) in lists {
        for (index, criterion) in acceptance.iter().enumerate() {
            let size = size(criterion);
            if size > left {
                return None;
            }
            left -= size;
            if let Some((field, why)) = unusable(criterion) {
                return Some(format!("`{before}acceptance[{index}].{field}`: {why}"));
            }
        }
    }
    None
}

/// How much there is to check.
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
            let no_regex = |why: String| format!("invalid regular expression: {why}");
            let no_schema = |why: String| format!("unusable JSON Schema: {why}");
            let schema = || json_schema.as_ref().and_then(criteria::json_schema_fault);
            wrong(regex)
                .map(|why| ("regex", no_regex(why)))
                .or_else(|| wrong(not_regex).map(|why| ("not_regex", no_regex(why))))
                .or_else(|| schema().map(|why| ("json_schema", no_schema(why))))
        }
        Criterion::OnlyTouches { globs } => {
            criteria::patterns(globs).err().map(|why| ("globs", format!("invalid pattern: {why}")))
        }
        _ => None,
    }
}
