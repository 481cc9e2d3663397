//! That the canaries can sing: the same names, given to a shell and to git as a careless program would.

use std::path::Path;
use std::process::{Command, Stdio};

use testkit::Canary;

use crate::fixture::git;

fn careless(place: &Path, program: &str, args: &[&str]) {
    let command = Command::new(program).args(args).current_dir(place).stdin(Stdio::null()).output();
    // It does not matter what comes of it.
    drop(command);
}

#[test]
fn the_same_names_are_executed_by_a_careless_script() {
    let folder = tempfile::tempdir().unwrap();
    let repository = folder.path().join("repository");
    std::fs::create_dir(&repository).unwrap();
    git(&repository, &["init", "-q", "-b", "main"]);
    git(&repository, &["commit", "-q", "--allow-empty", "-m", "base"]);
    let canary = Canary::new(folder.path());
    let names = canary.names();
    let aimed = || names.iter().filter(|name| name.contains(&canary.file("c")) && !name.contains('\0'));
    for name in aimed() {
        careless(&repository, "sh", &["-c", &format!("echo {name}")]);
    }
    let by_shell = canary.sung();
    assert!(by_shell.len() > 50, "a shell executes {}: {by_shell:?}", by_shell.len());
    for name in aimed().filter(|name| name.starts_with('-')) {
        careless(&repository, "git", &["log", name]);
        careless(&repository, "git", &["ls-remote", name, "."]);
    }
    let by_git: Vec<String> = canary.sung().into_iter().filter(|name| !by_shell.contains(name)).collect();
    assert!(by_git.len() >= 2, "git executes or writes {by_git:?}");
}
