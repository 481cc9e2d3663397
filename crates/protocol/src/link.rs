//! The frames of the link between a runner and its hub at `/api/link`, one enum for each direction.

mod merge;

pub use merge::*;

use domain::{
    ActivityId, ApprovalKind, HoldUp, HubId, JournalId, MergeRunId, ProjectId, ReportId, RunnerId, SessionId,
    SessionMode, TaskId, Timestamp, UserId, WorkspaceId,
};
use serde::{Deserialize, Serialize};

use crate::{
    CheckedOut, Criterion, CriterionResult, GitStats, Marker, PortRange, Problem, RecordingHits, Repository,
    RunnerAbout, Sandbox, Save, SessionLog, SessionState, Usage, WorkspaceDiff, WrittenBy,
};

/// Runner → hub. Facts are sent until they are acknowledged; everything else may be lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromRunner {
    /// The first frame, once.
    Hello {
        /// The version that the runner speaks.
        protocol: u32,
        /// Which memory the facts are numbered in.
        journal: JournalId,
        /// The runner's report about itself.
        about: RunnerAbout,
        /// The name that it was started with; absent: as registered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// The runner's newer report about itself; it replaces the one before.
    About {
        /// The report.
        about: RunnerAbout,
    },
    /// What happened, in the order of the numbers.
    Fact(Fact),
    /// A heartbeat.
    Heartbeat {
        /// Sessions of tasks whose hosts do not answer, or whose agents are stopped by a signal.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        silent: Vec<SilentSession>,
        /// Why the runner cannot record facts; absent: it can. Meanwhile no lease of its sessions is renewed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trouble: Option<RunnerTrouble>,
    },
    /// Answers an `ask`.
    Told {
        /// The ask's id.
        id: u32,
        /// What was asked for.
        answer: RunnerAnswer,
    },
    /// Refuses an `ask`.
    Refused {
        /// The ask's id.
        id: u32,
        /// The reason.
        problem: Problem,
    },
    /// Requests a token for a session's agent: the first, or the next one.
    TokenWanted {
        /// The session.
        session: SessionId,
    },
    /// A watched session's terminal cannot be shown.
    Unwatched {
        /// The channel that was to show it.
        channel: u32,
        /// The reason.
        problem: Problem,
    },
}

/// Hub → runner. Every variant is safe to deliver twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToRunner {
    /// Answers `hello`.
    Welcome {
        /// The version that both speak.
        protocol: u32,
        /// The database.
        hub: HubId,
        /// Who the runner is.
        runner: RunnerId,
        /// Whose it is: only their input reaches its terminals.
        owner: UserId,
        /// Facts up to this number are stored.
        acknowledged: u64,
        /// What became of the name in `hello`; absent: there was none, or the hub does not support it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        named: Option<RunnerNamed>,
    },
    /// The desired state. What is not listed is left alone.
    Desired {
        /// Increases with each change; a runner refuses a lower one.
        generation: u64,
        /// Every session of the runner that has not exited.
        sessions: Vec<DesiredSession>,
        /// Sessions whose recordings are never deleted.
        keep: Vec<SessionId>,
        /// Reports to check; each until the hub has the results.
        #[serde(default)]
        checks: Vec<DesiredCheck>,
        /// The heartbeat interval, in seconds; absent: `HEARTBEAT_SECONDS`.
        #[serde(default)]
        heartbeat_seconds: Option<u32>,
        /// How long to keep recordings, for projects with a retention.
        #[serde(default)]
        retention: Vec<Retention>,
        /// Answers to the runner's requests for approval.
        #[serde(default)]
        answers: Vec<WishAnswer>,
        /// Merge runs; each until the hub has its result. A run that is no longer listed is stopped.
        #[serde(default)]
        merges: Vec<DesiredMerge>,
    },
    /// Facts up to this number are stored; the runner may forget them.
    Ack {
        /// The number.
        number: u64,
    },
    /// A request that somebody waits for.
    Ask {
        /// Chosen by the hub, unique on this connection.
        id: u32,
        /// The content.
        ask: RunnerAsk,
    },
    /// Send a session's terminal on this channel, as binary frames.
    Watch {
        /// Chosen by the hub, unique on this connection.
        channel: u32,
        /// The session.
        session: SessionId,
        /// Everything before this offset is already known; absent: send the screen.
        from: Option<u64>,
    },
    /// Send nothing more on this channel.
    Unwatch {
        /// The channel.
        channel: u32,
    },
    /// This person types the input on this channel. Without it, or from another person, input is dropped.
    Driver {
        /// The channel.
        channel: u32,
        /// Who types.
        user: UserId,
    },
    /// Send the screen on this channel again.
    Snapshot {
        /// The channel.
        channel: u32,
    },
    /// Give a session's terminal this size.
    Resize {
        /// The channel that shows it.
        channel: u32,
        /// Its width.
        cols: u16,
        /// Its height.
        rows: u16,
    },
    /// The token of a session's agent.
    Token {
        /// The session.
        session: SessionId,
        /// The secret; absent: the session has exited or is unknown.
        secret: Option<String>,
        /// How long it is valid; the next one is requested before. Absent: as long as its session lives.
        #[serde(default)]
        lives_seconds: Option<u32>,
    },
}

