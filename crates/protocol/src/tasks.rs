//! Tasks: what is to be done, how it is accepted, and what was handed back.

use domain::{
    ActivityId, AnswerAct, AttemptOutcome, EscalationId, EscalationKind, ProjectId, ReportId, ReportVerdict, SessionId,
    TaskId, TaskStatus, Timestamp, WorkerId, WorkspaceId,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::inputs::inputs;
use crate::views::views;
use crate::{Usage, UserRef};

/// What a report must meet before it is accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[ts(optional_fields)]
pub enum Criterion {
    /// A file is there, inside the workspace, and is not empty.
    FileExists {
        /// Its path in the workspace.
        path: String,
    },
    /// A file's content is as it should be; all that is given must hold.
    FileMatches {
        /// Its path in the workspace.
        path: String,
        /// A regular expression that must be found in it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        regex: Option<String>,
        /// A regular expression that must not be found in it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_regex: Option<String>,
        /// How many words it has at least.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_words: Option<u32>,
        /// A JSON Schema that its JSON meets.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(type = "unknown")]
        #[schema(value_type = Object)]
        json_schema: Option<serde_json::Value>,
        /// The format that it is whole and correct in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parses: Option<FileFormat>,
    },
    /// A command ends as it should, in the workspace, on the runner.
    Command {
        /// The program and its arguments; never a shell line.
        argv: Vec<String>,
        /// Its exit code; 0 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// How long it may take; 300 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_seconds: Option<u32>,
    },
    /// Nothing else was touched than what these patterns name.
    OnlyTouches {
        /// Patterns such as `src/**` or `docs/*.md`.
        globs: Vec<String>,
    },
    /// The work can be merged into the branch that it started from.
    NoConflictWithBase {},
    /// Everything is committed, and at least one commit is new.
    Committed {},
    /// Words for a person to judge; never passes by itself.
    Text {
        /// What must be true.
        text: String,
    },
}

/// A format that a file can be checked against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileFormat {
    /// JSON.
    Json,
    /// One JSON value on each line.
    Jsonl,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
    /// Comma-separated values, as many in each row as in the first.
    Csv,
    /// Well-formed XML.
    Xml,
    /// UTF-8 text without control characters.
    Text,
}

