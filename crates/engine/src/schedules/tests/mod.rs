//! Schedules: texts, clocks that change, decisions, properties.

mod clocks;
mod decisions;
mod properties;
mod texts;

use domain::{Overlap, ScheduleId, Timestamp};

use super::{CatchUp, Facts, Trigger};

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn cron(text: &str, zone: &str) -> Trigger {
    Trigger::Cron { cron: text.to_owned(), time_zone: Some(zone.to_owned()) }
}

/// An hourly schedule of 1 January 2026 that is decided up to its creation.
fn facts(trigger: Trigger) -> Facts {
    let anchor = time("2026-01-01T00:00:00Z");
    Facts {
        schedule: "sch_0123456789abcdef0123456789abcdef".parse::<ScheduleId>().unwrap(),
        trigger,
        anchor,
        decided_to: anchor,
        now: anchor,
        from: None,
        until: None,
        paused: false,
        overlap: Overlap::Skip,
        queue_max: 10,
        catch_up: CatchUp::Latest,
        catch_up_seconds: None,
        jitter_seconds: 0,
        open: 0,
        queued: Vec::new(),
        pause_after_failures: None,
        failures: 0,
    }
}

fn hourly() -> Facts {
    facts(Trigger::Every { seconds: 3600 })
}
