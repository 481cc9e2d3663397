//! The frames of the link between a runner and its hub at `/api/link`, one enum for each direction.

use domain::{
    ActivityId, ApprovalKind, HoldUp, HubId, JournalId, ProjectId, ReportId, RunnerId, SessionId, SessionMode, TaskId,
    Timestamp, UserId, WorkspaceId,
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
        /// What the runner says about itself.
        about: RunnerAbout,
        /// What it was started to be called; absent: as it is registered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// What happened, in the order of the numbers.
    Fact(Fact),
    /// Still there.
    Heartbeat {
        /// Sessions of tasks whose hosts do not answer, or whose agents are stopped by a signal.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        silent: Vec<SilentSession>,
        /// Why the runner cannot write down what happens; absent: it can. No lease of its sessions is renewed meanwhile.
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
        /// Why.
        problem: Problem,
    },
    /// Asks for a token of a session's agent: the first, or the one that follows it.
    TokenWanted {
        /// Which session.
        session: SessionId,
    },
    /// A watched session's terminal cannot be shown.
    Unwatched {
        /// The channel that was to show it.
        channel: u32,
        /// Why.
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
        /// What became of the name in `hello`; absent: none was there, or the hub knows nothing of such.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        named: Option<RunnerNamed>,
    },
    /// Make this true. What is not listed is left alone.
    Desired {
        /// Counts the changes; a runner refuses a lower one than it has seen.
        generation: u64,
        /// Every session of the runner that is not over.
        sessions: Vec<DesiredSession>,
        /// Sessions whose recordings are never thrown away.
        keep: Vec<SessionId>,
        /// Reports whose acceptance is to be checked; each until the hub has the results.
        #[serde(default)]
        checks: Vec<DesiredCheck>,
        /// How often a heartbeat is to come, in seconds; absent: every `HEARTBEAT_SECONDS`.
        #[serde(default)]
        heartbeat_seconds: Option<u32>,
        /// How long recordings are kept, of the projects that say so.
        #[serde(default)]
        retention: Vec<Retention>,
        /// What may run here and what may not, of what the runner asked about.
        #[serde(default)]
        answers: Vec<WishAnswer>,
    },
    /// Facts up to this number are stored; the runner may forget them.
    Ack {
        /// The number.
        number: u64,
    },
    /// Something to be told or done once, now, while somebody waits.
    Ask {
        /// Chosen by the hub, unique on this connection.
        id: u32,
        /// What.
        ask: RunnerAsk,
    },
    /// Send a session's terminal on this channel, as binary frames.
    Watch {
        /// Chosen by the hub, unique on this connection.
        channel: u32,
        /// Which session.
        session: SessionId,
        /// Everything before this offset is known already; absent: send the screen.
        from: Option<u64>,
    },
    /// Send nothing more on this channel.
    Unwatch {
        /// Which.
        channel: u32,
    },
    /// What comes as input on this channel is typed by this person. Without it, or by another, input is dropped.
    Driver {
        /// The channel.
        channel: u32,
        /// Who types.
        user: UserId,
    },
    /// Send the screen on this channel again.
    Snapshot {
        /// Which.
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
        /// Which session.
        session: SessionId,
        /// The secret; absent: there is none, the session is over or unknown.
        secret: Option<String>,
        /// For how long it is valid; the next one is asked for before. Absent: as long as its session lives.
        #[serde(default)]
        lives_seconds: Option<u32>,
    },
}

/// What became of the name that a runner was started with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunnerNamed {
    /// What it is called now.
    pub name: String,
    /// What it was called until now, if that was something else.
    pub before: Option<String>,
    /// Why it is not called what it was started with.
    pub refused: Option<String>,
}

/// A session whose host does not answer its runner, or whose agent is stopped by a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SilentSession {
    /// Which session.
    pub session: SessionId,
    /// For how long, in milliseconds.
    pub silent_ms: u64,
}

