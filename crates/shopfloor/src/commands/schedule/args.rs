//! Arguments of `shopfloor schedule`.

use clap::{ArgGroup, Args, Subcommand};
use domain::{Overlap, Timestamp};
use protocol::{CatchUp, ScheduleText, Trigger};

use crate::commands::words;
use crate::confirm::Yes;
use crate::given::InputArgs;
use crate::{Failure, when};

const EXAMPLES: &str = "\
Examples:
  shopfloor schedule add --recipe nightly-checks --project calc --cron '0 3 * * 1-5' --time-zone Europe/Berlin
  shopfloor schedule add hourly --recipe sync --project calc --every 1h --jitter 5m --overlap queue_one
  shopfloor schedule add --recipe fix-issue --project calc --event task_failed --input issue=42
  shopfloor schedule ticks hourly                      # why did it not run?
  shopfloor schedule backfill hourly --from 2d";

/// Subcommands for schedules.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum ScheduleCommand {
    /// Add a schedule for a recipe
    Add(Box<AddArgs>),
    /// List schedules with their next time and last outcome
    List {
        /// Only in this project (id or name) [default: all projects]
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
    },
    /// Show a schedule and its next times
    Show(One),
    /// Pause a schedule
    Pause {
        #[command(flatten)]
        one: One,
        /// Why; shown on the schedule
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        note: String,
    },
    /// Resume a paused schedule; the ticks of the pause are skipped
    Resume(One),
    /// Start an execution now, whatever the schedule says
    RunNow(One),
    /// Start the executions of a span in the past that have no tick yet, at most 100
    Backfill {
        #[command(flatten)]
        one: One,
        /// The beginning of the span: a time, or how long ago, such as 7d
        #[arg(long, value_name = "WHEN", value_parser = when::parse_past)]
        from: Timestamp,
        /// The end of the span [default: now]
        #[arg(long, value_name = "WHEN", value_parser = when::parse_past)]
        until: Option<Timestamp>,
    },
    /// Show what became of each tick, newest first
    Ticks {
        #[command(flatten)]
        one: One,
        /// Only ticks planned before this: a time, or how long ago, such as 7d
        #[arg(long, value_name = "WHEN", value_parser = when::parse_past)]
        before: Option<Timestamp>,
        /// How many, at most 500 [default: 50]
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
    /// Remove a schedule, after asking; its executions stay
    Remove {
        #[command(flatten)]
        one: One,
        #[command(flatten)]
        yes: Yes,
    },
}

/// A schedule.
#[derive(Debug, Args)]
pub(crate) struct One {
    /// The schedule (name or id)
    #[arg(value_name = "NAME")]
    pub(crate) schedule: String,
    /// The project of the schedule (id or name); needed if several projects have a schedule of this name
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
}

/// Arguments of `schedule add`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("trigger").required(true).args(["cron", "every", "at", "event"]))]
pub(crate) struct AddArgs {
    /// Its name, unique in the project [default: the recipe's name]
    name: Option<String>,
    /// The recipe (name or id)
    #[arg(long, value_name = "NAME")]
    recipe: String,
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: String,
    /// At the times of a cron expression: minute, hour, day of month, month, day of week
    #[arg(long, value_name = "EXPRESSION")]
    cron: Option<String>,
    /// The time zone of --cron, such as Europe/Berlin [default: UTC]
    #[arg(long, value_name = "ZONE", requires = "cron")]
    time_zone: Option<String>,
    /// At a fixed interval, such as 30m or 1h, at least a minute
    #[arg(long, value_name = "SPAN", value_parser = when::span)]
    every: Option<u32>,
    /// Once: at a time, or in a span such as 2h
    #[arg(long, value_name = "WHEN", value_parser = when::parse)]
    at: Option<Timestamp>,
    /// Whenever something happens in the project: task_done, task_failed, activity_blocked, activity_completed,
    /// execution_ended, push or webhook
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,
    /// Only for events that this expression accepts, such as `event.branch == 'main'`
    #[arg(long, value_name = "EXPRESSION", requires = "event")]
    matching: Option<String>,
    #[command(flatten)]
    inputs: InputArgs,
    /// What happens when it is due while an execution of it is not over [default: skip]
    #[arg(long, value_name = "RULE", value_parser = words::overlap())]
    overlap: Option<Overlap>,
    /// With queue_all: how many executions may wait, at most 100 [default: 10]
    #[arg(long, value_name = "N")]
    queue_max: Option<u32>,
    /// What happens to ticks that were missed because no hub ran: none, latest, or all=N for the first N, at most 100
    /// [default: latest]
    #[arg(long, value_name = "RULE", value_parser = catch_up)]
    catch_up: Option<CatchUp>,
    /// How old a missed tick may be [default: 1h; for all=N a year]
    #[arg(long, value_name = "SPAN", value_parser = when::span)]
    catch_up_within: Option<u32>,
    /// Delay each tick by up to this, always the same for the same tick [default: 0s]
    #[arg(long, value_name = "SPAN", value_parser = when::span)]
    jitter: Option<u32>,
    /// Not before this: a time, or a span from now such as 2d
    #[arg(long, value_name = "WHEN", value_parser = when::parse)]
    from: Option<Timestamp>,
    /// Not after this: a time, or a span from now such as 30d
    #[arg(long, value_name = "WHEN", value_parser = when::parse)]
    until: Option<Timestamp>,
    /// Pause it after this many failed executions in a row
    #[arg(long, value_name = "N")]
    pause_after_failures: Option<u32>,
}

impl AddArgs {
    /// The project as the person typed it, and the schedule.
    pub(super) fn read(self: Box<Self>) -> Result<(String, ScheduleText), Failure> {
        let inputs = self.inputs.read()?;
        let trigger = match (self.cron, self.every, self.at, self.event) {
            (Some(cron), ..) => Trigger::Cron { cron, time_zone: self.time_zone },
            (_, Some(seconds), ..) => Trigger::Every { seconds },
            (_, _, Some(at), _) => Trigger::At { at },
            (.., Some(event)) => Trigger::Event { event, matching: self.matching },
            _ => return Err(Failure::usage("say when: --cron, --every, --at or --event")),
        };
        let input = ScheduleText {
            name: self.name,
            recipe: self.recipe,
            inputs,
            trigger,
            overlap: self.overlap,
            queue_max: self.queue_max,
            catch_up: self.catch_up,
            catch_up_seconds: self.catch_up_within,
            jitter_seconds: self.jitter,
            from: self.from,
            until: self.until,
            pause_after_failures: self.pause_after_failures,
        };
        Ok((self.project, input))
    }
}

/// How many missed ticks `all` starts, unless it says how many.
const ALL: u32 = 100;

/// Parses `none`, `latest`, `all` or `all=N`.
fn catch_up(text: &str) -> Result<CatchUp, String> {
    let wrong = || format!("`{text}` is none of: none, latest, all, all=N");
    match text.split_once('=') {
        None if text == "none" => Ok(CatchUp::None),
        None if text == "latest" => Ok(CatchUp::Latest),
        None if text == "all" => Ok(CatchUp::All { most: ALL }),
        Some(("all", most)) => most.parse().map(|most| CatchUp::All { most }).map_err(|_| wrong()),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catching_up_is_read() {
        assert_eq!(catch_up("none"), Ok(CatchUp::None));
        assert_eq!(catch_up("all=5"), Ok(CatchUp::All { most: 5 }));
        for bad in ["", "some", "all=x", "none=1"] {
            assert!(catch_up(bad).unwrap_err().contains("all=N"), "{bad}");
        }
    }
}
