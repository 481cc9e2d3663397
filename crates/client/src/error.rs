//! Why a call failed, by who must act.

use std::error::Error;

use protocol::Problem;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The hub refused the call and says why.
    #[error("{}", .0.detail)]
    Problem(Problem),
    /// Nothing answers at the hub's address.
    #[error("no hub answers at {url}")]
    Unreachable {
        /// The address.
        url: String,
        /// The network's error.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The answer is not from a hub of our version, or the address is not a URL.
    #[error("{0}")]
    Protocol(String),
}

impl ClientError {
    /// The problem that the hub reported.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Problem(problem) => Some(problem),
            Self::Unreachable { .. } | Self::Protocol(_) => None,
        }
    }

    pub(crate) fn unreachable(url: &str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unreachable { url: url.to_owned(), source: source.into() }
    }
}
