//! Over ssh: the program is played by a script that runs the wanted command here, as a server would.

use std::os::unix::fs::PermissionsExt;

use worktree::{Error, Location};

use super::{bench, publishes_and_lands, rerun};
use crate::support::write;

/// What git says to ssh comes last. A server has nothing of the client's environment.
const SSH: &str = r#"#!/bin/sh
printf '%s\n' "$*" >> "${0%/*}/asked"
[ ! -e "${0%/*}/locked" ] || { echo "git@127.0.0.1: Permission denied (publickey)." >&2; exit 255; }
[ ! -e "${0%/*}/unknown" ] || { echo "Host key verification failed." >&2; exit 255; }
for last; do :; done
exec env -i PATH="$PATH" sh -c "$last"
"#;

#[test]
fn a_branch_is_published_and_lands_over_ssh() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "ssh", SSH);
    std::fs::set_permissions(folder.path().join("ssh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::join_paths(
        [folder.path().to_owned()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let env = [("PATH", path.unwrap()), ("HOME", folder.path().into()), ("SSH_AUTH_SOCK", "/agent".into())];
    rerun("remotes::ssh::published_and_landed", &env);
}

#[tokio::test]
#[ignore = "run with another environment by the test above"]
async fn published_and_landed() {
    let folder = std::path::PathBuf::from(std::env::var_os("HOME").unwrap());
    let asked = || std::fs::read_to_string(folder.join("asked")).unwrap();
    let bench = bench(true, Vec::new()).await;
    let location: Location = format!("ssh://git@127.0.0.1:2222{}/origin.git", bench.path().display()).parse().unwrap();
    publishes_and_lands(&bench, &location).await;
    for line in asked().lines() {
        assert!(
            line.contains("BatchMode=yes") && line.contains("ForwardAgent=no") && line.contains("-p 2222"),
            "{line}"
        );
        assert!(!line.contains("IdentityAgent"), "the owner's own keys count: {line}");
    }
    // Refusals say what to do.
    let branch = "main".parse().unwrap();
    write(&folder, "locked", "");
    let error = bench.trees.fetch_tip(&location, &branch).await.unwrap_err();
    assert!(matches!(error, Error::Access { .. }) && error.to_string().contains("an SSH key"), "{error}");
    std::fs::rename(folder.join("locked"), folder.join("unknown")).unwrap();
    let error = bench.trees.fetch_tip(&location, &branch).await.unwrap_err();
    assert!(matches!(error, Error::Host { .. }) && error.to_string().contains("connect to it once"), "{error}");
    // Without the owner's permission, their settings, keys and agent do not count.
    std::fs::remove_file(folder.join("unknown")).unwrap();
    let other = super::bench(false, Vec::new()).await;
    other.trees.fetch_tip(&location, &branch).await.unwrap();
    let last = asked().lines().last().unwrap().to_owned();
    assert!(last.contains("-F /dev/null") && last.contains("IdentityAgent=none"), "{last}");
}
