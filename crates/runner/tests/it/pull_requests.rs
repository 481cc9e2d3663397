//! Pull requests, through a scripted GitHub CLI.

use std::os::unix::fs::PermissionsExt;

use protocol::link::{RunnerAnswer, RunnerAsk};

use crate::hub::FakeHub;
use crate::support::TestRunner;

/// What `gh` does: it knows the pull request of `known`, and is not logged in for the repository `ann/private`.
const GH: &str = r#"#!/bin/sh
printf '%s\n' "$@" > "$0.args"
case "$*" in
*ann/private*) echo 'To get started with GitHub CLI, please run: gh auth login' >&2; exit 4;;
'pr view known '*) echo https://github.com/ann/calc/pull/7;;
'pr view '*) echo 'no pull requests found' >&2; exit 1;;
'pr create '*) cat > "$0.body"; echo 'Creating pull request' >&2; echo https://github.com/ann/calc/pull/8;;
esac
"#;

fn wanted(location: &str, branch: &str) -> RunnerAsk {
    RunnerAsk::PullRequest {
        location: location.into(),
        branch: branch.into(),
        target: "main".into(),
        title: "Add --sub; $(touch x)".into(),
        body: "Added it.\n\nWith tests.".into(),
    }
}

#[tokio::test]
async fn a_pull_request_is_opened_once_and_its_address_is_told() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::new(&hub);
    let bin = runner.folder.path().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let gh = bin.join("gh");
    std::fs::write(&gh, GH).unwrap();
    std::fs::set_permissions(&gh, std::fs::Permissions::from_mode(0o755)).unwrap();
    runner.set("PATH", &format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    runner.spawn();
    hub.connected(1).await;
    let opened = hub.ask(wanted("https://github.com/ann/calc.git", "new")).await.unwrap();
    assert_eq!(opened, RunnerAnswer::PullRequest("https://github.com/ann/calc/pull/8".into()));
    let args = std::fs::read_to_string(bin.join("gh.args")).unwrap();
    let expected = "pr create --repo ann/calc --head new --base main --title".split(' ').collect::<Vec<_>>().join("\n");
    assert_eq!(args, format!("{expected}\nAdd --sub; $(touch x)\n--body-file\n-\n"));
    assert_eq!(std::fs::read_to_string(bin.join("gh.body")).unwrap(), "Added it.\n\nWith tests.");
    let there = hub.ask(wanted("git@github.com:ann/calc.git", "known")).await.unwrap();
    assert_eq!(there, RunnerAnswer::PullRequest("https://github.com/ann/calc/pull/7".into()));
    let refused = hub.ask(wanted("https://github.com/ann/private", "new")).await.unwrap_err();
    assert!(refused.detail.contains("gh auth login"), "{refused:?}");
    let elsewhere = hub.ask(wanted("https://example.org/ann/calc", "new")).await.unwrap_err();
    assert!(elsewhere.detail.contains("needs a repository on GitHub"), "{elsewhere:?}");
}

#[tokio::test]
async fn a_machine_without_the_github_cli_says_so() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::new(&hub);
    let git = std::env::split_paths(&std::env::var_os("PATH").unwrap()).find(|dir| dir.join("git").exists()).unwrap();
    let bin = runner.folder.path().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(git.join("git"), bin.join("git")).unwrap();
    runner.set("PATH", bin.to_str().unwrap());
    runner.spawn();
    hub.connected(1).await;
    let refused = hub.ask(wanted("https://github.com/ann/calc", "new")).await.unwrap_err();
    assert!(refused.detail.contains("install the GitHub CLI"), "{refused:?}");
}
