//! What a schedule does now: a tick for each planned time, what starts, and when to decide again.

use domain::Timestamp;
use serde::{Deserialize, Serialize};

use super::jitter::due_at;
use super::overlap::Room;
use super::times::Latest;
use super::{CatchUp, Facts, MAX_CAUGHT_UP, MAX_ROWS, ON_TIME_MILLIS, Outcome, Tick, Times};

/// The age that the latest missed tick may have, in seconds, unless the schedule says otherwise.
const LATEST_SECONDS: u32 = 3_600;

/// What to do now, in one transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The ticks to write, by planned time; all of them are later than the `decided_to` of the facts.
    pub ticks: Vec<Tick>,
    /// Whether to cancel the executions that are open before anything starts.
    pub cancel_running: bool,
    /// The queued tick to start before those of `ticks`: nothing else is open.
    pub start_queued: Option<Timestamp>,
    /// Planned times up to here have their tick. It never moves back.
    pub decided_to: Timestamp,
    /// When to decide again; absent: the schedule has no further planned time.
    pub due_at: Option<Timestamp>,
    /// Pause the schedule with this note.
    pub pause: Option<String>,
}

/// Decides about a schedule. Call it when the schedule is added, at `due_at`, when a hub starts, before a pause ends
/// (so that its ticks are skipped instead of run late) and after it has ended (so that queued ticks start).
pub fn decide(facts: &Facts) -> Decision {
    let (room, start_queued) = Room::of(facts);
    let mut decision = Decision {
        ticks: Vec::new(),
        cancel_running: false,
        start_queued,
        decided_to: facts.decided_to,
        due_at: None,
        pause: None,
    };
    let times = match Times::parse(&facts.trigger) {
        Ok(times) => times,
        // It was understood once: a time zone is gone, or a newer version has another language.
        Err(error) => {
            decision.pause = (!facts.paused).then(|| format!("paused because its times are unknown: {error}"));
            return decision;
        }
    };
    let after = lower(facts);
    let end = facts.until.map_or(facts.now, |until| until.min(facts.now));
    let latest = times.latest(facts.anchor, after, end, MAX_ROWS);
    let due = |planned: Timestamp, next| Planned {
        at: planned,
        due: due_at(facts.schedule, facts.jitter_seconds, planned, next),
    };
    let last = |planned: Timestamp| due(planned, times.next_after(facts.anchor, planned));
    let pairs = latest.times.windows(2).map(|pair| due(pair[0], Some(pair[1])));
    let mut planned: Vec<Planned> = pairs.chain(latest.times.last().copied().map(last)).collect();
    // A delay is shorter than the distance to the next planned time: only the last one can be still to come.
    let to_come = planned.pop_if(|last| last.due > facts.now);
    decision.decided_to = planned.last().map_or(facts.decided_to, |last| last.at);
    (decision.ticks, decision.cancel_running) = ticks(facts, room, &planned, &latest);
    let following = || times.next_after(facts.anchor, decision.decided_to.max(after)).map(last);
    let to_come = to_come.or_else(following).filter(|next| facts.until.is_none_or(|until| next.at <= until));
    decision.due_at = to_come.map(|next| next.due);
    decision
}

/// Decides about a schedule whose event has happened now: one tick at most.
pub fn decide_event(facts: &Facts) -> Decision {
    let (mut room, start_queued) = Room::of(facts);
    // Two events of a millisecond are two ticks, also if the clock has jumped back.
    let planned_at = facts.now.max(facts.decided_to.plus_millis(1));
    let outside = facts.from.is_some_and(|from| facts.now < from) || facts.until.is_some_and(|until| facts.now > until);
    let outcome = if facts.paused { paused() } else { room.take(facts, true) };
    let tick = Tick { planned_at, outcome, times: 1 };
    let (ticks, decided_to) = if outside { (Vec::new(), facts.decided_to) } else { (vec![tick], planned_at) };
    let cancel_running = room.cancel && !outside;
    Decision { ticks, cancel_running, start_queued, decided_to, due_at: None, pause: None }
}

