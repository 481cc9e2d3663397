//! What is wrong with a recipe, and where.

use std::fmt;

use serde::Serialize;

use crate::node::Spot;

/// An error or a warning in a recipe.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The place in the recipe, such as `steps[2].agent.prompt`; empty for the whole.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
}

impl Finding {
    pub(crate) fn new(spot: Spot, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { line: spot.line, column: spot.column, path: path.into(), message: message.into(), instead: None }
    }

    pub(crate) fn instead(self, instead: impl Into<String>) -> Self {
        Self { instead: Some(instead.into()), ..self }
    }

    /// With what to write instead, if that is known.
    pub(crate) fn perhaps(self, instead: Option<impl Into<String>>) -> Self {
        Self { instead: instead.map(Into::into), ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, ", {}", self.path)?;
        }
        write!(f, ": {}", self.message)?;
        match &self.instead {
            Some(instead) => write!(f, "; write `{instead}`"),
            None => Ok(()),
        }
    }
}
