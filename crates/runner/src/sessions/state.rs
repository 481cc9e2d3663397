//! From an agent's recognized state to a session's state for people.

use agents::{Seen, State, WaitingFor};
use domain::SessionStatus;
use protocol::{SessionState, Usage};

use crate::clock::now;

/// A session's state for people, without its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct At {
    pub(super) status: SessionStatus,
    pub(super) detail: Option<String>,
}

impl At {
    pub(super) fn working() -> Self {
        Self { status: SessionStatus::Working, detail: None }
    }

    /// The meaning of a recognized state; `None` if none was recognized.
    pub(super) fn of(seen: &Seen) -> Option<Self> {
        let plain = |status| Self { status, detail: None };
        let at = match seen.state.as_ref()? {
            State::Working => plain(SessionStatus::Working),
            State::Idle | State::Finished => plain(SessionStatus::Idle),
            State::Waiting { on, what } => {
                let on = in_words(*on);
                let detail = what.as_ref().map_or_else(|| on.to_owned(), |what| format!("{on}: {what}"));
                Self { status: SessionStatus::Waiting, detail: Some(detail) }
            }
        };
        let rang = seen.attention && at.status != SessionStatus::Waiting;
        Some(if rang { Self { status: SessionStatus::Waiting, detail: Some("the bell rang".to_owned()) } } else { at })
    }

    pub(super) fn is(&self, state: &SessionState) -> bool {
        self.status == state.status && self.detail == state.detail
    }

    pub(super) fn since_now(self) -> SessionState {
        SessionState { status: self.status, detail: self.detail, code: None, signal: None, since: now() }
    }
}

/// The session has exited, for this reason.
pub(super) fn exited(detail: Option<String>, code: Option<i32>, signal: Option<i32>) -> SessionState {
    SessionState { status: SessionStatus::Exited, detail, code, signal, since: now() }
}

/// The session is lost.
pub(crate) fn lost(detail: &str) -> SessionState {
    let detail = Some(detail.to_owned());
    SessionState { status: SessionStatus::Lost, detail, code: None, signal: None, since: now() }
}

pub(super) fn usage(used: &agents::Usage) -> Usage {
    // The agent's number may be anything; `as` clamps.
    let micros = |cost: f64| (cost * 1e6).round() as u64;
    Usage {
        input_tokens: used.input.min(MOST),
        cached_tokens: used.cached.min(MOST),
        output_tokens: used.output.min(MOST),
        cost_micros: used.cost.map(micros).map(|cost| cost.min(MOST)),
    }
}

/// The total usage of several sessions.
pub(super) fn sum(used: &[Usage]) -> agents::Usage {
    let cost = |so_far: Option<f64>, micros: Option<u64>| {
        micros.map_or(so_far, |micros| Some(so_far.unwrap_or(0.0) + micros as f64 / 1e6))
    };
    used.iter().fold(agents::Usage::default(), |sum, used| agents::Usage {
        input: sum.input.saturating_add(used.input_tokens),
        cached: sum.cached.saturating_add(used.cached_tokens),
        output: sum.output.saturating_add(used.output_tokens),
        cost: cost(sum.cost, used.cost_micros),
    })
}

/// Numbers on the wire stay below 2^53.
const MOST: u64 = 1 << 52;

fn in_words(on: WaitingFor) -> &'static str {
    match on {
        WaitingFor::Permission => "permission",
        WaitingFor::Trust => "trust in this folder",
        WaitingFor::Question => "an answer",
        WaitingFor::Login => "a login",
        WaitingFor::Limit => "a limit to pass",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_states_are_explained() {
        let check = |state, attention, status, detail: Option<&str>| {
            let seen = Seen { state, attention, ..Seen::default() };
            let expected = Some(At { status, detail: detail.map(str::to_owned) });
            assert_eq!(At::of(&seen), expected);
        };
        let asks =
            |what: Option<&str>| Some(State::Waiting { on: WaitingFor::Permission, what: what.map(str::to_owned) });
        check(asks(None), false, SessionStatus::Waiting, Some("permission"));
        check(asks(Some("rm -r build")), true, SessionStatus::Waiting, Some("permission: rm -r build"));
        check(Some(State::Working), false, SessionStatus::Working, None);
        check(Some(State::Idle), true, SessionStatus::Waiting, Some("the bell rang"));
        check(Some(State::Finished), false, SessionStatus::Idle, None);
    }

    #[test]
    fn a_cost_is_converted_to_millionths_whatever_the_agent_reports() {
        let cost = |cost| usage(&agents::Usage { cost, ..agents::Usage::default() }).cost_micros;
        assert_eq!(cost(Some(0.012_345_6)), Some(12_346));
        assert_eq!(cost(Some(f64::MAX)), Some(MOST));
        assert_eq!(cost(None), None);
    }
}
