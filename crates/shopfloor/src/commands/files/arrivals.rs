//! Reading what somebody else writes: whole, half, or never.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Desk, Trouble};
use crate::Failure;

/// A larger file is no task and no report.
const LARGEST: u64 = 8 * 1024 * 1024;
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
        if !looks.is_file() {
            self.complain(path, "it is not a plain file")?;
            return Ok(None);
        }
        if looks.len() > LARGEST {
            self.complain(path, &format!("it has more than {LARGEST} bytes: split it"))?;
            return Ok(None);
        }
        let lines = path.extension().is_none_or(|end| end != "json");
        if lines && still < STILL {
            return Ok(None);
        }
        Ok(fs::read(path).ok())
    }

    /// Says beside a file what is wrong with it, once it has not changed for a while.
    pub(super) fn complain(&mut self, path: &Path, why: &str) -> Result<(), Failure> {
        if !self.settling.is_time_to_tell(path) {
            return Ok(());
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text =
            format!("{name} was not taken.\n\n{}\n\nCorrect it; it is read again when it changes.\n", why.trim());
        self.tree.write(&beside(path, "error"), &text)?;
        self.out.note(&format!("{}: {}", path.display(), why.lines().next().unwrap_or_default()));
        Ok(())
    }

    /// Forgets what is gone from a folder, and takes away what was said about it: it was corrected elsewhere, or given up.
    pub(super) fn keep_only(&mut self, folder: &Path, there: &[PathBuf]) -> Result<(), Failure> {
        self.settling.keep_only(folder, there);
        let said: HashSet<PathBuf> = there.iter().map(|path| beside(path, "error")).collect();
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let note = path.to_str().is_some_and(|name| name.ends_with(".error.txt")) && !said.contains(&path);
            // Only a note of ours: somebody may keep a file of that name.
            if note && fs::read_to_string(&path).is_ok_and(|text| text.contains(" was not taken.\n")) {
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

/// `NAME.error.txt` for `NAME.json`.
pub(super) fn beside(path: &Path, what: &str) -> PathBuf {
    path.with_extension(format!("{what}.txt"))
}