/// What became of the name that a runner was started with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunnerNamed {
    /// Its name now.
    pub name: String,
    /// Its name before, if it changed.
    pub before: Option<String>,
    /// Why it does not have the name that it was started with.
    pub refused: Option<String>,
}

/// A session whose host does not answer its runner, or whose agent is stopped by a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SilentSession {
    /// The session.
    pub session: SessionId,
    /// For how long, in milliseconds.
    pub silent_ms: u64,
}

/// Why a runner cannot record facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunnerTrouble {
    /// For people, such as "its disk is full".
    pub why: String,
    /// For how long, in milliseconds.
    pub lasts_ms: u64,
}

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
    /// The last message of a session's agent; comes before the session's exit.
    SessionSaid {
        /// The session.
        session: SessionId,
        /// The text.
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
}

/// What a workspace changed against the commit that it started from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// The commit that it started from.
    pub base: String,
    /// The commit that it is at.
    pub head: String,
    /// What is checked out; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_out: Option<CheckedOut>,
    /// The newest commits since the base, oldest first.
    #[serde(default)]
    pub commits: Vec<String>,
    /// How many earlier ones are left out.
    #[serde(default)]
    pub more_commits: u32,
    /// A hash of the whole worktree, uncommitted work included.
    pub tree: String,
    /// The commit with all of it that the runner keeps for dependants and for landing; absent without a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    /// The files.
    pub files: Vec<ChangedFile>,
    /// The patch, shortened.
    pub patch: String,
}

/// The changes of one file, as far as they can conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Its path.
    pub path: String,
    /// Its path before, when it was renamed.
    #[serde(default)]
    pub from: Option<String>,
    /// `added`, `modified`, `deleted`, `renamed` or `type_changed`.
    pub change: String,
    /// A hash of its content before; absent if it is new or unknown.
    #[serde(default)]
    pub before: Option<String>,
    /// A hash of its content now; absent if it is deleted.
    pub content: Option<String>,
    /// The lines of the base that were changed, first and last; an insertion has the line before it twice.
    pub ranges: Vec<(u32, u32)>,
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

/// A hub's request to a runner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum RunnerAsk {
    /// Sends a text to a session's agent, as if pasted.
    Send {
        /// The session.
        session: SessionId,
        /// The content.
        text: String,
        /// Whether to submit it, or leave it in the input line.
        submit: bool,
    },
    /// A session's output as plain text; the setup's output if it never had a terminal.
    Log {
        /// The session.
        session: SessionId,
        /// How many lines at most.
        lines: u32,
        /// The setup's output in any case.
        #[serde(default)]
        setup: bool,
    },
    /// A recording, without its content.
    RecordingShow {
        /// The session.
        session: SessionId,
    },
    /// A part of a recording.
    RecordingPart {
        /// The session.
        session: SessionId,
        /// From when.
        from_ms: u64,
    },
    /// Where a text occurs in a recording.
    RecordingSearch {
        /// The session.
        session: SessionId,
        /// The text.
        text: String,
    },
    /// The changes in a workspace.
    Diff {
        /// The workspace.
        workspace: WorkspaceId,
        /// A tree of an earlier report to compare instead of the current state.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<String>,
    },
    /// The changes of a report whose workspace was deleted.
    DiffKept {
        /// The repository, as the project names it.
        location: String,
        /// The report.
        report: ReportId,
        /// The commit to compare with.
        base: String,
    },
    /// The saves of a workspace, newest first.
    Saves {
        /// The workspace.
        workspace: WorkspaceId,
    },
    /// Restores a save.
    Restore {
        /// The workspace.
        workspace: WorkspaceId,
        /// Which save; default: the newest.
        save: Option<String>,
    },
    /// Deletes a workspace, unless work would be lost.
    Clean {
        /// The workspace.
        workspace: WorkspaceId,
    },
    /// Deletes a workspace with uncommitted and unpushed work; its saves stay.
    Discard {
        /// The workspace.
        workspace: WorkspaceId,
    },
    /// Packs accepted work that this runner kept, for a dependant on another runner; transferred as `bundle` is.
    PackWork {
        /// The repository, as the project names it.
        location: String,
        /// The report of the work.
        report: ReportId,
    },
    /// Makes a branch with this work appear at the repository's location. May be repeated.
    Publish {
        /// The repository, as the project names it.
        location: String,
        /// The work.
        work: PublishWork,
        /// The name of the branch there.
        branch: String,
        /// The commit that an earlier publication left there: only that one may be replaced.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<String>,
    },
    /// Opens a pull request for a published branch, with the GitHub CLI of the runner's owner. May be repeated.
    PullRequest {
        /// The repository, as the project names it.
        location: String,
        /// The published branch.
        branch: String,
        /// The branch to merge into.
        target: String,
        /// Its title.
        title: String,
        /// Its text.
        body: String,
    },
    /// Saves a workspace and packs its branch and its uncommitted work, for another runner to continue.
    ///
    /// To move work: ask the old runner for `bundle`, then `bundle_part` from offset 0 until all bytes are there, and
    /// give each part to the new runner with `bundle_take` in the same order. When the last one is `done`, desire a new
    /// workspace there with `from: {bundle}`. Each step may be repeated; what is never used is deleted after a day.
    Bundle {
        /// The workspace.
        workspace: WorkspaceId,
    },
    /// A part of a bundle that was packed here.
    BundlePart {
        /// The bundle.
        bundle: String,
        /// From which byte.
        offset: u64,
    },
    /// Receives a part of a bundle that another runner packed. Parts come in order; offset 0 starts over.
    BundleTake {
        /// The bundle.
        bundle: String,
        /// How many bytes it has in all.
        bytes: u64,
        /// Where this part begins.
        offset: u64,
        /// The bytes, as base64.
        data: String,
    },
}

