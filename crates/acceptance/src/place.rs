//! Finds a file of the workspace by its path; links are followed only as long as they stay inside.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use worktree::{Found, Root};

use crate::verdict::name;

/// More links than this on one path are a loop.
const MOST_LINKS: usize = 32;
const LONGEST: usize = 4096;

/// What is at a path of the workspace, with the links on the way resolved; why it cannot be, otherwise.
pub(crate) fn find(root: &Root, path: &str) -> Result<Found, String> {
    let shown = name(path);
    let mut left = parts(path).map_err(|why| format!("{shown} is no path in the workspace: {why}"))?;
    left.reverse();
    let mut at = PathBuf::new();
    let mut links = 0;
    while let Some(part) = left.pop() {
        match part {
            Part::Up => {
                if !at.pop() {
                    return Err(format!("{shown} leads out of the workspace by a link"));
                }
            }
            Part::Down(part) => {
                at.push(part);
                if at.iter().next().is_some_and(|first| first.eq_ignore_ascii_case(".git")) {
                    return Err(format!("{shown} is in .git, which is no part of the work"));
                }
                match root.look(&at).map_err(|error| format!("{shown} cannot be looked at: {error}"))? {
                    Found::Link(target) => {
                        links += 1;
                        if links > MOST_LINKS {
                            return Err(format!("{shown} is a loop of links"));
                        }
                        left.extend(behind(&at, target).map_err(|why| format!("{shown}: {why}"))?.into_iter().rev());
                        at.pop();
                    }
                    Found::Folder if left.is_empty() => return Ok(Found::Folder),
                    Found::Folder => {}
                    found if left.is_empty() => return Ok(found),
                    Found::Nothing => return Ok(Found::Nothing),
                    _ => return Err(format!("{shown} is not there: {} is not a folder", name(&at))),
                }
            }
        }
    }
    root.look(&at).map_err(|error| format!("{shown} cannot be looked at: {error}"))
}

/// Where a link at a path of the workspace leads; why it must not be followed, otherwise.
pub(crate) fn leads_out(root: &Root, at: &Path) -> Option<String> {
    match root.look(at) {
        Ok(Found::Link(_)) => match find(root, at.to_str()?) {
            Err(why) if why.contains("out of the workspace") => Some(why),
            _ => None,
        },
        _ => None,
    }
}

#[derive(Debug)]
enum Part {
    Down(OsString),
    Up,
}

/// The parts of a criterion's path: relative, and not out of the workspace.
fn parts(path: &str) -> Result<Vec<Part>, &'static str> {
    if path.contains('\0') || path.len() > LONGEST {
        return Err("it is too long, or has a NUL character");
    }
    let mut parts = Vec::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(part) => parts.push(Part::Down(part.to_owned())),
            Component::CurDir => {}
            Component::ParentDir => return Err("it must not contain `..`"),
            Component::RootDir | Component::Prefix(_) => return Err("it must be relative to the workspace"),
        }
    }
    if parts.is_empty() { Err("it is empty") } else { Ok(parts) }
}

/// The parts of a link's target.
fn behind(at: &Path, target: Vec<u8>) -> Result<Vec<Part>, String> {
    use std::os::unix::ffi::OsStringExt;
    let target = PathBuf::from(OsString::from_vec(target));
    let out = || format!("{} is a link to {}, out of the workspace", name(at), name(&target));
    let part = |part| match part {
        Component::Normal(part) => Ok(Some(Part::Down(OsString::from(part)))),
        Component::CurDir => Ok(None),
        Component::ParentDir => Ok(Some(Part::Up)),
        Component::RootDir | Component::Prefix(_) => Err(out()),
    };
    target.components().filter_map(|component| part(component).transpose()).collect()
}
