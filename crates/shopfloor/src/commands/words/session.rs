//! A session's state, in the same words everywhere.

use domain::{SessionStatus, Timestamp};
use protocol::{Runner, Session};

use crate::table::{Cell, Style};
use crate::when;

/// A session's state; if its runner is away, the last known one.
pub(crate) fn state(session: &Session, runner: Option<&Runner>, now: Timestamp) -> String {
    let state = &session.state;
    if !state.ended()
        && let Some(runner) = runner.filter(|runner| !runner.connected)
    {
        let seen = when::relative_or(runner.last_seen_at, now, "never");
        return format!("last seen {} {seen}", state.status);
    }
    let word = match state.status {
        SessionStatus::Exited if never_started(session) && !session.stopping => "did not start".to_owned(),
        SessionStatus::Exited => exited(session.stopping, state.code, state.signal),
        SessionStatus::Lost => state.status.to_string(),
        _ if session.stopping => return "stopping".to_owned(),
        status => status.to_string(),
    };
    // A requested stop, or an exit code, needs no reason.
    let explained =
        state.status == SessionStatus::Exited && (session.stopping || state.code.is_some() || state.signal.is_some());
    match state.detail.as_deref().filter(|detail| !detail.is_empty() && !explained) {
        Some(detail) => format!("{word}: {detail}"),
        None => word,
    }
}

/// How a session's process ended, in the words of the page.
pub(crate) fn exited(stopped: bool, code: Option<i32>, signal: Option<i32>) -> String {
    match (code, signal) {
        _ if stopped => "stopped".to_owned(),
        (Some(0), _) => "finished".to_owned(),
        (Some(code), _) => format!("failed (exit {code})"),
        (None, Some(signal)) => format!("failed (signal {signal})"),
        (None, None) => "ended".to_owned(),
    }
}

/// Whether its process never ran: there is a reason, but no output.
fn never_started(Session { state, recording, .. }: &Session) -> bool {
    let unknown = state.status == SessionStatus::Exited && state.code.is_none() && state.signal.is_none();
    unknown && state.detail.is_some() && recording.output_bytes == 0 && recording.disk_bytes == 0
}

/// A session's state in its colour.
pub(crate) fn state_cell(session: &Session, runner: Option<&Runner>, now: Timestamp) -> Cell {
    let away = runner.is_some_and(|runner| !runner.connected);
    let style = match session.state.status {
        SessionStatus::Exited if session.state.code == Some(0) || session.stopping => Style::Dim,
        SessionStatus::Exited | SessionStatus::Lost => Style::Red,
        _ if away => Style::Dim,
        SessionStatus::Working => Style::Green,
        SessionStatus::Waiting => Style::Yellow,
        SessionStatus::Starting | SessionStatus::Idle => Style::Plain,
    };
    Cell::styled(state(session, runner, now), style)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn session(state: Value, more: Value) -> Session {
        let mut view = json!({
            "id": domain::SessionId::generate(), "project": domain::ProjectId::generate(),
            "activity": domain::ActivityId::generate(), "workspace": domain::WorkspaceId::generate(),
            "runner": domain::RunnerId::generate(), "owner": {"id": domain::UserId::generate(), "name": "Ann"},
            "agent": "command", "mode": "interactive", "model": null, "title": "make", "stopping": false,
            "worker": null, "task": null, "resumable": false, "resumes": null, "sandbox": false,
            "usage": {"input_tokens": 0, "cached_tokens": 0, "output_tokens": 0, "cost_micros": null},
            "recording": {"output_bytes": 0, "disk_bytes": 0, "duration_ms": 0, "keep": false},
            "created_at": "2026-11-15T10:00:00.000Z",
            "state": {"status": "exited", "detail": null, "code": null, "signal": null,
                      "since": "2026-11-15T10:00:00.000Z"},
        });
        let put = |into: &mut Value, from: Value| {
            for (key, value) in from.as_object().unwrap() {
                into[key] = value.clone();
            }
        };
        put(&mut view["state"], state);
        put(&mut view, more);
        serde_json::from_value(view).unwrap()
    }

    #[test]
    fn an_ending_has_the_words_of_the_page() {
        let none = || json!({});
        let shown = json!({"recording": {"output_bytes": 9, "disk_bytes": 9, "duration_ms": 1, "keep": false}});
        for (state, more, words) in [
            (json!({"code": 0}), none(), "finished"),
            (json!({"code": 3}), none(), "failed (exit 3)"),
            (json!({"signal": 9}), none(), "failed (signal 9)"),
            (json!({"code": 0}), json!({"stopping": true}), "stopped"),
            (json!({"signal": 15}), json!({"stopping": true}), "stopped"),
            (json!({"detail": "no such folder"}), none(), "did not start: no such folder"),
            (json!({"detail": "it was forgotten"}), shown, "ended: it was forgotten"),
            (json!({"detail": "before it began"}), json!({"stopping": true}), "stopped"),
            (json!({"status": "lost", "detail": "its host is gone"}), none(), "lost: its host is gone"),
            (json!({"status": "waiting", "detail": "permission"}), none(), "waiting: permission"),
            (json!({"status": "working"}), json!({"stopping": true}), "stopping"),
        ] {
            assert_eq!(super::state(&session(state, more), None, Timestamp::from_millis(0)), words);
        }
    }
}
