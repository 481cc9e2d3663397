//! Facts: what happened on a runner.

use domain::{ApprovalKind, HoldUp, MergeRunId, ReportId, SessionId, Timestamp, WorkspaceId};
use serde::{Deserialize, Serialize};

use super::{Changes, MergeLand, MergeTest, WorkFacts};
use crate::{CriterionResult, GitStats, PortRange, Sandbox, SessionState, Usage};

/// What happened on a runner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// Counts from 1 in the runner's journal, without gaps.
    pub number: u64,
    /// When it happened, by the runner's clock.
    pub at: Timestamp,
    /// The content.
    pub body: FactBody,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum FactBody {
    /// A session's state changed.
    SessionState {
        /// The session.
        session: SessionId,
        /// Its new state.
        state: SessionState,
    },
    /// A session's usage, model or conversation changed.
    SessionUsage {
        /// The session.
        session: SessionId,
        /// What it used so far.
        usage: Usage,
        /// The model.
        model: Option<String>,
        /// Names the conversation for the agent that resumes it.
        conversation: Option<String>,
    },
    /// A session's recording has grown.
    Recorded {
        /// The session.
        session: SessionId,
        /// How many bytes the terminal has printed.
        output_bytes: u64,
        /// What it takes on the disk.
        disk_bytes: u64,
        /// How long it is.
        duration_ms: u64,
    },
    /// A workspace is ready.
    WorkspaceReady {
        /// The workspace.
        workspace: WorkspaceId,
        /// The folder.
        path: String,
        /// Its own branch.
        branch: Option<String>,
        /// The branch that it started from.
        base: Option<String>,
        /// The ports that it may listen on.
        ports: Option<PortRange>,
    },
    /// A workspace could not be created.
    WorkspaceFailed {
        /// The workspace.
        workspace: WorkspaceId,
        /// The reason.
        detail: String,
    },
    /// Accepted works that a workspace builds on conflict: no session started.
    WorksConflict {
        /// The workspace.
        workspace: WorkspaceId,
        /// The work, or the base branch, that others conflict with.
        first: String,
        /// The work that conflicts with it.
        second: String,
        /// The files.
        paths: Vec<String>,
    },
    /// A workspace's changes, size or save changed.
    WorkspaceStats {
        /// The workspace.
        workspace: WorkspaceId,
        /// What differs from the base.
        stats: Option<GitStats>,
        /// What it takes on the disk.
        disk_bytes: Option<u64>,
        /// When its uncommitted work was last saved.
        saved_at: Option<Timestamp>,
    },
    /// The work in a workspace changed, or is described against other commits. Replaces the description before.
    WorkspaceWork {
        /// The workspace.
        workspace: WorkspaceId,
        /// Descriptions of its work: first against the commit where its branch left the base, then against older ones.
        work: Vec<WorkFacts>,
    },
    /// The last message of a session's agent; comes before the session's exit.
    SessionSaid {
        /// The session.
        session: SessionId,
        /// The text.
        text: String,
    },
    /// All that the command of a step printed, if that is more than its last message; comes before the session's exit.
    SessionPrinted {
        /// The session.
        session: SessionId,
        /// The text; its first line says what was cut.
        text: String,
    },
    /// A hold-up of a session, which is not its task's fault: a provider's limit, unless the cause says otherwise.
    SessionLimited {
        /// The session.
        session: SessionId,
        /// For how long, if the provider says so.
        retry_after_seconds: Option<u64>,
        /// What holds it up; absent: a provider's limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<HoldUp>,
        /// The agent's words for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// How a person logs in to the agent on that machine, if the login is missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        login: Option<String>,
    },
    /// A session's model answers: for the first time, or again after a hold-up. Only if the hub wants to know.
    SessionProgress {
        /// The session.
        session: SessionId,
    },
    /// A check of a report has started; only if the hub wants to know. May be sent twice.
    Checking {
        /// The report.
        report: ReportId,
    },
    /// A report was checked. May be sent twice.
    Checked {
        /// The report.
        report: ReportId,
        /// The result of each criterion.
        results: Vec<CriterionResult>,
        /// What was changed.
        changes: Option<Changes>,
    },
    /// A report could not be checked.
    CheckFailed {
        /// The report.
        report: ReportId,
        /// The reason.
        detail: String,
        /// Who can fix it.
        #[serde(default)]
        cause: CheckTrouble,
    },
    /// A workspace was deleted.
    WorkspaceCleaned {
        /// The workspace.
        workspace: WorkspaceId,
    },
    /// Text that the runner's owner did not write would run here: it waits for approval. May be sent twice.
    ApprovalWanted {
        /// What waits for the approval.
        subject: Subject,
        /// Everything that would run.
        wishes: Vec<Wish>,
    },
    /// A merge run has started: its time limit counts from here. May be sent twice.
    MergeBegan {
        /// The run.
        run: MergeRunId,
    },
    /// A merge run has built and checked its stack, or could not. May be sent twice.
    MergeTested {
        /// The run.
        run: MergeRunId,
        /// The result.
        test: MergeTest,
    },
    /// A merge run has landed its commit, or could not. May be sent twice.
    MergeLanded {
        /// The run.
        run: MergeRunId,
        /// The result.
        land: MergeLand,
    },
}

/// What waits for an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", content = "id", rename_all = "snake_case")]
pub enum Subject {
    /// A session to start.
    Session(SessionId),
    /// A report to check.
    Report(ReportId),
    /// A merge run.
    Merge(MergeRunId),
}

/// One thing that would run on a runner, or be read there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wish {
    /// What kind of thing.
    pub kind: ApprovalKind,
    /// The exact text, or what describes it.
    pub text: String,
    /// Names the exact text.
    pub sha256: String,
    /// The sandbox that it would run in; absent: none, or the runner does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Sandbox>,
}

/// Whether one thing may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WishAnswer {
    /// What waits for the approval.
    pub subject: Subject,
    /// What kind of thing.
    pub kind: ApprovalKind,
    /// Names the exact text.
    pub sha256: String,
    /// The sandbox that was asked about: the answer is about no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Sandbox>,
    /// Whether it may.
    pub allowed: bool,
}

/// Who can fix a failed check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckTrouble {
    /// The worker: the branch that it named is not in the repository.
    Missing,
    /// Another runner: this one cannot reach the repository.
    Unreachable,
    /// A person.
    #[default]
    #[serde(other)]
    Other,
}
