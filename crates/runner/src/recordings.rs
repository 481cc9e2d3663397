//! What recordings take on the disk.

use std::path::Path;

/// How large a recording is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) output_bytes: u64,
    pub(crate) disk_bytes: u64,
    pub(crate) duration_ms: u64,
}

/// How large the recording of the session in `dir` is. Reads folders: not for an async thread.
pub(crate) fn size(dir: &Path) -> Size {
    let files = std::fs::read_dir(terminal::Files::new(dir).recording()).into_iter().flatten().flatten();
    let disk_bytes = files.filter_map(|file| Some(file.metadata().ok()?.len())).sum();
    Size { disk_bytes, ..Size::default() }
}
