//! A trusted git beside ours, and folders that go away.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use domain::WorkspaceId;
use worktree::{Location, Oid, Options, Plan, Progress, Workspace, Worktrees};

/// A data directory, an origin and a checkout of it that we trust.
pub(crate) struct Bench {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) trees: Worktrees,
}

impl Bench {
    /// An origin with one commit of three files on `main`.
    pub(crate) async fn new() -> Self {
        let bench = Self::empty().await;
        let seed = bench.seed();
        write(&seed, "README.md", "hello\nworld\n");
        write(&seed, "src/lib.rs", "fn one() {}\nfn two() {}\nfn three() {}\n");
        write(&seed, ".gitignore", "/target/\n*.log\n.env\n");
        git(&seed, &["add", "-A"]);
        git(&seed, &["commit", "-qm", "first"]);
        git(&seed, &["push", "-q", "origin", "main"]);
        bench
    }

    /// An origin without any commit.
    pub(crate) async fn empty() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        git(&path, &["init", "-q", "--bare", "-b", "main", "origin.git"]);
        git(&path, &["init", "-q", "-b", "main", "seed"]);
        git(&path.join("seed"), &["remote", "add", "origin", path.join("origin.git").to_str().unwrap()]);
        let trees = Worktrees::open(&path.join("data"), Options::default()).await.unwrap();
        Self { dir, trees }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    pub(crate) fn seed(&self) -> PathBuf {
        self.path().join("seed")
    }

    pub(crate) fn origin(&self) -> Location {
        self.path().join("origin.git").to_str().unwrap().parse().unwrap()
    }

    pub(crate) fn plan(&self, branch: &str) -> Plan {
        Plan { location: Some(self.origin()), branch: Some(branch.parse().unwrap()), ..Plan::default() }
    }

    /// Makes a branch of `from` in the origin that writes one file; returns its commit.
    pub(crate) fn branch(&self, name: &str, from: &str, file: &str, text: impl AsRef<[u8]>) -> Oid {
        let seed = self.seed();
        git(&seed, &["checkout", "-q", "-B", name, from]);
        write(&seed, file, text);
        self.push(name)
    }

    /// Commits everything in the seed and pushes it as a branch; returns its commit.
    pub(crate) fn push(&self, name: &str) -> Oid {
        let seed = self.seed();
        git(&seed, &["add", "-A"]);
        git(&seed, &["commit", "-qm", &format!("change {name}")]);
        git(&seed, &["push", "-qf", "origin", &format!("HEAD:refs/heads/{name}")]);
        git(&seed, &["rev-parse", "HEAD"]).parse().unwrap()
    }

    /// Where a branch of the origin is.
    pub(crate) fn tip(&self, name: &str) -> Oid {
        git(&self.path().join("origin.git"), &["rev-parse", &format!("refs/heads/{name}")]).parse().unwrap()
    }

    /// Fetches, as a run does first.
    pub(crate) async fn fetched(&self) {
        self.trees.refresh(&self.origin(), &Progress::none()).await.unwrap();
    }

    /// Another runner with the same origin.
    pub(crate) async fn elsewhere(&self) -> Worktrees {
        Worktrees::open(&self.path().join("elsewhere"), Options::default()).await.unwrap()
    }

    /// The same data directory as another process would open it.
    pub(crate) async fn reopened(&self) -> Worktrees {
        Worktrees::open(&self.data(), Options::default()).await.unwrap()
    }

    pub(crate) async fn workspace(&self, branch: &str) -> Workspace {
        let id = WorkspaceId::generate();
        self.trees.create(id, &self.plan(branch), &Progress::none()).await.unwrap()
    }
}

/// Runs the git that people use, with none of our hardening.
pub(crate) fn git(dir: &Path, args: &[&str]) -> String {
    let out = try_git(dir, args);
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

pub(crate) fn try_git(dir: &Path, args: &[&str]) -> std::process::Output {
    Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@localhost", "-c", "protocol.file.allow=always"])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap()
}

/// Runs git with something to read.
pub(crate) fn feed_git(dir: &Path, args: &[&str], input: &str) {
    use std::io::Write;
    let mut child =
        Command::new("git").args(args).current_dir(dir).stdin(std::process::Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "git {args:?}");
}

pub(crate) fn write(dir: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Every file and link of a folder with its bytes and whether it can be executed, `.git` apart.
pub(crate) fn content(dir: &Path) -> BTreeMap<PathBuf, (char, Vec<u8>)> {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;
    let mut all = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(dir).unwrap().to_owned();
            let meta = path.symlink_metadata().unwrap();
            if path.file_name().unwrap() == ".git" {
                continue;
            } else if meta.is_dir() {
                open.push(path);
            } else if meta.is_symlink() {
                all.insert(name, ('l', std::fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()));
            } else if meta.is_file() && meta.len() < 1 << 30 {
                let kind = if meta.permissions().mode() & 0o100 != 0 { 'x' } else { 'f' };
                all.insert(name, (kind, std::fs::read(&path).unwrap()));
            }
        }
    }
    all
}
