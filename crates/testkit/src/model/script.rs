//! What the model does, turn by turn.

use std::time::Duration;

use serde_json::Value;

/// One answer of the model.
#[derive(Debug, Clone)]
pub struct Turn {
    pub(crate) act: Act,
    pub(crate) tokens: Tokens,
    pub(crate) pace: Duration,
    pub(crate) held: bool,
    pub(crate) broken: bool,
    pub(crate) empty: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// A text for people; the turn ends with it.
    Say(String),
    /// A command, by whichever tool the agent offers for that.
    Run(String),
    /// A new file, by whichever tool the agent offers for that.
    Write { path: String, text: String },
    /// Any tool.
    Call { name: String, arguments: Value },
    /// A refusal before any answer.
    Refuse { status: u16, retry_after: Option<u64>, message: String },
}

/// A turn's token usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokens {
    /// All that went in.
    pub input: u64,
    /// Of those, from the cache.
    pub cached: u64,
    /// All that came out.
    pub output: u64,
}

impl Turn {
    /// Says a text, and has nothing more to do.
    pub fn say(text: &str) -> Self {
        Self::of(Act::Say(text.to_owned()))
    }

    /// Wants a shell command to be run.
    pub fn run(command: &str) -> Self {
        Self::of(Act::Run(command.to_owned()))
    }

    /// Wants a new file.
    pub fn write(path: &str, text: &str) -> Self {
        Self::of(Act::Write { path: path.to_owned(), text: text.to_owned() })
    }

    /// Wants any tool of the agent's.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::of(Act::Call { name: name.to_owned(), arguments })
    }

    /// Refuses with an HTTP status, as an overloaded or broken provider does.
    pub fn refuse(status: u16, retry_after: Option<u64>) -> Self {
        let message = format!("the script refuses with {status}");
        Self::of(Act::Refuse { status, retry_after, message })
    }

    /// Waits this long before each part of its answer.
    pub fn paced(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    /// Starts to answer, and continues only after [`super::Model::release`].
    pub fn held(mut self) -> Self {
        self.held = true;
        self
    }

    /// Disconnects in the middle of its answer.
    pub fn broken(mut self) -> Self {
        self.broken = true;
        self
    }

    /// An answer that starts well and is empty.
    pub fn empty() -> Self {
        Self { empty: true, ..Self::say("") }
    }

    /// Reports this token usage.
    pub fn tokens(mut self, input: u64, cached: u64, output: u64) -> Self {
        self.tokens = Tokens { input, cached, output };
        self
    }

    fn of(act: Act) -> Self {
        let tokens = Tokens { input: 100, cached: 0, output: 10 };
        Self { act, tokens, pace: Duration::ZERO, held: false, broken: false, empty: false }
    }
}
