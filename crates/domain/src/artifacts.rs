//! Artifacts: their kinds, and the rules of names, media types and hashes.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::text::Field;
use crate::values::words;

words! {
    /// What an artifact is.
    ArtifactKind {
        /// A file that a person or an agent put.
        File = "file",
        /// The summary of an execution.
        Summary = "summary",
        /// The output of a step that is too long for its result.
        Output = "output",
        /// A branch that a step worked on.
        Work = "work",
    }
}

/// The name of an artifact.
pub const ARTIFACT_NAME: Field = Field { name: "name", limit: 200, lines: false, optional: false };

/// The media type of content that nobody described.
pub const BINARY: &str = "application/octet-stream";

/// Why an artifact's name is not a plain file name; `None` if it is one.
pub fn name_trouble(name: &str) -> Option<&'static str> {
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let numbered = |word: &str| stem.strip_prefix(word).is_some_and(|rest| matches!(rest.as_bytes(), [b'1'..=b'9']));
    match name {
        _ if name.contains(['/', '\\']) => Some("it is a path: give a file name without `/` and `\\`"),
        _ if name.starts_with('.') => Some("it begins with a dot"),
        _ if name.ends_with(['.', ' ']) || name.starts_with(' ') => Some("it begins or ends with a space or a dot"),
        _ if name.starts_with('-') => Some("it begins with `-`, like an option of a command"),
        _ if name.contains(['<', '>', ':', '"', '|', '?', '*']) => {
            Some("it contains one of < > : \" | ? *, which some systems do not allow in file names")
        }
        _ if ["con", "prn", "aux", "nul"].contains(&stem.as_str()) || numbered("com") || numbered("lpt") => {
            Some("some systems reserve this name for a device")
        }
        _ => None,
    }
}

/// Whether a text is a media type without parameters, such as `text/markdown`.
pub fn is_media_type(text: &str) -> bool {
    let token = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"!#$&^_.+-".contains(&b))
    };
    text.len() <= 100 && text.split_once('/').is_some_and(|(kind, sub)| token(kind) && token(sub))
}

/// Whether a text is a SHA-256 hash in lower-case hexadecimal digits.
pub fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_file_names() {
        for good in
            ["report.md", "Ünïcode 🦀.txt", "a", "archive.tar.gz", "no extension", "common.txt", "com10", "%2e%2e"]
        {
            assert_eq!(name_trouble(good), None, "{good}");
        }
        for bad in [
            "../x",
            "a/b",
            "..",
            ".",
            ".bashrc",
            "/etc/passwd",
            "\\\\host\\share",
            "C:\\x",
            "c:x",
            "a\\b",
            "-rf",
            "a.",
            "a ",
            " a",
            "NUL",
            "con.txt",
            "COM1",
            "lpt9.log",
            "a?b",
            "a*b",
            "x\"y",
        ] {
            assert!(name_trouble(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn media_types_have_two_plain_parts() {
        for good in ["text/plain", "image/svg+xml", "application/vnd.ms-excel"] {
            assert!(is_media_type(good), "{good}");
        }
        for bad in ["", "text", "text/", "/plain", "text/html; charset=utf-8", "Text/Plain", "a/b/c", "a/b\r\nx: y"] {
            assert!(!is_media_type(bad), "{bad}");
        }
    }

    #[test]
    fn hashes_have_one_spelling() {
        assert!(is_sha256(&"0a".repeat(32)));
        for bad in [String::new(), "0A".repeat(32), "0a".repeat(31), "0g".repeat(32), "../".repeat(22)] {
            assert!(!is_sha256(&bad), "{bad}");
        }
    }
}
