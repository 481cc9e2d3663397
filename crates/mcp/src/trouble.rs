//! Why a tool failed, and what to do next.

use domain::text::counted;
use protocol::{Problem, ProblemKind, quotable};

/// Why a tool failed: one text for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) text: String,
    /// The hub's kind of problem, if the hub refused.
    pub(crate) kind: Option<ProblemKind>,
}

impl Trouble {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: quotable(text), kind: None }
    }

    /// Adds what to do next.
    pub(crate) fn next(mut self, advice: &str) -> Self {
        self.text = format!("{} {advice}", self.text);
        self
    }

    /// Whether the hub reports a conflict with the caller's view.
    pub(crate) fn is_conflict(&self) -> bool {
        self.kind == Some(ProblemKind::Conflict)
    }
}

impl From<Problem> for Trouble {
    fn from(problem: Problem) -> Self {
        let mut text = sentence(&problem.detail);
        // With one field, the detail repeats its message.
        for error in problem.errors.iter().filter(|error| !problem.detail.contains(error.message.trim())) {
            text.push_str(&format!(" {}: {}", error.field, sentence(&error.message)));
        }
        let next = match problem.kind {
            ProblemKind::Invalid | ProblemKind::TooLarge => "Change the arguments and call again.".to_owned(),
            ProblemKind::NotFound => {
                "It does not exist, or your token has no access to it: list_tasks shows the tasks.".to_owned()
            }
            ProblemKind::Forbidden => "Your token may not do this: ask a person.".to_owned(),
            ProblemKind::Unauthenticated => {
                "The token is no longer valid: tell the person who started you, and stop.".to_owned()
            }
            ProblemKind::RateLimited => {
                let seconds = problem.retry_after_seconds.unwrap_or(5);
                format!("Wait {}, then call again.", counted(seconds, "second", "seconds"))
            }
            ProblemKind::Unavailable | ProblemKind::Storage | ProblemKind::Internal => {
                "The hub cannot answer now. Nothing is lost: continue working and call again in a minute.".to_owned()
            }
            // The tool decides what to do about these.
            ProblemKind::Conflict | ProblemKind::Protocol => String::new(),
        };
        Self { text: format!("{text} {next}").trim_end().to_owned(), kind: Some(problem.kind) }
    }
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::FieldError;

    #[test]
    fn no_message_is_repeated() {
        let error = |field: &str, message: &str| FieldError { field: field.into(), message: message.into() };
        let mut problem = Problem::new(ProblemKind::Invalid, "`count` is 1 to 9, not 12");
        problem.errors = vec![error("count", "`count` is 1 to 9, not 12")];
        let said = Trouble::from(problem.clone()).text;
        assert_eq!(said, "`count` is 1 to 9, not 12. Change the arguments and call again.");
        problem.detail = "two things are wrong".into();
        problem.errors.push(error("name", "is empty"));
        let said = Trouble::from(problem).text;
        assert!(said.contains("count: `count` is 1 to 9, not 12. name: is empty."), "{said}");
    }
}
