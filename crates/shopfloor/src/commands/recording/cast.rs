//! A recording as an asciicast: a header, then one line for each event.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use client::Client;
use domain::SessionId;
use protocol::{Call, RecordedEvent, RecordingDetail};
use serde_json::{Value, json};

use super::pages::Pages;
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
    let (_, mut pages) = Pages::open(client, session, 0).await?;
    let mut to = Target::open(path, out)?;
    let mut cast = Cast { version, last_ms: 0 };
    to.line(&cast.header(&recording))?;
    while let Some(event) = pages.next().await? {
        to.line(&cast.event(&event))?;
    }
    to.finish()?;
    if let Some(path) = path {
        out.note(&format!("wrote {}", path.display()));
    }
    Ok(())
}

struct Cast {
    version: u8,
    last_ms: u64,
}

impl Cast {
    /// The version comes first, so that people and programs see at once what it is.
    fn header(&self, recording: &RecordingDetail) -> String {
        let (cols, rows) = (recording.cols, recording.rows);
        let started = recording.started_at.as_millis() / 1000;
        let title = json!(recording.session.title);
        let size = match self.version {
            2 => format!(r#""width":{cols},"height":{rows}"#),
            _ => format!(r#""term":{{"cols":{cols},"rows":{rows},"type":"xterm-256color"}}"#),
        };
        format!(r#"{{"version":{},{size},"timestamp":{started},"title":{title}}}"#, self.version)
    }

    /// Version 3 counts from the event before, version 2 from the start, which has no `x` either.
    fn event(&mut self, event: &RecordedEvent) -> String {
        let at = event.at_ms.max(self.last_ms);
        let millis = if self.version == 2 { at } else { at - self.last_ms };
        self.last_ms = at;
        let code = if self.version == 2 && event.code == "x" { "m" } else { event.code.as_str() };
        json!([seconds(millis), code, event.data]).to_string()
    }
}

/// Exact to the millisecond, which a recording is.
fn seconds(millis: u64) -> Value {
    serde_json::from_str(&format!("{}.{:03}", millis / 1000, millis % 1000)).unwrap_or(Value::Null)
}

enum Target<'a> {
    File(BufWriter<File>, &'a Path),
    Output(&'a Output),
}

impl<'a> Target<'a> {
    fn open(path: Option<&'a Path>, out: &'a Output) -> Result<Self, Failure> {
        match path {
            Some(path) => match File::create(path) {
                Ok(file) => Ok(Self::File(BufWriter::new(file), path)),
                Err(error) => Err(Failure::usage(format!("could not write {}: {error}", path.display()))),
            },
            None => Ok(Self::Output(out)),
        }
    }

    fn line(&mut self, line: &str) -> Result<(), Failure> {
        match self {
            Self::File(file, path) => writeln!(file, "{line}").map_err(|error| failed(path, &error)),
            Self::Output(out) => out.raw(line),
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

    fn lines(version: u8) -> String {
        let mut cast = Cast { version, last_ms: 0 };
        let events = [(0, "o", "a\u{1b}[1m"), (1_500, "r", "80x24"), (1_500, "m", "prompt: x"), (2_001, "x", "0")];
        let event = |(at_ms, code, data): (u64, &str, &str)| {
            cast.event(&RecordedEvent { at_ms, code: code.into(), data: data.into() })
        };
        events.map(event).join("\n")
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
}
