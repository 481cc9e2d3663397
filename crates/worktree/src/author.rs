//! The person's name in git: read once, because a session in a sandbox does not see their settings.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::store::Store;
use crate::{Author, Location};

const PATIENCE: Duration = Duration::from_secs(10);
/// No name is longer.
const LONGEST: usize = 200;

/// The name and address in the person's own settings; `None` unless both are set.
///
/// Reads only their own files, never a repository's, and runs nothing.
pub async fn author(git: &Path, person: &BTreeMap<String, String>) -> Option<Author> {
    let (name, email) = (setting(git, person, "user.name").await?, setting(git, person, "user.email").await?);
    Some(Author { name, email })
}

async fn setting(git: &Path, person: &BTreeMap<String, String>, key: &str) -> Option<String> {
    plain(&settings(git, person, &["--get", key]).await?)
}

/// What `git config` answers about the person's own settings; `None` if there is nothing.
pub(crate) async fn settings(git: &Path, person: &BTreeMap<String, String>, asked: &[&str]) -> Option<String> {
    let mut git = tokio::process::Command::new(git);
    git.args(["config", "--global", "--includes"]).args(asked).current_dir("/").env_clear();
    for name in ["HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "PATH"] {
        if let Some(value) = person.get(name) {
            git.env(name, value);
        }
    }
    git.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let said = tokio::time::timeout(PATIENCE, git.output()).await.ok()?.ok()?;
    String::from_utf8(said.stdout).ok().filter(|_| said.status.success())
}

fn plain(text: &str) -> Option<String> {
    let text: String = text.trim().chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    (!text.is_empty()).then_some(text)
}

/// The name and address that a repository on this machine sets for itself; `None` unless it sets both.
///
/// Reads only the folder's own settings, not those that they include, and runs nothing of it.
pub(crate) async fn of_folder(store: &Store, location: &Location) -> Option<Author> {
    let folder = location.path()?;
    let file = [folder.join(".git/config"), folder.join("config")].into_iter().find(|file| file.is_file())?;
    // Most repositories set no name: spare them a process.
    if !std::fs::read_to_string(&file).ok()?.to_ascii_lowercase().contains("[user") {
        return None;
    }
    let git = store.git("config").args(["--no-includes", "-z", "--file"]).args([file]);
    let said = git.args(["--get-regexp", r"^user\.(name|email)$"]).run().await.ok()?;
    let value = |key: &str| {
        let found = said.split(|b| *b == 0).rev().find_map(|entry| entry.strip_prefix(key.as_bytes()))?;
        plain(std::str::from_utf8(found).ok()?)
    };
    Some(Author { name: value("user.name\n")?, email: value("user.email\n")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_author_comes_from_the_persons_git_settings() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().to_string_lossy().into_owned();
        let path = std::env::var("PATH").unwrap();
        let person = BTreeMap::from([("HOME".to_owned(), folder), ("PATH".to_owned(), path)]);
        assert_eq!(author(Path::new("git"), &person).await, None);
        std::fs::write(home.path().join("more"), "[user]\n\tname = Ann \\\"B\\\"\n").unwrap();
        let settings = "[include]\n\tpath = more\n[user]\n\temail = ann@example.org\n";
        std::fs::write(home.path().join(".gitconfig"), settings).unwrap();
        let ann = Author { name: "Ann \"B\"".into(), email: "ann@example.org".into() };
        assert_eq!(author(Path::new("git"), &person).await, Some(ann));
    }
}
