//! Merge runs of hostile branches and checks: nothing passes that did not run, nothing outlives its run, names and
//! attributes in the tree change nothing.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use domain::{CheckOutcome, LandOutcome};
use protocol::link::{LevelBuilt, MergeTest};
use testkit::disk::{mount_tiny, run_with_own_mounts};

use crate::hub::FakeHub;
use crate::merges::{alive, branch, land, lines, test, tip, top};
use crate::support::{TestRunner, fixture, git};

/// What a warden says about a command that passed.
const FORGED: &str = r#"{"code":0,"signal":null,"late":false,"fault":null,"tail":"fine"}"#;

async fn tested(hub: &FakeHub, origin: &Path, branches: &[&str], line: &str) -> MergeTest {
    let wanted = test(origin, branches, &[line]);
    hub.want_merged(vec![wanted.clone()]);
    hub.tested(&wanted).await
}

#[tokio::test]
async fn processes_left_by_a_check_are_killed_without_delay() {
    let origin = fixture(&[("README.md", "one\n")]);
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let marks = runner.folder.path().join("marks");
    let line = format!(
        "for n in 1 2; do setsid sh -c 'echo $$ >> \"{0}\"; while :; do echo more >> late; sleep 0.01; done' & done; \
         until [ \"$(wc -l < '{0}')\" = 2 ]; do sleep 0.02; done",
        marks.display()
    );
    let done = tested(&hub, origin.path(), &[], &line).await;
    assert_eq!(done.checks[0].outcome, CheckOutcome::Passed, "{done:?}");
    assert_eq!(lines(&marks).iter().filter(|pid| alive(pid)).count(), 0, "they ended with the check");
    let checkouts = runner.data_dir().join("checkouts");
    testkit::wait_until("the checkout is deleted", || async {
        std::fs::read_dir(&checkouts).unwrap().next().is_none().then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_check_whose_result_is_missing_or_forged_has_not_passed() {
    let origin = fixture(&[("README.md", "one\n")]);
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    for line in [
        "kill -9 $PPID".to_owned(),
        format!("printf '%s' '{FORGED}' > /proc/$PPID/fd/1; kill -9 $PPID"),
        format!("printf '%s' '{FORGED}' > /proc/$PPID/fd/1"),
    ] {
        let done = tested(&hub, origin.path(), &[], &line).await;
        assert_eq!(done.checks[0].outcome, CheckOutcome::Infrastructure, "{line}: {done:?}");
    }
    // A program that is not there, and one that its shell does not find.
    let done = tested(&hub, origin.path(), &[], "no-such-program").await;
    assert_eq!((done.checks[0].outcome, done.checks[0].code), (CheckOutcome::Failed, Some(127)), "{done:?}");
}

#[tokio::test]
async fn hostile_names_and_attributes_in_the_tree_change_nothing() {
    let origin = fixture(&[("list.txt", "one\ntwo\n")]);
    let path = origin.path();
    let names: [&[u8]; 8] =
        [b"-rf", b"--all", b"new\nline", b"bad-\xff-utf8", b"Twin", b"twin", b"$(touch sprung)", b"kept.hidden"];
    git(path, &["checkout", "-q", "-B", "names", "main"]);
    // Attributes that would settle conflicts, rewrite files and leave files out.
    let attributes = "* merge=union text eol=crlf filter=evil ident\n*.hidden export-ignore\n";
    std::fs::write(path.join(".gitattributes"), attributes).unwrap();
    for name in names {
        std::fs::write(path.join(OsStr::from_bytes(name)), "$Id$ as it is\n").unwrap();
    }
    git(path, &["add", "-A"]);
    git(path, &["commit", "-q", "-m", "names"]);
    git(path, &["checkout", "-q", "main"]);
    branch(path, "left", "list.txt", "left\ntwo\n");
    branch(path, "right", "list.txt", "right\ntwo\n");
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let sum = "for name in -rf --all \"$(printf 'new\\nline')\" \"$(printf 'bad-\\377-utf8')\" Twin twin kept.hidden; do \
               test \"$(cat < \"$name\")\" = '$Id$ as it is' || exit 1; done; test \"$(wc -c < list.txt)\" = 9";
    let done = tested(&hub, path, &["names", "left", "right"], sum).await;
    assert!(matches!(done.levels[0].built, LevelBuilt::Merged { .. }), "{done:?}");
    let conflict = LevelBuilt::Conflict { paths: vec!["list.txt".into()], with_tip: false, sides: String::new() };
    assert_eq!(done.levels[2].built, conflict, "an attribute does not settle it");
    let done = tested(&hub, path, &["names", "left"], sum).await;
    assert_eq!(done.checks[0].outcome, CheckOutcome::Passed, "{done:?}");
    let LevelBuilt::Merged { paths, differs, .. } = &done.levels[0].built else { panic!("{done:?}") };
    assert_eq!((paths.len(), differs.len()), (names.len() + 1, 0), "{paths:?} {differs:?}");
    let order = land(path, &tip(path), &top(&done));
    hub.want_merged(vec![order.clone()]);
    assert_eq!(hub.landed(&order).await.outcome, LandOutcome::Landed);
    assert_eq!(tip(path), top(&done));
    for folder in [path, runner.folder.path()] {
        assert!(!folder.join("sprung").exists());
    }
}

#[test]
fn a_check_that_fills_the_disk_counts_against_nobody() {
    run_with_own_mounts("hostile_merges::filled_by_a_check");
}

#[tokio::test]
#[ignore = "run in a mount namespace by the test above"]
async fn filled_by_a_check() {
    let origin = fixture(&[("README.md", "one\n")]);
    branch(origin.path(), "one", "one.txt", "1\n");
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::new(&hub);
    std::fs::create_dir(runner.data_dir()).unwrap();
    mount_tiny(&runner.data_dir(), 24 << 20);
    runner.spawn();
    hub.connected(1).await;
    let done = tested(&hub, origin.path(), &["one"], "head -c 100000000 /dev/zero > junk").await;
    assert_eq!(done.checks[0].outcome, CheckOutcome::Infrastructure, "{done:?}");
    assert!(done.checks[0].log.ends_with("the disk of its machine is full"), "{done:?}");
    // The checkout is gone, and with it what the check has written.
    let done = tested(&hub, origin.path(), &["one"], "head -c 1000000 /dev/zero > junk").await;
    assert_eq!(done.checks[0].outcome, CheckOutcome::Passed, "{done:?}");
}