/// A runner's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", content = "value", rename_all = "snake_case")]
pub enum RunnerAnswer {
    /// It was done.
    Done,
    /// A session's log.
    Log(SessionLog),
    /// A recording, without its content.
    Recording(RecordingSummary),
    /// A part of a recording.
    Part(crate::RecordingPart),
    /// Where the text is.
    Hits(RecordingHits),
    /// What was changed.
    Diff(WorkspaceDiff),
    /// The saves.
    Saves(Vec<Save>),
    /// What was packed.
    Bundle(Bundle),
    /// A part of a bundle.
    BundlePart(BundlePart),
    /// What became of a publication.
    Published(Published),
    /// The address of a pull request.
    PullRequest(String),
}

/// Work to publish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum PublishWork {
    /// Accepted work that this runner kept.
    Kept {
        /// The report of the work.
        report: ReportId,
        /// The accepted commit.
        commit: String,
    },
    /// The commits of a workspace, as they are now.
    Workspace {
        /// The workspace.
        workspace: WorkspaceId,
    },
}

/// What became of a publication.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// The commit that the branch is at.
    pub commit: String,
    /// The repository's own default branch; absent in an empty repository.
    pub default_branch: Option<String>,
}

/// A workspace's branch and uncommitted work, packed for another runner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    /// Names it: the SHA-256 of its bytes, in hex.
    pub bundle: String,
    /// How many bytes it has; never more than `MAX_BUNDLE`.
    pub bytes: u64,
    /// The commit that the work started from; absent without a repository.
    pub base: Option<String>,
    /// The commit that was checked out; absent without a repository, or before the first commit.
    pub head: Option<String>,
}

/// A part of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundlePart {
    /// Where the next part begins; the bundle's size when this was the last one.
    pub next: u64,
    /// The bytes, as base64.
    pub data: String,
}

/// A recording as its runner describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingSummary {
    /// Its width at the start.
    pub cols: u16,
    /// Its height at the start.
    pub rows: u16,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it is.
    pub duration_ms: u64,
    /// Its markers.
    pub markers: Vec<Marker>,
}

/// The default heartbeat interval of a runner.
pub const HEARTBEAT_SECONDS: u64 = 10;

/// The largest frame on a link, in both directions.
pub const MAX_LINK_FRAME: usize = 4 * 1024 * 1024;

/// Maximum number of changed files in a report's facts.
pub const MAX_CHANGED_FILES: usize = 5000;
/// Line ranges of all files together.
pub const MAX_CHANGED_RANGES: usize = 20_000;
/// Bytes of the patch.
pub const MAX_PATCH: usize = 64 * 1024;

/// The largest accepted bundle.
pub const MAX_BUNDLE: u64 = 64 * 1024 * 1024;

/// How many bytes one part of a bundle has at most, before base64.
pub const BUNDLE_PART: usize = 512 * 1024;
