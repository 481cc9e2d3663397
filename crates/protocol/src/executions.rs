//! Executions: runs of recipes, their steps, and what people do to them.

use std::collections::BTreeMap;

use domain::{
    ExecutionId, ExecutionStatus, ProjectId, RecipeId, ScheduleId, SessionId, StepKind, StepStatus, TaskId, Timestamp,
    WorkspaceId,
};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::UserRef;
use crate::shapes::{inputs, queries, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! executions {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* executions {
        changes {
            /// An execution was started or moved.
            Execution { execution: Execution },
        }
        answers {
            Executions(Vec<Execution>),
            Execution(Execution),
            ExecutionDetail(ExecutionDetail),
            ExecutionLog(Vec<ExecutionEntry>),
            ExecutionReplay(crate::ExecutionReplay),
        }
        verbs {
            /// Starts an execution of a recipe.
            ExecutionStart "execution.start" POST "/api/recipes/{recipe}/executions"
                { path recipe: RecipeId, body input: crate::ExecutionStart } -> 201 Execution, Decide;
            /// The executions of a project, newest first.
            ExecutionList "execution.list" GET "/api/projects/{project}/executions"
                { path project: ProjectId, query filter: ExecutionsWanted } -> 200 Vec<Execution>, See;
            /// An execution with its steps and their attempts.
            ExecutionShow "execution.show" GET "/api/executions/{execution}"
                { path execution: ExecutionId } -> 200 ExecutionDetail, Look;
            /// What happened in an execution, oldest first.
            ExecutionLog "execution.log" GET "/api/executions/{execution}/log"
                { path execution: ExecutionId, query page: ExecutionLogPage } -> 200 Vec<ExecutionEntry>, Look;
            /// Decides a stored history again and reports differences.
            ExecutionReplay "execution.replay" GET "/api/executions/{execution}/replay"
                { path execution: ExecutionId } -> 200 crate::ExecutionReplay, Look;
            /// Pauses an execution: no further step begins.
            ExecutionPause "execution.pause" POST "/api/executions/{execution}/pause"
                { path execution: ExecutionId, body input: crate::ExecutionPause } -> 200 Execution, Decide;
            /// Resumes a paused execution.
            ExecutionResume "execution.resume" POST "/api/executions/{execution}/resume"
                { path execution: ExecutionId, body input: ExecutionReason } -> 200 Execution, Decide;
            /// Cancels an execution and stops what it runs.
            ExecutionCancel "execution.cancel" POST "/api/executions/{execution}/cancel"
                { path execution: ExecutionId, body input: ExecutionReason } -> 200 Execution, Decide;
            /// Answers the question of an approval step.
            ExecutionAnswer "execution.answer" POST "/api/executions/{execution}/answer"
                { path execution: ExecutionId, body input: crate::ExecutionAnswer } -> 200 Execution, Decide;
            /// Runs a failed or interrupted step again.
            ExecutionRetry "execution.retry" POST "/api/executions/{execution}/retry"
                { path execution: ExecutionId, body input: ExecutionAt } -> 200 Execution, Decide;
            /// Ends a step that is not over with an output.
            ExecutionSkip "execution.skip" POST "/api/executions/{execution}/skip"
                { path execution: ExecutionId, body input: ExecutionOutput } -> 200 Execution, Decide;
            /// Replaces an output that no step has used yet.
            ExecutionCorrect "execution.correct" POST "/api/executions/{execution}/correct"
                { path execution: ExecutionId, body input: ExecutionOutput } -> 200 Execution, Decide;
            /// Changes inputs that no step has used yet.
            ExecutionInputs "execution.inputs" POST "/api/executions/{execution}/inputs"
                { path execution: ExecutionId, body input: crate::ExecutionInputs } -> 200 Execution, Decide;
            /// Follows another version of the recipe from here on.
            ExecutionSwap "execution.swap" POST "/api/executions/{execution}/swap"
                { path execution: ExecutionId, body input: crate::ExecutionSwap } -> 200 Execution, Decide;
            /// Starts a new execution that takes over the outputs before a step and runs the rest again.
            ExecutionRewind "execution.rewind" POST "/api/executions/{execution}/rewind"
                { path execution: ExecutionId, body input: ExecutionAt } -> 201 Execution, Decide;
        }
    } } };
}

