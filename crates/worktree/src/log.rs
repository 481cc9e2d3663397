//! The output of a shell command, in a file that keeps its end.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// A larger log is cut.
const MOST: u64 = 16 << 20;
/// How much of its end to keep.
const KEPT: usize = 1 << 20;
/// Marks left-out output.
const LEFT_OUT: &[u8] = b"(earlier output was left out)\n";

/// The log of one run; replaces that of an earlier one.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    path: PathBuf,
}

impl Log {
    pub(crate) fn begin(path: &Path) -> Result<Self> {
        // Appending, so that the writer continues at the end after a cut.
        let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path);
        let file = file.and_then(|file| file.set_len(0).map(|()| file)).map_err(Error::io("open", path))?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// The file, for a process to write to.
    pub(crate) fn file(&self) -> Result<File> {
        self.file.try_clone().map_err(Error::io("share", &self.path))
    }

    /// Drops the beginning if the log is too large.
    pub(crate) fn cut(&self) -> Result<()> {
        let cut = || {
            let size = self.file.metadata()?.len();
            if size <= MOST {
                return Ok(());
            }
            let mut end = vec![0; KEPT];
            self.file.read_exact_at(&mut end, size - KEPT as u64)?;
            let whole_lines = end.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            self.file.set_len(0)?;
            (&self.file).write_all(&[LEFT_OUT, &end[whole_lines..]].concat())
        };
        cut().map_err(Error::io("shorten", &self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_growing_log_keeps_its_last_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("setup.log");
        std::fs::write(&path, "of an earlier run\n").unwrap();
        let log = Log::begin(&path).unwrap();
        let mut process = log.file().unwrap();
        process.write_all(b"short\n").unwrap();
        log.cut().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "short\n");
        process.write_all(&b"0123456789abcde\n".repeat((MOST >> 4) as usize)).unwrap();
        process.write_all(b"last\n").unwrap();
        log.cut().unwrap();
        process.write_all(b"more\n").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("(earlier output was left out)\n0123456789abcde\n"), "{:?}", &text[..80]);
        assert!(text.ends_with("abcde\nlast\nmore\n") && text.len() <= KEPT + 100, "{}", text.len());
    }
}
