//! Writes commits through `git fast-import`: git never opens a file of the agent's folder to save it.

use std::path::Path;

use tokio::sync::mpsc;

use crate::bare::{Oid, oid};
use crate::git::EMPTY_TREE;
use crate::process::Input;
use crate::store::Store;
use crate::{Error, Result};

/// What a file is in a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Plain,
    Executable,
    Link,
}

impl Mode {
    fn digits(self) -> &'static str {
        match self {
            Self::Plain => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
        }
    }
}

/// A commit in the making: its changes are streamed, and nothing exists before `finish`.
pub(crate) struct Commit {
    parts: mpsc::Sender<Vec<u8>>,
    git: tokio::task::JoinHandle<Result<Vec<u8>>>,
}

/// A commit that was written.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    pub(crate) commit: Oid,
    pub(crate) tree: Oid,
}

impl Commit {
    /// Starts a commit on `name` after `parents`, the first of which gives the tree to start from.
    pub(crate) async fn start(store: &Store, name: &str, parents: &[Oid], message: &str) -> Result<Self> {
        let (parts, receiver) = mpsc::channel(4);
        let git =
            store.git("fast-import").args(["--quiet", "--done", "--date-format=raw"]).input(Input::Stream(receiver));
        let git = tokio::spawn(git.run());
        let commit = Self { parts, git };
        let seconds = crate::layout::now().as_millis() / 1000;
        let mut head = format!(
            "commit {name}\nmark :1\ncommitter Shopfloor <shopfloor@localhost> {seconds} +0000\ndata {}\n{message}\n",
            message.len()
        );
        for (n, parent) in parents.iter().enumerate() {
            head.push_str(if n == 0 { "from " } else { "merge " });
            head.push_str(parent.as_str());
            head.push('\n');
        }
        commit.send(head.into_bytes()).await;
        Ok(commit)
    }

    async fn send(&self, part: Vec<u8>) {
        // If git exited early, `finish` says why.
        let _ = self.parts.send(part).await;
    }

    /// Puts a file.
    pub(crate) async fn put(&self, path: &Path, mode: Mode, bytes: Vec<u8>) {
        let mut head = format!("M {} inline ", mode.digits()).into_bytes();
        quote(path, &mut head);
        head.extend_from_slice(format!("\ndata {}\n", bytes.len()).as_bytes());
        self.send(head).await;
        self.send(bytes).await;
        self.send(b"\n".to_vec()).await;
    }

    /// Puts a file whose content is there already.
    pub(crate) async fn refer(&self, path: &Path, mode: Mode, blob: &Oid) {
        let mut line = format!("M {} {blob} ", mode.digits()).into_bytes();
        quote(path, &mut line);
        line.push(b'\n');
        self.send(line).await;
    }

    /// Takes a file, or a folder with all that is in it, out.
    pub(crate) async fn remove(&self, path: &Path) {
        let mut line = b"D ".to_vec();
        quote(path, &mut line);
        line.push(b'\n');
        self.send(line).await;
    }

    /// Writes the commit.
    pub(crate) async fn finish(self) -> Result<Written> {
        self.send(b"\nget-mark :1\nls :1 \"\"\ndone\n".to_vec()).await;
        drop(self.parts);
        let out = self.git.await.map_err(|error| Error::Git {
            what: "fast-import",
            status: "was cancelled".into(),
            said: error.to_string(),
        })??;
        let said = String::from_utf8_lossy(&out);
        let mut lines = said.lines();
        let commit = oid(lines.next().unwrap_or_default())?;
        let tree = lines.next().unwrap_or_default();
        let tree = match tree.split(['\t', ' ']).collect::<Vec<_>>()[..] {
            [_, "tree", id, ..] => oid(id)?,
            _ => oid(EMPTY_TREE)?,
        };
        Ok(Written { commit, tree })
    }
}

/// A path as git quotes it: any bytes, on one line.
fn quote(path: &Path, out: &mut Vec<u8>) {
    use std::os::unix::ffi::OsStrExt;
    out.push(b'"');
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0x20..=0x7e => out.push(byte),
            _ => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    out.push(b'"');
}
