//! A client's token: fixed, or read from a file that somebody else renews.

use std::fmt;
use std::path::PathBuf;

use protocol::{Problem, ProblemKind};

use crate::ClientError;

/// A client's token.
#[derive(Clone, PartialEq, Eq)]
pub enum Token {
    /// A fixed token.
    Given(String),
    /// The current content of this file: an agent's token is short-lived, and its runner writes the next one there.
    File(PathBuf),
}

impl Token {
    /// The current token.
    pub(crate) fn now(&self) -> Result<String, ClientError> {
        match self {
            Self::Given(secret) => Ok(secret.clone()),
            Self::File(path) => match std::fs::read_to_string(path) {
                Ok(text) => Ok(text.trim().to_owned()),
                Err(error) => {
                    let detail = format!("could not read the token in {}: {error}", path.display());
                    Err(ClientError::Problem(Problem::new(ProblemKind::Unauthenticated, detail)))
                }
            },
        }
    }

    /// Whether a valid token may follow a refused one.
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
