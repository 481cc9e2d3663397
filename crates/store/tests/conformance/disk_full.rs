//! A full disk: new work is refused with the reason, reads go on, and freed space is enough to recover.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use domain::Visibility;
use protocol::MessagePage;
use store::StoreError;

use crate::floor::{Floor, Place, send};
use testkit::Raw;

/// Runs the case below in a mount namespace of its own, where it may mount a tiny disk that vanishes with it.
#[test]
fn a_full_disk_refuses_work_and_recovers_when_space_is_freed() {
    let mut command = Command::new("unshare");
    if own_uid() != 0 {
        command.args(["--user", "--map-root-user"]);
    }
    command.arg("--mount").arg(std::env::current_exe().unwrap());
    command.args(["--exact", "disk_full::on_a_tiny_disk", "--ignored", "--nocapture"]);
    let output = command.output().expect("unshare is part of util-linux");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "needs the right to make a mount namespace:\n{said}");
}

fn own_uid() -> u32 {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run in a mount namespace by the test above"]
async fn on_a_tiny_disk() {
    let directory = tempfile::tempdir().unwrap();
    let disk = directory.path().to_owned();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=2m", "none"]).arg(&disk).status().unwrap();
    assert!(mounted.success());
    let floor = Floor::open(Place::Sqlite(directory)).await;
    let project = floor.project(Visibility::ReadWrite).await.id;
    let mut acknowledged = 0;
    for round in 0..3 {
        let filler = fill(&disk);
        // What the log file has taken already is still free for use.
        let refusal = loop {
            match floor.store.write(&floor.ada, None, send(project, &"x".repeat(4000))).await {
                Ok(_) => acknowledged += 1,
                Err(error) => break error,
            }
        };
        assert!(matches!(refusal, StoreError::Storage(_)), "round {round}: {refusal:?}");
        assert!(refusal.to_string().contains("reads go on"), "{refusal}");
        assert!(floor.store.trouble().is_some());
        // Several at once are a group, which fails as one and then one by one.
        let (one, two) = tokio::join!(
            floor.store.write(&floor.ada, None, send(project, &"y".repeat(9000))),
            floor.store.write(&floor.bo, None, send(project, &"y".repeat(9000))),
        );
        assert!(matches!((one, two), (Err(StoreError::Storage(_)), Err(StoreError::Storage(_)))));
        let page = floor.store.messages(&floor.bo, project, MessagePage::default()).await.unwrap();
        assert_eq!(page.len(), acknowledged.min(50));
        floor.store.state(&floor.bo).await.unwrap();
        std::fs::remove_file(filler).unwrap();
        floor.say(&floor.ada, project, "there is room").await;
        acknowledged += 1;
        assert_eq!(floor.store.trouble(), None);
    }
    let mut raw = Raw::connect(&floor.url).await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM messages").await as usize, acknowledged);
    assert_eq!(raw.column("PRAGMA integrity_check").await, ["ok"]);
    assert!(floor.store.verify_audit().await.unwrap().is_ok());
    let newest = floor.store.extent().await.unwrap().newest.0;
    assert_eq!(raw.number("SELECT COUNT(*) FROM events").await.cast_unsigned(), newest);
}

/// Takes all the space that is left.
fn fill(disk: &Path) -> std::path::PathBuf {
    let path = disk.join("filler");
    let mut file = File::create(&path).unwrap();
    while file.write(&[0; 4096]).is_ok() {}
    path
}
