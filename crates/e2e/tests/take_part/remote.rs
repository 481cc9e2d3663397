//! A repository that is elsewhere, and somebody's clone of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::hub::Hub;

pub(crate) fn git(place: &Path, args: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    let done = Command::new("git").args(identity).args(args).current_dir(place).output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A remote with one commit on `main`, and a clone of it.
pub(crate) fn remote(hub: &Hub) -> (PathBuf, PathBuf) {
    let (origin, clone) = (hub.path("origin.git"), hub.path("clone"));
    git(&origin, &["init", "-q", "--bare", "-b", "main"]);
    git(&clone, &["init", "-q", "-b", "main"]);
    git(&clone, &["remote", "add", "origin", origin.to_str().unwrap()]);
    std::fs::write(clone.join("README.md"), "# A repository\n").unwrap();
    git(&clone, &["add", "-A"]);
    git(&clone, &["commit", "-q", "-m", "base"]);
    git(&clone, &["push", "-q", "origin", "main"]);
    (origin, clone)
}