views! {
    /// A worker's hold on a task, until it is renewed or ends.
    Lease {
        /// Who holds it.
        worker: WorkerId,
        /// Higher with every hold; whoever writes under it must name it.
        #[ts(type = "number")]
        fence: u64,
        /// When it ends unless it is renewed.
        expires_at: Timestamp,
    }

    /// A task in one line, as boards and lists show it.
    TaskLine {
        /// The task's id.
        id: TaskId,
        /// The project that it is in.
        project: ProjectId,
        /// The line of work that it belongs to, once there is one.
        activity: Option<ActivityId>,
        /// The first line of its description.
        title: String,
        /// What it is at.
        status: TaskStatus,
        /// Why: which dependency blocks it, why nobody takes it, what failed.
        reason: Option<String>,
        /// From 0 to 9; higher goes first.
        priority: u8,
        /// How many workers have had it.
        attempt: u32,
        /// Who has it now.
        assigned_to: Option<WorkerId>,
        /// The session that works on it now.
        session: Option<SessionId>,
        /// What its worker last said about how far it is.
        progress: Option<String>,
        /// What it depends on.
        deps: Vec<TaskId>,
        /// How many of those are not done.
        waits_for: u32,
        /// When it was added.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
    }

    /// A unit of work that can be handed out.
    Task {
        /// The task's id.
        id: TaskId,
        /// The project that it is in.
        project: ProjectId,
        /// The line of work that it belongs to, once there is one.
        activity: Option<ActivityId>,
        /// What is to be done; the first line is its title.
        description: String,
        /// What its worker should know, answers of people included.
        context: String,
        /// What its report must meet.
        acceptance: Vec<Criterion>,
        /// The files that it means to change.
        files: Vec<String>,
        /// What must be done before.
        deps: Vec<TaskId>,
        /// From 0 to 9; higher goes first.
        priority: u8,
        /// Abilities that its worker must have.
        needs: Vec<String>,
        /// What it is at.
        status: TaskStatus,
        /// Why: which dependency blocks it, why nobody takes it, what failed.
        reason: Option<String>,
        /// How many workers have had it.
        attempt: u32,
        /// Who holds it now, and until when.
        lease: Option<Lease>,
        /// Who has it now.
        assigned_to: Option<WorkerId>,
        /// The session that works on it now.
        session: Option<SessionId>,
        /// What its worker last said about how far it is.
        progress: Option<String>,
        /// Who added it.
        created_by: UserRef,
        /// When it was added.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
    }

    /// One worker's hold on a task, from taking it to letting go.
    Attempt {
        /// Counts from 1 for each task.
        number: u32,
        /// The fence of its lease.
        #[ts(type = "number")]
        fence: u64,
        /// Who.
        worker: WorkerId,
        /// Its name then.
        worker_name: String,
        /// The agent and model.
        agent: String,
        /// The sessions that worked on it, first to last.
        sessions: Vec<SessionId>,
        /// Where they worked.
        workspace: Option<WorkspaceId>,
        /// The branch that they left.
        branch: Option<String>,
        /// When it was taken.
        started_at: Timestamp,
        /// When it ended.
        ended_at: Option<Timestamp>,
        /// How it ended.
        outcome: AttemptOutcome,
        /// Why.
        reason: Option<String>,
        /// What it used.
        usage: Usage,
    }

    /// What a worker hands back besides words.
    #[derive(Default)]
    Deliverables {
        /// Files that it made or changed.
        #[serde(default)]
        files: Vec<String>,
        /// The branch that they are on.
        #[serde(default)]
        branch: Option<String>,
        /// The commits that they are in.
        #[serde(default)]
        commits: Vec<String>,
    }

    /// How one criterion was met, or not.
    CriterionResult {
        /// Its place in the task's acceptance, from 0.
        criterion: u32,
        /// Whether it is met; absent when a person must judge.
        passed: Option<bool>,
        /// What was seen, in words that help to fix it.
        reason: String,
    }

    /// What a worker hands back.
    Report {
        /// The report's id.
        id: ReportId,
        /// The task.
        task: TaskId,
        /// Which attempt made it.
        attempt: u32,
        /// Who.
        worker: WorkerId,
        /// When it came.
        at: Timestamp,
        /// What was done, in words.
        summary: String,
        /// Files, branch and commits.
        deliverables: Deliverables,
        /// How well the task could be understood, from 1 to 5.
        context_score: Option<u8>,
        /// What it used.
        usage: Option<Usage>,
        /// Whether it was read out of what the agent said, because it did not report itself.
        collected: bool,
        /// What became of it.
        verdict: ReportVerdict,
        /// How each criterion was met.
        results: Vec<CriterionResult>,
        /// Why it was refused, in words for its worker.
        reason: Option<String>,
    }

    /// One way to answer an escalation.
    EscalationOption {
        /// What people choose by.
        label: String,
        /// What it does.
        act: AnswerAct,
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
    }

    /// A request for a person, with the context to decide.
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
        /// What to look at.
        context: EscalationContext,
        /// When it was asked.
        created_at: Timestamp,
        /// Who answered.
        answered_by: Option<UserRef>,
        /// When.
        answered_at: Option<Timestamp>,
        /// The answer.
        answer: Option<String>,
        /// What the answer did.
        act: Option<AnswerAct>,
    }

    /// A task with everything that happened to it.
    TaskDetail {
        /// The task.
        task: Task,
        /// What it depends on, in one line each.
        deps: Vec<TaskLine>,
        /// What depends on it.
        dependants: Vec<TaskLine>,
        /// Who had it, first to last.
        attempts: Vec<Attempt>,
        /// What was handed back, first to last.
        reports: Vec<Report>,
        /// When people were asked, first to last.
        escalations: Vec<Escalation>,
    }

    /// An open task that says nearly the same as a new one.
    SimilarTask {
        /// The new task.
        task: TaskId,
        /// The open one.
        to: TaskId,
        /// Its title.
        title: String,
    }

    /// The name that a task had in what was added, and the id that it got.
    NamedTask {
        /// The name.
        name: String,
        /// The id.
        task: TaskId,
    }

    /// Tasks that were added together.
    AddedTasks {
        /// The tasks, in the order they were given.
        tasks: Vec<TaskLine>,
        /// The names that were used for them.
        names: Vec<NamedTask>,
        /// Open tasks that say nearly the same.
        similar: Vec<SimilarTask>,
    }

    /// What an earlier worker left behind.
    Handover {
        /// Who had the task before.
        worker_name: String,
        /// How its hold ended.
        outcome: AttemptOutcome,
        /// Why.
        reason: Option<String>,
        /// Where it worked.
        workspace: Option<WorkspaceId>,
        /// The branch that it left.
        branch: Option<String>,
        /// Its last session, whose recording shows what it did.
        session: Option<SessionId>,
        /// Its last report.
        report: Option<Report>,
    }

    /// A task in a worker's hands.
    TakenTask {
        /// The task.
        task: Task,
        /// The hold on it; name its fence with everything that is written.
        lease: Lease,
        /// How often to renew the lease, in seconds.
        heartbeat_seconds: u32,
        /// What an earlier worker left behind.
        handover: Option<Handover>,
        /// Why the last report was refused, if the task came back.
        refused: Option<String>,
        /// Everything that an agent needs to know, as text.
        brief: String,
    }

    /// What came of asking for a task.
    Taken {
        /// The task, if there was one.
        taken: Option<TakenTask>,
        /// Why there was none.
        why_not: Option<String>,
    }
}

