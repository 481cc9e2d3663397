//! Reads files that others write: complete, half written, or invalid.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::door::Found;
use super::{Desk, Trouble};
use crate::Failure;

/// Longer names are refused: they could not get our prefixes and suffixes.
const LONGEST_NAME: usize = 200;
/// A file of lines may still grow; it is complete after this time without a change.
const STILL: Duration = Duration::from_secs(1);

impl Desk<'_> {
    /// The content of a file that somebody else wrote, once it seems complete.
    pub(super) fn arrived(&mut self, path: &Path) -> Result<Option<Vec<u8>>, Failure> {
        // Links are not followed: they could point at anything that this process can read.
        let Ok(looks) = fs::symlink_metadata(path) else { return Ok(None) };
        let still = self.settling.unchanged_for(path, &looks);
        if self.settling.was_told(path) {
            return Ok(None);
        }
        let name = path.file_name().unwrap_or_default();
        if name.len() > LONGEST_NAME || name.to_str().is_none() {
            self.complain(path, &format!("its name has more than {LONGEST_NAME} bytes, or is not UTF-8: rename it"))?;
            return Ok(None);
        }
        let lines = path.extension().is_none_or(|end| end != "json");
        if lines && still < STILL {
            return Ok(None);
        }
        match self.tree.read(path) {
            Found::File(bytes, _) => Ok(Some(bytes)),
            Found::Nothing => Ok(None),
            Found::Odd(why) => {
                self.complain(path, &why)?;
                Ok(None)
            }
        }
    }

    /// Writes `NAME.error.txt` for a file once it has not changed for a while.
    pub(super) fn complain(&mut self, path: &Path, why: &str) -> Result<(), Failure> {
        if !self.settling.is_time_to_tell(path) {
            return Ok(());
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = format!("{name} was refused.\n\n{}\n\nFix it; it is read again when it changes.\n", why.trim());
        // If that file cannot be written, at least standard error says it.
        let _ = self.tree.write(&beside(path, "error"), &text);
        self.out.note(&format!("{}: {}", path.display(), why.lines().next().unwrap_or_default()));
        Ok(())
    }

    /// Forgets files that are gone from a folder, and deletes our notes about them.
    pub(super) fn keep_only(&mut self, folder: &Path, there: &[PathBuf]) -> Result<(), Failure> {
        self.settling.keep_only(folder, there);
        let said: HashSet<PathBuf> = there.iter().map(|path| beside(path, "error")).collect();
        for path in self.tree.notes(folder)? {
            // Delete only our own note: somebody may keep a file of that name.
            let ours = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(" was refused.\n");
            if !said.contains(&path) && matches!(self.tree.read(&path), Found::File(bytes, _) if ours(&bytes)) {
                self.tree.remove(&path)?;
            }
        }
        Ok(())
    }

    /// A file was accepted: deletes the note about it.
    pub(super) fn taken_in(&mut self, path: &Path) -> Result<(), Trouble> {
        self.settling.forget(path);
        self.tree.remove(&beside(path, "error"))?;
        Ok(())
    }
}

/// `NAME.error.txt` for `NAME.json`; a name that is too long is cut.
pub(super) fn beside(path: &Path, what: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default();
    if stem.len() <= LONGEST_NAME && stem.to_str().is_some() {
        return path.with_extension(format!("{what}.txt"));
    }
    let short: String = stem.to_string_lossy().chars().take(LONGEST_NAME / 4).collect();
    path.with_file_name(format!("{short}.{what}.txt"))
}
