//! The credential of a client: as it was given, or read from a file where somebody else renews it.

use std::fmt;
use std::path::PathBuf;

use protocol::{Problem, ProblemKind};

use crate::ClientError;

/// What a client shows to say who it is.
#[derive(Clone, PartialEq, Eq)]
pub enum Token {
    /// Always this one.
    Given(String),
    /// What this file says at the time: an agent's token is short-lived, and its runner writes the next one there.
    File(PathBuf),
}

impl Token {
    /// The secret as it is now.
    pub(crate) fn now(&self) -> Result<String, ClientError> {
        match self {
            Self::Given(secret) => Ok(secret.clone()),
            Self::File(path) => match std::fs::read_to_string(path) {
                Ok(text) => Ok(text.trim().to_owned()),
                Err(error) => {
                    let detail = format!("the token in {} cannot be read: {error}", path.display());
                    Err(ClientError::Problem(Problem::new(ProblemKind::Unauthenticated, detail)))
                }
            },
        }
    }

    /// Whether a token that was refused may be followed by one that is not.
    pub(crate) fn is_renewed(&self) -> bool {
        matches!(self, Self::File(_))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(_) => f.write_str("Given(…)"),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}
