//! Folders that others write into: files in them are opened without following links, and must be plain files.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::tree::wrong;
use crate::Failure;

/// A larger file cannot be a task or a report.
const LARGEST: u64 = 8 * 1024 * 1024;

/// What a name refers to.
pub(super) enum Found {
    Nothing,
    /// Something that is not read, and why.
    Odd(String),
    File(Vec<u8>, Metadata),
}

/// An open folder; replacing its path does not change it.
pub(super) struct Door(OwnedFd);

impl Door {
    /// The folder that the user named, which may be a link.
    pub(super) fn outer(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::openat(CWD, path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?))
    }

    /// A subfolder, created if missing; must not be a link.
    pub(super) fn inner(&self, path: &Path) -> Result<Self, Failure> {
        let name = path.file_name().unwrap_or_default();
        match rustix::fs::mkdirat(&self.0, name, Mode::from_bits_truncate(0o777)) {
            Err(error) if error != Errno::EXIST => return Err(wrong(path, &error.into())),
            _ => {}
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.0, name, flags, Mode::empty());
        opened.map(Self).map_err(|error| match error {
            Errno::LOOP | Errno::NOTDIR => {
                Failure::other(format!("{} is a link or a file, and must be a folder", path.display()))
                    .advise("remove it, or use another --dir")
            }
            error => wrong(path, &error.into()),
        })
    }

    /// Reads what a name refers to, without blocking.
    pub(super) fn read(&self, name: &OsStr) -> Found {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.0, name, flags, Mode::empty()) {
            Ok(file) => {
                read(File::from(file)).unwrap_or_else(|error| Found::Odd(format!("it cannot be read: {error}")))
            }
            Err(Errno::NOENT) => Found::Nothing,
            Err(Errno::LOOP) => Found::Odd("it is a link, and links are not followed".to_owned()),
            Err(Errno::NXIO | Errno::OPNOTSUPP) => Found::Odd("it is not a plain file".to_owned()),
            Err(error) => Found::Odd(format!("it cannot be read: {}", io::Error::from(error))),
        }
    }

    /// Creates a file that must not exist.
    pub(super) fn create(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::from_bits_truncate(0o666))?.into())
    }

    /// Opens a file for locking.
    pub(super) fn lock(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::from_bits_truncate(0o666))?.into())
    }

    /// Moves a file and replaces the target.
    pub(super) fn rename(&self, name: &OsStr, to: &Self, new: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, name, &to.0, new)?)
    }

    /// Moves a file unless the target exists.
    pub(super) fn rename_new(&self, name: &OsStr, to: &Self, new: &OsStr) -> io::Result<()> {
        match rustix::fs::renameat_with(&self.0, name, &to.0, new, RenameFlags::NOREPLACE) {
            // Not every file system can do this atomically.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                rustix::fs::linkat(&self.0, name, &to.0, new, AtFlags::empty())?;
                self.remove(name)
            }
            other => Ok(other?),
        }
    }

    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// The names of all entries except folders.
    pub(super) fn names(&self) -> io::Result<Vec<std::ffi::OsString>> {
        use std::os::unix::ffi::OsStrExt;
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            let kind = match entry.file_type() {
                FileType::Unknown => rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |looks| FileType::from_raw_mode(looks.st_mode)),
                kind => kind,
            };
            if kind != FileType::Directory {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }
}

fn read(file: File) -> io::Result<Found> {
    let looks = file.metadata()?;
    if !looks.is_file() {
        return Ok(Found::Odd("it is not a plain file".to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Ok(Found::Odd(format!("it has more than {LARGEST} bytes: split it")));
    }
    Ok(Found::File(bytes, looks))
}
