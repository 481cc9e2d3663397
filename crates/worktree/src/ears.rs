//! Watches the folders of workspaces with inotify, within limits.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use domain::WorkspaceId;
use rustix::fs::{FileType, inotify};
use rustix::io::Errno;
use tokio::io::unix::AsyncFd;

use crate::beneath::Root;

/// Above this number of folders, a workspace is not watched folder by folder.
const MOST_FOLDERS: usize = 20_000;

/// An observed change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Something at this path changed.
    Path(PathBuf),
    /// A new folder, with unknown content.
    Folder(PathBuf),
    /// A ref of the agent's git moved.
    Refs,
    /// An overflow: anything may have changed.
    Anything,
}

/// The purpose of a watch.
#[derive(Debug, Clone)]
struct Place {
    id: WorkspaceId,
    /// The folder, relative to the workspace.
    path: PathBuf,
    refs: bool,
}

/// One inotify instance for all workspaces.
#[derive(Debug)]
pub(crate) struct Ears {
    fd: AsyncFd<OwnedFd>,
    places: HashMap<i32, Place>,
    watched: HashMap<(WorkspaceId, PathBuf), i32>,
}

impl Ears {
    pub(crate) fn open() -> std::io::Result<Self> {
        let fd = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)?;
        #[expect(deprecated, reason = "unsound only for types that may close their file early; an OwnedFd does not")]
        let fd = AsyncFd::new(fd)?;
        Ok(Self { fd, places: HashMap::new(), watched: HashMap::new() })
    }

    /// Waits for a change.
    pub(crate) async fn hear(&mut self) -> Vec<(WorkspaceId, Heard)> {
        loop {
            let mut heard = Vec::new();
            match self.fd.readable().await {
                Ok(mut ready) => {
                    let drained = drain(self.fd.get_ref(), &mut heard);
                    if drained {
                        ready.clear_ready();
                    }
                }
                Err(_) => std::future::pending().await,
            }
            let told = self.understand(heard);
            if !told.is_empty() {
                return told;
            }
        }
    }

    /// Watches a folder and everything below that is not `ignored`. False if the system's limit is reached.
    pub(crate) fn listen(&mut self, id: WorkspaceId, tree: &Path, from: &Path, ignored: &BTreeSet<PathBuf>) -> bool {
        let Ok(root) = Root::open(tree) else { return true };
        let mut open = vec![from.to_owned()];
        let mut count = 0;
        while let Some(path) = open.pop() {
            count += 1;
            if count > MOST_FOLDERS || !self.add(id, tree, &path, false) {
                return false;
            }
            // Already gone: its parent reports that.
            let Ok(entries) = root.folder(&path).and_then(|folder| folder.entries()) else { continue };
            for (name, kind) in entries {
                let name = OsStr::from_bytes(&name);
                let below = path.join(name);
                if kind == FileType::Directory && name != ".git" && !ignored.contains(&below) {
                    open.push(below);
                }
            }
        }
        true
    }

    /// Watches the refs of the agent's git.
    pub(crate) fn listen_to_refs(&mut self, id: WorkspaceId, tree: &Path) -> bool {
        let Ok(root) = Root::open(tree) else { return true };
        let mut all = [".git", ".git/logs", ".git/refs"].map(PathBuf::from).to_vec();
        let mut open = vec![PathBuf::from(".git/refs/heads"), PathBuf::from(".git/refs/remotes")];
        while let Some(path) = open.pop() {
            let Ok(entries) = root.folder(&path).and_then(|folder| folder.entries()) else { continue };
            let below = entries.iter().filter(|(_, kind)| *kind == FileType::Directory);
            open.extend(below.map(|(name, _)| path.join(OsStr::from_bytes(name))));
            all.push(path);
            if all.len() > 500 {
                break;
            }
        }
        all.iter().all(|path| self.add(id, tree, path, true))
    }

    fn add(&mut self, id: WorkspaceId, tree: &Path, path: &Path, refs: bool) -> bool {
        use inotify::WatchFlags as W;
        let what = W::CREATE | W::MODIFY | W::CLOSE_WRITE | W::ATTRIB | W::DELETE | W::MOVED_FROM | W::MOVED_TO;
        let flags = what | W::ONLYDIR | W::DONT_FOLLOW | W::EXCL_UNLINK;
        match inotify::add_watch(self.fd.get_ref(), tree.join(path), flags) {
            Ok(wd) => {
                if let Some(old) = self.places.insert(wd, Place { id, path: path.to_owned(), refs }) {
                    self.watched.remove(&(old.id, old.path));
                }
                self.watched.insert((id, path.to_owned()), wd);
                true
            }
            // The limit of watches, or memory.
            Err(Errno::NOSPC | Errno::NOMEM) => false,
            Err(_) => true,
        }
    }

    /// Stops watching a folder and everything below.
    pub(crate) fn stop(&mut self, id: WorkspaceId, from: &Path) {
        let gone: Vec<_> =
            self.watched.keys().filter(|(whose, path)| *whose == id && path.starts_with(from)).cloned().collect();
        for key in gone {
            if let Some(wd) = self.watched.remove(&key) {
                let _ = inotify::remove_watch(self.fd.get_ref(), wd);
                self.places.remove(&wd);
            }
        }
    }

    fn understand(&mut self, raw: Vec<Raw>) -> Vec<(WorkspaceId, Heard)> {
        use inotify::ReadFlags as R;
        let mut told = Vec::new();
        for Raw { wd, flags, name } in raw {
            if flags.contains(R::QUEUE_OVERFLOW) {
                let all: BTreeSet<WorkspaceId> = self.places.values().map(|place| place.id).collect();
                told.extend(all.into_iter().map(|id| (id, Heard::Anything)));
                continue;
            }
            if flags.contains(R::IGNORED) {
                if let Some(place) = self.places.remove(&wd) {
                    self.watched.remove(&(place.id, place.path));
                }
                continue;
            }
            let Some(Place { id, path, refs }) = self.places.get(&wd).cloned() else { continue };
            let Some(name) = name else { continue };
            let folder = flags.contains(R::ISDIR);
            let whole = path.join(OsStr::from_bytes(&name));
            if refs {
                let top = path.as_os_str() == ".git" || path.as_os_str() == ".git/logs";
                let matters = !name.ends_with(b".lock") && (!top || name == b"HEAD" || name == b"packed-refs");
                if matters {
                    told.push((id, Heard::Refs));
                }
                continue;
            }
            if whole.as_os_str() == ".git" {
                told.push((id, Heard::Refs));
            } else if folder && flags.intersects(R::CREATE | R::MOVED_TO) {
                told.push((id, Heard::Folder(whole)));
            } else {
                if folder && flags.contains(R::MOVED_FROM) {
                    self.stop(id, &whole);
                }
                // A folder's own times are irrelevant.
                if !(folder && flags.contains(R::ATTRIB)) {
                    told.push((id, Heard::Path(whole)));
                }
            }
        }
        told
    }
}

/// An event as the kernel tells it.
struct Raw {
    wd: i32,
    flags: inotify::ReadFlags,
    name: Option<Vec<u8>>,
}

/// Reads the available events; true if there are no more.
fn drain(fd: &OwnedFd, heard: &mut Vec<Raw>) -> bool {
    let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
    let mut reader = inotify::Reader::new(fd, &mut buffer);
    loop {
        match reader.next() {
            Ok(event) => heard.push(Raw {
                wd: event.wd(),
                flags: event.events(),
                name: event.file_name().map(|name| name.to_bytes().to_vec()),
            }),
            Err(_) => return true,
        }
        // Events in the reader would be lost with it; those in the kernel come again at once.
        if heard.len() > 4096 && reader.is_buffer_empty() {
            return false;
        }
    }
}
