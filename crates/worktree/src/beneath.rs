//! Files of an agent's folder, opened part by part without ever following a link.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, readlinkat, statat};
use rustix::io::Errno;

use crate::{Error, Result};

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const READ: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// A folder that everything is looked up beneath.
#[derive(Debug)]
pub(crate) struct Root(OwnedFd);

/// What is at a path.
#[derive(Debug)]
pub(crate) enum Found {
    /// A regular file, open for reading.
    File { file: File, size: u64, executable: bool },
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
    pub(crate) fn open(path: &Path) -> Result<Self> {
        openat(CWD, path, FOLDER, Mode::empty()).map(Self).map_err(Error::sys("open", path))
    }

    /// A folder beneath.
    pub(crate) fn folder(&self, path: &Path) -> io::Result<Self> {
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
    pub(crate) fn look(&self, path: &Path) -> io::Result<Found> {
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
    pub(crate) fn read(&self, path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
        match self.look(path)? {
            Found::File { file, size, .. } if size <= limit => read_all(file, limit),
            _ => Ok(None),
        }
    }

    /// The names in this folder, with their kinds, in order.
    pub(crate) fn entries(&self) -> io::Result<Vec<(Vec<u8>, FileType)>> {
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
            // It may have been swapped for something else in between.
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

/// All bytes of an open file, or nothing when it grew over the limit.
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

/// Deletes a folder with all that is in it, following nothing; folders that were made unreadable too.
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
    // `chmod` follows links: only what is known to be a folder is touched, and what is in it is listed only then.
    if !std::fs::symlink_metadata(path)?.is_dir() {
        return Ok(());
    }
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))?;
    for entry in std::fs::read_dir(path)? {
        open_up(&entry?.path())?;
    }
    Ok(())
}
