//! One step of a task's life.

use domain::{AttemptOutcome, TaskStatus, Timestamp, WorkerId};

use super::hold::{let_go, refuse};
use super::{Effect, Ended, Event, Hold, Life, State};
use crate::tasks::retry::Limits;

/// Parameters of every step: the time, and the project's limits.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// The current time.
    pub now: Timestamp,
    /// The retry limits.
    pub limits: Limits,
}

/// A task after an event, with the effects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The task.
    pub life: Life,
    /// The effects, in order.
    pub effects: Vec<Effect>,
}

/// Why a task's state does not allow an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Only a task in the queue can be taken.
    #[error("only a ready task can be taken")]
    NotReady,
    /// No worker holds the task.
    #[error("no worker holds it")]
    NotHeld,
    /// The report is being checked.
    #[error("it was reported already and is being checked")]
    Reported,
    /// The task has not ended and is not escalated.
    #[error("only a task that failed, was cancelled or needs a decision can be retried")]
    NotRetryable,
    /// There is no work to accept.
    #[error("nothing can be accepted")]
    NothingToAccept,
    /// Only accepted work can be continued.
    #[error("only a done task can be reopened")]
    NotDone,
    /// A worker has started from the dependencies.
    #[error("its dependencies cannot change while a worker has it")]
    Started,
    /// The task has ended.
    #[error("it is over")]
    Over,
}

/// Applies an event to a task. A repeated or late event changes nothing.
pub fn step(life: Life, event: Event, rules: &Rules) -> Result<Step, Refused> {
    match event {
        Event::Take { worker, until } => take(life, worker, until, rules.now),
        Event::WorkIn { .. } | Event::Start | Event::Renew { .. } | Event::Report => work(life, event),
        Event::Wait { why } => Ok(unchanged(wait(life, why))),
        Event::BeginCheck | Event::MoveCheck => Ok(check(life, &event)),
        Event::AwaitMerge { why } => Ok(unchanged(await_merge(life, why))),
        Event::Accept { score, by } => accept(life, score, by),
        Event::Refuse { why, stuck, still_there, until } => Ok(match life.awaits_check() {
            true => refuse(life, why, stuck, still_there.then_some(until), rules),
            false => unchanged(life),
        }),
        Event::LetGo { how, why, lost_before } => Ok(let_go(life, how, why, lost_before, rules)),
        Event::Escalate { question, verdict_open } => escalate(life, question, verdict_open),
        Event::Ask if life.status().is_over() => Err(Refused::Over),
        Event::Ask => Ok(unchanged(Life { asked: true, ..life })),
        Event::JudgeOn { worker, session } => {
            Ok(judge_on(life, Hold { worker, session, taken_at: rules.now, waiting: None }))
        }
        Event::Retry { reason, unreachable } => retry(life, reason, unreachable, rules.now),
        Event::Reopen { reason, waits_for, unreachable } => {
            reopen(Life { waits_for, ..life }, reason, unreachable, rules.now)
        }
        Event::Fail { reason } => end(life, State::Failed, reason),
        Event::Cancel { reason } => end(life, State::Cancelled, reason),
        Event::DependencyDone => Ok(unchanged(dependency_done(life, rules.now))),
        Event::DependencyReopened => Ok(unchanged(dependency_reopened(life))),
        Event::Rewire { waits_for, unreachable } => rewire(life, waits_for, unreachable, rules.now),
        Event::DependenciesChange { unreachable } => Ok(unchanged(match life.state {
            State::Blocked => Life { reason: unreachable, ..life },
            _ => life,
        })),
        Event::Pass { unassigned } => Ok(unchanged(match life.state {
            State::Ready { .. } => Life { state: State::Ready { unassigned }, ..life },
            _ => life,
        })),
    }
}

/// A step without effects.
pub(super) fn unchanged(life: Life) -> Step {
    Step { life, effects: Vec::new() }
}

fn take(life: Life, worker: WorkerId, until: Timestamp, now: Timestamp) -> Result<Step, Refused> {
    if !matches!(life.state, State::Ready { .. }) {
        return Err(Refused::NotReady);
    }
    let hold = Hold { worker, session: None, taken_at: now, waiting: None };
    let life = Life {
        state: State::Assigned { hold, lease_until: until },
        reason: None,
        attempt: life.attempt + 1,
        fence: life.fence + 1,
        refusals: 0,
        ..life
    };
    Ok(Step { life, effects: vec![Effect::BeginAttempt { worker }] })
}