/// Why a runner cannot write down what happens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunnerTrouble {
    /// In words, as "its disk is full".
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
    /// What.
    pub body: FactBody,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum FactBody {
    /// A session is at something else.
    SessionState {
        /// Which session.
        session: SessionId,
        /// What it is at now.
        state: SessionState,
    },
    /// A session used more of its model, or said which one or which conversation it is.
    SessionUsage {
        /// Which session.
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
        /// Which session.
        session: SessionId,
        /// How many bytes the terminal has shown.
        output_bytes: u64,
        /// What it takes on the disk.
        disk_bytes: u64,
        /// How long it is.
        duration_ms: u64,
    },
    /// A workspace is there.
    WorkspaceReady {
        /// Which workspace.
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
    /// A workspace could not be made.
    WorkspaceFailed {
        /// Which workspace.
        workspace: WorkspaceId,
        /// Why.
        detail: String,
    },
    /// What differs in a workspace has changed, or was saved.
    WorkspaceStats {
        /// Which workspace.
        workspace: WorkspaceId,
        /// What differs from the base.
        stats: Option<GitStats>,
        /// What it takes on the disk.
        disk_bytes: Option<u64>,
        /// When its uncommitted work was last saved.
        saved_at: Option<Timestamp>,
    },
    /// What a session's agent said last, in words; comes before the session's end.
    SessionSaid {
        /// Which session.
        session: SessionId,
        /// The text.
        text: String,
    },
    /// Something that is no fault of its task holds a session up: a provider's limit, unless the cause says otherwise.
    SessionLimited {
        /// Which session.
        session: SessionId,
        /// For how long, if the provider says so.
        retry_after_seconds: Option<u64>,
        /// What holds it up; absent: a provider's limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<HoldUp>,
        /// The agent's words for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// How a person logs in to the agent on that machine, if that is what is missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        login: Option<String>,
    },
    /// A session's model answers: for the first time, or again after something held the session up. Only if the hub
    /// wants to know that.
    SessionProgress {
        /// Which session.
        session: SessionId,
    },
    /// A report is being checked from now on; only if the hub wants to know that. May be told twice.
    Checking {
        /// Which report.
        report: ReportId,
    },
    /// A report's acceptance was checked. May be told twice.
    Checked {
        /// Which report.
        report: ReportId,
        /// How each criterion was met.
        results: Vec<CriterionResult>,
        /// What was changed.
        changes: Option<Changes>,
    },
    /// A report's acceptance could not be checked.
    CheckFailed {
        /// Which report.
        report: ReportId,
        /// Why.
        detail: String,
        /// Who can do something about it.
        #[serde(default)]
        cause: CheckTrouble,
    },
    /// A workspace was deleted.
    WorkspaceCleaned {
        /// Which workspace.
        workspace: WorkspaceId,
    },
    /// Something that the runner's owner did not write would run here: it waits until that is allowed. May be told twice.
    ApprovalWanted {
        /// What waits for it.
        subject: Subject,
        /// All that would run.
        wishes: Vec<Wish>,
    },
}

/// What waits for an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", content = "id", rename_all = "snake_case")]
pub enum Subject {
    /// A session that is to be started.
    Session(SessionId),
    /// A report that is to be checked.
    Report(ReportId),
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
}

/// Whether one thing may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WishAnswer {
    /// What waits for it.
    pub subject: Subject,
    /// What kind of thing.
    pub kind: ApprovalKind,
    /// Names the exact text.
    pub sha256: String,
    /// Whether it may.
    pub allowed: bool,
}

/// Who can do something about a check that failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckTrouble {
    /// The worker: the branch that it named is not in the repository.
    Missing,
    /// Another runner: this one cannot get at the repository.
    Unreachable,
    /// A person.
    #[default]
    #[serde(other)]
    Other,
}

/// A session as the hub wants it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredSession {
    /// Which session.
    pub session: SessionId,
    /// The project that it is in.
    pub project: ProjectId,
    /// The line of work that it is for.
    pub activity: ActivityId,
    /// Whether it should run; otherwise it should be stopped.
    pub run: bool,
    /// Whether its runner has told that it began: one that knows nothing of it has lost it, and must not begin again.
    #[serde(default)]
    pub begun: bool,
    /// Whether it is to be stopped without asking it first.
    pub force: bool,
    /// The adapter's name.
    pub agent: String,
    /// Whether a person talks to it.
    pub mode: SessionMode,
    /// The model.
    pub model: Option<String>,
    /// What the agent is to do.
    pub prompt: String,
    /// Who asked for the session, when that was not the runner's owner: the owner must allow it first.
    #[serde(default)]
    pub asked_by: Option<WrittenBy>,
    /// What the agent should know: the project's and the activity's text.
    pub context: String,
    /// The program and its arguments, for the agents `command` and `shell`.
    pub argv: Vec<String>,
    /// The conversation to go on with.
    pub conversation: Option<String>,
    /// Keeps it from writing outside its workspace.
    pub sandbox: Option<Sandbox>,
    /// Whether what the owner types is recorded.
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

