//! A structured line for people in the terminal.

use serde_json::Value;

use crate::adapter::Adapter;
use crate::event::{EventRule, Style};
use crate::json;
use crate::shape::as_text;
use crate::text;

const VALUE_LIMIT: usize = 16 * 1024;

/// Shows one agent's lines in their order.
#[derive(Debug)]
pub(crate) struct Renderer<'a> {
    adapter: &'a Adapter,
    /// The last text may continue: its line has not ended.
    open: bool,
}

/// The result for one line.
pub(crate) struct Rendered {
    pub(crate) text: String,
    /// Whether to store it in the session's folder.
    pub(crate) kept: bool,
}

impl<'a> Renderer<'a> {
    pub(crate) fn new(adapter: &'a Adapter) -> Self {
        Self { adapter, open: false }
    }

    /// What to show of a line; may be empty. A line that is not JSON is shown as it is.
    pub(crate) fn render(&mut self, line: &str) -> Rendered {
        let (mut all, mut kept) = (String::new(), true);
        match serde_json::from_str::<Value>(line) {
            Err(_) => self.add(&mut all, &format!("{}\n", text::plain(line)), false),
            Ok(value) => {
                kept = !self.adapter.event.iter().any(|rule| !rule.keep && !rule.about(&value).is_empty());
                for rule in self.adapter.event.iter().filter(|rule| rule.show.is_some()) {
                    for shown in rule.about(&value).into_iter().filter_map(|part| shown(rule, part)) {
                        self.add(&mut all, &shown, rule.joined);
                    }
                }
            }
        }
        Rendered { text: all, kept }
    }

    fn add(&mut self, all: &mut String, shown: &str, joined: bool) {
        if self.open && !joined {
            all.push('\n');
        }
        all.push_str(shown);
        self.open = joined;
    }
}

fn shown(rule: &EventRule, part: &Value) -> Option<String> {
    let template = &rule.show.as_ref()?.0;
    let filled = template.fill(|path| json::at(part, path).filter(|value| !value.is_null()).cloned().map(as_text))?;
    let filled = text::shorten(&text::plain(&filled), VALUE_LIMIT);
    if rule.joined {
        return Some(filled);
    }
    let lines: Vec<_> = filled.trim_end().lines().collect();
    if lines.is_empty() {
        return None;
    }
    let colour = match rule.style {
        Style::Text => "",
        Style::Quiet => "\x1b[2m",
        Style::Tool => "\x1b[36m",
        Style::Good => "\x1b[32m",
        Style::Bad => "\x1b[31m",
    };
    let reset = if colour.is_empty() { "" } else { "\x1b[0m" };
    let mut shown: String = lines.iter().take(rule.rows).map(|line| format!("{colour}{line}{reset}\n")).collect();
    if lines.len() > rule.rows {
        shown.push_str(&format!("\x1b[2m… {} more lines\x1b[0m\n", lines.len() - rule.rows));
    }
    Some(shown)
}
