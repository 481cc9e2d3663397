//! Which agents write the document of a handoff, and which read it.

use domain::SessionMode;

/// Adapters without an agent: what is typed there is a command, and nobody reads a prompt.
const NO_AGENT: [&str; 2] = ["command", "shell"];

/// The session that hands off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writer<'a> {
    /// Its adapter.
    pub agent: &'a str,
    /// Whether a person can talk to it.
    pub mode: SessionMode,
    /// Whether it has ended.
    pub ended: bool,
    /// Whether it was asked to stop.
    pub stopping: bool,
}

/// Whether an agent in sessions of this adapter reads a document and acknowledges it; otherwise a person does.
pub fn reads(agent: &str) -> bool {
    !NO_AGENT.contains(&agent)
}

/// Whether the agent of such a session can be asked for the prose; otherwise the document is made from its recording.
pub fn writes(agent: &str, mode: SessionMode) -> bool {
    mute(Writer { agent, mode, ended: false, stopping: false }).is_none()
}

/// Why the agent is not asked for the prose; `None` if it is, or is about to be.
pub fn mute(writer: Writer<'_>) -> Option<&'static str> {
    match () {
        () if writer.ended => Some("its session has ended"),
        () if writer.stopping => Some("its session is stopping"),
        () if !reads(writer.agent) => Some("it is a command, not an agent"),
        () if writer.mode == SessionMode::Headless => Some("it works without a prompt and cannot be asked"),
        () => None,
    }
}
