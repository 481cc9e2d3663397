//! What runs where: agents, workspaces, sessions and recordings as clients are shown them.

use domain::{
    ActivityId, ProjectId, RunnerId, SessionId, SessionMode, SessionStatus, TaskId, Timestamp, WorkerId, WorkspaceId,
    WorkspaceStatus,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::views::views;
use crate::{UserRef, WrittenBy};

/// What is checked out in a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CheckedOut {
    /// A branch.
    Branch {
        /// Its name.
        name: String,
    },
    /// A commit, on no branch.
    Commit {},
}

views! {
    /// A coding agent as a runner found it, or did not.
    FoundAgent {
        /// What it is called when a session is spawned.
        name: String,
        /// What people call it.
        label: String,
        /// Its version; absent when it is not installed there.
        version: Option<String>,
        /// The command that installs it.
        install: Option<String>,
        /// Whether one prompt can be worked off without a person.
        headless: bool,
        /// How it can be started; absent when the runner does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        modes: Option<Vec<AgentMode>>,
    }

    /// One way to start an agent.
    AgentMode {
        /// With its own screen, or without.
        mode: SessionMode,
        /// Whether it is told a prompt.
        prompt: bool,
        /// Whether it takes up an earlier conversation.
        resumes: bool,
        /// Whether its sessions tell what they used of their model; absent when the runner does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        counts: Option<bool>,
        /// Whether that becomes money: its sessions tell what they cost, or its owner wrote down what tokens cost; absent
        /// when the runner does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        costs: Option<bool>,
        /// Whether it runs a program that is named with it; absent when the runner does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        argv: Option<bool>,
    }

    /// What a runner says about itself when it connects.
    RunnerAbout {
        /// The machine's name.
        machine: String,
        /// The runner's version.
        version: String,
        /// What its owner calls it by, for choosing.
        labels: Vec<String>,
        /// How many sessions it runs at once.
        capacity: u32,
        /// The agents that it knows, installed or not.
        agents: Vec<FoundAgent>,
    }

    /// Ports that a workspace may listen on.
    PortRange {
        /// The first.
        first: u16,
        /// The last.
        last: u16,
    }

    /// What differs between a workspace and the branch that it started from.
    #[derive(Default)]
    GitStats {
        /// What is checked out; absent when its runner does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        checked_out: Option<CheckedOut>,
        /// Commits that the base does not have.
        ahead: u32,
        /// Commits of the base that the branch does not have.
        behind: u32,
        /// Changed files, those that are not committed included.
        files: u32,
        /// Lines that came.
        insertions: u32,
        /// Lines that went.
        deletions: u32,
        /// Files that git does not know yet.
        untracked: u32,
        /// Whether anything is not committed.
        uncommitted: bool,
        /// Commits that no remote branch has.
        unpushed: u32,
        /// The files that would conflict with the base.
        conflicts: Vec<String>,
    }

    /// A git worktree on a runner, on its own branch.
    Workspace {
        /// The workspace's id.
        id: WorkspaceId,
        /// The project that it is in.
        project: ProjectId,
        /// The line of work that it is for.
        activity: ActivityId,
        /// The runner that has it.
        runner: RunnerId,
        /// Whose it is.
        owner: UserRef,
        /// The repository's location; absent when the project has none.
        repository: Option<String>,
        /// Its own branch.
        branch: Option<String>,
        /// The branch that it started from.
        base: Option<String>,
        /// The folder on the runner's machine.
        path: Option<String>,
        /// What it is at.
        status: WorkspaceStatus,
        /// Why, when it failed.
        detail: Option<String>,
        /// The ports that it may listen on.
        ports: Option<PortRange>,
        /// What differs from the base.
        stats: Option<GitStats>,
        /// What it takes on the disk.
        #[ts(type = "number | null")]
        disk_bytes: Option<u64>,
        /// When its uncommitted work was last saved.
        saved_at: Option<Timestamp>,
        /// When it was asked for.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
    }

    /// What a session used of its model.
    #[derive(Default)]
    Usage {
        /// Tokens that were sent, cached ones included.
        #[ts(type = "number")]
        input_tokens: u64,
        /// Of those, how many the provider had cached.
        #[ts(type = "number")]
        cached_tokens: u64,
        /// Tokens that came back.
        #[ts(type = "number")]
        output_tokens: u64,
        /// What it cost, in millionths of a dollar, if the agent says so.
        #[ts(type = "number | null")]
        cost_micros: Option<u64>,
    }

    /// What a session is at, and since when.
    SessionState {
        /// What it is at.
        status: SessionStatus,
        /// What the agent waits for, or why it did not start or was lost.
        detail: Option<String>,
        /// How the process ended: its exit code.
        code: Option<i32>,
        /// How the process ended: the signal that killed it.
        signal: Option<i32>,
        /// Since when.
        since: Timestamp,
    }

    /// The flight recorder's take of a session.
    Recording {
        /// How many bytes the terminal has shown.
        #[ts(type = "number")]
        output_bytes: u64,
        /// What it takes on the runner's disk.
        #[ts(type = "number")]
        disk_bytes: u64,
        /// How long it is.
        #[ts(type = "number")]
        duration_ms: u64,
        /// Whether it is never thrown away.
        keep: bool,
    }

    /// The worker that a session was started for.
    SessionWorker {
        /// The worker's id.
        id: WorkerId,
        /// What it is called.
        name: String,
        /// Its place among the worker colours, from 0; the same everywhere.
        colour: u32,
    }

    /// One agent process, or shell, in a terminal in a workspace.
    Session {
        /// The session's id.
        id: SessionId,
        /// The project that it is in.
        project: ProjectId,
        /// The line of work that it is for.
        activity: ActivityId,
        /// Where it works.
        workspace: WorkspaceId,
        /// The runner that has it.
        runner: RunnerId,
        /// Whose machine it runs on, and who alone may type into it.
        owner: UserRef,
        /// Who wrote its prompt, when that was not its owner: another person, or an agent.
        asked_by: Option<WrittenBy>,
        /// The adapter's name.
        agent: String,
        /// Whether a person can talk to it.
        mode: SessionMode,
        /// The model, if one was chosen or the agent has said which.
        model: Option<String>,
        /// The first line of the prompt, or the command.
        title: String,
        /// What it is at.
        state: SessionState,
        /// Whether it was asked to stop.
        stopping: bool,
        /// The worker that it works for; absent when a person spawned it.
        worker: Option<SessionWorker>,
        /// The task that it was started for.
        task: Option<TaskId>,
        /// What it used of its model.
        usage: Usage,
        /// Whether its conversation can be resumed.
        resumable: bool,
        /// The session whose conversation it goes on with.
        resumes: Option<SessionId>,
        /// Whether it is kept from writing outside its workspace.
        sandbox: bool,
        /// Its recording.
        recording: Recording,
        /// When it was asked for.
        created_at: Timestamp,
    }

    /// A session with all that it was started with.
    SessionDetail {
        /// The session.
        session: Session,
        /// Its workspace.
        workspace: Workspace,
        /// The whole prompt.
        prompt: String,
        /// The command, for the agents `command` and `shell`.
        argv: Vec<String>,
    }

    /// What a session's terminal has shown, or the setup of its workspace has printed, as plain text.
    SessionLog {
        /// The text, without colours or cursor movements.
        text: String,
        /// Whether earlier lines were left out.
        truncated: bool,
        /// Whether it is what the setup of its workspace printed, not what its terminal has shown.
        #[serde(default)]
        setup: bool,
    }

    /// What was changed in a workspace, against the commit that it started from.
    WorkspaceDiff {
        /// The files, in order of their paths.
        files: Vec<FileDiff>,
        /// Whether files or lines were left out because there are too many.
        truncated: bool,
    }

    /// What was changed in one file.
    FileDiff {
        /// Its path now.
        path: String,
        /// Its path before, when it was renamed.
        old_path: Option<String>,
        /// `added`, `modified`, `deleted`, `renamed` or `type_changed`.
        change: String,
        /// Its mode before, as git writes it; absent when it is new.
        old_mode: Option<String>,
        /// Its mode now; absent when it is gone.
        mode: Option<String>,
        /// Whether it is not text.
        binary: bool,
        /// Lines that came.
        insertions: u32,
        /// Lines that went.
        deletions: u32,
        /// What changed, with the lines around it.
        hunks: Vec<Hunk>,
        /// Whether the lines are all of it, byte by byte: none was cut or left out, and all are text.
        #[serde(default)]
        exact: bool,
    }

    /// Lines of a file that changed together, with those around them.
    Hunk {
        /// The first line's number before; 0 in a new file.
        old_start: u32,
        /// The first line's number now; 0 in a deleted file.
        new_start: u32,
        /// The lines.
        lines: Vec<crate::DiffLine>,
        /// Whether its last line before has no line break.
        #[serde(default)]
        old_open: bool,
        /// Whether its last line now has no line break.
        #[serde(default)]
        new_open: bool,
    }

    /// A file that a save does not have.
    LeftOut {
        /// Its path.
        path: String,
        /// Why it could not be saved.
        why: String,
    }

    /// One save of a workspace's uncommitted work.
    Save {
        /// Names it for `restore`: the commit that holds it.
        id: String,
        /// When.
        at: Timestamp,
        /// How many files differ from the save before it.
        files: u32,
        /// The files that it does not have, because they could not be saved: such as those that are too large.
        #[serde(default)]
        left_out: Vec<LeftOut>,
        /// The save that was brought back, when that is what this one has.
        restored: Option<String>,
    }

    /// A moment in a recording that is worth finding.
    Marker {
        /// When, from the start.
        #[ts(type = "number")]
        at_ms: u64,
        /// What kind: `prompt`, `state`, `commit`, `gap`, …
        kind: String,
        /// In words.
        text: String,
    }

    /// A recording, without its content.
    RecordingDetail {
        /// The session.
        session: Session,
        /// Its size at the start.
        cols: u16,
        /// Its size at the start.
        rows: u16,
        /// When it began.
        started_at: Timestamp,
        /// How long it is.
        #[ts(type = "number")]
        duration_ms: u64,
        /// What is worth finding.
        markers: Vec<Marker>,
    }

    /// A stretch of a recording.
    RecordingPart {
        /// The terminal's state at the start of the stretch, as bytes for a fresh terminal, in base64.
        screen: String,
        /// Its size then.
        cols: u16,
        /// Its size then.
        rows: u16,
        /// When the stretch starts, from the start of the recording.
        #[ts(type = "number")]
        from_ms: u64,
        /// What happened, in order.
        events: Vec<RecordedEvent>,
        /// Where the next stretch starts; absent at the end.
        #[ts(type = "number | null")]
        next_ms: Option<u64>,
    }

    /// One event of a recording.
    RecordedEvent {
        /// When, from the start of the recording.
        #[ts(type = "number")]
        at_ms: u64,
        /// asciicast's letter: `o` output, `i` input, `r` resize, `m` marker, `x` exit.
        code: String,
        /// What asciicast holds for it.
        data: String,
    }

    /// Where a text was found in a recording.
    RecordingHit {
        /// When it was on the screen first, from the start.
        #[ts(type = "number")]
        at_ms: u64,
        /// The line that it is in.
        line: String,
    }

    /// Where a text was found in a recording, from its beginning.
    RecordingHits {
        /// The first of the lines that it is in.
        hits: Vec<RecordingHit>,
        /// Whether there are more than these.
        #[serde(default)]
        truncated: bool,
    }
}

impl SessionState {
    /// Whether the session is over.
    pub fn ended(&self) -> bool {
        matches!(self.status, SessionStatus::Exited | SessionStatus::Lost)
    }
}
