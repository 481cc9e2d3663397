//! Errors as data: problem+json (RFC 9457) over HTTP, the same inside `error` frames.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

/// Who must act, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// The request is wrong: change it.
    Invalid,
    /// No or no valid credential: log in again.
    Unauthenticated,
    /// The caller sees the thing but may not do this to it.
    Forbidden,
    /// It does not exist, or the caller may not know that it does.
    NotFound,
    /// It changed meanwhile, or the name is taken: look again, then retry.
    Conflict,
    /// A body or frame is too large.
    TooLarge,
    /// Too many requests: wait as long as `retry_after_seconds` says.
    RateLimited,
    /// The hub speaks another protocol version.
    Protocol,
    /// The disk is full or the database read-only: an operator must act; reads go on.
    Storage,
    /// The database does not answer now: retry with the same key.
    Unavailable,
    /// Our fault; it is in the hub's log.
    Internal,
}

impl ProblemKind {
    /// The HTTP status that says the same.
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

/// What went wrong, what it means and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
#[ts(optional_fields)]
pub struct Problem {
    /// Who must act, and how.
    pub kind: ProblemKind,
    /// The HTTP status that says the same.
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
    /// A problem of `kind` with a sentence for the reader; one that quotes too much is shortened.
    pub fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        let detail = shortened(detail.into());
        Self { kind, status: kind.status(), detail, errors: Vec::new(), retry_after_seconds: None }
    }
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
