//! Schedules: what starts executions of a recipe, and what became of each tick.

use std::collections::BTreeMap;

use domain::{ExecutionId, Overlap, ProjectId, RecipeId, ScheduleId, TickOutcome, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::UserRef;
use crate::shapes::{inputs, queries, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! schedules {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* schedules {
        changes {
            /// A schedule appeared or changed.
            Schedule { schedule: Schedule },
            /// A schedule was removed.
            ScheduleRemoved { schedule: ScheduleId },
        }
        answers {
            Schedules(Vec<Schedule>),
            Schedule(Schedule),
            Ticks(Vec<Tick>),
            Tick(Tick),
        }
        verbs {
            /// The schedules of a project.
            ScheduleList "schedule.list" GET "/api/projects/{project}/schedules"
                { path project: ProjectId } -> 200 Vec<Schedule>, See;
            /// Adds a schedule for a recipe.
            ScheduleAdd "schedule.add" POST "/api/projects/{project}/schedules"
                { path project: ProjectId, body input: ScheduleText } -> 201 Schedule, Decide;
            /// A schedule, with its next times.
            ScheduleShow "schedule.show" GET "/api/schedules/{schedule}"
                { path schedule: ScheduleId } -> 200 Schedule, See;
            /// Pauses a schedule.
            SchedulePause "schedule.pause" POST "/api/schedules/{schedule}/pause"
                { path schedule: ScheduleId, body input: ScheduleNote } -> 200 Schedule, Decide;
            /// Resumes a paused schedule.
            ScheduleResume "schedule.resume" POST "/api/schedules/{schedule}/resume"
                { path schedule: ScheduleId } -> 200 Schedule, Decide;
            /// Starts an execution now, whatever the schedule says.
            ScheduleRunNow "schedule.run_now" POST "/api/schedules/{schedule}/run"
                { path schedule: ScheduleId } -> 201 Tick, Decide;
            /// Starts the executions of a span of time in the past that have no tick yet.
            ScheduleBackfill "schedule.backfill" POST "/api/schedules/{schedule}/backfill"
                { path schedule: ScheduleId, body input: crate::ScheduleBackfill } -> 201 Vec<Tick>, Decide;
            /// What became of each tick of a schedule, newest first.
            ScheduleTicks "schedule.ticks" GET "/api/schedules/{schedule}/ticks"
                { path schedule: ScheduleId, query page: TickPage } -> 200 Vec<Tick>, See;
            /// Removes a schedule; its executions stay.
            ScheduleRemove "schedule.remove" DELETE "/api/schedules/{schedule}"
                { path schedule: ScheduleId } -> 204 (), Decide;
        }
    } } };
}

pub(crate) use schedules;

/// When a schedule is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
#[serde(tag = "on", rename_all = "snake_case", deny_unknown_fields)]
pub enum Trigger {
    /// At the times of a cron expression, in a time zone.
    Cron {
        /// Five fields: minute, hour, day of month, month, day of week.
        cron: String,
        /// An IANA time zone; default: UTC.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        time_zone: Option<String>,
    },
    /// At a fixed interval, counted from the start of the schedule.
    Every {
        /// The interval in seconds, at least 60.
        seconds: u32,
    },
    /// Once.
    At {
        /// When.
        at: Timestamp,
    },
    /// When something happens in the project.
    Event {
        /// `task_done`, `task_failed`, `activity_blocked`, `activity_completed`, `execution_ended`, `push` or `webhook`.
        event: String,
        /// Which of them counts, as an expression over `event`; absent: each.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        matching: Option<String>,
    },
}

impl Default for Trigger {
    fn default() -> Self {
        Self::Every { seconds: 3600 }
    }
}

/// What happens to ticks that were missed because no hub ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
#[serde(tag = "catch_up", rename_all = "snake_case", deny_unknown_fields)]
pub enum CatchUp {
    /// They are left out.
    None,
    /// The latest of them is started, if it is recent.
    #[default]
    Latest,
    /// All of them are started, oldest first, up to a limit.
    All {
        /// How many at most, up to 100.
        most: u32,
    },
}

inputs! {
    /// A new schedule.
    ScheduleText {
        /// Its name, unique in the project; default: the recipe's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The recipe, by name or id.
        recipe: String,
        /// The inputs of its executions, by name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        #[ts(type = "Record<string, unknown>", optional)]
        #[schema(value_type = Object)]
        inputs: BTreeMap<String, Json>,
        /// When it is due.
        trigger: Trigger,
        /// What happens when it is due while an execution of it is not over; default: skip.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        overlap: Option<Overlap>,
        /// With `queue_all`: how many executions may wait, up to 100; default: 10.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queue_max: Option<u32>,
        /// What happens to missed ticks; default: the latest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        catch_up: Option<CatchUp>,
        /// How old a missed tick may be, in seconds; default: 3600, or a year with `all`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        catch_up_seconds: Option<u32>,
        /// Delays each tick by up to this many seconds, the same for the same tick; default: 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        jitter_seconds: Option<u32>,
        /// Not before this time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Timestamp>,
        /// Not after this time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
        /// Pauses the schedule after this many failed executions in a row.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pause_after_failures: Option<u32>,
    }

    /// Why a schedule is paused.
    ScheduleNote {
        /// The note, shown on the schedule.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[ts(as = "Option<String>")]
        note: String,
    }
}

/// A span of time whose missed ticks run now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleBackfill {
    /// Its beginning.
    pub from: Timestamp,
    /// Its end.
    pub until: Timestamp,
}

queries! {
    /// Which ticks to list.
    #[derive(Copy)]
    TickPage {
        /// Only ticks planned before this time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<Timestamp>,
        /// At most this many, up to 500; default: 50.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

views! {
    /// What starts executions of a recipe.
    Schedule {
        /// Its id.
        id: ScheduleId,
        /// The project.
        project: ProjectId,
        /// Its name, unique in the project.
        name: String,
        /// The recipe.
        recipe: RecipeId,
        /// The recipe's name.
        recipe_name: String,
        /// The inputs of its executions.
        #[ts(type = "Record<string, unknown>")]
        #[schema(value_type = Object)]
        inputs: Json,
        /// When it is due.
        trigger: Trigger,
        /// The same in words.
        when: String,
        /// What happens when it is due while an execution of it is not over.
        overlap: Overlap,
        /// With `queue_all`: how many executions may wait.
        queue_max: u32,
        /// What happens to missed ticks.
        catch_up: CatchUp,
        /// How old a missed tick may be, in seconds.
        catch_up_seconds: u32,
        /// Delays each tick by up to this many seconds.
        jitter_seconds: u32,
        /// Not before this time.
        from: Option<Timestamp>,
        /// Not after this time.
        until: Option<Timestamp>,
        /// Pauses the schedule after this many failed executions in a row.
        pause_after_failures: Option<u32>,
        /// Failed executions in a row.
        failures: u32,
        /// Whether it is paused.
        paused: bool,
        /// Why.
        note: Option<String>,
        /// The next times, up to 10.
        next: Vec<Timestamp>,
        /// The last tick.
        last: Option<Tick>,
        /// The person that its executions run for.
        owner: UserRef,
        /// When it was added.
        created_at: Timestamp,
    }

    /// One time that a schedule was due.
    Tick {
        /// When it was planned.
        planned_at: Timestamp,
        /// What became of it.
        outcome: TickOutcome,
        /// Why it was skipped, missed or failed.
        reason: Option<String>,
        /// The execution.
        execution: Option<ExecutionId>,
        /// Whether a person started it by hand.
        by_hand: bool,
        /// When that was decided.
        at: Timestamp,
    }
}
