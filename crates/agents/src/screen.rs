//! Rules for screens: what the lowest lines, the title and the silence of a terminal say about its agent.

use regex::Captures;
use serde::Deserialize;

use crate::adapter::Pattern;
use crate::event::StateName;
use crate::recogniser::{Observation, State, WaitingFor};
use crate::text;

/// What one kind of screen means. An agent prints what it likes, but not where its own controls are: rules match only
/// the lowest lines.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScreenRule {
    /// Must match in the lowest lines; its group `what` is what the agent waits for.
    #[serde(rename = "match")]
    pub(crate) pattern: Option<Pattern>,
    /// Must not match in them.
    pub(crate) unless: Option<Pattern>,
    /// How many of the lowest lines to match, not counting blank ones.
    #[serde(default = "rows")]
    pub(crate) rows: usize,
    /// What the title must match.
    pub(crate) title: Option<Pattern>,
    /// How long nothing must have been printed.
    #[serde(default)]
    pub(crate) quiet_ms: u64,
    pub(crate) state: Option<StateName>,
    #[serde(rename = "for")]
    pub(crate) waiting_for: Option<WaitingFor>,
}

const WHAT_LIMIT: usize = 200;

impl ScreenRule {
    /// Whether the screen matches.
    pub(crate) fn fits(&self, seen: &Observation) -> bool {
        self.matched(seen).is_some()
    }

    /// The state by this rule; `None` if the screen does not match.
    pub(crate) fn state(&self, seen: &Observation) -> Option<State> {
        let what = self.matched(seen)?;
        Some(self.state?.with(self.waiting_for, what))
    }

    fn matched(&self, seen: &Observation) -> Option<Option<String>> {
        if seen.quiet_ms < self.quiet_ms || !self.title.as_ref().is_none_or(|title| title.0.is_match(&seen.title)) {
            return None;
        }
        let low = lowest(&seen.text, self.rows);
        if self.unless.as_ref().is_some_and(|pattern| pattern.0.is_match(&low)) {
            return None;
        }
        match &self.pattern {
            None => Some(None),
            Some(pattern) => pattern.0.captures(&low).map(|found| what(&found)),
        }
    }
}

fn what(found: &Captures<'_>) -> Option<String> {
    let what = text::line(found.name("what")?.as_str(), WHAT_LIMIT);
    (!what.is_empty()).then_some(what)
}

/// The lowest `rows` lines that are not blank, without the blanks at their ends.
fn lowest(screen: &str, rows: usize) -> String {
    let mut lines: Vec<_> = screen.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    lines.split_off(lines.len().saturating_sub(rows)).join("\n")
}

fn rows() -> usize {
    8
}
