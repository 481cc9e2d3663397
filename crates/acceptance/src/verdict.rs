//! The result of one criterion, with a reason that helps to fix it.

use protocol::CriterionResult;
use serde::{Deserialize, Serialize};

/// Maximum length of a reason.
const LONGEST: usize = 4000;

/// The result of one criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Verdict {
    /// It is met.
    Met(String),
    /// It is not met.
    Not(String),
    /// A person must judge: it is plain text, or cannot be checked here.
    Unclear(String),
}

impl Verdict {
    /// The same with a bounded reason: parsers quote their input, which may be a whole file.
    pub(crate) fn short(self) -> Self {
        match self {
            Self::Met(reason) => Self::Met(plain(&reason, LONGEST)),
            Self::Not(reason) => Self::Not(plain(&reason, LONGEST)),
            Self::Unclear(reason) => Self::Unclear(plain(&reason, LONGEST)),
        }
    }

    pub(crate) fn told(self, criterion: usize) -> CriterionResult {
        let (passed, reason) = match self.short() {
            Self::Met(reason) => (Some(true), reason),
            Self::Not(reason) => (Some(false), reason),
            Self::Unclear(reason) => (None, reason),
        };
        let criterion = u32::try_from(criterion).unwrap_or(u32::MAX);
        CriterionResult { criterion, passed, reason }
    }
}

/// Untrusted text without control characters except line breaks and tabs, with at most `most` bytes.
pub(crate) fn plain(text: &str, most: usize) -> String {
    let mut plain: String = text.chars().filter(|c| !c.is_control() || "\n\t".contains(*c)).collect();
    if plain.len() > most {
        plain.truncate(plain.floor_char_boundary(most));
        plain.push('…');
    }
    plain
}

/// A name for a reason: on one line, short, in quotes.
pub(crate) fn name(text: impl AsRef<std::path::Path>) -> String {
    let text = text.as_ref().to_string_lossy();
    let mut short: String = text.chars().take(160).flat_map(char::escape_debug).collect();
    if text.chars().nth(160).is_some() {
        short.push('…');
    }
    format!("`{short}`")
}

/// The first few names of many.
pub(crate) fn names<P: AsRef<std::path::Path>>(all: &[P]) -> String {
    const NAMED: usize = 8;
    let mut told: Vec<String> = all.iter().take(NAMED).map(name).collect();
    if all.len() > NAMED {
        told.push(format!("{} more", all.len() - NAMED));
    }
    told.join(", ")
}
