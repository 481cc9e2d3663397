//! What clients see of executions.

use std::collections::HashSet;

use domain::{ProjectFacts, ProjectId, StepKind, StepStatus, Timestamp};
use engine::recipes::model::{Action as StepAction, Step};
use engine::recipes::{Away, Execution as Machine, Path, Status, StepRun, StepState, Work};
use protocol::{Execution, ExecutionAttempt, ExecutionDetail, ExecutionQuestion, ExecutionStep, Veil};
use serde_json::Value as Json;

use super::advance::status;
use super::rows::{self, ExecutionRow};
use super::work::WorkRow;
use crate::sql::{Connection, text};
use crate::verbs::workspaces::sees;
use crate::{Caller, StoreError};

/// The most current steps that a list shows.
const CURRENT: usize = 20;
/// The executions that clients keep in their state: open ones, and the newest others.
const RECENT: u32 = 100;

/// Brings what lists show up to date with the machine.
pub(super) fn refresh(row: &mut ExecutionRow, now: Timestamp) {
    row.status = status(&row.machine);
    row.reason = match &row.machine.status {
        Status::Failed { error } => Some(format!("{}: {}", error.path, error.message)),
        _ => None,
    };
    row.ended_at = match row.machine.status.is_over() {
        true => row.ended_at.or(Some(now)),
        false => None,
    };
    let leaves = || leaves(&row.machine);
    row.current =
        leaves().filter(|(_, run, _)| !run.state.is_over()).map(|(path, ..)| path.to_string()).take(CURRENT).collect();
    row.needs_person = !row.machine.status.is_over() && leaves().any(|(_, run, step)| needs_person(run, step));
    let over = row.machine.steps.values().filter(|run| run.state.is_over()).count();
    row.steps_over = u32::try_from(over).unwrap_or(u32::MAX);
}

/// The steps that are no blocks.
fn leaves(machine: &Machine) -> impl Iterator<Item = (&Path, &StepRun, &Step)> {
    machine
        .steps
        .iter()
        .filter_map(|(path, run)| Some((path, run, machine.recipe.find(path)?)))
        .filter(|(_, _, step)| !matches!(kind(step), StepKind::Parallel | StepKind::ForEach | StepKind::Branch))
}

fn needs_person(run: &StepRun, step: &Step) -> bool {
    match run.state {
        StepState::Running { .. } => matches!(step.action, StepAction::Approve(_)),
        StepState::Interrupted { .. } => true,
        _ => false,
    }
}

/// Whether nothing runs: every open step waits for a time, an event or a person.
pub(super) fn only_waits(machine: &Machine) -> bool {
    let waits = |run: &StepRun, step: &Step| match run.state {
        StepState::Running { .. } => matches!(step.action, StepAction::Wait(_) | StepAction::Approve(_)),
        _ => true,
    };
    let mut open = leaves(machine).filter(|(_, run, _)| !run.state.is_over()).peekable();
    open.peek().is_some() && open.all(|(_, run, step)| waits(run, step))
}

/// What a step does.
pub(super) fn kind(step: &Step) -> StepKind {
    match step.action {
        StepAction::Agent(_) => StepKind::Agent,
        StepAction::Task { .. } => StepKind::Task,
        StepAction::Run(_) => StepKind::Run,
        StepAction::Wait(_) => StepKind::Wait,
        StepAction::Approve(_) => StepKind::Approve,
        StepAction::Branch { .. } => StepKind::Branch,
        StepAction::Parallel { .. } => StepKind::Parallel,
        StepAction::ForEach(_) => StepKind::ForEach,
        StepAction::Notify { .. } => StepKind::Notify,
        StepAction::Merge { .. } => StepKind::Merge,
        StepAction::Call { .. } => StepKind::Call,
        StepAction::End { .. } => StepKind::End,
    }
}

/// An execution, as lists show it.
pub(super) fn execution(row: &ExecutionRow) -> Execution {
    Execution {
        id: row.id,
        project: row.project,
        recipe: row.recipe,
        name: row.name.clone(),
        number: row.number,
        version: row.version.clone(),
        status: row.status,
        reason: row.reason.as_ref().map(|reason| reason.chars().take(500).collect()),
        current: row.current.clone(),
        needs_person: row.needs_person,
        steps_over: row.steps_over,
        revision: row.revision,
        started_by: row.owner.clone(),
        schedule: row.schedule,
        parent: row.parent,
        cost_micros: row.cost_micros,
        created_at: row.created_at,
        ended_at: row.ended_at,
    }
}

/// An execution, as a caller may see it.
pub(super) fn seen(caller: &Caller, facts: Option<&ProjectFacts>, row: &ExecutionRow) -> Execution {
    match sees(caller, facts, row.owner.id) {
        true => execution(row),
        false => execution(row).veiled(),
    }
}

/// An execution with its steps and their work.
pub(super) fn detail(row: &ExecutionRow, work: Vec<WorkRow>) -> Result<ExecutionDetail, StoreError> {
    let steps = ordered(&row.machine).into_iter().map(|(path, run, step)| shown(path, run, step, &work)).collect();
    let outputs = match &row.machine.status {
        Status::Completed { outputs } => Some(Json::Object(outputs.clone())),
        _ => None,
    };
    Ok(ExecutionDetail {
        execution: execution(row),
        model: serde_json::to_value(&*row.machine.recipe).map_err(|e| StoreError::Corrupt(e.to_string()))?,
        inputs: Json::Object(row.machine.inputs.clone()),
        outputs,
        steps,
        attempts: work.into_iter().map(attempt).collect(),
    })
}

