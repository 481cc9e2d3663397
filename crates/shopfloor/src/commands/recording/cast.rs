//! A recording as an asciicast: a header, then one line for each event, without sequences that would make the player's
//! terminal answer or touch the clipboard.

use std::fs::{File, Permissions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use client::Client;
use domain::SessionId;
use protocol::{Call, RecordedEvent, RecordingDetail, RecordingPart};
use serde_json::{Value, json};
use terminal::Quiet;

use super::pages::{Pages, screen};
use crate::output::harmless;
use crate::{Failure, Output};

/// Writes the whole recording to a file, or to standard output.
pub(super) async fn export(
    client: &Client,
    session: SessionId,
    path: Option<&Path>,
    version: u8,
    out: &Output,
) -> Result<(), Failure> {
    let recording: RecordingDetail = client.ask(Call::RecordingShow { session }).await?;
    let (start, mut pages) = Pages::open(client, session, 0).await?;
    let opening = screen(&start)?;
    let mut cast = Cast::new(version, start.from_ms);
    let mut to = Target::open(path, out)?;
    to.line(&cast.header(&recording, &start))?;
    if let Some(line) = cast.opening(opening) {
        to.line(&line)?;
    }
    while let Some(event) = pages.next().await? {
        if let Some(line) = cast.event(&event) {
            to.line(&line)?;
        }
    }
    to.finish()?;
    if let Some(path) = path {
        out.note(&format!("wrote {}", path.display()));
    }
    Ok(())
}

struct Cast {
    version: u8,
    /// Where it begins: later than the session if the beginning was deleted.
    from_ms: u64,
    last_ms: u64,
    /// Removes sequences that the player's terminal would answer.
    quiet: Quiet,
}

impl Cast {
    fn new(version: u8, from_ms: u64) -> Self {
        Self { version, from_ms, last_ms: from_ms, quiet: Quiet::default() }
    }

    /// The version comes first, so that readers recognize the format.
    fn header(&self, recording: &RecordingDetail, start: &RecordingPart) -> String {
        let (cols, rows) = (start.cols, start.rows);
        let from = i64::try_from(self.from_ms).unwrap_or(i64::MAX);
        let started = recording.started_at.as_millis().saturating_add(from) / 1000;
        let title = json!(recording.session.title);
        let size = match self.version {
            2 => format!(r#""width":{cols},"height":{rows}"#),
            _ => format!(r#""term":{{"cols":{cols},"rows":{rows},"type":"xterm-256color"}}"#),
        };
        format!(r#"{{"version":{},{size},"timestamp":{started},"title":{title}}}"#, self.version)
    }

    /// The screen at the beginning, if the bytes that drew it were deleted.
    fn opening(&mut self, screen: Vec<u8>) -> Option<String> {
        let (at_ms, data) = (self.from_ms, String::from_utf8_lossy(&screen).into_owned());
        (at_ms > 0).then(|| self.event(&RecordedEvent { at_ms, code: "o".to_owned(), data })).flatten()
    }

    /// Version 3 counts from the previous event; version 2 counts from the start, and has no `x`. `None`: nothing of
    /// the event may be shown.
    fn event(&mut self, event: &RecordedEvent) -> Option<String> {
        let data = match event.code.as_str() {
            "o" => self.shown(&event.data)?,
            _ => event.data.clone(),
        };
        let at = event.at_ms.max(self.last_ms);
        let millis = at - if self.version == 2 { self.from_ms } else { self.last_ms };
        self.last_ms = at;
        let code = if self.version == 2 && event.code == "x" { "m" } else { event.code.as_str() };
        Some(json!([seconds(millis), code, data]).to_string())
    }

    fn shown(&mut self, output: &str) -> Option<String> {
        let mut shown = Vec::with_capacity(output.len());
        self.quiet.push(output.as_bytes(), &mut shown);
        (!shown.is_empty()).then(|| String::from_utf8_lossy(&shown).into_owned())
    }
}

/// With millisecond precision, like the recording.
fn seconds(millis: u64) -> Value {
    serde_json::from_str(&format!("{}.{:03}", millis / 1000, millis % 1000)).unwrap_or(Value::Null)
}

enum Target<'a> {
    File(BufWriter<File>, &'a Path),
    Output(&'a Output),
}

/// A file that only its owner can read, because a terminal's output is private. An existing file loses other
/// permissions before anything is written; a device stays as it is.
fn private(path: &Path) -> std::io::Result<File> {
    let file = File::options().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    if file.metadata()?.is_file() {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

impl<'a> Target<'a> {
    fn open(path: Option<&'a Path>, out: &'a Output) -> Result<Self, Failure> {
        match path {
            Some(path) => match private(path) {
                Ok(file) => Ok(Self::File(BufWriter::new(file), path)),
                Err(error) => Err(Failure::usage(format!("could not write {}: {error}", path.display()))),
            },
            None => Ok(Self::Output(out)),
        }
    }

    fn line(&mut self, line: &str) -> Result<(), Failure> {
        match self {
            Self::File(file, path) => writeln!(file, "{}", harmless(line)).map_err(|error| failed(path, &error)),
            Self::Output(out) => out.raw(&harmless(line)),
        }
    }

    fn finish(self) -> Result<(), Failure> {
        match self {
            Self::File(mut file, path) => file.flush().map_err(|error| failed(path, &error)),
            Self::Output(_) => Ok(()),
        }
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::other(format!("could not write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_owner_can_read_a_new_or_existing_file() {
        let folder = tempfile::tempdir().unwrap();
        for there in [false, true] {
            let path = folder.path().join(format!("{there}.cast"));
            if there {
                std::fs::write(&path, "before").unwrap();
                std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
            }
            private(&path).unwrap();
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{there}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
        }
        private(Path::new("/dev/null")).unwrap();
        assert_ne!(
            std::fs::metadata("/dev/null").unwrap().permissions().mode() & 0o777,
            0o600,
            "a device stays as it is"
        );
    }

    fn written(cast: &mut Cast, events: &[(u64, &str, &str)]) -> String {
        let event = |&(at_ms, code, data): &(u64, &str, &str)| {
            cast.event(&RecordedEvent { at_ms, code: code.into(), data: data.into() })
        };
        events.iter().filter_map(event).collect::<Vec<_>>().join("\n")
    }

    fn lines(version: u8) -> String {
        let events = [(0, "o", "a\u{1b}[1m"), (1_500, "r", "80x24"), (1_500, "m", "prompt: x"), (2_001, "x", "0")];
        written(&mut Cast::new(version, 0), &events)
    }

    #[test]
    fn version_3_counts_from_the_event_before() {
        let expected =
            "[0.0,\"o\",\"a\\u001b[1m\"]\n[1.5,\"r\",\"80x24\"]\n[0.0,\"m\",\"prompt: x\"]\n[0.501,\"x\",\"0\"]";
        assert_eq!(lines(3), expected);
    }

    #[test]
    fn version_2_counts_from_the_start() {
        let expected =
            "[0.0,\"o\",\"a\\u001b[1m\"]\n[1.5,\"r\",\"80x24\"]\n[1.5,\"m\",\"prompt: x\"]\n[2.001,\"m\",\"0\"]";
        assert_eq!(lines(2), expected);
    }

    #[test]
    fn sequences_that_a_terminal_answers_are_left_out() {
        let events =
            [(0, "o", "a\u{1b}]52;c;"), (10, "o", "aGk=\u{7}"), (20, "o", "\u{1b}[c\u{1b}[6nb"), (30, "o", "\u{9b}c")];
        assert_eq!(written(&mut Cast::new(3, 0), &events), "[0.0,\"o\",\"a\"]\n[0.02,\"o\",\"b\"]");
    }

    #[test]
    fn without_its_beginning_it_opens_with_the_screen() {
        for (version, last) in [(2, "[1.5,\"o\",\"c\"]"), (3, "[0.5,\"o\",\"c\"]")] {
            let mut cast = Cast::new(version, 60_000);
            assert_eq!(cast.opening(b"scr\x1b[6neen".to_vec()).as_deref(), Some("[0.0,\"o\",\"screen\"]"));
            let after = written(&mut cast, &[(61_000, "o", "b"), (61_500, "o", "c")]);
            assert_eq!(after, format!("[1.0,\"o\",\"b\"]\n{last}"));
        }
        assert_eq!(Cast::new(3, 0).opening(b"screen".to_vec()), None, "the events draw it");
    }
}
