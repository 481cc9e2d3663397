//! The functions, methods and types that changed files differ in. A version of a file is parsed once.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use symbols::{Language, Limits, Symbols};

use crate::process::Input;
use crate::store::Store;
use crate::{Error, Result};

/// Most files of one description.
const MOST_FILES: usize = 200;
/// Longest file.
const LONGEST: usize = 512 * 1024;
/// Most text of one description that is parsed; versions that were parsed before do not count.
const MOST_TEXT: usize = 8 << 20;
/// Most time for parsing it.
const MOST_TIME: Duration = Duration::from_secs(2);
/// Folders of code that was copied, installed or generated.
const OTHERS_CODE: [&str; 7] = ["node_modules", "vendor", "third_party", "site-packages", "dist", "target", ".venv"];

/// Versions of files that were parsed, with the language they were read as; `None` has no symbols.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    known: HashMap<Version, Option<Arc<Symbols>>>,
    /// The versions of the description that is being made.
    used: BTreeSet<Version>,
    /// The time that parsing took since it was last asked for.
    spent: Duration,
}

/// A version of a file: the id of its content, and the name of the language.
type Version = (String, &'static str);

impl Parsed {
    /// Forgets versions that were not used since the last time.
    pub(crate) fn forget_unused(&mut self) {
        let used = std::mem::take(&mut self.used);
        self.known.retain(|version, _| used.contains(version));
    }

    /// The time that parsing took since the last time.
    pub(crate) fn spent(&mut self) -> Duration {
        std::mem::take(&mut self.spent)
    }

    /// The symbols in which two versions differ.
    pub(crate) fn changed(&self, pair: &Pair) -> Vec<symbols::Changed> {
        let of = |blob: &str| self.known.get(&(blob.to_owned(), pair.language.name))?.as_deref();
        match (of(&pair.before), of(&pair.after)) {
            (Some(before), Some(after)) => symbols::changed(before, after),
            _ => vec![],
        }
    }
}

/// Two versions of a file.
#[derive(Debug)]
pub(crate) struct Pair {
    language: &'static Language,
    before: String,
    after: String,
}

impl Pair {
    /// The versions of a file, by its paths and the ids of its contents; `None` if its symbols are not looked for.
    pub(crate) fn of(from: &Path, path: &Path, (before, after): (&str, &str)) -> Option<Self> {
        let language =
            Language::of(path).filter(|language| Language::of(from).is_some_and(|old| old.name == language.name));
        let others = |folder: std::path::Component<'_>| OTHERS_CODE.iter().any(|name| folder.as_os_str() == *name);
        if path.components().any(others) {
            return None;
        }
        Some(Self { language: language?, before: before.to_owned(), after: after.to_owned() })
    }
}

impl Store {
    /// Parses versions that are not known, within the limits.
    pub(crate) async fn parse(&self, pairs: &[Pair], parsed: &mut Parsed) -> Result<()> {
        let versions = pairs.iter().take(MOST_FILES).flat_map(|pair| [(&pair.before, pair), (&pair.after, pair)]);
        let mut unknown: Vec<(String, &'static Language)> = Vec::new();
        for (blob, pair) in versions {
            let version = (blob.clone(), pair.language.name);
            if parsed.used.insert(version.clone()) && !parsed.known.contains_key(&version) {
                unknown.push((version.0, pair.language));
            }
        }
        if unknown.is_empty() {
            return Ok(());
        }
        let sizes = self.sizes(&unknown).await?;
        let mut room = MOST_TEXT;
        let mut wanted = Vec::new();
        for ((blob, language), size) in unknown.into_iter().zip(sizes) {
            if size > LONGEST {
                parsed.known.insert((blob, language.name), None);
            } else if let Some(left) = room.checked_sub(size) {
                room = left;
                wanted.push((blob, language));
            }
        }
        let texts = self.texts(&wanted).await?;
        let start = Instant::now();
        let found = tokio::task::spawn_blocking(move || read(wanted, &texts, start)).await;
        parsed.known.extend(found.unwrap_or_default());
        parsed.spent += start.elapsed();
        Ok(())
    }

    /// The lengths of contents.
    async fn sizes(&self, blobs: &[(String, &'static Language)]) -> Result<Vec<usize>> {
        let git = self.git("cat-file").args(["--batch-check=%(objectsize)"]).input(Input::Bytes(lines(blobs)));
        let told = git.run().await?;
        let told = String::from_utf8_lossy(&told);
        // What is missing has no size.
        Ok(told.lines().map(|line| line.parse().unwrap_or(usize::MAX)).collect())
    }

    /// The contents.
    async fn texts(&self, blobs: &[(String, &'static Language)]) -> Result<Vec<Vec<u8>>> {
        if blobs.is_empty() {
            return Ok(vec![]);
        }
        let git = self.git("cat-file").args(["--batch=%(objectsize)"]).input(Input::Bytes(lines(blobs)));
        let told = match git.limit(MOST_TEXT * 2).run().await {
            Ok(told) => told,
            Err(Error::TooMuch { .. }) => return Ok(vec![]),
            Err(error) => return Err(error),
        };
        Ok(contents(&told).unwrap_or_default())
    }
}

fn lines(blobs: &[(String, &'static Language)]) -> Vec<u8> {
    blobs.iter().flat_map(|(blob, _)| [blob.as_bytes(), b"\n"]).flatten().copied().collect()
}

/// Reads the answer of `cat-file --batch`: each content has its length before it and a line feed after it.
fn contents(mut told: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    while !told.is_empty() {
        let end = told.iter().position(|byte| *byte == b'\n')?;
        let size: usize = std::str::from_utf8(told.get(..end)?).ok()?.parse().ok()?;
        let from = end.checked_add(1)?;
        let to = from.checked_add(size)?;
        all.push(told.get(from..to)?.to_vec());
        told = told.get(to.checked_add(1)?..)?;
    }
    Some(all)
}

/// Parses texts, until it takes too long.
fn read(
    versions: Vec<(String, &'static Language)>,
    texts: &[Vec<u8>],
    start: Instant,
) -> Vec<(Version, Option<Arc<Symbols>>)> {
    let one = |((blob, language), text): ((String, &'static Language), &Vec<u8>)| {
        let left = MOST_TIME.checked_sub(start.elapsed())?;
        let limits = Limits { bytes: LONGEST, ..Limits::default() };
        let limits = Limits { time: limits.time.min(left), ..limits };
        Some(((blob, language.name), symbols::symbols(language, text, limits).map(Arc::new)))
    };
    versions.into_iter().zip(texts).map_while(one).collect()
}