pub(crate) use executions;

inputs! {
    /// A new execution.
    ExecutionStart {
        /// The inputs, by name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        #[ts(type = "Record<string, unknown>", optional)]
        #[schema(value_type = Object)]
        inputs: BTreeMap<String, Json>,
        /// The version, by content hash or number; default: the newest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
    }

    /// Why a person intervenes.
    ExecutionReason {
        /// The reason, kept in the log.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[ts(as = "Option<String>")]
        reason: String,
    }

    /// How an execution is paused.
    ExecutionPause {
        /// Stops running steps, too; they begin again on resume.
        #[serde(default)]
        #[ts(as = "Option<bool>")]
        now: bool,
        /// The reason, kept in the log.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[ts(as = "Option<String>")]
        reason: String,
    }

    /// An answer to the question of an approval step.
    ExecutionAnswer {
        /// The path of the step.
        path: String,
        /// Whether the person approves.
        approve: bool,
        /// Data, if the step has a form.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(type = "unknown")]
        #[schema(value_type = Object)]
        data: Option<Json>,
        /// Words.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[ts(as = "Option<String>")]
        comment: String,
    }

    /// A step of an execution.
    ExecutionAt {
        /// The path of the step.
        path: String,
        /// The reason, kept in the log.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[ts(as = "Option<String>")]
        reason: String,
    }

    /// The output of a step, as a person gives it.
    ExecutionOutput {
        /// The path of the step.
        path: String,
        /// The output; default: null.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(type = "unknown")]
        #[schema(value_type = Object)]
        output: Option<Json>,
        /// The reason, kept in the log.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[ts(as = "Option<String>")]
        reason: String,
    }

    /// Inputs to change.
    ExecutionInputs {
        /// The new values, by name; the others stay.
        #[ts(type = "Record<string, unknown>")]
        #[schema(value_type = Object)]
        inputs: BTreeMap<String, Json>,
        /// The reason, kept in the log.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[ts(as = "Option<String>")]
        reason: String,
    }

    /// Another version of the recipe.
    ExecutionSwap {
        /// Its content hash or number; default: the newest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        /// The reason, kept in the log.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[ts(as = "Option<String>")]
        reason: String,
    }
}

