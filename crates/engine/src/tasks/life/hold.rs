//! The end of a hold, and the task's way back: to the same worker, to another, or to a person.

use domain::{AttemptOutcome, EscalationKind, Timestamp};

use super::step::{Rules, Step, queued, unchanged};
use super::{Effect, Ended, Hold, LOST_IN_A_ROW, Leaving, Life, State, Trouble, Why};
use crate::tasks::retry::{Next, Tries, after_refusal};
use crate::workers::decision::{Decision, first_line};

/// Refuses a report; `again` is the lease for another attempt, if the worker waits for the verdict.
pub(super) fn refuse(life: Life, why: Why, stuck: Option<String>, again: Option<Timestamp>, rules: &Rules) -> Step {
    let Some(hold) = life.hold().cloned() else { return unchanged(life) };
    let life = Life { refusals: life.refusals + 1, reason: why.open.clone(), ..life };
    let tries = Tries { by_this: life.refusals, workers: life.workers_tried + 1 };
    if let (Next::Back, Some(lease_until)) = (after_refusal(tries, stuck.is_some(), rules.limits), again) {
        let decision = Decision::SentBack {
            times: life.refusals,
            most: rules.limits.per_worker,
            why: first_line(why.open.as_deref().unwrap_or_default()),
        };
        let worker = Some(hold.worker);
        let state = State::Running { hold, lease_until, progress: None };
        return Step { life: Life { state, ..life }, effects: vec![Effect::Log { worker, decision }] };
    }
    let end = End { outcome: AttemptOutcome::Refused, how: None, why, stuck };
    end.of(life, hold, rules)
}

/// Ends a hold without a report; does nothing if nobody holds the task.
pub(super) fn let_go(life: Life, how: Leaving, why: Why, lost_before: u32, rules: &Rules) -> Step {
    let Some(hold) = life.hold().cloned() else { return unchanged(life) };
    let (worker, open) = (hold.worker, why.open.clone());
    let lost_again = how.outcome() == AttemptOutcome::Lost && lost_before + 1 >= LOST_IN_A_ROW;
    let end = End { outcome: how.outcome(), how: Some(how), why, stuck: None };
    let mut step = match lost_again {
        true => end.lost_again(life, hold),
        false => end.of(life, hold, rules),
    };
    if how == Leaving::SessionGone {
        let decision = Decision::SessionLost { why: open.unwrap_or_default() };
        step.effects.push(Effect::Log { worker: Some(worker), decision });
    }
    step
}

/// The end of a hold.
struct End {
    outcome: AttemptOutcome,
    /// How the worker left; absent if its report was refused.
    how: Option<Leaving>,
    why: Why,
    stuck: Option<String>,
}

impl End {
    /// The outcome as a word, for an end without a reason.
    fn word(&self) -> String {
        self.outcome.word().replace('_', " ")
    }

    fn words(&self) -> String {
        self.why.open.clone().unwrap_or_else(|| self.word())
    }

    fn gave_up(&self) -> bool {
        matches!(self.outcome, AttemptOutcome::Failed | AttemptOutcome::Refused)
    }

    /// The common effects: refuse pending reports, close the attempt, free the worker.
    fn effects(&self, life: &Life, hold: &Hold) -> Vec<Effect> {
        let mut effects = Vec::new();
        if life.awaits_verdict() {
            let reason = format!("the task moved on before this report was judged: {}", self.words());
            effects.push(Effect::RefusePending { reason });
        }
        // A refused report keeps its check results. Of other details, an attempt shows everybody the first line.
        let kept = match self.outcome {
            AttemptOutcome::Refused => self.why.open.clone(),
            _ => self.why.whole().map(str::to_owned),
        };
        let silent = matches!(self.how, Some(Leaving::Lost | Leaving::RunnerGone));
        let silent_until = life.lease_until().filter(|_| silent);
        effects.push(Effect::CloseAttempt { outcome: self.outcome, reason: kept, silent_until });
        let ended = match self.how {
            None | Some(Leaving::Failed) => Ended::Failed(self.words()),
            Some(Leaving::Lost) => Ended::Lost(self.words()),
            Some(Leaving::RunnerGone | Leaving::SessionGone) => Ended::Gone(self.why.open.clone().unwrap_or_default()),
            Some(Leaving::Released | Leaving::TakenOver) => Ended::Released,
        };
        effects.push(Effect::FreeWorker { worker: hold.worker, ended });
        effects
    }

    /// Returns the task to the queue, or to a person if enough workers have failed.
    fn of(self, life: Life, hold: Hold, rules: &Rules) -> Step {
        let mut effects = self.effects(&life, &hold);
        let mut life = life;
        if self.gave_up() {
            life.workers_tried += 1;
            if !life.not_by.contains(&hold.worker) {
                life.not_by.push(hold.worker);
            }
            let tries = Tries { by_this: life.refusals, workers: life.workers_tried };
            if after_refusal(tries, true, rules.limits) == Next::Escalate {
                let (kind, what) = match (&self.stuck, self.outcome) {
                    (Some(stuck), _) => (EscalationKind::Stuck, stuck.clone()),
                    (None, AttemptOutcome::Refused) => {
                        (EscalationKind::Refused, "The work was refused too often".to_owned())
                    }
                    (None, _) => (EscalationKind::GaveUp, "The task could not be done".to_owned()),
                };
                return self.ask_person(life, hold, effects, kind, &what);
            }
            let decision = Decision::ToAnother {
                why: self.why.open.as_deref().map_or_else(|| self.word(), first_line),
                tried: life.workers_tried,
                most: rules.limits.workers,
            };
            effects.push(Effect::Log { worker: Some(hold.worker), decision });
        }
        Step { life: queued(life, self.why.open, rules.now), effects }
    }

    /// Escalates a task after too many consecutive losses.
    fn lost_again(self, life: Life, hold: Hold) -> Step {
        let effects = self.effects(&life, &hold);
        let what = format!("{LOST_IN_A_ROW} workers in a row were lost while they worked on this task");
        self.ask_person(Life { refusals: 0, ..life }, hold, effects, EscalationKind::Stuck, &what)
    }

    fn ask_person(self, life: Life, hold: Hold, mut effects: Vec<Effect>, kind: EscalationKind, what: &str) -> Step {
        let reason = self.why.open.as_deref().map(|reason| format!(": {}", first_line(reason))).unwrap_or_default();
        let cause = format!("{what}{reason}.");
        let text = self.why.whole().map_or_else(|| self.word(), str::to_owned);
        let trouble = Trouble { kind, cause, text, hold };
        let question = trouble.question();
        effects.push(Effect::AskPerson(trouble));
        Step { life: Life { state: State::Escalated, reason: Some(question), asked: true, ..life }, effects }
    }
}
