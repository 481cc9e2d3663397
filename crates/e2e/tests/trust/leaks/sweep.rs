//! Looks for secrets byte by byte: in files and what is packed in them, in processes, in texts.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;

use super::shapes::needles;

/// How a zstd frame begins.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// What is looked for, by what it is.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    needles: Vec<(String, Vec<u8>)>,
    finder: OnceLock<AhoCorasick>,
    /// Where something was found.
    found: BTreeMap<String, Vec<String>>,
    /// How many places were looked at.
    pub(crate) looked: usize,
}

impl Sweep {
    pub(crate) fn add(&mut self, what: &str, value: &str) {
        assert!(value.trim().len() >= 8, "{what}: {value:?} is too short to be looked for");
        assert!(self.finder.get().is_none(), "everything is known before anything is looked at");
        self.needles.extend(needles(value).into_iter().map(|needle| (what.to_owned(), needle)));
    }

    /// What is in some bytes.
    pub(crate) fn hits(&self, bytes: &[u8]) -> Vec<String> {
        let needles = self.needles.iter().map(|(_, needle)| needle);
        let finder = self.finder.get_or_init(|| AhoCorasick::new(needles).unwrap());
        let found = finder.find_overlapping_iter(bytes).map(|hit| self.needles[hit.pattern()].0.clone());
        let mut found: Vec<String> = found.collect();
        found.sort();
        found.dedup();
        found
    }

    /// Looks at a text or a part of a process.
    pub(crate) fn bytes(&mut self, place: &str, bytes: &[u8]) {
        self.looked += 1;
        let hits = self.hits(bytes);
        if !hits.is_empty() {
            self.found.entry(place.to_owned()).or_default().extend(hits);
        }
    }

    /// Looks at every file below a folder, but for those that are there to hold a secret: these are for their owner only.
    pub(crate) fn folder(&mut self, root: &Path, may_hold: &[&str]) {
        for file in files(root) {
            let name = file.strip_prefix(root).unwrap().display().to_string();
            // It may be gone by now.
            let Ok(bytes) = std::fs::read(&file) else { continue };
            let ours = |pattern: &&&str| match pattern.split_once('*') {
                Some((start, end)) => name.starts_with(start) && name.ends_with(end),
                None => name == **pattern,
            };
            if may_hold.iter().find(ours).is_some() {
                let mode = std::fs::metadata(&file).map_or(0, |about| about.permissions().mode() & 0o777);
                assert!([0o600, 0].contains(&mode), "{name} holds a secret and has the mode {mode:o}");
                continue;
            }
            self.bytes(&name, &bytes);
            for (at, _) in bytes.windows(4).enumerate().filter(|(_, part)| *part == ZSTD) {
                self.bytes(&format!("{name}, unpacked at {at}"), &unpacked(&bytes[at..]));
            }
        }
    }

    /// Where something was found.
    pub(crate) fn places(&self) -> Vec<&str> {
        self.found.keys().map(String::as_str).collect()
    }

    /// Says where something was found.
    pub(crate) fn assert_nothing(&self) {
        assert!(
            self.found.is_empty(),
            "secrets were found in {} of {} places: {:#?}",
            self.found.len(),
            self.looked,
            self.found
        );
    }
}

/// The regular files below a folder; links are not followed.
fn files(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut waiting) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// The frame that begins here, as far as it is whole.
pub(crate) fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    if let Ok(decoder) = zstd::stream::read::Decoder::with_buffer(bytes) {
        // What was unpacked before a fault is looked at, too.
        let _ = decoder.single_frame().read_to_end(&mut out);
    }
    out
}

/// Everything that is packed in the files below a folder.
pub(crate) fn all_unpacked(root: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for bytes in files(root).iter().filter_map(|file| std::fs::read(file).ok()) {
        for (at, _) in bytes.windows(4).enumerate().filter(|(_, part)| *part == ZSTD) {
            all.extend(unpacked(&bytes[at..]));
        }
    }
    all
}
