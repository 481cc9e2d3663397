//! Which agents are found: by `PATH`, with their version, and without waiting for one that hangs.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use agents::{Adapters, FoundAgent};

use crate::place::Place;

async fn find(path: &str) -> BTreeMap<String, FoundAgent> {
    let person = BTreeMap::from([("PATH".to_owned(), path.to_owned()), ("HOME".to_owned(), "/nonexistent".to_owned())]);
    Adapters::built_in().find(&person).await.into_iter().map(|found| (found.name.clone(), found)).collect()
}

fn program(folder: &Path, name: &str, script: &str, mode: u32) {
    let file = folder.join(name);
    std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("a file can be written");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("it is ours");
}

#[tokio::test]
async fn the_real_ones_are_found_with_their_versions() {
    let place = Place::new([]).await;
    let found = Adapters::built_in().find(&place.person()).await;
    let of = |name: &str| found.iter().find(|found| found.name == name).expect("it comes with us").clone();
    let codex = of("codex");
    assert!(codex.path.is_some_and(|path| path.ends_with("codex")) && codex.install.is_none());
    assert_eq!(codex.version.as_deref(), Some("codex-cli 0.166.0"));
    assert_eq!(of("opencode").version.as_deref(), Some("1.18.18"));
    assert!(of("command").any && of("shell").any);
}

#[tokio::test]
async fn missing_agents_say_how_to_install_them() {
    let found = find("/nonexistent").await;
    assert_eq!(
        (&found["codex"].path, found["codex"].install.as_deref()),
        (&None, Some("npm install -g @openai/codex"))
    );
    assert!(found["claude"].install.is_some() && found["gemini"].install.is_some());
}

#[tokio::test]
async fn only_programs_in_absolute_folders_count_and_a_strange_version_is_harmless() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), "codex", "printf '\\n\\033[31m  codex   1.2.3\\nmore\\n'", 0o755);
    program(folder.path(), "gemini", "echo 1.0", 0o644);
    program(folder.path(), "opencode", "exit 3", 0o755);
    std::fs::create_dir(folder.path().join("claude")).unwrap();
    let found = find(folder.path().to_str().unwrap()).await;
    assert_eq!(found["codex"].version.as_deref(), Some("codex 1.2.3"));
    assert!(found["gemini"].path.is_none() && found["claude"].path.is_none());
    assert!(found["opencode"].path.is_some() && found["opencode"].version.is_none());
    assert!(find("relative:.:").await["codex"].path.is_none());
}

#[tokio::test]
async fn a_version_tells_no_secret_and_has_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let says = "printf 'codex 1.2 %.8s\\033[1m%s and more than is shown of a version\\n' \"$OPENAI_API_KEY\" \"${OPENAI_API_KEY#????????}\"";
    program(folder.path(), "codex", says, 0o755);
    program(folder.path(), "opencode", "exec /usr/bin/yes", 0o755);
    let person = [("PATH", folder.path().to_str().unwrap()), ("OPENAI_API_KEY", "sk-canary-0123456789")];
    let person = person.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let found = Adapters::built_in().find(&person).await;
    let version = |name: &str| found.iter().find(|found| found.name == name).and_then(|found| found.version.clone());
    let codex = version("codex").expect("it says one");
    assert!(codex.starts_with("codex 1.2 ••••••••••••••••••••"), "{codex}");
    assert_eq!(version("opencode"), None, "one that prints for ever is not waited for");
}

#[tokio::test]
async fn a_program_that_hangs_is_found_without_a_version() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), "codex", "exec /bin/sleep 1000", 0o755);
    let found = find(folder.path().to_str().unwrap()).await;
    assert!(found["codex"].path.is_some() && found["codex"].version.is_none());
}
