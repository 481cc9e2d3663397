//! The desired state: sessions, workspaces and checks as the hub wants them on a runner.

use domain::{ActivityId, ExecutionId, ProjectId, ReportId, SessionId, SessionMode, TaskId, WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::{Criterion, Repository, Sandbox, WrittenBy};

/// A session as the hub wants it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredSession {
    /// The session.
    pub session: SessionId,
    /// The project that it is in.
    pub project: ProjectId,
    /// Its activity.
    pub activity: ActivityId,
    /// Whether it should run; otherwise it should be stopped.
    pub run: bool,
    /// Whether its runner reported its start: a runner that does not know it has lost it, and must not start it again.
    #[serde(default)]
    pub begun: bool,
    /// Whether to kill it at once.
    pub force: bool,
    /// The adapter's name.
    pub agent: String,
    /// Whether a person talks to it.
    pub mode: SessionMode,
    /// The model.
    pub model: Option<String>,
    /// The prompt.
    pub prompt: String,
    /// Who requested the session, if not the runner's owner: the owner must approve it first.
    #[serde(default)]
    pub asked_by: Option<WrittenBy>,
    /// Where it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_for: Option<AskedFor>,
    /// Context for the agent: the project's and the activity's text.
    pub context: String,
    /// The program and its arguments, for the agents `command` and `shell`.
    pub argv: Vec<String>,
    /// The conversation to resume.
    pub conversation: Option<String>,
    /// Its sandbox.
    pub sandbox: Option<Sandbox>,
    /// Whether the owner's input is recorded.
    pub record_input: bool,
    /// The terminal's width at first.
    pub cols: u16,
    /// The terminal's height at first.
    pub rows: u16,
    /// Where it works.
    pub workspace: DesiredWorkspace,
    /// The task that it works on.
    #[serde(default)]
    pub task: Option<DesiredTask>,
    /// The step of an execution that it works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<DesiredStep>,
    /// Whether its agent asks before it changes anything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
}

/// The step of an execution that a session works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredStep {
    /// The execution.
    pub execution: ExecutionId,
    /// The path of the step.
    pub path: String,
    /// The attempt.
    pub attempt: u32,
}

/// Where somebody else requested a session: the runner's owner reads this before approving it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedFor {
    /// The branch of its workspace; absent: its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// An existing workspace; absent: a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceId>,
}

/// How long recordings of a project's sessions are kept after their exit, except those that are never deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// The project.
    pub project: ProjectId,
    /// The number of days.
    pub days: u32,
}

/// The task that a session works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredTask {
    /// The task.
    pub task: TaskId,
    /// The fence of the lease that the session works under.
    pub fence: u64,
    /// Everything that the agent needs to know, as text.
    pub brief: String,
    /// How long the lease lasts after each message from the runner; without an answer from the hub the runner stops the
    /// session before that. Absent: it continues.
    #[serde(default)]
    pub lease_seconds: Option<u32>,
    /// Whether the hub wants to know when its model answers.
    #[serde(default)]
    pub progress_told: bool,
}

/// A report whose acceptance is to be checked in a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredCheck {
    /// The report.
    pub report: ReportId,
    /// The task.
    pub task: TaskId,
    /// The project that it is in.
    pub project: ProjectId,
    /// Its activity, if it has one.
    #[serde(default)]
    pub activity: Option<ActivityId>,
    /// The acceptance criteria; results name the place in this list.
    pub criteria: Vec<Criterion>,
    /// The files that the report says it made or changed.
    #[serde(default)]
    pub files: Vec<String>,
    /// Where; created if it does not exist.
    pub workspace: DesiredWorkspace,
    /// Who wrote the commands, if not the runner's owner.
    pub commands_by: Option<WrittenBy>,
    /// The sandbox of its commands.
    pub sandbox: Option<Sandbox>,
    /// Whether the hub wants to know when the check starts.
    #[serde(default)]
    pub begin_told: bool,
    /// The report's summary, for a commit of work that its agent could not commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The commits that the work is described against, if they are older than its own base: other reports started from
    /// them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forks: Vec<String>,
}

/// A workspace as the hub wants it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredWorkspace {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The repository; absent: an empty folder.
    pub repository: Option<Repository>,
    /// The branch to start from; default: the repository's base branch.
    pub base: Option<String>,
    /// Its own branch.
    pub branch: String,
    /// Who chose the repository, its setup, teardown and files to copy, if not the runner's owner.
    pub repository_by: Option<WrittenBy>,
    /// Whose work it starts from, if not the runner's owner's.
    pub code_by: Option<WrittenBy>,
    /// Existing work to continue; absent: it starts from the base.
    #[serde(default)]
    pub from: Option<StartFrom>,
}

/// Where a new workspace finds existing work. It still counts as changed against the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum StartFrom {
    /// A branch of the repository, as a worker pushed it.
    Branch {
        /// Its name.
        branch: String,
    },
    /// A bundle that this runner received; a missing one fails the workspace.
    Bundle {
        /// Named by `Bundle::bundle`.
        bundle: String,
        /// The sandbox that it was made in: it runs in one here, too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        contained: Option<Sandbox>,
    },
    /// The accepted work of the task's dependencies, merged in order onto the base. Only what is added to it counts as
    /// changed.
    Works {
        /// The works.
        works: Vec<StartWork>,
    },
}

/// Accepted work that a workspace builds on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartWork {
    /// The report of the work, by which runners keep it.
    pub report: ReportId,
    /// The title of its task.
    pub title: String,
    /// The commit.
    pub commit: String,
    /// The commit as which it landed: a base that contains it has the work already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landed: Option<String>,
    /// The bundle that brought the work here; absent: this runner kept it itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<String>,
}
