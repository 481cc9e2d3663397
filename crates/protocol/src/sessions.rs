//! Sessions: agents and shells in a terminal.

use domain::trust::Reach;
use domain::{
    ActivityId, ProjectId, RunnerId, SessionId, SessionMode, SessionStatus, TaskId, Timestamp, UserId, WorkerId,
    WorkspaceId,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::shapes::{inputs, queries, views};
use crate::{Recording, UserRef, Workspace, WrittenBy};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! sessions {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* sessions {
        changes {
            /// A session appeared or changed.
            Session { session: Session },
        }
        answers {
            Sessions(Vec<Session>),
            SessionDetail(SessionDetail),
            Session(Session),
            SessionLog(crate::SessionLog),
            SessionScreen(crate::SessionScreen),
        }
        verbs {
            /// The sessions that the caller may see.
            SessionList "session.list" GET "/api/sessions"
                { query filter: ExecutionFilter } -> 200 Vec<Session>, Anyone;
            /// One session, with what it was started with.
            SessionShow "session.show" GET "/api/sessions/{session}"
                { path session: SessionId } -> 200 SessionDetail, Look;
            /// Spawns a session on one of the caller's runners, or asks the owner of another.
            SessionSpawn "session.spawn" POST "/api/sessions"
                { body input: crate::SessionSpawn } -> 201 Session, Spawn;
            /// Stops one of the caller's sessions; its work is saved first.
            SessionStop "session.stop" POST "/api/sessions/{session}/stop"
                { path session: SessionId, body input: crate::SessionStop } -> 200 Session, Drive;
            /// Continues the conversation of one of the caller's exited sessions.
            SessionResume "session.resume" POST "/api/sessions/{session}/resume"
                { path session: SessionId } -> 201 Session, Drive;
            /// Says something to the agent of one of the caller's sessions.
            SessionSend "session.send" POST "/api/sessions/{session}/send"
                { path session: SessionId, body input: SessionText } -> 204 (), DriveOnRunner;
            /// Asks a session's owner for its keyboard: to type into its terminal.
            SessionKeyboardRequest "session.keyboard_request" POST "/api/sessions/{session}/keyboard/request"
                { path session: SessionId } -> 200 Session, PersonLooks;
            /// Hands the keyboard of one of the caller's sessions to a person who watches it; to the owner: takes it back.
            SessionKeyboardGive "session.keyboard_give" POST "/api/sessions/{session}/keyboard/give"
                { path session: SessionId, body input: crate::KeyboardGive } -> 200 Session, Drive;
            /// Takes the keyboard of one of the caller's sessions back, and dismisses requests for it.
            SessionKeyboardTake "session.keyboard_take" POST "/api/sessions/{session}/keyboard/take"
                { path session: SessionId } -> 200 Session, Drive;
            /// Returns a session's keyboard to its owner, or withdraws the caller's request for it.
            SessionKeyboardReturn "session.keyboard_return" POST "/api/sessions/{session}/keyboard/return"
                { path session: SessionId } -> 200 Session, PersonLooks;
            /// What a session's terminal has shown, or the setup of its workspace printed, as plain text.
            SessionLog "session.log" GET "/api/sessions/{session}/log"
                { path session: SessionId, query page: LogPage } -> 200 crate::SessionLog, LookOnRunner;
            /// What a running session's terminal shows now, as plain text; up to two seconds old.
            SessionScreen "session.screen" GET "/api/sessions/{session}/screen"
                { path session: SessionId } -> 200 crate::SessionScreen, LookOnRunner;
        }
    } } };
}

pub(crate) use sessions;

