//! The recorded paths of one account's hubs and runners: data directories, databases and keys.
//!
//! A flag can name any folder. A runner hides the folders of hubs and runners that other processes started, so each of
//! them records its paths in one private file of the account, and runners read that file at every launch.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The default data folder, below the home.
pub(crate) const DATA: &str = ".local/share/shopfloor";

const FILE: &str = "places.json";
/// Names another folder for the file, for tests.
const FOLDER: &str = "SHOPFLOOR_PLACES";

/// Above this number, deleted paths are dropped.
const MOST: usize = 1000;

/// The value of an environment variable.
pub(crate) type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Records paths that no sandbox of this account may see, from the next launch on.
pub fn note_places(variable: Variable, paths: &[PathBuf]) -> io::Result<()> {
    let paths: Vec<PathBuf> = paths.iter().map(std::path::absolute).collect::<Result<_, _>>()?;
    for folder in folders(variable) {
        note_in(&folder, &paths)?;
    }
    Ok(())
}

/// All recorded paths.
pub fn noted_places(variable: Variable) -> Vec<PathBuf> {
    let account = agents::account_home().map(|home| home.join(DATA));
    let all: BTreeSet<PathBuf> =
        folders(variable).into_iter().chain(account).flat_map(|folder| read(&folder)).collect();
    all.into_iter().collect()
}

/// The files that this person's processes may read, or the one that a variable names.
fn folders(variable: Variable) -> BTreeSet<PathBuf> {
    let named = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(folder) = named(FOLDER) {
        return BTreeSet::from([folder]);
    }
    let home = named("HOME").or_else(agents::account_home).map(|home| home.join(DATA));
    named("XDG_DATA_HOME").map(|data| data.join("shopfloor")).into_iter().chain(home).collect()
}

fn note_in(folder: &Path, paths: &[PathBuf]) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let private =
        |name: &str| File::options().write(true).create(true).truncate(true).mode(0o600).open(folder.join(name));
    let lock = private(&format!("{FILE}.lock"))?;
    lock.lock()?;
    let mut all = read(folder);
    // Never record the root: hiding it would leave nothing.
    all.extend(paths.iter().filter(|path| path.parent().is_some()).cloned());
    if all == read(folder) {
        return Ok(());
    }
    if all.len() > MOST {
        all.retain(|path| path.exists() || paths.contains(path));
    }
    let fresh = format!("{FILE}.new");
    let mut file = private(&fresh)?;
    file.write_all(&serde_json::to_vec(&all)?)?;
    file.sync_all()?;
    std::fs::rename(folder.join(&fresh), folder.join(FILE))
}

fn read(folder: &Path) -> BTreeSet<PathBuf> {
    let path = folder.join(FILE);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return BTreeSet::new(),
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "could not read the recorded paths of hubs and runners");
            return BTreeSet::new();
        }
    };
    serde_json::from_slice(&bytes).unwrap_or_else(|error| {
        tracing::warn!(path = %path.display(), %error, "could not parse the recorded paths of hubs and runners");
        BTreeSet::new()
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn paths_recorded_by_several_processes_are_read_by_each() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().display().to_string();
        let variable = |name: &str| (name == "HOME").then(|| home.clone());
        std::thread::scope(|scope| {
            for number in 0..8 {
                scope.spawn(move || note_places(&variable, &[format!("/srv/hub{number}").into(), "/".into()]).unwrap());
            }
        });
        let noted = noted_places(&variable);
        for number in 0..8 {
            assert!(noted.contains(&format!("/srv/hub{number}").into()), "{noted:?}");
        }
        assert!(!noted.contains(&"/".into()), "hiding the root would leave nothing");
        let mode = place.path().join(DATA).join(FILE).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "only its owner can read the file");
    }

    #[test]
    fn a_variable_moves_the_file_out_of_the_home() {
        let place = tempfile::tempdir().unwrap();
        let (home, kept) = (place.path().join("home"), place.path().join("kept"));
        let variable = |name: &str| match name {
            "HOME" => Some(home.display().to_string()),
            FOLDER => Some(kept.display().to_string()),
            _ => None,
        };
        note_places(&variable, &["/srv/hub".into()]).unwrap();
        assert!(noted_places(&variable).contains(&"/srv/hub".into()));
        assert!(kept.join(FILE).exists() && !home.exists());
    }

    #[test]
    fn deleted_paths_are_dropped_only_when_there_are_too_many() {
        let place = tempfile::tempdir().unwrap();
        note_in(place.path(), &["/gone/before".into()]).unwrap();
        note_in(place.path(), &["/usr".into()]).unwrap();
        assert_eq!(read(place.path()).len(), 2, "an unmounted disk may be mounted again");
        let many: Vec<PathBuf> = (0..MOST).map(|number| format!("/gone/{number}").into()).collect();
        note_in(place.path(), &many).unwrap();
        note_in(place.path(), &["/bin".into()]).unwrap();
        assert_eq!(read(place.path()), BTreeSet::from(["/bin".into(), "/usr".into()]));
    }

    #[test]
    fn a_damaged_file_is_rewritten() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join(FILE), "[\"/half").unwrap();
        note_in(place.path(), &["/srv/hub".into()]).unwrap();
        assert_eq!(read(place.path()), BTreeSet::from(["/srv/hub".into()]));
    }
}
