//! Reading what somebody else writes: whole, half, or never.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::door::Found;
use super::{Desk, Trouble};
use crate::Failure;

/// A file with a longer name cannot be kept: what it is for is put before its name, or behind it.
const LONGEST_NAME: usize = 200;
/// A list on lines may go on; it is whole when nothing came for this long.
const STILL: Duration = Duration::from_secs(1);

impl Desk<'_> {
    /// The bytes of a file that somebody wrote, once it seems to be whole.
    pub(super) fn arrived(&mut self, path: &Path) -> Result<Option<Vec<u8>>, Failure> {
        // Not followed: a link could name anything that this process can read.
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

    /// Says beside a file what is wrong with it, once it has not changed for a while.
    pub(super) fn complain(&mut self, path: &Path, why: &str) -> Result<(), Failure> {
        if !self.settling.is_time_to_tell(path) {
            return Ok(());
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text =
            format!("{name} was not taken.\n\n{}\n\nCorrect it; it is read again when it changes.\n", why.trim());
        // Where nothing can be written beside it, whoever looks at the process is told at least.
        let _ = self.tree.write(&beside(path, "error"), &text);
        self.out.note(&format!("{}: {}", path.display(), why.lines().next().unwrap_or_default()));
        Ok(())
    }

    /// Forgets what is gone from a folder, and takes away what was said about it: it was corrected elsewhere, or given up.
    pub(super) fn keep_only(&mut self, folder: &Path, there: &[PathBuf]) -> Result<(), Failure> {
        self.settling.keep_only(folder, there);
        let said: HashSet<PathBuf> = there.iter().map(|path| beside(path, "error")).collect();
        for path in self.tree.notes(folder)? {
            // Only a note of ours: somebody may keep a file of that name.
            let ours = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(" was not taken.\n");
            if !said.contains(&path) && matches!(self.tree.read(&path), Found::File(bytes, _) if ours(&bytes)) {
                self.tree.remove(&path)?;
            }
        }
        Ok(())
    }

    /// A file was taken: what was said about it is not true any more.
    pub(super) fn taken_in(&mut self, path: &Path) -> Result<(), Trouble> {
        self.settling.forget(path);
        self.tree.remove(&beside(path, "error"))?;
        Ok(())
    }
}

/// `NAME.error.txt` for `NAME.json`; of a name that is too long for that, its beginning.
pub(super) fn beside(path: &Path, what: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default();
    if stem.len() <= LONGEST_NAME && stem.to_str().is_some() {
        return path.with_extension(format!("{what}.txt"));
    }
    let short: String = stem.to_string_lossy().chars().take(LONGEST_NAME / 4).collect();
    path.with_file_name(format!("{short}.{what}.txt"))
}