/// Planned times up to here need no tick.
fn lower(facts: &Facts) -> Timestamp {
    let from = facts.from.map_or(facts.anchor, |from| from.plus_millis(-1));
    facts.decided_to.max(facts.anchor).max(from)
}

/// A planned time, and when it is due with its delay.
#[derive(Debug, Clone, Copy)]
struct Planned {
    at: Timestamp,
    due: Timestamp,
}

/// The ticks of planned times, and whether to cancel what is open.
fn ticks(facts: &Facts, mut room: Room, planned: &[Planned], latest: &Latest) -> (Vec<Tick>, bool) {
    let catch_up = Caught::of(facts, planned, latest.older > 0);
    let last = (0..planned.len()).rev().find(|at| catch_up.starts(*at));
    let mut ticks = Vec::with_capacity(planned.len());
    for (at, Planned { at: planned_at, .. }) in planned.iter().enumerate() {
        let shared = at == 0 && latest.older > 0;
        let times = if shared { latest.older + 1 } else { 1 };
        let outcome = if facts.paused {
            paused()
        } else if shared {
            let most = if latest.and_more { "more than " } else { "" };
            Outcome::missed(format!("no hub ran when they were due: {most}{times} ticks up to this one"))
        } else if catch_up.starts(at) {
            room.take(facts, last == Some(at))
        } else {
            Outcome::missed(catch_up.left_out(facts, at))
        };
        ticks.push(Tick { planned_at: *planned_at, outcome, times });
    }
    (ticks, room.cancel)
}

fn paused() -> Outcome {
    Outcome::skip("the schedule was paused")
}

/// Which planned times are started although they are late; indices into them.
struct Caught {
    /// The first one that is on time.
    on_time: usize,
    /// The first one that is not too old.
    recent: usize,
    /// The first missed tick that still runs.
    first: usize,
}

impl Caught {
    fn of(facts: &Facts, planned: &[Planned], older: bool) -> Self {
        let age = |seconds: u32| facts.now.plus_millis(-i64::from(seconds) * 1000);
        let since = match (facts.catch_up_seconds, facts.catch_up) {
            (Some(seconds), _) => Some(age(seconds)),
            (None, CatchUp::Latest) => Some(age(LATEST_SECONDS)),
            (None, CatchUp::None | CatchUp::All { .. }) => None,
        };
        let on_time = planned.partition_point(|tick| tick.due <= facts.now.plus_millis(-ON_TIME_MILLIS));
        let recent = planned.partition_point(|tick| since.is_some_and(|since| tick.due < since)).min(on_time);
        // The first one stands for older ones as well.
        let recent = recent.max(usize::from(older).min(on_time));
        let first = match facts.catch_up {
            CatchUp::Latest if on_time == planned.len() => on_time.saturating_sub(1),
            CatchUp::None | CatchUp::Latest => on_time,
            CatchUp::All { most } => on_time.saturating_sub(most.min(MAX_CAUGHT_UP) as usize),
        };
        Self { on_time, recent, first: first.max(recent) }
    }

    fn starts(&self, at: usize) -> bool {
        at >= self.first
    }

    /// Why a missed tick is left out.
    fn left_out(&self, facts: &Facts, at: usize) -> String {
        let why = match facts.catch_up {
            CatchUp::None => "missed ticks are left out".to_owned(),
            _ if at < self.recent => {
                let seconds = facts.catch_up_seconds.unwrap_or(LATEST_SECONDS);
                format!("it was more than {} late", super::words::span(seconds))
            }
            CatchUp::Latest if self.first == self.on_time => "a later tick is on time".to_owned(),
            CatchUp::Latest => "only the latest missed tick runs".to_owned(),
            CatchUp::All { most } => match most.min(MAX_CAUGHT_UP) {
                1 => "only 1 missed tick runs".to_owned(),
                most => format!("only the latest {most} missed ticks run"),
            },
        };
        format!("no hub ran when it was due, and {why}")
    }
}
