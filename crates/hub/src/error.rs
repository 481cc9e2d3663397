//! Errors at the edge, by who must act.

use protocol::{FieldError, Problem, ProblemKind};
use store::StoreError;

/// When to retry after the database did not answer.
const RETRY_AFTER_SECONDS: u32 = 1;

/// Why a request was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// A problem that says who must act.
    #[error("{}", .0.detail)]
    Problem(Problem),
    /// Our fault: the cause is logged, and the caller gets a reference to it.
    #[error("an internal error happened")]
    Internal(#[source] anyhow::Error),
}

impl AppError {
    /// A problem of `kind` with a sentence for the reader.
    pub fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self::Problem(Problem::new(kind, detail))
    }

    /// The problem to show; logs an internal cause, once.
    pub fn into_problem(self) -> Problem {
        match self {
            Self::Problem(problem) => problem,
            Self::Internal(cause) => {
                let reference = format!("{:08x}", rand::random::<u32>());
                tracing::error!(reference, error = format!("{cause:#}"), "internal error");
                Problem::new(ProblemKind::Internal, format!("the hub failed; its log says why under {reference}"))
            }
        }
    }

    /// A problem with one field.
    fn field(kind: ProblemKind, field: &'static str, message: String) -> Self {
        let mut problem = Problem::new(kind, message.clone());
        problem.errors = vec![FieldError::new(field, message)];
        Self::Problem(problem)
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        let detail = error.to_string();
        let kind = match error {
            StoreError::NotFound(noun) => {
                let detail = format!("{noun} not found: it does not exist, or you have no access to it");
                return Self::new(ProblemKind::NotFound, detail);
            }
            StoreError::Spent(..) => ProblemKind::NotFound,
            StoreError::Forbidden(_) => ProblemKind::Forbidden,
            StoreError::Conflict(_) => ProblemKind::Conflict,
            StoreError::Taken { field, message } => return Self::field(ProblemKind::Conflict, field, message),
            StoreError::Invalid { field, message } => return Self::field(ProblemKind::Invalid, field, message),
            StoreError::Storage(_) => ProblemKind::Storage,
            StoreError::Unavailable(_) => {
                let mut problem = Problem::new(ProblemKind::Unavailable, detail);
                problem.retry_after_seconds = Some(RETRY_AFTER_SECONDS);
                return Self::Problem(problem);
            }
            StoreError::Database(_) | StoreError::Corrupt(_) => return Self::Internal(error.into()),
        };
        Self::new(kind, detail)
    }
}
