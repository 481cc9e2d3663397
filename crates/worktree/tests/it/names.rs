//! TRUST T5: 300 hostile names, through everything that takes a name; nothing of them is executed or becomes a file.

use domain::WorkspaceId;
use testkit::Canary;
use worktree::{BranchName, Cleaned, DiffLimits, Error, Into, Location, Plan, Progress, Reason, Unfinished};

use crate::support::{Bench, git, write};

#[tokio::test]
async fn hostile_names_are_refused_or_harmless() {
    let bench = Bench::new().await;
    let canary = Canary::new(&bench.path());
    let names = canary.names();
    assert!(names.len() >= 300, "{}", names.len());
    let home = bench.workspace("home").await;
    let before = std::fs::read_dir(bench.path()).unwrap().count();
    let mut accepted = Vec::new();
    for name in &names {
        match name.parse::<BranchName>() {
            Ok(branch) => accepted.push(branch),
            Err(error) => assert!(!error.to_string().chars().any(char::is_control), "{error}"),
        }
        let made = domain::branch::of_workspace(name, WorkspaceId::generate());
        assert!(made.as_str().parse::<BranchName>().is_ok());
        git(&bench.path(), &["check-ref-format", "--branch", made.as_str()]);
        if let Ok(location) = name.parse::<Location>() {
            // What is accepted leads nowhere: no such host, or no such folder.
            let refused = bench.trees.refresh(&location, &Progress::none()).await;
            assert!(refused.is_err(), "{name}");
            assert!(bench.trees.default_branch(&location).await.is_err(), "{name}");
        }
        assert!(
            bench.trees.restore(home.facts.id, Some(name), &Into::Folder(bench.path().join("never"))).await.is_err()
        );
        let plan = Plan { copy: vec![name.clone()], copy_from: Some(bench.seed()), ..Plan::default() };
        if let Ok(space) = bench.trees.create(WorkspaceId::generate(), &plan, &Progress::none()).await {
            assert!(space.copied.files.is_empty(), "{name}: {:?}", space.copied);
        }
    }
    let texts: Vec<&str> = accepted.iter().map(BranchName::as_str).collect();
    assert_eq!(texts, ["con", "aux.txt"], "names that are only odd elsewhere");
    for branch in accepted {
        let plan = Plan { branch: Some(branch.clone()), ..bench.plan("x") };
        let space = bench.trees.create(WorkspaceId::generate(), &plan, &Progress::none()).await.unwrap();
        assert_eq!(git(&space.path, &["branch", "--show-current"]), branch.as_str());
        let plan = Plan { base: Some(branch), ..bench.plan("x") };
        assert!(bench.trees.create(WorkspaceId::generate(), &plan, &Progress::none()).await.is_err());
    }
    assert!(canary.sung().is_empty());
    assert_eq!(std::fs::read_dir(bench.path()).unwrap().count(), before, "no file of such a name came to be");
}

/// Locations that lead into this network or machine are refused before anything is connected.
#[tokio::test]
async fn a_location_does_not_reach_into_this_network() {
    let bench = Bench::new().await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    for host in [
        "127.0.0.1",
        "localhost",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
    ] {
        for url in [format!("https://{host}:{port}/x"), format!("ssh://git@{host}:{port}/x")] {
            let location: Location = url.parse().unwrap();
            let error = bench.trees.refresh(&location, &Progress::none()).await.unwrap_err();
            assert!(matches!(error, worktree::Error::Host { .. }), "{url}: {error}");
        }
    }
    for url in ["https://169.254.169.254/latest/meta-data", "https://10.0.0.1/x", "git@192.168.1.1:x/y"] {
        let location: Location = url.parse().unwrap();
        assert!(matches!(bench.trees.refresh(&location, &Progress::none()).await, Err(worktree::Error::Host { .. })));
    }
    assert!(listener.accept().is_err(), "nobody knocked");
}

#[tokio::test]
async fn names_that_stand_for_git_elsewhere_are_left_out_and_the_rest_goes_on() {
    let bench = Bench::new().await;
    let space = bench.workspace("work").await;
    let id = space.facts.id;
    let odd = [".git ", "GIT~1", "git~1 .", "sub/.git.", "sub/.GIT./x", "a\\.git", ".g\u{200c}it"];
    for name in odd {
        write(&space.path, name, "odd");
    }
    std::os::unix::fs::symlink("x", space.path.join("sub/.gitmodules")).unwrap();
    write(&space.path, "fine.txt", "fine");
    let saved = bench.trees.save(id).await.unwrap();
    let mut left: Vec<String> = saved.left_out.iter().map(|out| out.path.clone()).collect();
    left.sort();
    let mut expected: Vec<String> = odd.iter().map(|name| (*name).to_owned()).collect();
    expected.push("sub/.gitmodules".to_owned());
    expected.sort();
    assert_eq!(left, expected);
    assert!(saved.new.is_some(), "the rest is saved");
    let diff = bench.trees.diff(id, None, &DiffLimits::default()).await.unwrap();
    assert!(format!("{diff:?}").contains("fine.txt"), "{diff:?}");
    assert!(bench.trees.stats(id).await.unwrap().uncommitted);
    assert!(bench.trees.examine(id, 1 << 16).await.unwrap().problem.is_none());
    let refused = bench.trees.clean(id, Unfinished::KeepSaved).await.unwrap_err();
    let Error::WouldLose { reasons, .. } = refused else { panic!("{refused}") };
    assert_eq!(reasons.iter().filter(|reason| matches!(reason, Reason::NotSaved { .. })).count(), expected.len());
    for name in &expected {
        std::fs::remove_file(space.path.join(name)).unwrap();
    }
    assert_eq!(bench.trees.clean(id, Unfinished::KeepSaved).await.unwrap(), Cleaned::Deleted);
}
