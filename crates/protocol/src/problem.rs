//! Errors as data: problem+json (RFC 9457) over HTTP, the same inside `error` frames.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

/// Who must act, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// The request is invalid: change it.
    Invalid,
    /// No valid credential: log in again.
    Unauthenticated,
    /// The caller sees the thing but may not do this to it.
    Forbidden,
    /// It does not exist, or the caller has no access to it.
    NotFound,
    /// Somebody changed it first, or the name is taken: reload, then retry.
    Conflict,
    /// A body or frame is too large.
    TooLarge,
    /// Too many requests: wait as long as `retry_after_seconds` says.
    RateLimited,
    /// The hub speaks another protocol version.
    Protocol,
    /// The disk is full or the database read-only: an operator must act; reading still works.
    Storage,
    /// The database does not answer now: retry with the same key.
    Unavailable,
    /// Our fault; it is in the hub's log.
    Internal,
}

impl ProblemKind {
    /// The corresponding HTTP status.
    pub fn status(self) -> u16 {
        match self {
            Self::Invalid => 400,
            Self::Unauthenticated => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::TooLarge => 413,
            Self::RateLimited => 429,
            Self::Protocol => 426,
            Self::Storage => 507,
            Self::Unavailable => 503,
            Self::Internal => 500,
        }
    }
}

/// What is wrong with one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
pub struct FieldError {
    /// The field's name.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
}

impl FieldError {
    /// What is wrong with a field, in words that may quote it.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: quotable(message) }
    }
}

/// What went wrong, what it means and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
#[ts(optional_fields)]
pub struct Problem {
    /// Who must act, and how.
    pub kind: ProblemKind,
    /// The corresponding HTTP status.
    pub status: u16,
    /// What was wrong, where, and what to do.
    pub detail: String,
    /// The fields that were refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<FieldError>>")]
    pub errors: Vec<FieldError>,
    /// How long to wait before the next try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u32>,
}

impl Problem {
    /// A problem of `kind` with a sentence for the reader; what it quotes is shortened and made visible.
    pub fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        let detail = quotable(detail);
        Self { kind, status: kind.status(), detail, errors: Vec::new(), retry_after_seconds: None }
    }
}

/// A sentence that quotes what somebody sent, of a length that is read, and so that every character of it is seen.
pub fn quotable(text: impl Into<String>) -> String {
    visible(shortened(text.into()))
}

/// Head and tail of a text that is longer than anybody reads: decoders quote what they were given.
fn shortened(text: String) -> String {
    const HEAD: usize = 1200;
    const TAIL: usize = 300;
    if text.len() <= HEAD + TAIL {
        return text;
    }
    format!("{}…{}", &text[..text.floor_char_boundary(HEAD)], &text[text.ceil_char_boundary(text.len() - TAIL)..])
}

/// The same with control characters and overrides of direction written out: a text that is refused is often quoted.
fn visible(text: String) -> String {
    let drives = |c: char| {
        let turns = matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
        turns || (c.is_control() && !"\n\t".contains(c))
    };
    if !text.contains(drives) {
        return text;
    }
    text.chars().map(|c| if drives(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_is_visible() {
        let hostile = "`a\u{202e}b\0c\u{1b}[2J\u{9b}é`\nwhy";
        let seen = "`a\\u{202e}b\\u{0}c\\u{1b}[2J\\u{9b}é`\nwhy";
        assert_eq!(Problem::new(ProblemKind::Invalid, hostile).detail, seen);
        assert_eq!(FieldError::new("tasks", hostile).message, seen);
    }
}
