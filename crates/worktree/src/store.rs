//! The shared object store of a repository: cloned once, fetched often, borrowed from by every workspace.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::bare::{self, Oid};
use crate::git::{Git, Reach, failed, last_words};
use crate::location::Location;
use crate::names::{BranchName, near};
use crate::options::Progress;
use crate::process::Ended;
use crate::{Error, Options, Result};

const MANY_PACKS: usize = 60;
const HEADS: &str = "refs/origin/heads/";
/// Fetched refs get our own names, so that no branch of a remote is mistaken for a ref of ours.
const REFSPECS: [&str; 2] = ["+refs/heads/*:refs/origin/heads/*", "+refs/tags/*:refs/origin/tags/*"];

/// One object store.
#[derive(Debug, Clone)]
pub(crate) struct Store(pub(crate) PathBuf);

impl Store {
    /// Creates the store if necessary, and removes leftovers of a killed git.
    pub(crate) fn prepare(&self) -> Result<()> {
        if !self.0.join("HEAD").exists() {
            bare::make(&self.0, &[])?;
        }
        for folder in [self.0.clone(), self.0.join("refs")] {
            drop_stale_locks(&folder, 0);
        }
        Ok(())
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.0.join("objects")
    }

    pub(crate) fn git(&self, what: &'static str) -> Git {
        Git::new(&self.0, what)
    }

    /// Fetches all branches and tags.
    pub(crate) async fn fetch(
        &self,
        location: &Location,
        reach: Reach,
        options: &Options,
        progress: &Progress,
    ) -> Result<()> {
        let git = self
            .git("fetch")
            .args(["--prune", "--force", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--progress"])
            .operands([location.to_string().as_str(), REFSPECS[0], REFSPECS[1]])
            .reach(reach)
            .timeout(options.fetch_timeout);
        let ended = git.ended(|line| progress.line(line)).await?;
        if ended.status.success() { Ok(()) } else { Err(refused(location, "fetch", &ended)) }
    }

    /// The branch that the remote's HEAD names; `None` in an empty repository.
    pub(crate) async fn default_branch(
        &self,
        location: &Location,
        reach: Reach,
        options: &Options,
    ) -> Result<Option<BranchName>> {
        let git = self.git("ls-remote").args(["--symref"]).operands([location.to_string().as_str(), "HEAD"]);
        let ended = git.reach(reach).timeout(options.fetch_timeout).ended(|_| {}).await?;
        if !ended.status.success() {
            return Err(refused(location, "ls-remote", &ended));
        }
        let said = String::from_utf8_lossy(&ended.stdout);
        let named = said.lines().find_map(|line| line.strip_prefix("ref: refs/heads/")?.strip_suffix("\tHEAD"));
        named.map(str::parse).transpose()
    }

    /// The commit of a fetched branch.
    pub(crate) async fn head(&self, branch: &BranchName) -> Result<Option<Oid>> {
        let name = format!("{HEADS}{branch}");
        let out = self.git("for-each-ref").args(["--format=%(objectname) %(refname)"]).operands([&name]).run().await?;
        let said = String::from_utf8_lossy(&out);
        let exact = said.lines().filter_map(|line| line.split_once(' ')).find(|(_, found)| *found == name);
        Ok(exact.and_then(|(oid, _)| oid.parse().ok()))
    }

    /// All refs under a prefix, as names and ids.
    pub(crate) async fn refs(&self, prefix: &str) -> Result<Vec<(String, Oid)>> {
        let out = self.git("for-each-ref").args(["--format=%(objectname) %(refname)"]).operands([prefix]).run().await?;
        let said = String::from_utf8_lossy(&out);
        let pairs = said.lines().filter_map(|line| line.split_once(' '));
        Ok(pairs.filter_map(|(oid, name)| Some((name.to_owned(), oid.parse().ok()?))).collect())
    }

    /// Those paths that a tree has, as a file or as a folder, or that are beneath a file of it.
    pub(crate) async fn having(&self, tree: &str, paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let mut having = Vec::new();
        for some in paths.chunks(500) {
            let above = some.iter().flat_map(|path| path.ancestors().filter(|path| !path.as_os_str().is_empty()));
            let above: BTreeSet<&Path> = above.collect();
            let git = self.git("ls-tree").args(["-z", "-d", "-t", "--full-tree"]);
            let folders = names(&git.operands([tree]).args(["--"]).args(&above).run().await?);
            let git = self.git("ls-tree").args(["-z", "--full-tree"]);
            let all = names(&git.operands([tree]).args(["--"]).args(&above).run().await?);
            let file = |path: &Path| all.contains(path) && !folders.contains(path);
            let there = |path: &&PathBuf| all.contains(*path) || path.ancestors().skip(1).any(file);
            having.extend(some.iter().filter(there).cloned());
        }
        Ok(having)
    }

    /// The remote branch that prevents a new one: the same name, or one beneath or above it.
    pub(crate) async fn in_the_way(&self, branch: &BranchName) -> Result<Option<String>> {
        let wanted = branch.as_str();
        let clash = |name: &str| domain::branch::clash(name, wanted);
        let known = self.refs(HEADS).await?;
        Ok(known.iter().filter_map(|(name, _)| name.strip_prefix(HEADS)).find(|name| clash(name)).map(str::to_owned))
    }

    /// The error for a missing branch.
    pub(crate) async fn no_branch(&self, location: &Location, branch: &BranchName) -> Error {
        let known = self.refs(HEADS).await.unwrap_or_default();
        let known: Vec<String> =
            known.iter().filter_map(|(name, _)| name.strip_prefix(HEADS)).map(Into::into).collect();
        let near = near(branch.as_str(), &known);
        Error::NoSuchBranch { location: location.to_string(), branch: branch.to_string(), near }
    }

    /// Repacks many small packs. Nothing is ever dropped: others borrow from here.
    pub(crate) async fn tidy(&self) -> Result<()> {
        let packs = std::fs::read_dir(self.objects().join("pack")).map_or(0, |entries| entries.count() / 2);
        if packs < MANY_PACKS {
            return Ok(());
        }
        let git = self.git("repack").args(["-d", "-q", "--geometric=2", "--no-write-bitmap-index"]);
        git.timeout(Duration::from_secs(1800)).run().await.map(drop)
    }

    /// The merge base of two histories; `None` without common history.
    pub(crate) async fn merge_base(&self, one: &Oid, other: &Oid) -> Result<Option<Oid>> {
        let ended = self.git("merge-base").operands([one, other]).ended(|_| {}).await?;
        Ok(String::from_utf8_lossy(&ended.stdout).trim().parse().ok())
    }

    /// Whether a commit is part of another one's history; `None` if it is not here.
    pub(crate) async fn is_ancestor(&self, commit: &Oid, of: &str) -> Result<Option<bool>> {
        let git = self.git("merge-base").args(["--is-ancestor"]).operands([commit.as_str(), of]);
        let ended = git.ended(|_| {}).await?;
        match ended.status.code() {
            Some(0) => Ok(Some(true)),
            Some(1) => Ok(Some(false)),
            Some(128) => Ok(None),
            _ => Err(failed("merge-base", &ended)),
        }
    }
}

/// The paths of a listing of a tree.
fn names(out: &[u8]) -> BTreeSet<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let entries = out.split(|b| *b == 0);
    let paths = entries.filter_map(|entry| entry.iter().position(|b| *b == b'\t').map(|tab| &entry[tab + 1..]));
    paths.map(|path| PathBuf::from(std::ffi::OsStr::from_bytes(path))).collect()
}

/// A killed git leaves locks; nobody of ours holds one for long.
fn drop_stale_locks(folder: &Path, depth: usize) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth < 8 && (depth > 0 || folder.ends_with("refs")) {
            drop_stale_locks(&path, depth + 1);
        } else if path.extension().is_some_and(|e| e == "lock") && older(&path, Duration::from_secs(20)) {
            let _ = std::fs::remove_file(&path);
        }
    }
}

