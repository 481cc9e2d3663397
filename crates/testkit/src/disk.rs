//! A tiny disk that can be filled, for tests of a full disk.
//!
//! It is a `tmpfs` in a mount namespace of its own, which root may make anywhere and others where user namespaces are
//! allowed. The namespace is a process: the test starts itself again in it, and runs one ignored case there.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A page of a `tmpfs`: the least that a file takes.
pub const PAGE: u64 = 4096;

/// Runs the ignored test `case` of the same binary where it may mount a disk, and wants it to pass.
pub fn run_with_own_mounts(case: &str) {
    let mut command = unshare();
    command.arg(std::env::current_exe().expect("a test has a file"));
    command.args(["--exact", case, "--ignored", "--nocapture"]);
    let output = command.output().expect("unshare is part of util-linux");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "needs the right to make a mount namespace:\n{said}");
}

/// The command that runs its further arguments in its own mount namespace.
pub fn unshare() -> Command {
    let mut command = Command::new("unshare");
    let own = std::fs::metadata("/proc/self").expect("there is a process");
    if std::os::unix::fs::MetadataExt::uid(&own) != 0 {
        command.args(["--user", "--map-root-user"]);
    }
    command.arg("--mount");
    command
}

/// Mounts a disk of this many bytes at `path`; only in a namespace of its own.
pub fn mount_tiny(path: &Path, bytes: u64) {
    let size = format!("size={bytes}");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "none"]).arg(path).status();
    assert!(mounted.expect("mount is part of util-linux").success());
}

/// A file that takes all the remaining space of a disk, until it is dropped.
#[derive(Debug)]
pub struct Filler {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Filler {
    /// Fills the disk that `folder` is on.
    pub fn fill(folder: &Path) -> Self {
        let path = folder.join("filler");
        let file = File::create(&path).expect("a file without content needs no room");
        let mut filler = Self { path, file, length: 0 };
        filler.take_all();
        filler
    }

    /// Takes the space that has become free.
    pub fn take_all(&mut self) {
        while let Ok(written) = self.file.write(&[0; PAGE as usize]) {
            self.length += written as u64;
        }
    }

    /// Gives this many pages back.
    pub fn give_back(&mut self, pages: u64) {
        self.length = self.length.saturating_sub(pages * PAGE);
        self.file.set_len(self.length).expect("what is there can be cut");
    }
}

impl Drop for Filler {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
