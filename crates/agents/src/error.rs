//! Errors in an adapter's file, for its author.

use std::ops::Range;
use std::path::{Path, PathBuf};

/// An invalid adapter file: the line, the key, and what is allowed there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}: {}{message}", file.display(), key_prefix(key))]
pub struct AdapterError {
    /// The file that was read.
    pub file: PathBuf,
    /// The line of the error, from 1; 0 if the file could not be read.
    pub line: usize,
    /// The key with its tables, as in `headless.args`; empty if there is none.
    pub key: String,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl AdapterError {
    pub(crate) fn of_toml(file: &Path, text: &str, error: &toml::de::Error) -> Self {
        Self::at(file, text, error.span().unwrap_or(0..0), error.message())
    }

    pub(crate) fn at(file: &Path, text: &str, span: Range<usize>, message: &str) -> Self {
        let start = span.start.min(text.len());
        let line = text[..start].matches('\n').count() + 1;
        let message = message.trim_end().replace('\n', "; ");
        Self { file: file.to_owned(), line, key: key_at(text, start), message }
    }

    pub(crate) fn unreadable(file: &Path, error: &std::io::Error) -> Self {
        Self {
            file: file.to_owned(),
            line: 0,
            key: String::new(),
            message: format!("could not read the file: {error}"),
        }
    }
}

fn key_prefix(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!("`{key}`: ") }
}

/// The key of the value (or name) at `offset`, found by reading back to the line that begins it.
fn key_at(text: &str, offset: usize) -> String {
    let end = text[offset..].find('\n').map_or(text.len(), |length| offset + length);
    let mut key = None;
    for line in text[..end].lines().rev() {
        let line = line.trim();
        if let Some(table) = line.strip_prefix('[').filter(|_| is_header(line)) {
            let table = table.trim_matches(|c: char| "[] ".contains(c));
            return key.map_or_else(|| table.to_owned(), |key| format!("{table}.{key}"));
        }
        if key.is_none()
            && let Some((name, _)) = line.split_once('=')
            && is_key(name.trim())
        {
            key = Some(name.trim().to_owned());
        }
    }
    key.unwrap_or_default()
}

fn is_header(line: &str) -> bool {
    line.ends_with(']') && is_key(line.trim_matches(|c: char| "[] ".contains(c)))
}

fn is_key(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-\"".contains(c))
}
