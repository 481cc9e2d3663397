//! A session that ends on a full disk: watchers learn so at once, and it is stored when there is space.

#![allow(clippy::unwrap_used)]

mod support;

use support::{View, eventually, exe, shell};
use terminal::{Adopted, Exit, HostLink};
use testkit::disk::{Filler, mount_tiny, run_with_own_mounts};

#[test]
fn the_end_of_a_session_is_not_lost_on_a_full_disk() {
    run_with_own_mounts("ended_on_a_full_disk");
}

#[tokio::test]
#[ignore = "run in a mount namespace by the test above"]
async fn ended_on_a_full_disk() {
    let disk = tempfile::tempdir().unwrap();
    mount_tiny(disk.path(), 4 << 20);
    let dir = disk.path().join("session");
    std::fs::create_dir(&dir).unwrap();
    shell("echo begun; read line; exit 7").write(&dir).unwrap();
    let (link, mut events) = HostLink::start(&dir, &exe()).await.unwrap();
    link.watch(None).unwrap();
    let mut view = View::new();
    support::until(&link, &mut events, &mut view, "it has begun", |view| view.text().contains("begun")).await;
    let filler = Filler::fill(disk.path());
    link.input("go\r").unwrap();
    support::until(&link, &mut events, &mut view, "the end", |view| view.exit.is_some()).await;
    assert_eq!(view.exit, Some((Some(7), None)));
    drop((link, events));
    // A runner that connects now learns it, too: the host stays as long as nothing is stored.
    assert!(Exit::read(&dir).unwrap().is_none());
    assert!(matches!(HostLink::adopt(&dir).await.unwrap(), Adopted::Running(..)));
    drop(filler);
    eventually("the end is written down", || Exit::read(&dir).unwrap().is_some()).await;
    assert_eq!(Exit::read(&dir).unwrap().unwrap().code, Some(7));
    eventually("the host is gone", || !dir.join("host.sock").exists()).await;
    assert!(matches!(HostLink::adopt(&dir).await.unwrap(), Adopted::Ended(_)));
}
