//! The README's first minutes, as a newcomer runs them: from an empty home folder to the first landed change.

use std::path::Path;
use std::process::{Command, Output};

fn newcomer(readme: Option<&Path>) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(root.join("scripts/newcomer"));
    command.env("SHOPFLOOR_BIN", testkit::binary());
    if let Some(readme) = readme {
        command.env("README", readme);
    }
    command.output().unwrap()
}

fn text(ended: &Output) -> String {
    String::from_utf8_lossy(&[ended.stdout.clone(), ended.stderr.clone()].concat()).into_owned()
}

#[test]
fn the_readmes_commands_lead_to_the_first_landed_change() {
    let ended = newcomer(None);
    let said = text(&ended);
    assert!(ended.status.success() && said.contains("landed on main: "), "{said}");
}

#[test]
fn a_readme_with_a_wrong_command_fails() {
    let folder = tempfile::tempdir().unwrap();
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let wrong = readme.replace("shopfloor project create", "shopfloor project create --no-such-flag");
    assert_ne!(readme, wrong);
    let path = folder.path().join("README.md");
    std::fs::write(&path, wrong).unwrap();
    let ended = newcomer(Some(&path));
    let said = text(&ended);
    assert!(!ended.status.success() && said.contains("FAILED with 2: shopfloor project create"), "{said}");
}
