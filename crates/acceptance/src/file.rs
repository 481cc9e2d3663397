//! Whether a file is there, and its content within limits.

use std::io::Read;

use worktree::{Found, Root};

use crate::place::find;
use crate::verdict::{Verdict, name};

/// A larger file is not looked into.
const LARGEST: u64 = 16 << 20;
/// How much is read to find something other than blanks.
const GLANCE: u64 = 64 << 10;

/// A file that is there and not empty.
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
}

/// Whether a file is there, inside the workspace, and not empty.
pub(crate) fn exists(root: &Root, path: &str) -> Verdict {
    let shown = name(path);
    let (file, size) = match open(root, path) {
        Ok(found) => found,
        Err(why) => return Verdict::Not(why),
    };
    let mut first = Vec::new();
    if let Err(error) = file.take(GLANCE).read_to_end(&mut first) {
        return Verdict::Not(format!("{shown} cannot be read: {error}"));
    }
    let blank = first.iter().all(u8::is_ascii_whitespace) && size <= GLANCE;
    if blank {
        Verdict::Not(format!("{shown} has nothing in it but blanks"))
    } else {
        Verdict::Met(format!("{shown} is there, with {size} bytes"))
    }
}

/// All of a file's bytes; why they cannot be had, otherwise.
pub(crate) fn read(root: &Root, path: &str) -> Result<Content, String> {
    let shown = name(path);
    let (file, size) = open(root, path)?;
    let too_large = || format!("{shown} has {size} bytes: more than {LARGEST} are not looked into; make it smaller");
    if size > LARGEST {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| format!("{shown} cannot be read: {error}"))?;
    if bytes.len() as u64 > LARGEST { Err(too_large()) } else { Ok(Content { bytes }) }
}

fn open(root: &Root, path: &str) -> Result<(std::fs::File, u64), String> {
    let shown = name(path);
    match find(root, path)?.found {
        Found::File { size: 0, .. } => Err(format!("{shown} is empty")),
        Found::File { file, size, .. } => Ok((file, size)),
        Found::Folder => Err(format!("{shown} is a folder, not a file")),
        Found::Special => Err(format!("{shown} is a pipe, socket or device, not a file")),
        Found::Nothing | Found::Link(_) => Err(format!("{shown} is not there")),
    }
}
