//! Whether a session hands itself off: once, and never in a loop.

use std::fmt;

/// The maximum number of handoffs that begin by themselves for one task.
pub const MOST_BY_ITSELF: u32 = 5;

/// What a session cost, in millionths of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// By its report before this one.
    pub before: Option<u64>,
    /// By this report.
    pub now: Option<u64>,
}

/// The handoffs so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Earlier {
    /// Of the session, however they began and ended.
    pub of_session: u32,
    /// Of its task, that began by themselves.
    pub of_task: u32,
}

/// Why a session hands itself off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// What it cost.
    pub spent: u64,
    /// After which cost its worker hands off.
    pub limit: u64,
}

impl fmt::Display for Due {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cents = |micros: u64| micros / 10_000;
        let (spent, limit) = (cents(self.spent), cents(self.limit));
        let dollars = |cents: u64| format!("{}.{:02}", cents / 100, cents % 100);
        write!(f, "the session cost {} dollars; its worker hands off after {}", dollars(spent), dollars(limit))
    }
}

/// Whether a session hands itself off now: its cost passes the limit with this report, and this is the first handoff of
/// the session. A session whose first report is over the limit does not: handing off would change nothing, and an agent
/// that reports its cost only at its end has nothing left to hand off.
pub fn due(limit: Option<u64>, cost: Cost, earlier: Earlier) -> Option<Due> {
    let (limit, spent) = (limit?, cost.now?);
    let passes = cost.before.is_some_and(|before| before > 0 && before < limit) && spent >= limit;
    let first = earlier.of_session == 0 && earlier.of_task < MOST_BY_ITSELF;
    (passes && first).then_some(Due { spent, limit })
}
