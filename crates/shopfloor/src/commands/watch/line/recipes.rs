//! Recipes, executions and schedules as lines.

use protocol::{Execution, Recipe, Schedule};

use super::Names;

/// A recipe.
pub(super) fn recipe(recipe: &Recipe, names: &Names) -> String {
    let state = if recipe.disabled { ", disabled" } else { "" };
    let project = names.of(recipe.project);
    format!("recipe    \"{}\" in {project}: version {}{state} ({})", recipe.name, recipe.number, recipe.id)
}

/// An execution, with the steps that run or wait.
pub(super) fn execution(execution: &Execution, names: &Names) -> String {
    let at = if execution.current.is_empty() { String::new() } else { format!(" at {}", execution.current.join(", ")) };
    let why = execution.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let asks = if execution.needs_person { ", needs a person" } else { "" };
    let Execution { name, status, id, .. } = execution;
    format!("execution \"{name}\" in {} is {status}{at}{why}{asks} ({id})", names.of(execution.project))
}

/// A schedule.
pub(super) fn schedule(schedule: &Schedule, names: &Names) -> String {
    let Schedule { name, when, id, .. } = schedule;
    let note = schedule.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
    let state = if schedule.paused { format!("paused{note}") } else { when.clone() };
    format!("schedule  \"{name}\" in {}: {state} ({id})", names.of(schedule.project))
}
