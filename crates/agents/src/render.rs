//! A structured line as people read it in the terminal.

use serde_json::Value;

use crate::adapter::Adapter;
use crate::event::{EventRule, Style};
use crate::json;
use crate::shape::as_text;
use crate::text;

const VALUE_LIMIT: usize = 16 * 1024;

/// What is shown of a line; empty if nothing is. A line that is not JSON is shown as it is.
pub(crate) fn render(adapter: &Adapter, line: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(line) else {
        return format!("{}\n", text::plain(line));
    };
    let rules = adapter.event.iter().filter(|rule| rule.show.is_some());
    rules.flat_map(|rule| rule.about(&value).into_iter().filter_map(|part| shown(rule, part))).collect()
}

fn shown(rule: &EventRule, part: &Value) -> Option<String> {
    let template = &rule.show.as_ref()?.0;
    let filled = template.fill(|path| json::at(part, path).filter(|value| !value.is_null()).cloned().map(as_text))?;
    let filled = text::shorten(&text::plain(&filled), VALUE_LIMIT);
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