/// Applies an event of the worker that holds the task.
fn work(mut life: Life, event: Event) -> Result<Step, Refused> {
    if let Event::WorkIn { session } = event {
        life.hold_mut().ok_or(Refused::NotHeld)?.session = Some(session);
        return Ok(unchanged(life));
    }
    life.state = match (life.state, event) {
        (State::Assigned { hold, lease_until }, Event::Start) => State::Running { hold, lease_until, progress: None },
        (State::Assigned { hold, lease_until }, Event::Renew { until, progress }) => {
            State::Running { hold, lease_until: lease_until.max(until), progress }
        }
        (State::Running { hold, lease_until, progress: before }, Event::Renew { until, progress }) => {
            State::Running { hold, lease_until: lease_until.max(until), progress: progress.or(before) }
        }
        (State::Assigned { hold, .. } | State::Running { hold, .. }, Event::Report) => {
            // The reason for an earlier refusal no longer applies.
            life.reason = None;
            State::Reported { hold }
        }
        (State::Reported { .. } | State::Validating { .. }, Event::Report) => return Err(Refused::Reported),
        (state @ (State::Running { .. } | State::Reported { .. } | State::Validating { .. }), _) => state,
        _ => return Err(Refused::NotHeld),
    };
    Ok(unchanged(life))
}

fn wait(mut life: Life, why: Option<String>) -> Life {
    if let Some(hold) = life.hold_mut() {
        hold.waiting = why;
    }
    life
}

fn check(mut life: Life, event: &Event) -> Step {
    life.state = match (life.state, event) {
        (State::Reported { hold }, Event::BeginCheck) => State::Validating { hold },
        (State::Validating { hold }, Event::MoveCheck) => State::Reported { hold },
        (state, _) => state,
    };
    unchanged(life)
}

fn await_merge(life: Life, why: String) -> Life {
    match life.state {
        State::Reported { hold } | State::Validating { hold } => {
            Life { state: State::Validating { hold }, reason: Some(why), ..life }
        }
        _ => life,
    }
}

fn accept(life: Life, score: Option<u8>, by: Option<WorkerId>) -> Result<Step, Refused> {
    let worker = match &life.state {
        State::Done => return Ok(unchanged(life)),
        State::Escalated => by,
        _ => Some(life.worker().ok_or(Refused::NothingToAccept)?),
    };
    let outcome = AttemptOutcome::Accepted;
    let mut effects = vec![Effect::CloseAttempt { outcome, reason: None, silent_until: None }];
    effects.extend(worker.map(|worker| Effect::FreeWorker { worker, ended: Ended::Accepted(score) }));
    if life.awaits_verdict() {
        effects.push(Effect::RefusePending { reason: "the task is done without it".to_owned() });
    }
    effects.push(Effect::FreeDependants);
    effects.push(Effect::LandWork);
    if life.asked {
        effects.push(Effect::SettleQuestions { why: "the task is done".to_owned() });
    }
    effects.push(Effect::LookAtActivity);
    Ok(Step { life: Life { state: State::Done, reason: None, asked: false, ..life }, effects })
}

fn escalate(life: Life, question: String, verdict_open: bool) -> Result<Step, Refused> {
    if life.status().is_over() {
        return Err(Refused::Over);
    }
    let mut effects = Vec::new();
    if let Some(hold) = life.hold() {
        if !verdict_open {
            let (outcome, reason) = (AttemptOutcome::Escalated, Some(question.clone()));
            effects.push(Effect::CloseAttempt { outcome, reason, silent_until: None });
        }
        effects.push(Effect::FreeWorker { worker: hold.worker, ended: Ended::Released });
    }
    Ok(Step { life: Life { state: State::Escalated, reason: Some(question), asked: true, ..life }, effects })
}

fn judge_on(life: Life, hold: Hold) -> Step {
    unchanged(match life.state {
        State::Escalated => Life { state: State::Validating { hold }, ..life },
        _ => life,
    })
}

/// Moves a task that nobody holds into the queue, or blocks it if dependencies are open.
pub(super) fn queued(life: Life, reason: Option<String>, now: Timestamp) -> Life {
    let (state, ready_at) = match life.waits_for {
        0 => (State::Ready { unassigned: None }, Some(life.ready_at.unwrap_or(now))),
        _ => (State::Blocked, life.ready_at),
    };
    Life { state, ready_at, reason, refusals: 0, ..life }
}

