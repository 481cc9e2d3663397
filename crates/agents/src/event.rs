//! Rules for structured lines: which lines match, what to show, and what they mean for state, conversation and tokens.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::cause::Cause;
use crate::json::{self, Conditions};
use crate::recogniser::{State, WaitingFor};
use crate::shape::as_text;
use crate::template::Template;
use crate::text;

/// Maximum length of a text.
const TEXT_LIMIT: usize = 32 * 1024;

/// What one kind of line means.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventRule {
    /// Fields by dotted path and what they must be.
    #[serde(default)]
    pub(crate) when: Conditions,
    /// A list in the line: the rule applies to each of its elements, and paths start there.
    pub(crate) each: Option<String>,
    /// What must hold for the element.
    #[serde(default, rename = "where")]
    pub(crate) where_: Conditions,
    /// The text for people, with dotted paths as placeholders; without it, nothing is shown.
    pub(crate) show: Option<Show>,
    #[serde(default)]
    pub(crate) style: Style,
    /// It continues the previous text.
    #[serde(default)]
    pub(crate) joined: bool,
    /// Maximum number of lines to show.
    #[serde(default = "all")]
    pub(crate) rows: usize,
    /// Whether to keep such lines in the session's folder; parts that are repeated as a whole need not be.
    #[serde(default = "yes")]
    pub(crate) keep: bool,
    pub(crate) state: Option<StateName>,
    #[serde(rename = "for")]
    pub(crate) waiting_for: Option<WaitingFor>,
    /// A line whose value here repeats that of an earlier line is not counted again.
    pub(crate) once: Option<String>,
    pub(crate) conversation: Option<String>,
    pub(crate) model: Option<String>,
    /// Where the input tokens are, cached ones included.
    #[serde(default)]
    pub(crate) input: Vec<String>,
    #[serde(default)]
    pub(crate) cached: Vec<String>,
    #[serde(default)]
    pub(crate) output: Vec<String>,
    /// US dollars.
    pub(crate) cost: Option<String>,
    #[serde(default)]
    pub(crate) count: Count,
    /// The agent's message to the person, with dotted paths as placeholders; the last one is its answer.
    #[serde(default, deserialize_with = "words_of_the_line")]
    pub(crate) said: Option<Show>,
    /// An error, in the provider's words; `[[limit]]` rules apply to it.
    #[serde(default, deserialize_with = "words_of_the_line")]
    pub(crate) fault: Option<Show>,
    /// The words may come from servers and tools: only the adapter's own `[[cause]]` rules apply.
    #[serde(default)]
    pub(crate) own: bool,
    /// Where a provider says how many seconds to wait.
    pub(crate) retry_after: Option<String>,
    /// The line itself says that a provider's limit was reached.
    #[serde(default)]
    pub(crate) limited: bool,
    /// The cause of an error whose words do not tell.
    pub(crate) cause: Option<Cause>,
    /// Whether such a line shows that the model answers; by default, one with a message does.
    pub(crate) progress: Option<bool>,
    /// The model starts to answer: several in a row without progress are broken answers.
    #[serde(default)]
    pub(crate) begins: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StateName {
    Working,
    Waiting,
    Idle,
    Finished,
}

/// The meaning of a line's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Count {
    /// Additions.
    #[default]
    More,
    /// The totals of this run so far.
    Run,
    /// The totals since the last such line: they replace what was added since then.
    Since,
    /// The totals of the conversation so far, including earlier runs.
    Conversation,
}

/// How a line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Style {
    #[default]
    Text,
    Quiet,
    Tool,
    Good,
    Bad,
}

/// A template of dotted paths.
#[derive(Debug, Clone)]
pub(crate) struct Show(pub(crate) Template);

impl EventRule {
    /// The parts of the line that this rule applies to.
    pub(crate) fn about<'a>(&self, line: &'a Value) -> Vec<&'a Value> {
        if !json::holds(&self.when, line) {
            return Vec::new();
        }
        let parts = match &self.each {
            None => vec![line],
            Some(path) => json::at(line, path).and_then(Value::as_array).into_iter().flatten().collect(),
        };
        parts.into_iter().filter(|part| json::holds(&self.where_, part)).collect()
    }

    /// A template of this rule, filled from one part of a line.
    pub(crate) fn text(template: Option<&Show>, part: &Value) -> Option<String> {
        let filled =
            template?.0.fill(|path| json::at(part, path).filter(|value| !value.is_null()).cloned().map(as_text))?;
        Some(text::shorten(&text::plain(&filled), TEXT_LIMIT)).filter(|text| !text.trim().is_empty())
    }

    /// Whether its lines show that the model answers.
    pub(crate) fn is_progress(&self) -> bool {
        self.progress.unwrap_or(self.said.is_some())
    }

    pub(crate) fn state(&self) -> Option<State> {
        Some(self.state?.with(self.waiting_for, None))
    }
}

impl StateName {
    pub(crate) fn with(self, waiting_for: Option<WaitingFor>, what: Option<String>) -> State {
        match self {
            Self::Working => State::Working,
            Self::Idle => State::Idle,
            Self::Finished => State::Finished,
            Self::Waiting => State::Waiting { on: waiting_for.unwrap_or(WaitingFor::Question), what },
        }
    }
}

impl<'de> Deserialize<'de> for Show {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Template::of_paths(&text).map(Self).map_err(serde::de::Error::custom)
    }
}

/// A template with at least one placeholder: without one it would say the same of every line.
fn words_of_the_line<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Show>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let template = Template::of_paths(&text).map_err(serde::de::Error::custom)?;
    if template.names().next().is_none() {
        let why = format!("has no placeholder: write `{{{text}}}` for what the line has at `{text}`");
        return Err(serde::de::Error::custom(why));
    }
    Ok(Some(Show(template)))
}

fn yes() -> bool {
    true
}

fn all() -> usize {
    usize::MAX
}
