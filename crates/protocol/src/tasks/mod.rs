//! Tasks, their acceptance, reports and escalations.

mod adding;
mod criteria;
mod editing;
mod escalation;
mod holding;
mod report;
mod task;
mod turn;

pub use adding::*;
pub use criteria::*;
pub use editing::*;
pub use escalation::*;
pub use holding::*;
pub use report::*;
pub use task::*;
pub use turn::*;

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::shapes::{inputs, views};

inputs! {
    /// A plan as a person wrote it.
    PlanText {
        /// JSON, JSONL or a Markdown list; at most 256 KiB.
        text: String,
    }
}

views! {
    /// Something wrong in a plan.
    PlanError {
        /// The line, from 1, where one can be named.
        line: Option<u32>,
        /// The place in the plan, as `tasks[3].deps[0]`; empty for the whole.
        path: String,
        /// What is wrong, and what to do.
        reason: String,
    }

    /// What a plan says.
    Plan {
        /// The tasks that could be read, as `task.add` takes them.
        tasks: Vec<TaskAdd>,
        /// How many are ticked off, and not among the tasks.
        ticked: u32,
        /// What is wrong: the first 50 errors, in the order of their lines.
        errors: Vec<PlanError>,
    }
}

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! tasks {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* tasks {
        changes {
            /// Tasks of one project appeared or changed.
            Tasks { tasks: Vec<TaskLine> },
            /// A person is asked, or has answered.
            Escalation { escalation: Escalation },
        }
        answers {
            TaskLines(Vec<TaskLine>),
            Tasks(Vec<Task>),
            TaskDetail(TaskDetail),
            AddedTasks(AddedTasks),
            Plan(Plan),
            Task(Task),
            Taken(Taken),
            Lease(Lease),
            Report(Report),
            Turned(Turned),
            Escalation(Escalation),
            Escalations(Vec<Escalation>),
        }
        verbs {
            /// The tasks that the caller may see, in the order of their ids.
            TaskList "task.list" GET "/api/tasks" { query filter: TaskFilter } -> 200 Vec<TaskLine>, Anyone;
            /// The same tasks with all that they were added with.
            TaskExport "task.export" GET "/api/tasks/export" { query filter: TaskFilter } -> 200 Vec<Task>, Anyone;
            /// One task with everything that happened to it.
            TaskShow "task.show" GET "/api/tasks/{task}" { path task: TaskId } -> 200 TaskDetail, See;
            /// Adds tasks, all or none.
            TaskAdd "task.add" POST "/api/projects/{project}/tasks"
                { path project: ProjectId, body input: TasksAdd } -> 201 AddedTasks, Write;
            /// Reads a plan as `shopfloor task check` does: its tasks and its errors. Adds nothing.
            TaskCheck "task.check" POST "/api/projects/{project}/tasks/check"
                { path project: ProjectId, body input: PlanText } -> 200 Plan, Write, reads;
            /// Takes a task off the queue; its worker stops.
            TaskCancel "task.cancel" POST "/api/tasks/{task}/cancel"
                { path task: TaskId, body input: TaskReason } -> 200 Task, Decide;
            /// Puts a task that failed, was escalated or cancelled back into the queue.
            TaskRetry "task.retry" POST "/api/tasks/{task}/retry"
                { path task: TaskId, body input: TaskReason } -> 200 Task, Decide;
            /// Changes a task that is not over; its worker learns of it at its next turn.
            TaskEdit "task.edit" PATCH "/api/tasks/{task}"
                { path task: TaskId, body input: crate::TaskEdit } -> 200 Task, Write;
            /// Puts a done task back into the queue, with words about what is missing.
            TaskReopen "task.reopen" POST "/api/tasks/{task}/reopen"
                { path task: TaskId, body input: crate::TaskReopen } -> 200 Task, Decide;
            /// Takes the next task under a lease.
            TaskTake "task.take" POST "/api/projects/{project}/take"
                { path project: ProjectId, body input: crate::TaskTake } -> 200 Taken, Write, unaudited;
            /// Renews a lease.
            TaskHeartbeat "task.heartbeat" POST "/api/tasks/{task}/heartbeat"
                { path task: TaskId, body input: crate::TaskHeartbeat } -> 200 Lease, Owner, unaudited;
            /// Hands a report in.
            TaskReport "task.report" POST "/api/tasks/{task}/report"
                { path task: TaskId, body input: crate::TaskReport } -> 201 Report, Owner, unaudited;
            /// Hands back what some of the caller's workers did, and takes the next tasks for them.
            TaskTurn "task.turn" POST "/api/projects/{project}/turn"
                { path project: ProjectId, body input: crate::TaskTurn } -> 200 Turned, Write, unaudited;
            /// Returns a task undone.
            TaskRelease "task.release" POST "/api/tasks/{task}/release"
                { path task: TaskId, body input: crate::TaskRelease } -> 200 Task, Owner, unaudited;
            /// Asks a person about a task.
            TaskAsk "task.ask" POST "/api/tasks/{task}/ask"
                { path task: TaskId, body input: crate::TaskAsk } -> 201 Escalation, Owner, unaudited;
            /// Takes a task over: its worker stops, and the caller's worker continues.
            TaskTakeOver "task.take_over" POST "/api/tasks/{task}/take-over"
                { path task: TaskId, body input: crate::TaskTakeOver } -> 200 Task, Spawn;
            /// The escalations that the caller may see.
            EscalationList "escalation.list" GET "/api/escalations"
                { query filter: EscalationFilter } -> 200 Vec<Escalation>, Anyone;
            /// One escalation.
            EscalationShow "escalation.show" GET "/api/escalations/{escalation}"
                { path escalation: EscalationId } -> 200 Escalation, See;
            /// Answers an escalation.
            EscalationAnswer "escalation.answer" POST "/api/escalations/{escalation}/answer"
                { path escalation: EscalationId, body input: crate::EscalationAnswer } -> 200 Escalation, Decide;
        }
    } } };
}

pub(crate) use tasks;
