//! The only place that prints: results on standard output, everything else on standard error.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use domain::Timestamp;
use serde::Serialize;

use crate::Failure;
use crate::settings::Color;

/// Where and how results are shown.
#[derive(Debug, Clone)]
pub struct Output {
    /// Print results as JSON.
    pub json: bool,
    /// Use colours.
    pub color: bool,
    /// The terminal's width; `None` if the output is not a terminal.
    pub width: Option<usize>,
    /// The time that relative times refer to.
    pub now: Timestamp,
}

impl Output {
    /// The output of this process.
    pub(crate) fn of_this_process(json: bool, color: Color) -> Self {
        let terminal = io::stdout().is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let color = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && !plain,
        };
        let width = terminal.then(terminal_size::terminal_size).flatten().map(|(width, _)| usize::from(width.0));
        Self { json, color, width, now: Timestamp::from_millis(jiff::Timestamp::now().as_millisecond()) }
    }

    /// Prints a result: the protocol's view as JSON, or the text of `human`, which must be clean.
    pub fn show<T: Serialize + ?Sized>(&self, view: &T, human: impl FnOnce(&Self) -> String) -> Result<(), Failure> {
        if self.json {
            let text = serde_json::to_string_pretty(view)
                .map_err(|error| Failure::other(format!("could not write the result: {error}")))?;
            self.raw(&harmless(&text))
        } else {
            self.raw(&human(self))
        }
    }

    /// Prints one line of a stream: the protocol's view as JSON, or the text of `human`.
    pub fn stream<T: Serialize>(&self, view: &T, human: impl FnOnce(&Self) -> String) -> Result<(), Failure> {
        if self.json {
            let text = serde_json::to_string(view)
                .map_err(|error| Failure::other(format!("could not write the result: {error}")))?;
            self.raw(&harmless(&text))
        } else {
            self.raw(&human(self))
        }
    }

    /// Prints text for people.
    pub fn line(&self, text: &str) -> Result<(), Failure> {
        self.raw(&clean(text))
    }

    /// Prints text as it is, and a line break.
    pub fn raw(&self, text: &str) -> Result<(), Failure> {
        self.bytes(text.as_bytes())?;
        if text.ends_with('\n') { Ok(()) } else { self.bytes(b"\n") }
    }

    /// Prints bytes as they are.
    pub fn bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::PipeClosed,
            _ => Failure::other(format!("could not write to standard output: {error}")),
        })
    }

    /// Reports an action without a result: `{"removed": "wrk_…"}` for programs.
    pub fn did(&self, what: &'static str, id: impl std::fmt::Display) -> Result<(), Failure> {
        if self.json {
            return self.show(&serde_json::json!({ what: id.to_string() }), |_| String::new());
        }
        self.note(&format!("{what} {id}"));
        Ok(())
    }

    /// Prints a note that is not the result.
    pub fn note(&self, text: &str) {
        say(&clean(text));
    }
}

/// Prints on standard error.
pub(crate) fn say(text: &str) {
    // If standard error is gone, nobody reads it.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Makes other people's text harmless to a terminal: control characters and direction overrides become visible.
pub(crate) fn clean(text: &str) -> String {
    let drives = |c: char| turns(c) || (c.is_control() && c != '\n' && c != '\t');
    text.chars().map(|c| if drives(c) { '\u{FFFD}' } else { c }).collect()
}

/// Whether a character changes the reading direction, so that text looks like something else.
fn turns(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Escapes control characters in JSON, so that a terminal does not interpret them.
pub(crate) fn harmless(json: &str) -> Cow<'_, str> {
    let drives = |c: char| turns(c) || ('\u{7f}'..='\u{9f}').contains(&c);
    if !json.contains(drives) {
        return Cow::Borrowed(json);
    }
    let escaped = json.chars().fold(String::with_capacity(json.len()), |mut text, c| {
        match drives(c) {
            true => text.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => text.push(c),
        }
        text
    });
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_harmless_to_a_terminal_and_keeps_its_meaning() {
        let text = "a\u{9b}31m\u{7f}\u{80}\u{9f}\u{a0}\u{1b}\u{202e}\u{2066}\"é";
        let json = serde_json::to_string(text).unwrap();
        assert_eq!(harmless(&json), "\"a\\u009b31m\\u007f\\u0080\\u009f\u{a0}\\u001b\\u202e\\u2066\\\"é\"");
        assert_eq!(serde_json::from_str::<String>(&harmless(&json)).unwrap(), text);
    }

    #[test]
    fn text_of_others_is_harmless_to_a_terminal() {
        assert_eq!(clean("a\u{1b}]52;c;x\u{7}b\r\n\tc\u{202e}"), "a\u{FFFD}]52;c;x\u{FFFD}b\u{FFFD}\n\tc\u{FFFD}");
    }
}
