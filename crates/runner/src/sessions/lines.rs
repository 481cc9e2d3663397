//! Reads the lines that were added to a file.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::PathBuf;

/// Maximum bytes of one read.
const LOOK: u64 = 4 << 20;
/// Longer lines are skipped.
const LINE: usize = 16 << 20;

/// Follows a growing file of lines. An unfinished line is left for the next read.
#[derive(Debug)]
pub(super) struct Lines {
    pub(super) file: PathBuf,
    position: u64,
}

impl Lines {
    pub(super) fn new(file: PathBuf) -> Self {
        Self { file, position: 0 }
    }

    /// The new finished lines, and whether there are more.
    pub(super) fn look(&mut self) -> (Vec<String>, bool) {
        let mut lines = Vec::new();
        let Ok(mut file) = File::open(&self.file) else { return (lines, false) };
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        if length <= self.position || file.seek(SeekFrom::Start(self.position)).is_err() {
            return (lines, false);
        }
        let mut reader = BufReader::new(file);
        let began = self.position;
        let mut line = Vec::new();
        while self.position - began < LOOK {
            line.clear();
            match reader.read_until(b'\n', &mut line) {
                Ok(read) if read > 0 && line.ends_with(b"\n") => {
                    self.position += read as u64;
                    if line.len() <= LINE {
                        lines.push(String::from_utf8_lossy(&line).trim_end().to_owned());
                    }
                }
                _ => return (lines, false),
            }
        }
        (lines, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn finished_lines_come_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let mut lines = Lines::new(path.clone());
        assert_eq!(lines.look(), (vec![], false));
        let mut file = File::create(&path).unwrap();
        file.write_all(b"one\ntw").unwrap();
        assert_eq!(lines.look(), (vec!["one".to_owned()], false));
        assert_eq!(lines.look(), (vec![], false));
        file.write_all(b"o\nthree\n").unwrap();
        assert_eq!(lines.look(), (vec!["two".to_owned(), "three".to_owned()], false));
    }
}
