//! A hub's requests to a runner, and the answers.

use domain::{HandoffId, ProjectId, QuestionId, ReportId, SessionId, Timestamp, WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::{Marker, PathSeen, RecordingHits, Sandbox, Save, SessionLog, SessionScreen, WorkspaceDiff};

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
    /// A running session's screen as plain text.
    Screen {
        /// The session.
        session: SessionId,
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
    /// Where words are in what terminals of these projects have shown. The runner answers within `SEARCH_MILLISECONDS`.
    Search {
        /// The words, or the beginnings of words.
        text: String,
        /// The only projects whose sessions to search, at most `MAX_SEARCHED`.
        projects: Vec<ProjectId>,
        /// Maximum number of lines.
        limit: u32,
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
    /// Where the branches of a repository are.
    Tips {
        /// The repository, as the project names it.
        location: String,
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
    /// Keeps everything in a workspace as a commit under the handoff's id, and tells the facts. May be repeated.
    KeepAll {
        /// The workspace.
        workspace: WorkspaceId,
        /// The handoff.
        handoff: HandoffId,
        /// Its document, if it is also kept as a file: written into `.shopfloor/handoffs` first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// Asks the agent of an ended session a question. Its conversation is resumed without a screen, in a sandbox that
    /// cannot write in the workspace.
    Question {
        /// The question.
        question: QuestionId,
        /// The session.
        session: SessionId,
        /// Its project.
        project: ProjectId,
        /// Its workspace.
        workspace: WorkspaceId,
        /// Its agent.
        agent: String,
        /// Its model, if one was chosen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// Its conversation.
        conversation: String,
        /// The sandbox that it ran in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sandbox: Option<Sandbox>,
        /// The prompt with the question.
        text: String,
        /// How long the agent may take.
        seconds: u32,
    },
    /// What is at a path on the machine, for the runner's owner.
    Look {
        /// The path.
        path: String,
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
    /// A session's screen.
    Screen(SessionScreen),
    /// A recording, without its content.
    Recording(RecordingSummary),
    /// A part of a recording.
    Part(crate::RecordingPart),
    /// Where the text is.
    Hits(RecordingHits),
    /// Where the words are.
    Lines(TerminalLines),
    /// What was changed.
    Diff(WorkspaceDiff),
    /// The saves.
    Saves(Vec<Save>),
    /// What was packed.
    Bundle(Bundle),
    /// A part of a bundle.
    BundlePart(BundlePart),
    /// What was kept.
    KeptAll(KeptAll),
    /// What became of a publication.
    Published(Published),
    /// The address of a pull request.
    PullRequest(String),
    /// Where the branches are.
    Tips(Tips),
    /// What is at a path.
    Seen(PathSeen),
    /// What an agent answered.
    Said(String),
}

/// The branches of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tips {
    /// By name: the commits that they are at. At most 2,000.
    pub branches: Vec<(String, String)>,
    /// The repository's own default branch; absent in an empty repository.
    pub default_branch: Option<String>,
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
    /// All work of a session, as it was kept for a handoff.
    Handoff {
        /// The handoff.
        handoff: HandoffId,
        /// The kept commit.
        commit: String,
    },
    /// The commits of a workspace, as they are now.
    Workspace {
        /// The workspace.
        workspace: WorkspaceId,
    },
}

/// Everything in a workspace, as it was kept for a handoff.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptAll {
    /// The commit that the work started from.
    pub base: Option<String>,
    /// The commit that is checked out.
    pub head: Option<String>,
    /// The tree of everything, uncommitted work included.
    pub tree: String,
    /// The commit with everything.
    pub commit: String,
    /// Paths with uncommitted changes, at most 200.
    pub dirty: Vec<String>,
    /// How many more there are.
    pub more_dirty: u64,
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

/// Lines of terminals that have all words of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalLines {
    /// The newest of them, newest first.
    pub lines: Vec<TerminalLine>,
    /// Whether there are more than these.
    pub truncated: bool,
}

/// A line that a terminal has shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalLine {
    /// The session.
    pub session: SessionId,
    /// When it was on the screen first, from the start of the recording.
    pub at_ms: u64,
    /// The same on the runner's clock.
    pub at: Timestamp,
    /// The line.
    pub line: String,
}

/// How long a runner may search.
pub const SEARCH_MILLISECONDS: u64 = 300;

/// How many projects one search names at most.
pub const MAX_SEARCHED: usize = 1000;

/// The largest accepted bundle.
pub const MAX_BUNDLE: u64 = 64 * 1024 * 1024;

/// How many bytes one part of a bundle has at most, before base64.
pub const BUNDLE_PART: usize = 512 * 1024;
