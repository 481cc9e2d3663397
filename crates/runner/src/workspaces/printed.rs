//! The output of a project's shell command for people: its last lines, without secrets and escape sequences.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use agents::Secrets;
use terminal::Screen;

/// How much of the end to read.
const BYTES: u64 = 256 << 10;
/// The width of a typical terminal; longer lines are not wrapped.
const COLS: u16 = 200;
/// Maximum height of a progress bar.
const ROWS: u16 = 50;

/// Printed lines.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Printed {
    pub(crate) lines: Vec<String>,
    /// Whether there are earlier ones.
    pub(crate) truncated: bool,
}

impl Printed {
    /// As one text.
    pub(crate) fn text(&self) -> String {
        self.lines.join("\n")
    }
}

/// The last lines of a log, also while it is written.
pub(crate) fn last_lines(log: &Path, most: usize, secrets: &mut Secrets) -> io::Result<Printed> {
    let mut file = File::open(log)?;
    let start = file.metadata()?.len().saturating_sub(BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(BYTES).read_to_end(&mut bytes)?;
    Ok(printed(&bytes, start > 0, most, secrets))
}

/// The last lines of an output; `cut`: its beginning is missing.
pub(crate) fn printed(bytes: &[u8], cut: bool, most: usize, secrets: &mut Secrets) -> Printed {
    let mut whole = bytes;
    if cut {
        // A line without its beginning may contain half a secret.
        let ended = whole.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
        whole = &whole[ended.map_or(whole.len(), |at| at + 1)..];
    }
    let mut kept = Last { lines: VecDeque::new(), most, truncated: cut };
    let mut screen = Screen::new(COLS, ROWS, usize::from(ROWS));
    // Masked as a whole, and again as shown: colours, moves and line breaks may split a secret.
    for line in secrets.masked(whole).split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        screen.feed(text);
        if text.len() < line.len() {
            screen.feed(b"\r\n");
        }
        kept.add(screen.take_history());
    }
    kept.add(screen.take_lines());
    let shown = Vec::from(kept.lines).join("\n");
    let lines = secrets.masked_text(&shown).split('\n').filter(|_| !shown.is_empty()).map(str::to_owned).collect();
    Printed { lines, truncated: kept.truncated }
}

struct Last {
    lines: VecDeque<String>,
    most: usize,
    truncated: bool,
}

impl Last {
    fn add(&mut self, lines: Vec<String>) {
        self.lines.extend(lines);
        let more = self.lines.len().saturating_sub(self.most);
        self.lines.drain(..more);
        self.truncated |= more > 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(log: &str, most: usize, lines: &[&str], truncated: bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, log).unwrap();
        let variables = [("REGISTRY_TOKEN".to_owned(), "hunter2hunter2".to_owned())];
        let printed = last_lines(&path, most, &mut Secrets::of(variables.into_iter())).unwrap();
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        assert_eq!(printed, Printed { lines, truncated }, "{log:?}");
    }

    #[test]
    fn the_last_lines_are_read_as_people_would() {
        check("one\ntwo\n", 9, &["one", "two"], false);
        check("one\ntwo\nthree", 2, &["two", "three"], true);
        check("\x1b[32mgreen\x1b[0m\n10 %\r50 %\r100 %\n\x1b]0;title\x07end", 9, &["green", "100 %", "end"], false);
        check(&format!("{}\n", "x".repeat(500)), 9, &["x".repeat(500).as_str()], false);
        check("", 9, &[], false);
    }

    #[test]
    fn secrets_are_masked() {
        check("login hunter2hunter2 ok\n", 9, &["login •••••••••••••• ok"], false);
        let token = format!("sf_{}", "a".repeat(64));
        check(&format!("token {token}\n"), 9, &[&format!("token {}", "•".repeat(67))], false);
        check("login hunter2\x1b[31mhunter2\x1b[0m ok\n", 9, &["login •••••••••••••• ok"], false);
        check("login hunter2\nhunter2 ok\n", 9, &["login •••••••", "••••••• ok"], false);
        check("hunXter2hunter2\x1b[1G\x1b[4Gter2hunter2\x1b[K\n", 9, &["••••••••••••••"], false);
    }

    #[test]
    fn of_a_long_log_only_whole_lines_are_read() {
        let filler = "filler\n".repeat((BYTES as usize) / 7);
        let (log, last) = (format!("hunter2hunter2 and a beginning\n{filler}end\n"), ["filler", "end"]);
        check(&log, 2, &last, true);
        check(&"y".repeat(BYTES as usize + 10), 2, &[], true);
    }
}
