//! Finds programs like the person's shell, but never in a folder that a workspace could choose.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A program by its name, in the absolute folders of the person's `PATH`.
pub(crate) fn find(program: &str, person: &BTreeMap<String, String>) -> Option<PathBuf> {
    let runs =
        |file: &PathBuf| file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|file| file.is_absolute() && runs(file));
    }
    let path = person.get("PATH")?;
    std::env::split_paths(path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(program)).find(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_folders_do_not_count() {
        let person = |path: &str| BTreeMap::from([("PATH".to_owned(), path.to_owned())]);
        assert_eq!(find("sh", &person("relative:/bin")), Some(PathBuf::from("/bin/sh")));
        assert_eq!(find("sh", &person("bin:.")), None);
        assert_eq!(find("bin/sh", &person("/")), None);
        assert_eq!(find("/bin/sh", &person("")), Some(PathBuf::from("/bin/sh")));
    }
}
