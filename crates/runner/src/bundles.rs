//! Transfers work between runners: packs and receives bundles, in pieces that fit into frames.

use std::fs::{DirBuilder, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::WorkspaceId;
use protocol::link::{BUNDLE_PART, Bundle, BundlePart, MAX_BUNDLE};
use protocol::{Problem, ProblemKind};
use sha2::{Digest, Sha256};
use worktree::Worktrees;

use crate::folders::Folders;
use crate::workspaces::problem;

/// Bundles that nobody fetched by then are deleted.
const KEPT: Duration = Duration::from_secs(24 * 3600);

/// The bundles of this runner.
#[derive(Debug)]
pub(crate) struct Bundles {
    folder: PathBuf,
    /// One writer at a time.
    writing: tokio::sync::Mutex<()>,
}

impl Bundles {
    /// The bundles in their folder, which is created when needed.
    pub(crate) fn new(folders: &Folders) -> Self {
        Self { folder: folders.bundles(), writing: Default::default() }
    }

    /// Packs a workspace's branch and uncommitted work.
    pub(crate) async fn pack(&self, worktrees: &Worktrees, workspace: WorkspaceId) -> Result<Bundle, Problem> {
        let _alone = self.writing.lock().await;
        let limit = usize::try_from(MAX_BUNDLE).unwrap_or(usize::MAX);
        let packed = worktrees.pack(workspace, limit).await.map_err(|error| match error {
            worktree::Error::TooMuch { .. } => {
                let why = format!("the work is too large to transfer: the limit is {MAX_BUNDLE} bytes");
                Problem::new(ProblemKind::TooLarge, why)
            }
            error => problem(error),
        })?;
        let kept = self.write(packed.bytes).await?;
        failpoint::pass("runner.packed");
        Ok(Bundle { base: packed.base, head: packed.head, ..kept })
    }

    /// Keeps packed work until another runner has fetched it.
    pub(crate) async fn keep(&self, packed: Vec<u8>) -> Result<Bundle, Problem> {
        let _alone = self.writing.lock().await;
        self.write(packed).await
    }

    async fn write(&self, packed: Vec<u8>) -> Result<Bundle, Problem> {
        let bundle = hex::encode(Sha256::digest(&packed));
        let bytes = packed.len() as u64;
        let path = self.folder()?.join(format!("{bundle}.packed"));
        let written = tokio::task::spawn_blocking(move || put(&path, 0, &packed)).await;
        written.map_err(internal)?.map_err(internal)?;
        Ok(Bundle { bundle, bytes, base: None, head: None })
    }

    /// A piece of a bundle that was packed here.
    pub(crate) fn part(&self, bundle: &str, offset: u64) -> Result<BundlePart, Problem> {
        let path = self.folder()?.join(format!("{}.packed", checked(bundle)?));
        let gone = |_| Problem::new(ProblemKind::NotFound, "this runner does not have that bundle: pack it again");
        let mut file = File::open(path).map_err(gone)?;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(offset)).map_err(internal)?;
        file.take(BUNDLE_PART as u64).read_to_end(&mut bytes).map_err(internal)?;
        Ok(BundlePart { next: offset.saturating_add(bytes.len() as u64), data: STANDARD.encode(bytes) })
    }

    /// Receives a piece of a bundle; the last piece must complete it.
    pub(crate) async fn take(&self, bundle: &str, bytes: u64, offset: u64, data: &str) -> Result<(), Problem> {
        let _alone = self.writing.lock().await;
        let invalid = |why: &str| Problem::new(ProblemKind::Invalid, why);
        let data = STANDARD.decode(data).map_err(|_| invalid("the piece is not base64"))?;
        let end = offset.saturating_add(data.len() as u64);
        if bytes > MAX_BUNDLE || end > bytes {
            return Err(Problem::new(ProblemKind::TooLarge, format!("a bundle has at most {MAX_BUNDLE} bytes")));
        }
        let name = checked(bundle)?;
        let (whole, part) =
            (self.folder()?.join(format!("{name}.bundle")), self.folder()?.join(format!("{name}.part")));
        if whole.exists() {
            return Ok(());
        }
        let there = std::fs::metadata(&part).map_or(0, |file| file.len());
        if offset > there {
            let why = format!("the bundle has {there} bytes so far: the next piece begins there");
            return Err(Problem::new(ProblemKind::Conflict, why));
        }
        put(&part, offset, &data).map_err(internal)?;
        if end < bytes {
            return Ok(());
        }
        let read = std::fs::read(&part).map_err(internal)?;
        if hex::encode(Sha256::digest(&read)) != name {
            let _ = std::fs::remove_file(&part);
            return Err(invalid("the bundle was damaged in transfer: start again"));
        }
        std::fs::rename(&part, &whole).map_err(internal)
    }

    /// The file of a complete bundle.
    pub(crate) fn taken(&self, bundle: &str) -> Result<PathBuf, Problem> {
        let path = self.folder()?.join(format!("{}.bundle", checked(bundle)?));
        if path.is_file() {
            return Ok(path);
        }
        Err(Problem::new(ProblemKind::NotFound, "the other runner's work did not arrive here: transfer it again"))
    }

    /// Their folder, after deleting those that nobody fetched.
    fn folder(&self) -> Result<&Path, Problem> {
        let folder = self.folder.as_path();
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(internal)?;
        for entry in std::fs::read_dir(folder).map_err(internal)?.flatten() {
            let changed = entry.metadata().and_then(|file| file.modified());
            let old = |at: SystemTime| SystemTime::now().duration_since(at).is_ok_and(|age| age > KEPT);
            if changed.is_ok_and(old) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
        Ok(folder)
    }
}

/// Writes at an offset; drops everything after it.
fn put(path: &Path, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::options().create(true).truncate(false).write(true).mode(0o600).open(path)?;
    file.set_len(offset)?;
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Accepts only a hash: it becomes part of a path.
fn checked(bundle: &str) -> Result<&str, Problem> {
    let good = bundle.len() == 64 && bundle.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if good {
        Ok(bundle)
    } else {
        Err(Problem::new(ProblemKind::Invalid, "a bundle's name is its SHA-256 in hexadecimal"))
    }
}

fn internal(error: impl std::fmt::Display) -> Problem {
    Problem::new(ProblemKind::Internal, error.to_string())
}
