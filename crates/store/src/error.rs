//! Errors of verbs, by who must act.

use domain::text::TextError;

/// Why a verb failed; nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The resource does not exist, or the caller may not know that it does.
    #[error("{0} not found")]
    NotFound(&'static str),
    /// A link that was valid before; only the holder of its secret learns this.
    #[error("this {0} {1}")]
    Spent(&'static str, Spent),
    /// The caller may see the resource but not do this to it.
    #[error("{0}")]
    Forbidden(&'static str),
    /// The resource changed meanwhile, or a name is taken.
    #[error("{0}")]
    Conflict(String),
    /// A field's value is taken by something else.
    #[error("{message}")]
    Taken {
        /// The field that was refused.
        field: &'static str,
        /// What has the value.
        message: String,
    },
    /// The input is wrong.
    #[error("{message}")]
    Invalid {
        /// The field that was refused.
        field: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// The disk is full or the database cannot be written: an operator must act.
    #[error("nothing can be written now: {0}; free space or make the database writable, reads still work")]
    Storage(String),
    /// The database did not answer: retry with the same key.
    #[error("the database did not answer: {0}; retry with the same idempotency key")]
    Unavailable(String),
    /// A statement failed unexpectedly.
    #[error("a database statement failed")]
    Database(#[source] sqlx::Error),
    /// A row has invalid content.
    #[error("the database contains invalid data: {0}")]
    Corrupt(String),
}

/// Why a link is no longer valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spent {
    /// Somebody has used it.
    Used,
    /// Its time is over.
    Expired,
}

impl std::fmt::Display for Spent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Used => "was already used",
            Self::Expired => "has expired",
        })
    }
}

impl StoreError {
    /// Refuses a field with a reason.
    pub fn invalid(field: &'static str, message: impl Into<String>) -> Self {
        Self::Invalid { field, message: message.into() }
    }

    /// Refuses a field whose value is taken.
    pub(crate) fn taken(field: &'static str, message: impl Into<String>) -> Self {
        Self::Taken { field, message: message.into() }
    }

    /// The same error, about one element of a list.
    pub(crate) fn in_list(self, list: &'static str, index: usize) -> Self {
        match self {
            Self::Invalid { message, .. } => Self::invalid(list, format!("{list}[{index}]: {message}")),
            other => other,
        }
    }

    /// Whether the same verb might succeed when run alone or again.
    pub(crate) fn is_of_the_database(&self) -> bool {
        matches!(self, Self::Storage(_) | Self::Unavailable(_) | Self::Database(_))
    }

    /// Whether the database itself is in trouble.
    pub(crate) fn is_trouble(&self) -> bool {
        matches!(self, Self::Storage(_) | Self::Unavailable(_))
    }

    /// A copy for another waiter of the same failed commit.
    pub(crate) fn repeat(&self) -> Self {
        match self {
            Self::Storage(reason) => Self::Storage(reason.clone()),
            Self::Unavailable(reason) => Self::Unavailable(reason.clone()),
            other => Self::Unavailable(other.to_string()),
        }
    }
}

impl From<TextError> for StoreError {
    fn from(error: TextError) -> Self {
        let field = match &error {
            TextError::Empty { field }
            | TextError::TooLong { field, .. }
            | TextError::Control { field, .. }
            | TextError::Invisible { field, .. }
            | TextError::Mixed { field, .. } => *field,
        };
        Self::Invalid { field, message: error.to_string() }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(inner) => {
                let code = inner.code().unwrap_or_default().into_owned();
                classify(&code, inner.message()).unwrap_or(Self::Database(error))
            }
            sqlx::Error::Io(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed
            | sqlx::Error::Protocol(_)
            | sqlx::Error::Tls(_) => Self::Unavailable(error.to_string()),
            _ => Self::Database(error),
        }
    }
}

/// Classifies a database error. Extended SQLite codes carry the primary code in the low byte; PostgreSQL codes have
/// five characters.
fn classify(code: &str, message: &str) -> Option<StoreError> {
    if code.len() == 5 {
        return match code {
            "53100" | "25006" | "53200" => Some(StoreError::Storage(message.to_owned())),
            _ if code.starts_with("08") || code.starts_with("57P") || code == "53300" => {
                Some(StoreError::Unavailable(message.to_owned()))
            }
            _ => None,
        };
    }
    match code.parse::<u32>().ok()? & 0xff {
        8 | 10 | 13 | 14 => Some(StoreError::Storage(message.to_owned())),
        5 | 6 => Some(StoreError::Unavailable(message.to_owned())),
        _ => None,
    }
}