fn retry(life: Life, reason: Option<String>, unreachable: Option<String>, now: Timestamp) -> Result<Step, Refused> {
    let effects = match life.state {
        State::Failed | State::Cancelled => vec![Effect::UnblockDependants],
        State::Escalated => {
            let (outcome, reason) = (AttemptOutcome::Escalated, reason.clone());
            let why = reason.clone().unwrap_or_else(|| "the task was retried".to_owned());
            vec![
                Effect::CloseAttempt { outcome, reason, silent_until: None },
                Effect::RefusePending { reason: why },
                Effect::DropOutput { how: "was retried" },
            ]
        }
        _ => return Err(Refused::NotRetryable),
    };
    let fresh = Life { workers_tried: 0, not_by: Vec::new(), ready_at: None, ..life };
    let reason = if fresh.waits_for > 0 { unreachable } else { reason };
    Ok(Step { life: queued(fresh, reason, now), effects })
}

/// Returns a done task to the queue. The work that was accepted stays accepted.
fn reopen(life: Life, reason: String, unreachable: Option<String>, now: Timestamp) -> Result<Step, Refused> {
    if life.state != State::Done {
        return Err(Refused::NotDone);
    }
    let fresh = Life { workers_tried: 0, not_by: Vec::new(), ready_at: None, ..life };
    let reason = if fresh.waits_for > 0 { unreachable } else { Some(reason) };
    Ok(Step { life: queued(fresh, reason, now), effects: vec![Effect::HoldDependants] })
}

/// How messages describe the end of a task that failed or was cancelled.
pub fn ended_as(state: &State) -> &'static str {
    if *state == State::Cancelled { "was cancelled" } else { "failed" }
}

fn end(life: Life, state: State, reason: Option<String>) -> Result<Step, Refused> {
    let can_end = match life.status() {
        TaskStatus::Done | TaskStatus::Cancelled => false,
        TaskStatus::Failed => state == State::Cancelled,
        _ => true,
    };
    if !can_end {
        return Err(Refused::Over);
    }
    let how = ended_as(&state);
    let escalated = life.state == State::Escalated;
    let mut effects = Vec::new();
    if escalated || life.hold().is_some() {
        let cancelled = state == State::Cancelled;
        let outcome = if cancelled { AttemptOutcome::Cancelled } else { AttemptOutcome::Failed };
        effects.push(Effect::CloseAttempt { outcome, reason: reason.clone(), silent_until: None });
    }
    effects.extend(life.worker().map(|worker| Effect::FreeWorker { worker, ended: Ended::Released }));
    if life.awaits_verdict() {
        let why = reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        effects.push(Effect::RefusePending { reason: format!("the task {how} before this report was judged{why}") });
    }
    effects.push(Effect::BlockDependants);
    if life.asked {
        effects.push(Effect::SettleQuestions { why: format!("the task {how}") });
    }
    effects.extend(life.session().map(|session| Effect::StopSession { session }));
    effects.push(Effect::LookAtActivity);
    if escalated {
        effects.push(Effect::DropOutput { how });
    }
    Ok(Step { life: Life { state, reason, asked: false, ..life }, effects })
}

fn dependency_done(life: Life, now: Timestamp) -> Life {
    let life = Life { waits_for: life.waits_for.saturating_sub(1), ..life };
    match (&life.state, life.waits_for) {
        (State::Blocked, 0) => queued(life, None, now),
        _ => life,
    }
}

/// A task that no worker has waits again. A worker that has it continues from the work that was accepted.
fn dependency_reopened(life: Life) -> Life {
    match life.state {
        State::Done => life,
        State::Ready { .. } => Life { state: State::Blocked, waits_for: life.waits_for + 1, reason: None, ..life },
        _ => Life { waits_for: life.waits_for + 1, ..life },
    }
}

fn rewire(life: Life, waits_for: u32, unreachable: Option<String>, now: Timestamp) -> Result<Step, Refused> {
    let open = Life { waits_for, ..life };
    match &open.state {
        State::Blocked | State::Ready { .. } if waits_for > 0 => Ok(unchanged(queued(open, unreachable, now))),
        State::Blocked => Ok(unchanged(queued(open, None, now))),
        State::Ready { .. } | State::Escalated => Ok(unchanged(open)),
        State::Done | State::Failed | State::Cancelled => Err(Refused::Over),
        _ => Err(Refused::Started),
    }
}
