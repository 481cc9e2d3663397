//! Runners that are away: an attempt whose runner does not come back in time is lost.

use std::sync::Arc;

use super::machine::Machine;
use super::model::{Idempotency, Step as Plan};
use super::operate::is_interruptible;
use super::{Away, Effect, ErrorKind, Path, StepState, TimerKind, limits, tree};

impl Machine {
    /// The runner of an attempt is away: it has some time to come back.
    pub(super) fn runner_away(&mut self, path: &Path, attempt: u32, runner: &str) {
        let recipe = Arc::clone(&self.next.recipe);
        let runs = |plan: &&Plan| is_interruptible(plan) && self.is_running(path, attempt);
        if tree::find(&recipe, path).filter(runs).is_none() || self.run(path).away.is_some() {
            return;
        }
        let (since, until) = (self.now, self.later(recipe.lost_after.unwrap_or(limits::RUNNER_AWAY)));
        self.run(path).away = Some(Away { runner: super::short(runner, limits::KEY), since, until });
        self.set_timer(path, TimerKind::Away, until);
    }

    /// The runner of an attempt is back in time.
    pub(super) fn runner_back(&mut self, path: &Path, attempt: u32) {
        if self.is_running(path, attempt) && self.run(path).away.take().is_some() {
            self.effects.push(Effect::DropTimer { path: path.clone(), attempt, timer: TimerKind::Away });
        }
    }

    /// The runner of an attempt has been away for too long. What must not happen twice asks a person, anything else is
    /// an error that the retry policy knows.
    pub(super) fn runner_lost(&mut self, path: &Path, plan: &Plan) {
        let Some(away) = self.run(path).away.clone() else { return };
        let seconds = (away.until.as_millis() - away.since.as_millis()) / 1_000;
        let why = format!("the runner `{}` has been away for {}", away.runner, lasted(seconds));
        self.halt(path, plan);
        match plan.idempotency {
            Idempotency::AtMostOnce => {
                self.close(path, plan, StepState::Interrupted { why });
                self.run(path).over_at = None;
            }
            Idempotency::AtLeastOnce => self.fail(path, plan, ErrorKind::Lost, &why),
        }
    }
}

fn lasted(seconds: i64) -> String {
    let counted = |count: i64, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    match seconds {
        0..60 => counted(seconds, "second"),
        60..7_200 => counted(seconds / 60, "minute"),
        _ => counted(seconds / 3_600, "hour"),
    }
}