inputs! {
    /// A task to be added.
    TaskAdd {
        /// A name by which others that are added with it can depend on it; it gets an id of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// What is to be done; the first line is its title.
        description: String,
        /// What its worker should know.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[ts(as = "Option<String>")]
        context: String,
        /// What its report must meet.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<Criterion>>")]
        acceptance: Vec<Criterion>,
        /// The files that it means to change: paths or patterns.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>")]
        files: Vec<String>,
        /// What must be done before: names of tasks that are added with it, or ids.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>")]
        deps: Vec<String>,
        /// From 0 to 9, higher goes first; 5 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        priority: Option<u8>,
        /// Abilities that its worker must have.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>")]
        needs: Vec<String>,
        /// The line of work that it belongs to; one is started with the work when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        activity: Option<ActivityId>,
    }

    /// Tasks to be added together, or not at all.
    TasksAdd {
        /// The tasks.
        tasks: Vec<TaskAdd>,
    }

    /// Who takes a task, and which.
    TaskTake {
        /// Only this task; the next one in the queue when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// What the worker is called; the same name in the same project is the same worker.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worker: Option<String>,
        /// What the worker can do.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>")]
        abilities: Vec<String>,
        /// How long to wait for a task, up to 60 seconds; not at all when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait_seconds: Option<u32>,
    }

    /// A worker's sign of life.
    TaskHeartbeat {
        /// The fence of its lease.
        #[ts(type = "number")]
        fence: u64,
        /// How far it is, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        progress: Option<String>,
    }

    /// What a worker hands back.
    TaskReport {
        /// The fence of its lease.
        #[ts(type = "number")]
        fence: u64,
        /// What was done, in words.
        summary: String,
        /// Files, branch and commits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deliverables: Option<Deliverables>,
        /// How well the task could be understood, from 1 to 5.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_score: Option<u8>,
        /// What it used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// Set when the task could not be done: why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed: Option<String>,
    }

    /// A worker gives a task back.
    TaskRelease {
        /// The fence of its lease.
        #[ts(type = "number")]
        fence: u64,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }

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

    /// Why a task is cancelled or retried.
    TaskReason {
        /// In words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }

    /// A person takes a task over.
    TaskTakeOver {
        /// The runner that goes on with it; one of the caller's when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runner: Option<domain::RunnerId>,
        /// The agent; the same as before when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    }

    /// A person's answer.
    EscalationAnswer {
        /// The label of the option that was chosen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option: Option<String>,
        /// What it does, when no option was chosen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        act: Option<AnswerAct>,
        /// Words for the worker.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    }
}

/// Which tasks to list.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub struct TaskFilter {
    /// Only those of this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// Only those that are at this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// Only those of this activity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<ActivityId>,
    /// Only those that this worker has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<WorkerId>,
    /// Only those that come after this one, in the order of their ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<TaskId>,
    /// How many at most, up to 1,000; 200 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
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
    /// Those that were answered, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<bool>,
}