queries! {
    /// Which executions to list.
    ExecutionsWanted {
        /// Only those of this recipe.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recipe: Option<RecipeId>,
        /// Only those that are not over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        open: Option<bool>,
        /// Only those that are older than this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<ExecutionId>,
        /// At most this many, up to 200; default: 50.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }

    /// Which part of an execution's log to show.
    #[derive(Copy)]
    ExecutionLogPage {
        /// Only entries after this number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<u32>,
        /// At most this many, up to 1,000; default: 200.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

views! {
    /// One run of a recipe.
    Execution {
        /// Its id.
        id: ExecutionId,
        /// The project.
        project: ProjectId,
        /// The recipe.
        recipe: RecipeId,
        /// The recipe's name.
        name: String,
        /// The number of the version that it follows.
        number: u32,
        /// The content hash of that version.
        version: String,
        /// How far it is.
        status: ExecutionStatus,
        /// Why it failed or was cancelled, in a line.
        reason: Option<String>,
        /// The paths of the steps that run or wait now; at most 20.
        current: Vec<String>,
        /// Whether a step waits for a person: an approval, or a decision about an interrupted step.
        needs_person: bool,
        /// How many steps are over.
        steps_over: u32,
        /// Counts its changes.
        revision: u32,
        /// The person that it runs for.
        started_by: UserRef,
        /// The schedule that started it.
        schedule: Option<ScheduleId>,
        /// The execution that called it, or that it rewinds.
        parent: Option<ExecutionId>,
        /// What its sessions and tasks cost so far, in millionths of a dollar, as far as agents report it.
        #[ts(type = "number | null")]
        cost_micros: Option<u64>,
        /// When it was started.
        created_at: Timestamp,
        /// When it ended.
        ended_at: Option<Timestamp>,
    }

    /// An execution with its steps.
    ExecutionDetail {
        /// The execution.
        execution: Execution,
        /// The steps of its recipe, as the hub reads them.
        #[ts(type = "Record<string, unknown>")]
        #[schema(value_type = Object)]
        model: Json,
        /// Its inputs.
        #[ts(type = "Record<string, unknown>")]
        #[schema(value_type = Object)]
        inputs: Json,
        /// What it left, once it is completed.
        #[ts(type = "Record<string, unknown> | null")]
        #[schema(value_type = Option<Value>)]
        outputs: Option<Json>,
        /// The steps that have begun or were decided otherwise, in the order of the recipe.
        steps: Vec<ExecutionStep>,
        /// The attempts of steps, oldest first.
        attempts: Vec<ExecutionAttempt>,
    }

    /// A step of an execution.
    ExecutionStep {
        /// Its path: `fix`, `fan[left]/build`.
        path: String,
        /// What it does.
        kind: StepKind,
        /// How far it is.
        status: StepStatus,
        /// The attempt, counted from 1; 0 before the first.
        attempt: u32,
        /// Why it failed, was skipped or was interrupted.
        reason: Option<String>,
        /// What it leaves, once it is over.
        #[ts(type = "unknown")]
        #[schema(value_type = Option<Value>)]
        output: Option<Json>,
        /// What it asks people, while it does.
        question: Option<ExecutionQuestion>,
        /// When the next attempt begins.
        retry_at: Option<Timestamp>,
    }

    /// What an approval step asks.
    ExecutionQuestion {
        /// The question.
        question: String,
        /// Names of those who may answer; empty: everybody who may write in the project.
        who: Vec<String>,
        /// How many must approve.
        count: u32,
        /// Who has approved so far.
        approved_by: Vec<String>,
        /// The JSON Schema of an answer's data.
        #[ts(type = "Record<string, unknown> | null")]
        #[schema(value_type = Option<Value>)]
        form: Option<Json>,
        /// When the time is up.
        deadline: Option<Timestamp>,
    }

    /// An attempt of a step.
    ExecutionAttempt {
        /// The path of the step.
        path: String,
        /// The attempt, counted from 1.
        attempt: u32,
        /// What the step was started with, as far as a person can read it.
        #[ts(type = "unknown")]
        #[schema(value_type = Object)]
        work: Json,
        /// What became of it: `waiting`, `running`, `succeeded`, `failed`, `interrupted`, `stopped`.
        state: String,
        /// Why it waits or failed.
        reason: Option<String>,
        /// What its runner said about its end after the attempt was given up; it was not used.
        late: Option<String>,
        /// Its session.
        session: Option<SessionId>,
        /// Where it works.
        workspace: Option<WorkspaceId>,
        /// Its tasks.
        tasks: Vec<TaskId>,
        /// The execution that it called.
        called: Option<ExecutionId>,
        /// When it was due to begin.
        created_at: Timestamp,
        /// When its work began.
        began_at: Option<Timestamp>,
        /// When it ended.
        ended_at: Option<Timestamp>,
        /// What it cost, in millionths of a dollar.
        #[ts(type = "number | null")]
        cost_micros: Option<u64>,
    }

    /// Something that happened in an execution.
    ExecutionEntry {
        /// Counts from 1 in the execution.
        number: u32,
        /// When.
        at: Timestamp,
        /// The person who intervened.
        by: Option<UserRef>,
        /// What happened, in a line.
        what: String,
        /// The event, as it was decided on.
        #[ts(type = "Record<string, unknown>")]
        #[schema(value_type = Object)]
        event: Json,
    }

    /// The result of deciding a stored history again.
    ExecutionReplay {
        /// How many events were decided.
        events: u32,
        /// Where today's decisions differ from the stored state; empty: nowhere.
        differences: Vec<String>,
    }
}
