//! Free text on the command line: as an argument, from a file, or from standard input.

use std::io::Read;
use std::path::PathBuf;

use clap::Args;

use crate::Failure;

/// More than any text may have, to bound memory; the hub refuses long texts.
const LIMIT: u64 = 1024 * 1024;

/// Free text.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TextArg {
    /// The text; `-` reads standard input
    text: Option<String>,
    /// Read the text from this file
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    file: Option<PathBuf>,
}

impl TextArg {
    /// A text given as an option; `-` reads standard input.
    pub(crate) fn of(text: String) -> Self {
        Self { text: Some(text), file: None }
    }

    /// A text or a file; `-` reads standard input.
    pub(crate) fn from_parts(text: Option<String>, file: Option<PathBuf>) -> Self {
        Self { text, file }
    }

    /// The text, if given.
    pub(crate) fn read(&self) -> Result<Option<String>, Failure> {
        match (&self.text, &self.file) {
            (Some(text), _) if text == "-" => read_all(std::io::stdin().lock(), "standard input").map(Some),
            (Some(text), _) => Ok(Some(text.clone())),
            (None, Some(path)) => {
                let shown = path.display().to_string();
                let file = std::fs::File::open(path)
                    .map_err(|error| Failure::usage(format!("could not open {shown}: {error}")))?;
                read_all(file, &shown).map(Some)
            }
            (None, None) => Ok(None),
        }
    }

    /// The text, which is required.
    pub(crate) fn required(&self) -> Result<String, Failure> {
        self.read()?.ok_or_else(|| {
            Failure::usage("missing text").advise("pass the text, `-` for standard input, or --file FILE")
        })
    }
}

/// Reads a whole file; `-` is standard input.
pub(crate) fn read_prompt(path: &std::path::Path) -> Result<String, Failure> {
    let (text, file) = match path.to_str() {
        Some("-") => (Some("-".to_owned()), None),
        _ => (None, Some(path.to_owned())),
    };
    TextArg { text, file }.required()
}

fn read_all(source: impl Read, name: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    source
        .take(LIMIT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::usage(format!("could not read {name}: {error}")))?;
    if bytes.len() as u64 > LIMIT {
        return Err(Failure::usage(format!("{name} has more than {LIMIT} bytes")));
    }
    let mut text = String::from_utf8(bytes)
        .map_err(|error| Failure::usage(format!("{name} is not UTF-8: {}", error.utf8_error())))?;
    // Drop the line break that ends the file.
    if text.ends_with('\n') {
        text.pop();
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_without_its_last_line_break() {
        assert_eq!(read_all(&b"a\nb\n"[..], "x").unwrap(), "a\nb");
        assert!(read_all(&b"\xff"[..], "x").unwrap_err().render(false).contains("x is not UTF-8"));
        assert!(read_all(std::io::repeat(b'a'), "x").is_err());
        assert!(TextArg::default().required().is_err());
    }
}
