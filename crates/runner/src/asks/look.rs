//! What is at a path on this machine, for the runner's owner who names a repository.
//!
//! Reads only, in bounded size. The folders of hubs and runners, and those of the system's own state, do not exist here.

use std::path::{Component, Path, PathBuf};

use protocol::{FolderSeen, PathSeen, Problem, ProblemKind, RepositorySeen};
use worktree::is_repository;

use super::{Asks, on_a_thread};
use crate::hidden::ours;
use crate::workspaces::problem;

/// How many folders to list.
const FOLDERS: usize = 50;
/// How many entries of a folder to read.
const ENTRIES: usize = 20_000;
/// The system's own state: no repository is there.
const SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];

impl Asks {
    /// What is at a path.
    pub(super) async fn look(&self, path: &str) -> Result<PathSeen, Problem> {
        let home = self.machine.person.get("HOME").map(String::as_str);
        let typed = absolute(path, home).map_err(|why| Problem::new(ProblemKind::Invalid, why))?;
        let machine = self.machine.clone();
        let (mut seen, root) = on_a_thread(move || {
            let closed = Closed::of(ours(&machine.options, &machine.person));
            Ok(look(&typed, &closed))
        })
        .await?;
        let Some(root) = root else { return Ok(seen) };
        match worktree::look(&root).await {
            Ok(looked) => {
                seen.repository = Some(RepositorySeen {
                    root: text(&root),
                    branches: looked.branches,
                    default_branch: looked.default_branch,
                });
            }
            Err(error) => seen.problem = Some(problem(error).detail),
        }
        Ok(seen)
    }
}

/// What was typed, as a path on this machine. It keeps a final `/`, which asks for the folders inside.
fn absolute(path: &str, home: Option<&str>) -> Result<String, &'static str> {
    let path = path.trim_start();
    let at_home = |below: &str| home.map(|home| format!("{}/{below}", home.trim_end_matches('/')));
    let typed = match path.strip_prefix('~') {
        _ if path.is_empty() => at_home(""),
        Some(below) if below.is_empty() || below.starts_with('/') => at_home(below.trim_start_matches('/')),
        _ => Some(path.to_owned()),
    };
    let typed = typed.filter(|typed| typed.starts_with('/'));
    let typed = typed.ok_or("write the whole path, such as /home/ann/app or ~/app")?;
    if Path::new(&typed).components().any(|part| part == Component::ParentDir) {
        return Err("a path must not contain ..");
    }
    Ok(typed)
}

/// Folders that nobody may look into, by their real paths.
struct Closed(Vec<PathBuf>);

impl Closed {
    fn of(ours: Vec<PathBuf>) -> Self {
        let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
        Self(ours.into_iter().chain(SYSTEM.map(PathBuf::from)).map(real).collect())
    }

    /// The real path of an open folder. A link is judged by its target.
    fn open(&self, path: &Path) -> Option<PathBuf> {
        let real = path.canonicalize().ok().filter(|real| real.is_dir())?;
        let closed = self.0.iter().any(|closed| real.starts_with(closed));
        (!closed).then_some(real)
    }
}

/// What is at a path, and the root of the repository that it is in.
fn look(typed: &str, closed: &Closed) -> (PathSeen, Option<PathBuf>) {
    let path: PathBuf = Path::new(typed).components().collect();
    let real = closed.open(&path);
    let root = real.as_deref().and_then(|real| real.ancestors().find(|folder| is_repository(folder)));
    let (folders, more) = complete(typed, closed);
    // A link to a repository keeps its own name.
    let root = root.map(|root| if real.as_deref() == Some(root) { path.clone() } else { root.to_owned() });
    let seen = PathSeen { path: text(&path), exists: real.is_some(), repository: None, folders, more, problem: None };
    (seen, root)
}

/// The folders whose paths begin with what was typed, by name; and whether there are more.
fn complete(typed: &str, closed: &Closed) -> (Vec<FolderSeen>, bool) {
    let (above, start) = typed.rsplit_once('/').unwrap_or(("", typed));
    let above = PathBuf::from(if above.is_empty() { "/" } else { above });
    if closed.open(&above).is_none() {
        return (Vec::new(), false);
    }
    let entries = std::fs::read_dir(&above).into_iter().flatten().take(ENTRIES).flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_symlink()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with(start) && (start.starts_with('.') || !name.starts_with('.')))
        .filter(|name| !name.chars().any(char::is_control))
        .collect();
    names.sort();
    let mut open = names.into_iter().map(|name| above.join(name)).filter(|path| closed.open(path).is_some());
    let folders = open.by_ref().take(FOLDERS);
    let folders = folders.map(|path| FolderSeen { repository: is_repository(&path), path: text(&path) }).collect();
    (folders, open.next().is_some())
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs::create_dir_all;
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(seen: &PathSeen) -> Vec<&str> {
        seen.folders.iter().map(|folder| folder.path.rsplit('/').next().unwrap_or_default()).collect()
    }

    #[test]
    fn a_typed_path_becomes_absolute() {
        let home = Some("/home/ann/");
        for (typed, path) in
            [("", "/home/ann/"), ("~", "/home/ann/"), ("~/ap", "/home/ann/ap"), ("/srv/", "/srv/"), (" /srv", "/srv")]
        {
            assert_eq!(absolute(typed, home), Ok(path.to_owned()), "{typed}");
        }
        for typed in ["app", "./app", "~bo/app", "/srv/../etc", "https://example.org/x"] {
            assert!(absolute(typed, home).is_err(), "{typed}");
        }
    }

    #[test]
    fn folders_are_completed_and_a_repository_is_found_from_inside() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for folder in ["app/.git", "app/src", "apple", ".hidden", "other"] {
            create_dir_all(at(folder)).unwrap();
        }
        std::fs::write(at("apart"), "a file").unwrap();
        let closed = Closed::of(vec![]);
        let (seen, root) = look(&text(&at("ap")), &closed);
        assert_eq!((names(&seen), seen.exists, root), (vec!["app", "apple"], false, None));
        assert!(seen.folders[0].repository && !seen.folders[1].repository);
        let (seen, root) = look(&text(&at("app/src")), &closed);
        assert!(seen.exists && root.is_some_and(|root| root.ends_with("app")));
        assert_eq!(names(&look(&format!("{}/", text(place.path())), &closed).0), ["app", "apple", "other"]);
        assert_eq!(names(&look(&text(&at(".h")), &closed).0), [".hidden"]);
    }

    #[test]
    fn closed_folders_do_not_exist_through_links_either() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        create_dir_all(at("hub/runner")).unwrap();
        create_dir_all(at("code")).unwrap();
        symlink(at("hub"), at("code/way")).unwrap();
        symlink("/proc", at("code/system")).unwrap();
        let closed = Closed::of(vec![at("hub")]);
        for path in ["hub", "hub/", "hub/r", "code/way", "code/way/", "code/way/r", "code/system/"] {
            let (seen, root) = look(&text(&at(path)), &closed);
            assert!(!seen.exists && seen.folders.is_empty() && root.is_none(), "{path}: {seen:?}");
        }
        assert!(names(&look(&text(&at("code/")), &closed).0).is_empty());
    }

    #[test]
    fn a_long_list_is_cut() {
        let place = tempfile::tempdir().unwrap();
        for number in 0..=FOLDERS {
            create_dir_all(place.path().join(format!("f{number:03}"))).unwrap();
        }
        let (seen, _) = look(&format!("{}/f", text(place.path())), &Closed::of(vec![]));
        assert_eq!((seen.folders.len(), seen.more), (FOLDERS, true));
    }
}
