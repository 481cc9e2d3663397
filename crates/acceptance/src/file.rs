//! Whether a file exists, and its content within limits.

use std::io::Read;

use domain::text::counted;
use worktree::{Found, Root};

use crate::place::find;
use crate::verdict::{Verdict, name};

/// Larger files are not read.
const LARGEST: u64 = 16 << 20;
/// How much to read in search of a non-blank character.
const GLANCE: u64 = 64 << 10;

/// An existing file that is not empty.
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
}

/// Whether a file exists inside the workspace and is not empty.
pub(crate) fn exists(root: &Root, path: &str) -> Verdict {
    let shown = name(path);
    let (file, size) = match open(root, path) {
        Ok(found) => found,
        Err(why) => return Verdict::Not(why),
    };
    let mut first = Vec::new();
    if let Err(error) = file.take(GLANCE).read_to_end(&mut first) {
        return Verdict::Not(format!("could not read {shown}: {error}"));
    }
    let blank = first.iter().all(u8::is_ascii_whitespace) && size <= GLANCE;
    if blank {
        Verdict::Not(format!("{shown} contains only white space"))
    } else {
        Verdict::Met(format!("{shown} exists, with {}", counted(size, "byte", "bytes")))
    }
}

/// All bytes of a file, or why it is unreadable.
pub(crate) fn read(root: &Root, path: &str) -> Result<Content, String> {
    let shown = name(path);
    let (file, size) = open(root, path)?;
    let too_large =
        || format!("{shown} has {size} bytes; files above {LARGEST} bytes are not checked: make it smaller");
    if size > LARGEST {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| format!("could not read {shown}: {error}"))?;
    if bytes.len() as u64 > LARGEST { Err(too_large()) } else { Ok(Content { bytes }) }
}

fn open(root: &Root, path: &str) -> Result<(std::fs::File, u64), String> {
    let shown = name(path);
    match find(root, path)?.found {
        Found::File { size: 0, .. } => Err(format!("{shown} is empty")),
        Found::File { file, size, .. } => Ok((file, size)),
        Found::Folder => Err(format!("{shown} is a folder, not a file")),
        Found::Special => Err(format!("{shown} is a pipe, socket or device, not a file")),
        Found::Nothing | Found::Link(_) => Err(format!("{shown} does not exist")),
    }
}
