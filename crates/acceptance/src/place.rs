//! Finds a file of the workspace by its path; follows links only inside the workspace.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use worktree::{Found, Root};

use crate::verdict::name;

/// More links than this on one path are a loop.
const MOST_LINKS: usize = 32;
const LONGEST: usize = 4096;

/// The end of a path.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) found: Found,
    /// The links on the way, then the target.
    pub(crate) names: Vec<PathBuf>,
}

/// Why a path leads nowhere.
#[derive(Debug)]
struct Astray {
    why: String,
    /// Whether it would lead out of the workspace.
    out: bool,
}

impl From<String> for Astray {
    fn from(why: String) -> Self {
        Self { why, out: false }
    }
}

/// Resolves a path of the workspace, with its links; an error says why it cannot.
pub(crate) fn find(root: &Root, path: &str) -> Result<Place, String> {
    follow(root, Path::new(path)).map_err(|astray| astray.why)
}

/// Resolves a link in the workspace; an error says why it must not be followed.
pub(crate) fn leads_out(root: &Root, at: &Path) -> Option<String> {
    match root.look(at) {
        Ok(Found::Link(_)) => follow(root, at).err().filter(|astray| astray.out).map(|astray| astray.why),
        _ => None,
    }
}

fn follow(root: &Root, path: &Path) -> Result<Place, Astray> {
    let shown = name(path);
    let mut left = parts(path).map_err(|why| format!("{shown} is not a path in the workspace: {why}"))?;
    left.reverse();
    let (mut at, mut names) = (PathBuf::new(), Vec::new());
    let look = |at: &Path| root.look(at).map_err(|error| format!("could not read {shown}: {error}"));
    while let Some(part) = left.pop() {
        match part {
            Part::Up => {
                if !at.pop() {
                    return Err(Astray { why: format!("{shown} is outside the workspace, through a link"), out: true });
                }
            }
            Part::Down(part) => {
                at.push(part);
                if at.iter().next().is_some_and(|first| first.eq_ignore_ascii_case(".git")) {
                    return Err(format!("{shown} is in .git, which is not part of the work").into());
                }
                match look(&at)? {
                    Found::Link(target) => {
                        names.push(at.clone());
                        if names.len() > MOST_LINKS {
                            return Err(format!("{shown} is a loop of links").into());
                        }
                        let behind = behind(&at, target);
                        let behind = behind.map_err(|why| Astray { why: format!("{shown}: {why}"), out: true })?;
                        left.extend(behind.into_iter().rev());
                        at.pop();
                    }
                    Found::Folder => {}
                    found if left.is_empty() => {
                        names.push(at);
                        return Ok(Place { found, names });
                    }
                    Found::Nothing => return Ok(Place { found: Found::Nothing, names }),
                    _ => return Err(format!("{shown} does not exist: {} is not a folder", name(&at)).into()),
                }
            }
        }
    }
    // All other cases returned above.
    Ok(Place { found: Found::Folder, names })
}

#[derive(Debug)]
enum Part {
    Down(OsString),
    Up,
}

/// The parts of a criterion's path: relative, and inside the workspace.
fn parts(path: &Path) -> Result<Vec<Part>, &'static str> {
    let bytes = path.as_os_str().as_encoded_bytes();
    if bytes.contains(&0) || bytes.len() > LONGEST {
        return Err("it is too long, or contains a NUL character");
    }
    let mut parts = Vec::new();
    for part in path.components() {
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
    let out = || format!("{} is a link to {}, outside the workspace", name(at), name(&target));
    let part = |part| match part {
        Component::Normal(part) => Ok(Some(Part::Down(OsString::from(part)))),
        Component::CurDir => Ok(None),
        Component::ParentDir => Ok(Some(Part::Up)),
        Component::RootDir | Component::Prefix(_) => Err(out()),
    };
    target.components().filter_map(|component| part(component).transpose()).collect()
}
