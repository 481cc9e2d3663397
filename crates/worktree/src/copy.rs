//! Copies ignored files (`.env`, local settings) into a new workspace or checkout, by patterns.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use rustix::fs::FileType;

use crate::beneath::{Found, Root, read_all};
use crate::create::{Plan, blocking};
use crate::error::printable;
use crate::layout::{Home, folder};
use crate::reserved::reserved;
use crate::{Error, Result, Worktrees};

const LARGEST: u64 = 16 << 20;
const MOST: usize = 2000;
const DEEPEST: usize = 12;

/// What was copied into a new workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Copied {
    /// The files that are there now.
    pub files: Vec<PathBuf>,
    /// What matched but was not copied, with the reason.
    pub left_out: Vec<(PathBuf, String)>,
}

impl Worktrees {
    pub(crate) async fn copy_in(&self, home: &Home, plan: &Plan) -> Result<Copied> {
        let from = plan.copy_from.as_deref().or_else(|| plan.location.as_ref().and_then(|location| location.path()));
        self.copy_from(from, &plan.copy, home).await
    }

    /// Copies what matches the patterns from a folder into a new checkout.
    pub(crate) async fn copy_from(&self, from: Option<&Path>, texts: &[String], home: &Home) -> Result<Copied> {
        let patterns = patterns(texts)?;
        let (Some(from), false) = (from, texts.is_empty()) else { return Ok(Copied::default()) };
        let (from, to) = (from.to_owned(), home.tree());
        blocking(move || {
            let root = Root::open(&from)?;
            let mut copied = Copied::default();
            walk(&root, (&root, Path::new(""), 0), false, &patterns, &to, &mut copied)?;
            Ok(copied)
        })
        .await
    }
}

/// Patterns are relative and stay inside: no `..`, no absolute path, nothing of a `.git`.
fn patterns(texts: &[String]) -> Result<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for text in texts {
        let refuse = |why: &str| Error::Pattern { pattern: printable(text), why: why.to_owned() };
        if text.is_empty() || text.len() > 256 {
            return Err(refuse("it is empty or longer than 256 characters"));
        }
        if text.chars().any(char::is_control) {
            return Err(refuse("it contains control characters"));
        }
        if !Path::new(text).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            return Err(refuse("it must be relative and without .."));
        }
        let text = text.trim_start_matches("./").trim_end_matches('/');
        let glob = GlobBuilder::new(text).literal_separator(true).build().map_err(|e| refuse(&e.kind().to_string()))?;
        set.add(glob);
    }
    set.build().map_err(|error| Error::Pattern { pattern: String::new(), why: error.to_string() })
}

/// Copies matching files; `named`: a folder above matched, and with it everything in it.
fn walk(
    root: &Root,
    (folder, path, depth): (&Root, &Path, usize),
    named: bool,
    patterns: &GlobSet,
    to: &Path,
    copied: &mut Copied,
) -> Result<()> {
    let entries = folder.entries().map_err(Error::io("list", path))?;
    for (name, kind) in entries {
        let name = OsStr::from_bytes(&name);
        if reserved(name, kind == FileType::Symlink) {
            continue;
        }
        let path = path.join(name);
        let matches = named || patterns.is_match(&path);
        match kind {
            FileType::Directory if depth < DEEPEST && !skipped(name) => {
                // It may be gone, or a link by now: then there is nothing to copy.
                if let Ok(below) = folder.folder(Path::new(name)) {
                    walk(root, (&below, &path, depth + 1), matches, patterns, to, copied)?;
                }
            }
            _ if !matches => {}
            _ if copied.files.len() >= MOST => copied.left_out.push((path, format!("only {MOST} files are copied"))),
            FileType::RegularFile => copy(root, &path, to, copied)?,
            _ => copied.left_out.push((path, "it is not a regular file; links are not followed".into())),
        }
    }
    Ok(())
}

/// Folders that are large and never contain settings.
fn skipped(name: &OsStr) -> bool {
    ["node_modules", "target", ".venv", "__pycache__"].iter().any(|skipped| name == *skipped)
}

fn copy(root: &Root, path: &Path, to: &Path, copied: &mut Copied) -> Result<()> {
    let bytes = match root.look(path) {
        Ok(Found::File { file, .. }) => read_all(file, LARGEST),
        Ok(_) => return Ok(()),
        Err(error) => Err(error),
    };
    match bytes {
        Ok(Some(bytes)) => {
            let target = to.join(path);
            folder(target.parent().unwrap_or(to))?;
            // Never overwrite a file of the repository; the folder is still ours alone.
            match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&target) {
                Ok(mut file) => {
                    file.write_all(&bytes).map_err(Error::io("write", &target))?;
                    copied.files.push(path.to_owned());
                }
                Err(error) => copied.left_out.push((path.to_owned(), error.to_string())),
            }
        }
        Ok(None) => copied.left_out.push((path.to_owned(), format!("it is larger than {LARGEST} bytes"))),
        Err(error) => copied.left_out.push((path.to_owned(), error.to_string())),
    }
    Ok(())
}
