//! Becomes the only host of a session: locked, detached, adopting orphans, with a socket for its owner only.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags};

use crate::Files;
use crate::spec::{Exit, Spec};

/// What belongs to the only host of a session.
pub(crate) struct Owned {
    pub(crate) spec: Spec,
    pub(crate) listener: UnixListener,
    /// Locked as long as this process lives.
    pub(crate) lock: File,
}

pub(crate) fn take(dir: &Path) -> io::Result<Owned> {
    let files = Files::new(dir);
    let mut lock = File::options().create(true).truncate(false).write(true).mode(0o600).open(files.pid())?;
    rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| io::Error::other("this session already has a host"))?;
    if Exit::read(dir)?.is_some() {
        return Err(io::Error::other("this session has already ended"));
    }
    let spec = Spec::read(dir)?;
    // Fails if we already lead a group; then we were started detached.
    let _ = rustix::process::setsid();
    rustix::process::set_child_subreaper(rustix::process::Pid::from_raw(1))?;
    lock.set_len(0)?;
    lock.write_all(format!("{}\n", std::process::id()).as_bytes())?;
    match std::fs::remove_file(files.socket()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => (),
    }
    let (path, _directory) = short_path(&files.socket())?;
    let before = rustix::process::umask(Mode::from_raw_mode(0o177));
    let listener = UnixListener::bind(path);
    rustix::process::umask(before);
    let listener = listener?;
    listener.set_nonblocking(true)?;
    std::fs::set_permissions(files.socket(), Permissions::from_mode(0o600))?;
    // The child has its environment in memory; the secrets are no longer needed on disk.
    spec.without_secrets().write(dir)?;
    Ok(Owned { spec, listener, lock })
}

/// Whether a host of this session is alive.
pub(crate) fn alive(dir: &Path) -> io::Result<bool> {
    let lock = match File::options().write(true).open(Files::new(dir).pid()) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(false),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// The path of a socket may have 107 bytes; a longer one is reached through its directory.
pub(crate) fn short_path(socket: &Path) -> io::Result<(PathBuf, Option<OwnedFd>)> {
    if socket.as_os_str().len() < 100 {
        return Ok((socket.to_owned(), None));
    }
    let (Some(directory), Some(name)) = (socket.parent(), socket.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a path of a socket"));
    };
    let directory = rustix::fs::open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let number = std::os::fd::AsRawFd::as_raw_fd(&directory);
    Ok((PathBuf::from(format!("/proc/self/fd/{number}")).join(name), Some(directory)))
}
