//! Reports hold-ups of a session, which are not its task's fault, and their end.

use std::path::Path;

use agents::{Adapter, Cause, Limit, Seen, State, WaitingFor};
use domain::HoldUp;
use jiff::tz::TimeZone;
use protocol::link::FactBody;

use super::limited;
use crate::asks;
use crate::clock::now;
use crate::journal::{Memory, SessionRow};

/// How many of the lowest lines of a screen may be about a limit or a failed start.
const ROWS: usize = 12;

/// A session whose agent may be held up.
pub(super) struct HeldUp<'a> {
    pub(super) row: &'a SessionRow,
    pub(super) adapter: Option<&'a Adapter>,
}

impl HeldUp<'_> {
    /// News since the last report. The next runner reads the lines again: each is reported once.
    pub(super) fn news(&self, memory: &mut Memory, seen: &Seen, on_screen: Option<Limit>) -> Vec<FactBody> {
        let mut facts = Vec::new();
        let in_lines = seen.hold_up.clone().filter(|_| seen.hold_ups > memory.hold_ups);
        memory.hold_ups = memory.hold_ups.max(seen.hold_ups);
        let shown = || on_screen.map(|limit| held_up(Cause::RateLimit, "a provider's limit", limit.retry));
        if let Some(found) = in_lines.or_else(shown) {
            memory.held_up = Some(found.message.clone());
            facts.push(self.told(found));
        }
        let waits = matches!(seen.state, Some(State::Waiting { on: WaitingFor::Limit, .. }));
        let free = !seen.held_up && !waits;
        if free && (memory.held_up.is_some() || (seen.progressed && !memory.progressed)) {
            memory.held_up = None;
            memory.progressed = true;
            facts.extend(self.progress());
        }
        facts
    }

    /// What an agent that failed before its model ever answered showed on its terminal.
    pub(super) fn at_the_end(&self, memory: &mut Memory, dir: &Path) -> Option<FactBody> {
        if memory.progressed || memory.held_up.is_some() {
            return None;
        }
        let (adapter, shown) = (self.adapter?, asks::log(dir, 100).ok()?);
        let found = lowest(&shown.text).lines().rev().find_map(|line| agents::own_hold_up(adapter, line))?;
        memory.held_up = Some(found.message.clone());
        Some(self.told(found))
    }

    fn told(&self, found: agents::HoldUp) -> FactBody {
        let limit = Limit { retry: found.retry };
        let login = self.adapter.map(|adapter| adapter.login_command.clone()).filter(|login| !login.is_empty());
        FactBody::SessionLimited {
            session: self.row.session,
            retry_after_seconds: limited::seconds(&limit, now(), &TimeZone::system()),
            cause: Some(cause(found.cause)),
            message: Some(found.message),
            login: login.filter(|_| found.cause == Cause::Auth),
        }
    }

    fn progress(&self) -> Option<FactBody> {
        let wanted = self.row.desired.task.as_ref().is_some_and(|task| task.progress_told);
        wanted.then_some(FactBody::SessionProgress { session: self.row.session })
    }
}

/// The lowest lines of a screen that are not blank.
pub(super) fn lowest(screen: &str) -> String {
    let lines: Vec<&str> = screen.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(ROWS)..].join("\n")
}

fn held_up(cause: Cause, message: &str, retry: Option<agents::Retry>) -> agents::HoldUp {
    agents::HoldUp { cause, message: message.to_owned(), retry }
}

fn cause(cause: Cause) -> HoldUp {
    match cause {
        Cause::Auth => HoldUp::Auth,
        Cause::RateLimit => HoldUp::RateLimit,
        Cause::Overloaded => HoldUp::Overloaded,
        Cause::Network => HoldUp::Network,
        Cause::StartUp => HoldUp::StartUp,
    }
}