/// The steps that have begun, in the order of the recipe; of a block's lanes, in their order.
pub(super) fn ordered(machine: &Machine) -> Vec<(&Path, &StepRun, &Step)> {
    let mut found: Vec<_> =
        machine.steps.iter().filter_map(|(path, run)| Some((path, run, machine.recipe.find(path)?))).collect();
    let ids = machine.recipe.ids();
    let place = |id: &str| ids.iter().position(|known| *known == id).unwrap_or(usize::MAX);
    let lane = |block: &str, key: &str| {
        let run = machine.steps.iter().find(|(path, _)| path.step() == block).map(|(_, run)| run);
        run.and_then(|run| run.lanes.iter().position(|(name, _)| name == key)).unwrap_or(usize::MAX)
    };
    found.sort_by_cached_key(|(path, ..)| {
        let mut order: Vec<usize> = Vec::new();
        for through in path.lanes() {
            order.extend([place(&through.block), lane(&through.block, &through.key)]);
        }
        order.push(place(path.step()));
        order
    });
    found
}

fn shown(path: &Path, run: &StepRun, step: &Step, work: &[WorkRow]) -> ExecutionStep {
    let (status, reason, output) = match &run.state {
        StepState::Running { .. } if matches!(step.action, StepAction::Wait(_) | StepAction::Approve(_)) => {
            (StepStatus::Waiting, None, None)
        }
        StepState::Running { .. } => (StepStatus::Running, None, None),
        StepState::Retrying { error, .. } => (StepStatus::Retrying, Some(error.message.clone()), None),
        StepState::Held => (StepStatus::Held, None, None),
        StepState::Interrupted { why } => (StepStatus::Interrupted, Some(why.clone()), None),
        StepState::Succeeded { output } => (StepStatus::Succeeded, None, Some(output.clone())),
        StepState::Failed { error } => (StepStatus::Failed, Some(error.message.clone()), None),
        StepState::Skipped { output, why } => (StepStatus::Skipped, Some(why.clone()), Some(output.clone())),
        StepState::Cancelled => (StepStatus::Cancelled, None, None),
    };
    let own = work.iter().rfind(|one| one.path == *path && one.attempt == run.attempt);
    let waits = own.filter(|one| one.state == "waiting").and_then(|one| one.reason.clone());
    let away = run.away.as_ref().filter(|_| status == StepStatus::Running).map(away);
    let stuck = own.filter(|one| one.state == "running").and_then(|one| one.reason.clone());
    let status = if waits.is_some() && status == StepStatus::Running { StepStatus::Waiting } else { status };
    ExecutionStep {
        path: path.to_string(),
        kind: kind(step),
        status,
        attempt: run.attempt,
        reason: reason.or(waits).or(away).or(stuck),
        output,
        question: own.filter(|one| one.state == "running").and_then(|one| question(&one.work, run)),
        retry_at: match &run.state {
            StepState::Retrying { at, .. } => Some(*at),
            _ => None,
        },
    }
}

fn away(away: &Away) -> String {
    format!(
        "its runner `{}` is away since {}; it is lost at {} unless the runner is back",
        away.runner, away.since, away.until
    )
}

fn question(work: &Work, run: &StepRun) -> Option<ExecutionQuestion> {
    let Work::Ask { question, who, count, form, deadline, .. } = work else { return None };
    Some(ExecutionQuestion {
        question: question.clone(),
        who: who.clone(),
        count: *count,
        approved_by: run.answers.iter().filter(|answer| answer.approve).map(|answer| answer.name.clone()).collect(),
        form: form.clone(),
        deadline: deadline.as_ref().map(|(at, _)| *at),
    })
}

fn attempt(row: WorkRow) -> ExecutionAttempt {
    // Who waits for people or an event does not work.
    let waits = matches!(row.work, Work::Ask { .. } | Work::Event { .. });
    let state = if waits && row.state == "running" { "waiting".to_owned() } else { row.state };
    ExecutionAttempt {
        path: row.path.to_string(),
        attempt: row.attempt,
        work: serde_json::to_value(&row.work).unwrap_or(Json::Null),
        state,
        reason: row.reason,
        late: row.late,
        session: row.session,
        workspace: row.workspace,
        tasks: row.tasks,
        called: row.called,
        created_at: row.created_at,
        began_at: row.began_at.filter(|_| !waits),
        ended_at: row.ended_at,
        cost_micros: row.cost_micros,
    }
}

/// The executions that are not over, and the newest others, for the state of a client.
pub(crate) async fn current(c: &mut Connection<'_>, only: Option<ProjectId>) -> Result<Vec<Execution>, StoreError> {
    let filter = if only.is_some() { "AND e.project = $1" } else { "" };
    let sql = format!("{} WHERE 1 = 1 {filter} ORDER BY e.id DESC LIMIT {RECENT}", rows::COLUMNS);
    let values = || only.map(text).into_iter().collect();
    let mut found = c.all(&sql, values()).await?;
    let sql = format!("{} WHERE e.ended_at IS NULL {filter} ORDER BY e.id DESC LIMIT {RECENT}", rows::COLUMNS);
    found.extend(c.all(&sql, values()).await?);
    let mut seen = HashSet::new();
    let mut all = found.iter().map(rows::read).collect::<Result<Vec<_>, _>>()?;
    all.retain(|row| seen.insert(row.id));
    all.sort_by_key(|row| row.id);
    Ok(all.iter().map(execution).collect())
}