pub(crate) fn older(path: &Path, than: Duration) -> bool {
    let modified = std::fs::symlink_metadata(path).and_then(|meta| meta.modified());
    modified.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > than))
}

/// Classifies why a remote failed.
pub(crate) fn refused(location: &Location, what: &'static str, ended: &Ended) -> Error {
    let why = last_words(&ended.stderr);
    let all = ended.stderr.to_ascii_lowercase();
    let any = |signs: &[&str]| signs.iter().any(|sign| all.contains(sign));
    let location = location.to_string();
    if any(&["fsck error"]) {
        return Error::Unsafe { location, why };
    }
    if any(&["dubious ownership"]) {
        return Error::NoRepository { location, why: "it belongs to another user of this machine".into() };
    }
    if any(&["redirect"]) {
        return Error::NoRepository {
            location,
            why: format!("the server redirects to another address; use that one ({why})"),
        };
    }
    if any(&[
        "authentication failed",
        "could not read username",
        "could not read password",
        "permission denied",
        "prompts disabled",
        "error: 403",
        "access denied",
    ]) {
        return Error::Access { location, why };
    }
    if any(&["host key verification failed"]) {
        let why = format!("{why}; connect to it once with `ssh` as the runner's user, to trust its key");
        return Error::Host { location, why };
    }
    if any(&[
        "could not resolve",
        "name or service not known",
        "connection refused",
        "timed out",
        "failed to connect",
        "couldn't connect",
        "no route to host",
        "network is unreachable",
    ]) {
        return Error::Host { location, why };
    }
    if any(&["not found", "does not appear to be a git repository", "does not exist", "not a git repository"]) {
        return Error::NoRepository { location, why };
    }
    failed(what, ended)
}
