//! How a command ends: exit codes, and errors that say what is wrong, where, and how to fix it.

use std::fmt::Write as _;

use client::ClientError;
use protocol::{Problem, ProblemKind};

use crate::output;

/// How the program ended; scripts rely on the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Done,
    /// Any other error.
    Other,
    /// Invalid command line or input.
    Usage,
    /// It does not exist, or the caller may not access it.
    NotFound,
    /// Somebody changed it first, or it is taken.
    Conflict,
    /// The hub does not answer.
    Unreachable,
    /// The exit code of the watched session.
    Session(u8),
}

impl Exit {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Other => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Conflict => 4,
            Self::Unreachable => 5,
            Self::Session(code) => code,
        }
    }

    /// The exit code for a kind of problem.
    pub fn of(kind: ProblemKind) -> Self {
        match kind {
            ProblemKind::Invalid | ProblemKind::TooLarge => Self::Usage,
            ProblemKind::Unauthenticated | ProblemKind::Forbidden | ProblemKind::NotFound => Self::NotFound,
            ProblemKind::Conflict => Self::Conflict,
            ProblemKind::RateLimited
            | ProblemKind::Protocol
            | ProblemKind::Storage
            | ProblemKind::Unavailable
            | ProblemKind::Internal => Self::Other,
        }
    }
}

/// Why a command stopped.
#[derive(Debug)]
pub enum Failure {
    /// A problem to report.
    Problem {
        /// How the program ends.
        exit: Exit,
        /// The problem, as data.
        problem: Problem,
        /// How to fix it.
        advice: Option<String>,
    },
    /// The reader closed the pipe; not an error.
    PipeClosed,
}

impl Failure {
    /// Invalid input.
    pub fn usage(detail: impl Into<String>) -> Self {
        Self::new(Exit::Usage, ProblemKind::Invalid, detail)
    }

    /// Not found.
    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(Exit::NotFound, ProblemKind::NotFound, detail)
    }

    /// Not allowed.
    pub fn not_allowed(detail: impl Into<String>) -> Self {
        Self::new(Exit::NotFound, ProblemKind::Unauthenticated, detail)
    }

    /// Not possible in the current state.
    pub fn conflict(detail: impl Into<String>) -> Self {
        Self::new(Exit::Conflict, ProblemKind::Conflict, detail)
    }

    /// The hub does not answer.
    pub fn unreachable(detail: impl Into<String>) -> Self {
        Self::new(Exit::Unreachable, ProblemKind::Unavailable, detail)
    }

    /// Anything else.
    pub fn other(detail: impl Into<String>) -> Self {
        Self::new(Exit::Other, ProblemKind::Internal, detail)
    }

    /// Adds how to fix it.
    pub fn advise(mut self, text: impl Into<String>) -> Self {
        if let Self::Problem { advice, .. } = &mut self {
            *advice = Some(text.into());
        }
        self
    }

    /// Its exit code.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Problem { exit, .. } => *exit,
            Self::PipeClosed => Exit::Done,
        }
    }

    /// The text for standard error.
    pub fn render(&self, json: bool) -> String {
        let Self::Problem { problem, advice, .. } = self else {
            return String::new();
        };
        if json {
            let mut problem = problem.clone();
            problem.detail.extend(advice.iter().flat_map(|advice| ["; ", advice]));
            let text = serde_json::to_string(&problem).unwrap_or(problem.detail);
            return output::harmless(&text).into_owned();
        }
        let mut text = format!("error: {}", problem.detail);
        // A hub repeats the message of the only field as the detail.
        for error in problem.errors.iter().filter(|error| error.message != problem.detail) {
            let _ = write!(text, "\n  {}: {}", error.field, error.message);
        }
        if let Some(advice) = advice {
            let _ = write!(text, "\n  {advice}");
        }
        output::clean(&text)
    }

    /// Prints it on standard error and returns the exit code.
    pub fn report(&self, json: bool) -> Exit {
        if !matches!(self, Self::PipeClosed) {
            output::say(&self.render(json));
        }
        self.exit()
    }

    fn new(exit: Exit, kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self::Problem { exit, problem: Problem::new(kind, detail), advice: None }
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Problem(problem) => {
                let advice = advice(problem.kind).map(str::to_owned);
                Self::Problem { exit: Exit::of(problem.kind), problem, advice }
            }
            ClientError::Unreachable { ref source, .. } => {
                let cause = cause(&**source);
                let advice = if cause.contains("certificate") { UNTRUSTED } else { ABSENT };
                Self::unreachable(format!("{error}: {cause}")).advise(advice)
            }
            ClientError::Protocol(detail) => Self::other(detail),
        }
    }
}

const ABSENT: &str =
    "start one with `shopfloor up`, or choose another with --hub URL; `shopfloor doctor` checks the installation";
const UNTRUSTED: &str = "if you trust the issuer of its certificate, add it, for example with SSL_CERT_FILE=FILE";

fn advice(kind: ProblemKind) -> Option<&'static str> {
    match kind {
        ProblemKind::Unauthenticated => {
            Some("pass a valid token: --token-file FILE, SHOPFLOOR_TOKEN or --data-dir DIR")
        }
        ProblemKind::Protocol => Some("hub and CLI have different versions: update the older one"),
        _ => None,
    }
}

/// The error with its causes, on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

/// The innermost cause, which names what happened.
fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::FieldError;

    #[test]
    fn every_kind_has_its_exit_code() {
        let code = |kind| Exit::of(kind).code();
        assert_eq!(code(ProblemKind::Invalid), 2);
        assert_eq!(code(ProblemKind::NotFound), 3);
        assert_eq!(code(ProblemKind::Forbidden), 3);
        assert_eq!(code(ProblemKind::Unauthenticated), 3);
        assert_eq!(code(ProblemKind::Conflict), 4);
        assert_eq!(code(ProblemKind::Storage), 1);
    }

    #[test]
    fn an_error_says_what_where_and_how_to_fix_it() {
        let mut problem = Problem::new(ProblemKind::Conflict, "the project is at version 3");
        problem.errors.push(FieldError { field: "expected_version".into(), message: "is 2".into() });
        let failure = Failure::from(ClientError::Problem(problem));
        let expected = "error: the project is at version 3\n  expected_version: is 2";
        assert_eq!(failure.render(false), expected);
        let json: Problem = serde_json::from_str(&failure.render(true)).unwrap();
        assert_eq!(json.kind, ProblemKind::Conflict);
    }

    #[test]
    fn a_closed_pipe_is_no_error() {
        assert_eq!(Failure::PipeClosed.report(false), Exit::Done);
    }
}
