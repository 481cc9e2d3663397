//! Whether a signal has stopped an agent's process: checked only after a silence.

use std::path::Path;
use std::time::Duration;

use domain::SessionStatus;
use protocol::SessionState;
use tokio::time::Instant;

use super::state::At;

/// An agent that prints is not stopped.
const QUIET: Duration = Duration::from_secs(10);
/// How long it must have been stopped: some stop themselves for a moment.
const LONG: Duration = Duration::from_secs(5);
/// How many wrappers may surround an agent.
const WRAPPERS: usize = 8;
const WORDS: &str = "stopped by a signal, until somebody sends SIGCONT";

/// Observations of an agent's process.
#[derive(Debug)]
pub(super) struct Stopped {
    since: Option<Instant>,
    looked: Instant,
}

impl Stopped {
    /// `told`: an earlier runner reported that it is stopped.
    pub(super) fn new(now: Instant, told: bool) -> Self {
        Self { since: told.then(|| now.checked_sub(LONG).unwrap_or(now)), looked: now }
    }

    /// Since when it is stopped, if it has been for long. It has printed nothing for `quiet`; it is checked at this
    /// interval, and every time while it seems stopped.
    pub(super) fn look(
        &mut self,
        now: Instant,
        quiet: Duration,
        every: Duration,
        is_stopped: impl FnOnce() -> bool,
    ) -> Option<Instant> {
        if self.since.is_some() || (quiet >= QUIET && now - self.looked >= every) {
            self.looked = now;
            self.since = is_stopped().then(|| self.since.unwrap_or(now));
        }
        self.since.filter(|since| now - *since >= LONG)
    }
}

/// The state of a session whose process is stopped.
pub(super) fn told() -> At {
    At { status: SessionStatus::Waiting, detail: Some(WORDS.to_owned()) }
}

/// Whether this is the last reported state.
pub(super) fn was_told(state: Option<&SessionState>) -> bool {
    state.is_some_and(|state| told().is(state))
}

/// Whether the process that the host in `dir` started is stopped; in a sandbox, the process inside.
pub(super) fn is_stopped(dir: &Path) -> bool {
    let host = std::fs::read_to_string(terminal::Files::new(dir).pid()).ok();
    let mut next = host.and_then(|host| first_child(host.trim()));
    for _ in 0..WRAPPERS {
        let Some(pid) = next else { return false };
        // A name is cut after 15 bytes, perhaps in the middle of a character.
        let stat = std::fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
        match name_and_state(&String::from_utf8_lossy(&stat)) {
            Some((_, 'T')) => return true,
            Some(("bwrap", _)) => next = first_child(&pid),
            _ => return false,
        }
    }
    false
}

/// The oldest child: adopted processes come after it.
fn first_child(pid: &str) -> Option<String> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    children.split_whitespace().next().map(str::to_owned)
}

/// The name is in parentheses and may contain parentheses.
fn name_and_state(stat: &str) -> Option<(&str, char)> {
    let (start, end) = (stat.find('(')?, stat.rfind(')')?);
    Some((stat.get(start + 1..end)?, stat[end + 1..].trim_start().chars().next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_quiet_agents_are_checked_and_only_lasting_stops_count() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let (seconds, never) = (Duration::from_secs, || -> bool { panic!("it is not looked at") });
        let mut stopped = Stopped::new(start, false);
        assert_eq!(stopped.look(at(9), seconds(9), seconds(10), never), None, "it showed something");
        assert_eq!(stopped.look(at(9), seconds(20), seconds(10), never), None, "it was checked recently");
        assert_eq!(stopped.look(at(10), seconds(10), seconds(10), || false), None);
        assert_eq!(stopped.look(at(20), seconds(20), seconds(10), || true), None, "perhaps for a moment");
        assert_eq!(stopped.look(at(24), seconds(24), seconds(10), || true), None);
        assert_eq!(stopped.look(at(25), seconds(25), seconds(10), || true), Some(at(20)));
        assert_eq!(stopped.look(at(26), seconds(0), seconds(10), || true), Some(at(20)), "a child prints something");
        assert_eq!(stopped.look(at(26), seconds(26), seconds(10), || false), None, "it continues");
        assert_eq!(stopped.look(at(27), seconds(27), seconds(10), never), None);
    }

    #[test]
    fn an_earlier_runners_stop_is_checked_before_anything_is_reported() {
        let now = Instant::now();
        for still in [true, false] {
            let found = Stopped::new(now, true).look(now, Duration::ZERO, QUIET, || still);
            assert_eq!(found.is_some(), still);
        }
    }

    #[test]
    fn a_name_may_be_anything() {
        assert_eq!(name_and_state("7 (a) T (b) S 1 7"), Some(("a) T (b", 'S')));
        assert_eq!(name_and_state("7 (bwrap) T 1 7"), Some(("bwrap", 'T')));
        assert_eq!(name_and_state(""), None);
    }
}
