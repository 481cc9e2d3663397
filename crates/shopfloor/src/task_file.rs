//! Files of tasks: how they are opened, named and read.

use std::io::Read;
use std::path::Path;

use clap::ValueEnum;
use plan::Plan;

use crate::Failure;

/// More than any hub takes at once, so that a wrong file is no matter of memory.
const LIMIT: u64 = 64 * 1024 * 1024;

/// How tasks are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One task, a list of tasks, or an object with a list `tasks`
    Json,
    /// One task on each line
    Jsonl,
    /// A list of `- [ ]` items with indented details
    Markdown,
}

impl From<Format> for plan::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Json => Self::Json,
            Format::Jsonl => Self::Jsonl,
            Format::Markdown => Self::Markdown,
        }
    }
}

/// Reads the bytes of a file called `name`.
pub(crate) fn read(bytes: &[u8], name: &str, format: Option<Format>) -> Plan {
    plan::read(bytes, name, format.map(Into::into))
}

/// The bytes of a file; `-` is standard input.
pub(crate) fn bytes_of(path: &Path) -> Result<Vec<u8>, Failure> {
    let shown = name_of(path);
    let unreadable = |error: std::io::Error| Failure::usage(format!("could not read {shown}: {error}"));
    let source: Box<dyn Read> = match path.to_str() {
        Some("-") => Box::new(std::io::stdin().lock()),
        _ => Box::new(std::fs::File::open(path).map_err(unreadable)?),
    };
    let mut bytes = Vec::new();
    source.take(LIMIT + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LIMIT {
        return Err(Failure::usage(format!("{shown} has more than {LIMIT} bytes")).advise("split it"));
    }
    Ok(bytes)
}

/// What a file is called in errors.
pub(crate) fn name_of(path: &Path) -> String {
    if path.to_str() == Some("-") { "standard input".to_owned() } else { path.display().to_string() }
}
