//! How a command ends: exit codes, and errors that say what was wrong, where, and what to do.

use std::fmt::Write as _;

use client::ClientError;
use protocol::{Problem, ProblemKind};

use crate::output;

/// How the program ended; the number is a promise to scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It worked.
    Done,
    /// Something else went wrong.
    Other,
    /// The command line or the input is wrong.
    Usage,
    /// It does not exist, or the caller may not do it.
    NotFound,
    /// It changed meanwhile, or is taken.
    Conflict,
    /// No hub answers.
    Unreachable,
    /// As the session ended that was watched.
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

    /// The exit code that says the same as `kind`.
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
    /// Something is wrong, and the reader can be told what.
    Problem {
        /// How the program ends.
        exit: Exit,
        /// What is wrong, as data.
        problem: Problem,
        /// What to do about it.
        advice: Option<String>,
    },
    /// Nobody reads our output any more, which is their right.
    PipeClosed,
}

impl Failure {
    /// The input is wrong.
    pub fn usage(detail: impl Into<String>) -> Self {
        Self::new(Exit::Usage, ProblemKind::Invalid, detail)
    }

    /// There is no such thing.
    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(Exit::NotFound, ProblemKind::NotFound, detail)
    }

    /// The caller has no right to it.
    pub fn not_allowed(detail: impl Into<String>) -> Self {
        Self::new(Exit::NotFound, ProblemKind::Unauthenticated, detail)
    }

    /// The state of things is against it.
    pub fn conflict(detail: impl Into<String>) -> Self {
        Self::new(Exit::Conflict, ProblemKind::Conflict, detail)
    }

    /// No hub answers.
    pub fn unreachable(detail: impl Into<String>) -> Self {
        Self::new(Exit::Unreachable, ProblemKind::Unavailable, detail)
    }

    /// Anything else.
    pub fn other(detail: impl Into<String>) -> Self {
        Self::new(Exit::Other, ProblemKind::Internal, detail)
    }

    /// Adds what to do.
    pub fn advise(mut self, text: impl Into<String>) -> Self {
        if let Self::Problem { advice, .. } = &mut self {
            *advice = Some(text.into());
        }
        self
    }

    /// The exit code that it leads to.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Problem { exit, .. } => *exit,
            Self::PipeClosed => Exit::Done,
        }
    }

    /// What standard error says about it.
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
        // A hub repeats the only field's message as the detail.
        for error in problem.errors.iter().filter(|error| error.message != problem.detail) {
            let _ = write!(text, "\n  {}: {}", error.field, error.message);
        }
        if let Some(advice) = advice {
            let _ = write!(text, "\n  {advice}");
        }
        output::clean(&text)
    }

    /// Says it on standard error and returns how the program ends.
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

const ABSENT: &str = "start one with `shopfloor up`, or name another with --hub URL; `shopfloor doctor` looks around";
const UNTRUSTED: &str = "trust the certificate of its issuer, as with SSL_CERT_FILE=FILE, if you know that it is yours";

fn advice(kind: ProblemKind) -> Option<&'static str> {
    match kind {
        ProblemKind::Unauthenticated => {
            Some("pass a valid token: --token-file FILE, SHOPFLOOR_TOKEN or --data-dir DIR")
        }
        ProblemKind::Protocol => Some("hub and CLI are of different versions: update the older one"),
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

/// The last cause is the one that names what happened.
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
    fn an_error_says_what_where_and_what_to_do() {
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
