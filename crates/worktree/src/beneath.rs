//! Opens files of an agent's folder part by part, without ever following a link.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};
use std::time::SystemTime;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, mkdirat, openat, readlinkat, renameat, statat, unlinkat};
use rustix::io::Errno;

use crate::{Error, Result};

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const READ: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

const CREATE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A folder for relative lookups.
#[derive(Debug)]
pub struct Root(OwnedFd);

/// What is at a path.
#[derive(Debug)]
pub enum Found {
    /// A regular file, open for reading.
    File {
        /// The open file.
        file: File,
        /// How many bytes it has.
        size: u64,
        /// Whether its owner may run it.
        executable: bool,
    },
    /// A link, with its target as bytes.
    Link(Vec<u8>),
    /// A folder.
    Folder,
    /// A pipe, socket or device: never opened.
    Special,
    /// Nothing.
    Nothing,
}

impl Root {
    /// Opens the folder itself, which must not be a link.
    pub fn open(path: &Path) -> Result<Self> {
        openat(CWD, path, FOLDER, Mode::empty()).map(Self).map_err(Error::sys("open", path))
    }

    /// A folder beneath.
    pub fn folder(&self, path: &Path) -> io::Result<Self> {
        let mut at = self.0.try_clone()?;
        for part in parts(path)? {
            at = openat(&at, part, FOLDER, Mode::empty())?;
        }
        Ok(Self(at))
    }

    fn parent<'p>(&self, path: &'p Path) -> io::Result<(OwnedFd, &'p OsStr)> {
        let mut parts = parts(path)?;
        let name = parts.pop().ok_or(Errno::INVAL)?;
        let mut at = self.0.try_clone()?;
        for part in parts {
            at = openat(&at, part, FOLDER, Mode::empty())?;
        }
        Ok((at, name))
    }

    /// What is at a path beneath; a link on the way counts as nothing.
    pub fn look(&self, path: &Path) -> io::Result<Found> {
        let absent = |error: &io::Error| {
            let raw = error.raw_os_error().map(Errno::from_raw_os_error);
            matches!(raw, Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP))
        };
        match self.parent(path) {
            Ok((parent, name)) => match look_at(&parent, name) {
                Err(error) if absent(&error) => Ok(Found::Nothing),
                other => other,
            },
            Err(error) if absent(&error) => Ok(Found::Nothing),
            Err(error) => Err(error),
        }
    }

    /// The content of a regular file beneath, if it is one and not larger than the limit.
    pub fn read(&self, path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
        match self.look(path)? {
            Found::File { file, size, .. } if size <= limit => read_all(file, limit),
            _ => Ok(None),
        }
    }

    /// Replaces a file beneath atomically; creates folders on the way. Follows no link; an existing link is replaced.
    pub(crate) fn put(&self, path: &Path, bytes: &[u8], modified: Option<SystemTime>) -> io::Result<()> {
        let mut parts = parts(path)?;
        let name = parts.pop().ok_or(Errno::INVAL)?;
        let mut at = self.0.try_clone()?;
        for part in parts {
            match mkdirat(&at, part, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            at = openat(&at, part, FOLDER, Mode::empty())?;
        }
        let mut new = name.to_owned();
        new.push(".shopfloor");
        match unlinkat(&at, &new, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let mut file = File::from(openat(&at, &new, CREATE, Mode::RUSR | Mode::WUSR)?);
        file.write_all(bytes)?;
        if let Some(modified) = modified {
            file.set_modified(modified)?;
        }
        file.sync_all()?;
        renameat(&at, &new, &at, name).map_err(io::Error::from)
    }

    /// The names in this folder, with their kinds, in order.
    pub fn entries(&self) -> io::Result<Vec<(Vec<u8>, FileType)>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => match statat(&self.0, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    Err(_) => continue,
                },
                kind => kind,
            };
            entries.push((name.to_vec(), kind));
        }
        entries.sort_by(|a: &(Vec<u8>, FileType), b| a.0.cmp(&b.0));
        Ok(entries)
    }
}

impl AsFd for Root {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn look_at(parent: &OwnedFd, name: &OsStr) -> io::Result<Found> {
    let stat = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let file = File::from(openat(parent, name, READ, Mode::empty())?);
            let meta = file.metadata()?;
            // It may have been swapped in between.
            if !meta.is_file() {
                return Ok(Found::Special);
            }
            let executable = std::os::unix::fs::MetadataExt::mode(&meta) & 0o100 != 0;
            Ok(Found::File { size: meta.len(), file, executable })
        }
        FileType::Symlink => Ok(Found::Link(readlinkat(parent, name, Vec::new())?.into_bytes())),
        FileType::Directory => Ok(Found::Folder),
        _ => Ok(Found::Special),
    }
}

/// All bytes of an open file; `None` if it grew beyond the limit.
pub(crate) fn read_all(file: File, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

fn parts(path: &Path) -> io::Result<Vec<&OsStr>> {
    let odd = || io::Error::from(io::ErrorKind::InvalidInput);
    if path.as_os_str().as_bytes().contains(&0) {
        return Err(odd());
    }
    path.components()
        .map(|part| match part {
            Component::Normal(name) => Ok(name),
            _ => Err(odd()),
        })
        .collect()
}

/// Deletes a folder with its content, following no links, even if its folders were made unreadable.
pub(crate) fn delete(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(meta) if !meta.is_dir() => return std::fs::remove_file(path),
        Ok(_) => {}
    }
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(path)?;
            std::fs::remove_dir_all(path)
        }
        other => other,
    }
}