inputs! {
    /// A new session.
    SessionSpawn {
        /// Its activity; default: a new one in `project`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        activity: Option<ActivityId>,
        /// The project, when no activity is named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<ProjectId>,
        /// The adapter: `codex`, `claude`, `gemini`, `opencode`, `command`, `shell`, or one of your own.
        agent: String,
        /// The prompt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<String>,
        /// Whether a person talks to it; default: `interactive`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<SessionMode>,
        /// The model; default: the agent's own choice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The program and its arguments, for the agents `command` and `shell`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>")]
        argv: Vec<String>,
        /// The runner; default: the least loaded fitting one of the caller's. Another person's, where they work on
        /// the same activity: their policy decides, or they are asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runner: Option<RunnerId>,
        /// Labels that the runner must have.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>")]
        labels: Vec<String>,
        /// A workspace of the same activity to work in; default: a new one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<WorkspaceId>,
        /// The location of the project's repository to work on; default: its first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repository: Option<String>,
        /// The branch to start from; default: the repository's base branch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
        /// The name of the new workspace's own branch; default: made from the activity's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// Keeps the session from writing outside its workspace.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sandbox: Option<Sandbox>,
        /// Whether the owner's input is recorded; default: no.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        record_input: Option<bool>,
        /// The width of the terminal; default: 120.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cols: Option<u16>,
        /// The height of the terminal; default: 32.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rows: Option<u16>,
    }

    /// What a session with its own sandbox may reach.
    Sandbox {
        /// Whether it reaches the network.
        network: bool,
        /// Whether it sees the home folder, read-only; hidden otherwise.
        home: bool,
    }

    /// Text for a session's agent, as if its owner had pasted it.
    SessionText {
        /// What to say.
        text: String,
        /// Whether it is sent, or left in the agent's input line.
        #[serde(default)]
        submit: bool,
    }

    /// Who gets the keyboard of a session.
    KeyboardGive {
        /// A person who may see the session, or its owner; default: the one who asked first, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<UserId>,
    }

    /// How a session is to be stopped.
    SessionStop {
        /// At once, without asking it first.
        #[serde(default)]
        force: bool,
    }
}

queries! {
    /// Which sessions, workspaces or recordings to list.
    #[derive(Copy)]
    ExecutionFilter {
        /// Only those of this project.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<ProjectId>,
        /// Only those of this activity.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        activity: Option<ActivityId>,
        /// Include those that have finished.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended: Option<bool>,
    }

    /// Which part of a session's log to show.
    #[derive(Copy)]
    LogPage {
        /// Only the last lines, up to 10,000; default: 1,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<u32>,
        /// What the setup of its workspace printed instead; when absent, only if it never had a terminal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        setup: Option<bool>,
    }
}

views! {
    /// One agent process, or shell, in a terminal in a workspace.
    Session {
        /// The session's id.
        id: SessionId,
        /// The project that it is in.
        project: ProjectId,
        /// Its activity.
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
        /// Its status.
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
        /// The session whose conversation it continues.
        resumes: Option<SessionId>,
        /// Whether it is kept from writing outside its workspace.
        sandbox: bool,
        /// Who may type besides its owner, and who asked to.
        #[serde(default)]
        keyboard: Keyboard,
        /// Its recording.
        recording: Recording,
        /// When it was asked for.
        created_at: Timestamp,
    }

    /// What a session is at, and since when.
    SessionState {
        /// Its status.
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

    /// Who may type into a session besides its owner.
    #[derive(Default)]
    Keyboard {
        /// The person to whom its owner handed the keyboard.
        holder: Option<UserRef>,
        /// People who asked for it, oldest first.
        requests: Vec<UserRef>,
    }

    /// The worker that a session was started for.
    SessionWorker {
        /// The worker's id.
        id: WorkerId,
        /// Its name.
        name: String,
        /// Its place among the worker colours, from 0; the same everywhere.
        colour: u32,
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

    /// A running session's screen as plain text.
    SessionScreen {
        /// The terminal's width.
        cols: u16,
        /// The terminal's height.
        rows: u16,
        /// The lines from the top; empty ones at the end are left out.
        lines: Vec<String>,
    }

    /// What a session's terminal has shown, or the setup of its workspace printed, as plain text.
    SessionLog {
        /// The text, without colours or cursor movements.
        text: String,
        /// Whether earlier lines were left out.
        truncated: bool,
        /// Whether it is what the setup of its workspace printed, not what its terminal has shown.
        #[serde(default)]
        setup: bool,
    }
}

impl Sandbox {
    /// What both allow.
    pub fn and(&self, other: &Self) -> Self {
        Self { network: self.network && other.network, home: self.home && other.home }
    }

    /// What both allow; `None` is no sandbox, which allows everything.
    pub fn both(one: Option<&Self>, other: Option<&Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other).cloned(),
        }
    }

    /// How far something reaches in this sandbox, or in none.
    pub fn reach(sandbox: Option<&Self>) -> Reach {
        match sandbox {
            Some(Self { network, home }) => Reach::Sandbox { network: *network, home: *home },
            None => Reach::Machine,
        }
    }
}

impl SessionState {
    /// Whether the session is over.
    pub fn ended(&self) -> bool {
        matches!(self.status, SessionStatus::Exited | SessionStatus::Lost)
    }
}
