//! A project whose repository is a remote: cloned over ssh with the owner's login, and accepted work lands there.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use protocol::{Landing, Project};
use serde_json::json;

use crate::fixture::{Fixture, git};
use crate::forward::{add, check_before_landing, done, landed, repository, said, start};

/// Plays ssh: runs the wanted command here, as a server would, unless the owner's own login may not be used.
const SSH: &str = r#"#!/bin/sh
case "$*" in *IdentityAgent=none*) echo "Permission denied (publickey)." >&2; exit 255 ;; esac
for last; do :; done
exec env -i PATH="$PATH" sh -c "$last"
"#;

fn bare(fixture: &Fixture, place: &Path) -> String {
    let origin = fixture.folder.path().join("origin.git");
    git(place, &["clone", "-q", "--bare", ".", origin.to_str().unwrap()]);
    origin.display().to_string()
}

#[tokio::test]
async fn accepted_work_lands_at_a_repository_over_ssh() {
    let programs = tempfile::tempdir().unwrap();
    let ssh = programs.path().join("ssh");
    std::fs::write(&ssh, SSH).unwrap();
    std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", programs.path().display(), std::env::var("PATH").unwrap());
    let env = [("PATH", path), ("SHOPFLOOR_PRIVATE_HOSTS", "true".to_owned())];
    let fixture = Fixture::open(&env, async |port| port).await;
    let place = repository(&fixture);
    let origin = bare(&fixture, &place);
    let address = format!("ssh://git@127.0.0.1{origin}");
    let project: Project = fixture.cli(&["project", "create", "A remote project", "--repo", &address]).await;
    let plan = json!([{ "id": "sub", "description": "Add sub" }, { "description": "Add mul", "deps": ["sub"] }]);
    let tasks = add(&fixture, &project, plan).await;
    start(&fixture, &project, 1).await;
    done(&fixture, &tasks).await;
    let origin = Path::new(&origin);
    let landings: Vec<Landing> = fixture.cli(&["land", &tasks[0].to_string(), "--push-only"]).await;
    assert_eq!(said(origin, &["show", &format!("{}:calc.txt", landings[0].branch)]), "start\nAdd sub\n");
    check_before_landing(&fixture, &project).await;
    let _: Vec<Landing> = fixture.cli(&["land", &tasks[1].to_string()]).await;
    landed(&fixture, tasks[1]).await;
    assert_eq!(said(origin, &["show", "main:calc.txt"]), "start\nAdd sub\nAdd mul\n");
    fixture.close().await;
}
