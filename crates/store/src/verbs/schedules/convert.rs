//! Schedules as messages carry them, and as the engine reads them.

use engine::schedules as engine;
use protocol::{CatchUp, Trigger};

/// When a schedule is due, for the engine.
pub(super) fn trigger(trigger: &Trigger) -> engine::Trigger {
    match trigger.clone() {
        Trigger::Cron { cron, time_zone } => engine::Trigger::Cron { cron, time_zone },
        Trigger::Every { seconds } => engine::Trigger::Every { seconds },
        Trigger::At { at } => engine::Trigger::At { at },
        Trigger::Event { event, matching } => engine::Trigger::Event { event, matching },
    }
}

/// What happens to missed ticks, for the engine.
pub(super) fn catch_up(catch_up: &CatchUp) -> engine::CatchUp {
    match catch_up {
        CatchUp::None => engine::CatchUp::None,
        CatchUp::Latest => engine::CatchUp::Latest,
        CatchUp::All { most } => engine::CatchUp::All { most: *most },
    }
}