fn open_up(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    // `chmod` follows links: use it only on folders, and list their content only then.
    if !std::fs::symlink_metadata(path)?.is_dir() {
        return Ok(());
    }
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))?;
    for entry in std::fs::read_dir(path)? {
        open_up(&entry?.path())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    const SECRET: &[u8] = b"secret of somebody else";

    /// A folder beside a secret, with every kind of link to it.
    fn place() -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/b/file"), "inside").unwrap();
        std::fs::write(dir.path().join("secret"), SECRET).unwrap();
        symlink("../secret", root.join("link")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("/", root.join("slash")).unwrap();
        symlink("/etc/passwd", root.join("passwd")).unwrap();
        symlink("../../..", root.join("a/up")).unwrap();
        symlink("link", root.join("chain")).unwrap();
        symlink("self", root.join("self")).unwrap();
        (dir, root)
    }

    #[test]
    fn no_path_leads_out() {
        let (dir, root) = place();
        let outside = dir.path().join("secret");
        let open = Root::open(&root).unwrap();
        let mut paths: Vec<Vec<u8>> = Vec::new();
        let ups: [&[u8]; 14] = [
            b"..",
            b"up",
            b"slash",
            b"a/up",
            b"./..",
            b"a/../..",
            b"..%2f",
            b"%2e%2e",
            b"\xc0\xae\xc0\xae",
            b"..\\",
            b"..;",
            b"a/b/../../..",
            b".\0.",
            b"\xe2\x80\xa5",
        ];
        let ends: [&[u8]; 12] = [
            b"secret",
            b"etc/passwd",
            b"../secret",
            b"/etc/passwd",
            b"link",
            b"./secret",
            b"secret/",
            b"secret\0",
            b"root/link",
            b"tmp/../etc/passwd",
            b"proc/self/environ",
            b"up/secret",
        ];
        for up in ups {
            for end in ends {
                paths.push([up, b"/".as_slice(), end].concat());
                paths.push([up, up, end].concat());
            }
        }
        paths.extend([outside.as_os_str().as_bytes().to_vec(), b"//etc/passwd".to_vec(), b"\\\\host\\share".to_vec()]);
        paths.extend([
            b"".to_vec(),
            b".".to_vec(),
            b"/".to_vec(),
            b"\0".to_vec(),
            vec![b'x'; 5000],
            b"a//b/./../b".to_vec(),
        ]);
        assert!(paths.len() >= 200, "{}", paths.len());
        for path in &paths {
            let path = Path::new(OsStr::from_bytes(path));
            assert!(!matches!(open.look(path), Ok(Found::File { .. })), "{path:?}");
            assert!(!matches!(open.read(path, 1 << 20), Ok(Some(_))), "{path:?}");
        }
        for link in ["link", "chain", "passwd", "self", "up", "slash"] {
            assert!(matches!(open.look(Path::new(link)), Ok(Found::Link(_))), "{link}");
            assert!(open.folder(Path::new(link)).is_err(), "{link}");
        }
        assert_eq!(open.read(Path::new("a/b/file"), 99).unwrap().unwrap(), b"inside");
        assert!(Root::open(&root.join("up")).is_err(), "the folder itself must not be a link");
    }

    /// A folder and a link swap places ten thousand times while it is read.
    #[test]
    fn a_folder_swapped_for_a_link_is_not_followed() {
        let (dir, root) = place();
        std::fs::write(dir.path().join("file"), SECRET).unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        std::fs::write(root.join("real/file"), "inside").unwrap();
        symlink("..", root.join("trap")).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (swapped, ended) = (root.clone(), stop.clone());
        let swapper = std::thread::spawn(move || {
            let mut swaps = 0;
            while swaps < 10_000 || !ended.load(Ordering::Relaxed) {
                std::fs::rename(swapped.join("real"), swapped.join("d")).unwrap();
                std::fs::rename(swapped.join("d"), swapped.join("real")).unwrap();
                std::fs::rename(swapped.join("trap"), swapped.join("d")).unwrap();
                std::fs::rename(swapped.join("d"), swapped.join("trap")).unwrap();
                swaps += 2;
            }
        });
        let open = Root::open(&root).unwrap();
        let mut seen = 0;
        while seen < 200 || !swapper.is_finished() {
            if let Ok(Some(bytes)) = open.read(Path::new("d/file"), 99) {
                assert_eq!(bytes, b"inside");
                seen += 1;
                stop.store(seen >= 200, Ordering::Relaxed);
            }
        }
        swapper.join().unwrap();
    }

    #[test]
    fn deleting_follows_nothing() {
        let (dir, root) = place();
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(root.join("a/b"), std::fs::Permissions::from_mode(0o000)).unwrap();
        delete(&root).unwrap();
        assert!(!root.exists());
        assert_eq!(std::fs::read(dir.path().join("secret")).unwrap(), SECRET);
        symlink(dir.path(), dir.path().join("gate")).unwrap();
        delete(&dir.path().join("gate")).unwrap();
        assert_eq!(std::fs::read(dir.path().join("secret")).unwrap(), SECRET);
        delete(&dir.path().join("never")).unwrap();
    }
}