/// How long recordings of a project's sessions are kept after their ends, but for those that are never thrown away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// Which project.
    pub project: ProjectId,
    /// For so many days.
    pub days: u32,
}

/// The task that a session works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredTask {
    /// Which task.
    pub task: TaskId,
    /// The fence of the lease that the session works under.
    pub fence: u64,
    /// Everything that the agent needs to know, as text.
    pub brief: String,
    /// How long the lease holds after each word from the runner; without an answer from the hub the runner stops the
    /// session before that. Absent: it goes on.
    #[serde(default)]
    pub lease_seconds: Option<u32>,
    /// Whether the hub wants to know when its model answers.
    #[serde(default)]
    pub progress_told: bool,
}

/// A report whose acceptance is to be checked in a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredCheck {
    /// Which report.
    pub report: ReportId,
    /// The task.
    pub task: TaskId,
    /// The project that it is in.
    pub project: ProjectId,
    /// The line of work that it belongs to, if there is one.
    #[serde(default)]
    pub activity: Option<ActivityId>,
    /// What it must meet; results name the place in this list.
    pub criteria: Vec<Criterion>,
    /// The files that the report says it made or changed.
    #[serde(default)]
    pub files: Vec<String>,
    /// Where; made first if it is not there.
    pub workspace: DesiredWorkspace,
    /// Who wrote the commands, when that was not the runner's owner.
    pub commands_by: Option<WrittenBy>,
    /// Keeps commands from writing outside the workspace.
    pub sandbox: Option<Sandbox>,
    /// Whether the hub wants to know when it begins.
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
    /// What is checked out; absent when its runner does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_out: Option<CheckedOut>,
    /// The newest commits since the base, oldest first.
    #[serde(default)]
    pub commits: Vec<String>,
    /// How many earlier ones are not named.
    #[serde(default)]
    pub more_commits: u32,
    /// Names the content of the whole worktree, uncommitted work included.
    pub tree: String,
    /// The files.
    pub files: Vec<ChangedFile>,
    /// The patch, shortened.
    pub patch: String,
}

/// What was changed in one file, as far as other changes can meet it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Its path.
    pub path: String,
    /// Its path before, when it was renamed.
    #[serde(default)]
    pub from: Option<String>,
    /// `added`, `modified`, `deleted`, `renamed` or `type_changed`.
    pub change: String,
    /// Names its content before; absent when it is new, or its runner does not say.
    #[serde(default)]
    pub before: Option<String>,
    /// Names its content now; absent when it is deleted.
    pub content: Option<String>,
    /// The lines of the base that were changed, first and last; an insertion has the line before it twice.
    pub ranges: Vec<(u32, u32)>,
}

/// A workspace as the hub wants it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredWorkspace {
    /// Which workspace.
    pub workspace: WorkspaceId,
    /// Where the code is; absent: an empty folder.
    pub repository: Option<Repository>,
    /// The branch to start from; the repository's base branch when absent.
    pub base: Option<String>,
    /// Its own branch.
    pub branch: String,
    /// Who named the repository, its setup, teardown and files to copy, when that was not the runner's owner.
    pub repository_by: Option<WrittenBy>,
    /// Whose work it starts from, when it is not the runner's owner's.
    pub code_by: Option<WrittenBy>,
    /// Work that is there already, to go on with; absent: it starts with what the base has.
    #[serde(default)]
    pub from: Option<StartFrom>,
}

/// Where a new workspace finds work that was done elsewhere. It still counts as changed against the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum StartFrom {
    /// A branch of the repository, as a worker pushed it.
    Branch {
        /// Its name.
        branch: String,
    },
    /// A bundle that this runner was given before; one that is not here fails the workspace and says so.
    Bundle {
        /// Which, by `Bundle::bundle`.
        bundle: String,
        /// The sandbox that it was made in: what it would run runs in one here, too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        contained: Option<Sandbox>,
    },
}

