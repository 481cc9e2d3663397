//! The person's own editor, on a temporary file.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;

/// The editor if none is set.
const USUAL: &str = "vi";

/// Opens `text` in the person's editor, in a file that only they can read; the text after they closed it.
pub(crate) fn edit(name: &str, text: &str) -> Result<String, Failure> {
    let file = Temporary::new(name, text)?;
    let program =
        ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok().filter(|set| !set.trim().is_empty()));
    let program = program.unwrap_or_else(|| USUAL.to_owned());
    // Editors are set with arguments, such as `code --wait`.
    let mut words = program.split_whitespace();
    let Some(first) = words.next() else { return Err(Failure::usage("no editor is set").advise("set EDITOR")) };
    let ended = Command::new(first).args(words).arg(&file.path).status();
    let ended = ended.map_err(|error| {
        Failure::other(format!("could not start the editor `{program}`: {error}")).advise("set EDITOR")
    })?;
    if !ended.success() {
        return Err(Failure::other(format!("the editor `{program}` failed: nothing was changed")));
    }
    fs::read_to_string(&file.path).map_err(|error| Failure::other(format!("could not read the edited text: {error}")))
}

/// A file that is deleted with its folder.
struct Temporary {
    folder: PathBuf,
    path: PathBuf,
}

impl Temporary {
    fn new(name: &str, text: &str) -> Result<Self, Failure> {
        let folder = std::env::temp_dir().join(format!("shopfloor-{}", domain::TaskId::generate()));
        let made = Self { path: folder.join(name), folder };
        made.write(text).map_err(|error| Failure::other(format!("could not write a temporary file: {error}")))?;
        Ok(made)
    }

    fn write(&self, text: &str) -> std::io::Result<()> {
        fs::create_dir(&self.folder)?;
        private(&self.folder)?;
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.path)?;
        file.write_all(text.as_bytes())
    }
}

fn private(folder: &Path) -> std::io::Result<()> {
    fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // The system cleans what cannot be deleted.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
