//! What a person is asked, and the answer.

use domain::{
    AnswerAct, AttemptOutcome, EscalationId, EscalationKind, ProjectId, RunnerId, SessionId, TaskId, Timestamp,
    WorkerId,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::UserRef;
use crate::shapes::inputs;
use crate::shapes::views;

views! {
    /// One way to answer an escalation.
    EscalationOption {
        /// What people choose by.
        label: String,
        /// What it does.
        act: AnswerAct,
    }

    /// One worker's hold on a task, in one line.
    AttemptLine {
        /// Counts from 1 for each task.
        number: u32,
        /// Who had it, by its name then.
        worker_name: String,
        /// The agent and model.
        agent: String,
        /// How it ended.
        outcome: AttemptOutcome,
        /// Why, shortened.
        reason: Option<String>,
        /// When it was taken.
        started_at: Timestamp,
        /// When it ended.
        ended_at: Option<Timestamp>,
    }

    /// What a person should look at to decide.
    #[derive(Default)]
    EscalationContext {
        /// What the worker or the hub says about it.
        #[serde(default)]
        text: String,
        /// The last lines of the terminal.
        #[serde(default)]
        screen: Option<String>,
        /// What was changed, as a patch, shortened.
        #[serde(default)]
        diff: Option<String>,
        /// Why the screen or the changes are not here, when a session showed or changed something.
        #[serde(default)]
        missing: Option<String>,
        /// The other task, when two outputs meet.
        #[serde(default)]
        other_task: Option<TaskId>,
        /// What the other one changed, as a patch, shortened.
        #[serde(default)]
        other_diff: Option<String>,
        /// Where they meet.
        #[serde(default)]
        places: Vec<String>,
        /// The runner that was to check the work and is away: what it finds still counts until somebody answers.
        #[serde(default)]
        runner: Option<RunnerId>,
        /// The attempts, first to last; the newest 20. Only in `escalation.show` and `escalation.list`.
        #[serde(default)]
        attempts: Vec<AttemptLine>,
    }

    /// A question to a person, with the context to decide.
    Escalation {
        /// The escalation's id.
        id: EscalationId,
        /// The project.
        project: ProjectId,
        /// The task that waits for it.
        task: TaskId,
        /// The task's title.
        title: String,
        /// Why a person is asked.
        kind: EscalationKind,
        /// Who asked, if a worker did.
        worker: Option<WorkerId>,
        /// The session that it is about.
        session: Option<SessionId>,
        /// The question.
        question: String,
        /// Ways to answer.
        options: Vec<EscalationOption>,
        /// The material for an answer.
        context: EscalationContext,
        /// When it was asked.
        created_at: Timestamp,
        /// Who answered.
        answered_by: Option<UserRef>,
        /// The time.
        answered_at: Option<Timestamp>,
        /// The answer.
        answer: Option<String>,
        /// What the answer did.
        act: Option<AnswerAct>,
    }
}

inputs! {
    /// A worker asks a person.
    TaskAsk {
        /// The fence of its lease.
        #[ts(type = "number")]
        fence: u64,
        /// The question.
        question: String,
        /// Answers to choose from.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>")]
        options: Vec<String>,
        /// What a person needs to know to decide.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[ts(as = "Option<String>")]
        context: String,
        /// Whether the worker lets the task go until there is an answer.
        #[serde(default)]
        #[ts(as = "Option<bool>")]
        give_up: bool,
    }

    /// A person's answer.
    EscalationAnswer {
        /// The label of the option that was chosen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option: Option<String>,
        /// What it does, when no option was chosen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        act: Option<AnswerAct>,
        /// A message to the agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    }
}

/// Which escalations to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub struct EscalationFilter {
    /// Only those of this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// Include those that were answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<bool>,
}
