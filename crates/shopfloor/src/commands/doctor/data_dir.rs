//! Whether others can read the data directory.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::Check;
use crate::commands::words::counted;

const NAME: &str = "data directory";

/// Checks the directory and its files.
pub(crate) fn check(dir: &Path) -> Vec<Check> {
    let shown = dir.display();
    let metadata = match std::fs::metadata(dir) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return vec![Check::ok(NAME, format!("{shown} will be created by `shopfloor up`"))];
        }
        Err(error) => {
            let advice = "make it readable for you, or choose another with --data-dir DIR";
            return vec![Check::missing(NAME, format!("{shown} cannot be read: {error}"), advice).required()];
        }
    };
    if !metadata.is_dir() {
        let advice = "move it away, or choose another with --data-dir DIR";
        return vec![Check::missing(NAME, format!("{shown} is not a directory"), advice).required()];
    }
    let mode = metadata.permissions().mode() & 0o777;
    let directory = if mode & 0o077 == 0 {
        Check::ok(NAME, format!("only you can read {shown}"))
    } else {
        Check::warn(NAME, format!("{shown} has mode {mode:04o}: others can read it"), format!("chmod 700 {shown}"))
    };
    let mut checks = vec![directory];
    checks.extend(check_files(dir));
    checks
}

fn check_files(dir: &Path) -> Option<Check> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => {
            let detail = format!("the files in {} cannot be listed: {error}", dir.display());
            return Some(Check::missing("files", detail, "make the directory readable for you").required());
        }
    };
    let open = |entry: &std::fs::DirEntry| {
        entry.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o077 != 0)
    };
    let mut names: Vec<String> =
        entries.filter_map(Result::ok).filter(open).map(|entry| entry.path().display().to_string()).collect();
    names.sort();
    match names.is_empty() {
        true => None,
        false => {
            let detail = format!("others can read {} in it", counted(names.len(), "file", "files"));
            Some(Check::warn("files", detail, format!("chmod 600 {}", names.join(" "))))
        }
    }
}
