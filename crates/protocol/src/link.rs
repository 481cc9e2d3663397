//! The frames of the link between a runner and its hub at `/api/link`, one enum for each direction.

mod asks;
mod changes;
mod desired;
mod facts;
mod merge;
mod work_facts;

pub use asks::*;
pub use changes::*;
pub use desired::*;
pub use facts::*;
pub use merge::*;
pub use work_facts::*;

use domain::{HubId, JournalId, RunnerId, SessionId, UserId};
use serde::{Deserialize, Serialize};

use crate::{Problem, RunnerAbout};

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
        /// What to describe the work in workspaces against.
        #[serde(default)]
        forks: Vec<ProjectForks>,
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
    /// This person types the input on this channel. Without it, or from another person than the owner or the one to whom
    /// the owner handed the keyboard, input is dropped.
    Driver {
        /// The channel.
        channel: u32,
        /// Who types.
        user: UserId,
        /// The person's name, if the owner handed the keyboard to them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lent_to: Option<String>,
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
        /// Only if nobody has resized the terminal since it began.
        #[serde(default)]
        if_fresh: bool,
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

/// The default heartbeat interval of a runner.
pub const HEARTBEAT_SECONDS: u64 = 10;

/// The largest frame on a link, in both directions.
pub const MAX_LINK_FRAME: usize = 4 * 1024 * 1024;