/// What a hub asks of a runner while somebody waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum RunnerAsk {
    /// Says something to a session's agent, as if pasted.
    Send {
        /// Which session.
        session: SessionId,
        /// What.
        text: String,
        /// Whether it is sent, or left in the input line.
        submit: bool,
    },
    /// What a session's terminal has shown, as plain text; what the setup of its workspace printed, if it never had one.
    Log {
        /// Which session.
        session: SessionId,
        /// How many lines at most.
        lines: u32,
        /// What the setup printed in any case.
        #[serde(default)]
        setup: bool,
    },
    /// A recording, without its content.
    RecordingShow {
        /// Which session's.
        session: SessionId,
    },
    /// A stretch of a recording.
    RecordingPart {
        /// Which session's.
        session: SessionId,
        /// From when.
        from_ms: u64,
    },
    /// Where a text is in a recording.
    RecordingSearch {
        /// Which session's.
        session: SessionId,
        /// The text.
        text: String,
    },
    /// What was changed in a workspace.
    Diff {
        /// Which workspace.
        workspace: WorkspaceId,
    },
    /// The saves of a workspace, newest first.
    Saves {
        /// Which workspace.
        workspace: WorkspaceId,
    },
    /// Brings a save back.
    Restore {
        /// Which workspace.
        workspace: WorkspaceId,
        /// Which save; the newest when absent.
        save: Option<String>,
    },
    /// Deletes a workspace, unless work would be lost.
    Clean {
        /// Which workspace.
        workspace: WorkspaceId,
    },
    /// Saves a workspace and packs its branch and its uncommitted work, for another runner to go on with.
    ///
    /// To move work: ask the old runner for `bundle`, then `bundle_part` from offset 0 until all bytes are there, and
    /// give each part to the new runner with `bundle_take` in the same order. When the last one is `done`, desire a new
    /// workspace there with `from: {bundle}`. Each step may be repeated; what is never used is thrown away after a day.
    Bundle {
        /// Which workspace.
        workspace: WorkspaceId,
    },
    /// A stretch of a bundle that was packed here.
    BundlePart {
        /// Which bundle.
        bundle: String,
        /// From which byte.
        offset: u64,
    },
    /// Takes a stretch of a bundle that another runner packed. Stretches come in order; offset 0 begins anew.
    BundleTake {
        /// Which bundle.
        bundle: String,
        /// How many bytes it has in all.
        bytes: u64,
        /// Where this stretch begins.
        offset: u64,
        /// The bytes, as base64.
        data: String,
    },
}

/// What a runner answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", content = "value", rename_all = "snake_case")]
pub enum RunnerAnswer {
    /// It was done.
    Done,
    /// A session's log.
    Log(SessionLog),
    /// A recording, without its content.
    Recording(RecordingSummary),
    /// A stretch of a recording.
    Part(crate::RecordingPart),
    /// Where the text is.
    Hits(RecordingHits),
    /// What was changed.
    Diff(WorkspaceDiff),
    /// The saves.
    Saves(Vec<Save>),
    /// What was packed.
    Bundle(Bundle),
    /// A stretch of a bundle.
    BundlePart(BundlePart),
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

/// A stretch of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundlePart {
    /// Where the next stretch begins; the bundle's size when this was the last one.
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
    /// What is worth finding.
    pub markers: Vec<Marker>,
}

/// How often a runner says that it is still there, unless it is told to do so more often.
pub const HEARTBEAT_SECONDS: u64 = 10;

/// The largest frame on a link, in both directions.
pub const MAX_LINK_FRAME: usize = 4 * 1024 * 1024;

/// How many changed files of a report are told, and of how many stretches of lines, and how much of the patch.
pub const MAX_CHANGED_FILES: usize = 5000;
/// Stretches of lines of all files together.
pub const MAX_CHANGED_RANGES: usize = 20_000;
/// Bytes of the patch.
pub const MAX_PATCH: usize = 64 * 1024;

/// The largest bundle that is packed or taken.
pub const MAX_BUNDLE: u64 = 64 * 1024 * 1024;

/// How many bytes one stretch of a bundle has at most, before base64.
pub const BUNDLE_PART: usize = 512 * 1024;
