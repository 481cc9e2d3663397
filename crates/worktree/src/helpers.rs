//! Credential helpers: the programs that know the owner's passwords for https. Our own git reads no settings, so the
//! owner's are read once, and only helpers with a known name are used, never a shell line.

use std::collections::BTreeMap;
use std::path::Path;

use crate::author::settings;

/// A credential helper that an owner may allow: a name of git's own kind, never a shell line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialHelper {
    /// The GitHub CLI.
    GitHub,
    /// The GitLab CLI.
    GitLab,
    /// git's own store in the home directory.
    Store,
    /// git's own cache in memory.
    Cache,
    /// The desktop's keyring on Linux.
    Libsecret,
    /// The keychain of macOS.
    Keychain,
    /// Git Credential Manager.
    Manager,
}

impl CredentialHelper {
    /// All of them, with the names that people write and the values of git's `credential.helper`.
    const ALL: [(Self, &'static str, &'static str); 7] = [
        (Self::GitHub, "gh", "!gh auth git-credential"),
        (Self::GitLab, "glab", "!glab auth git-credential"),
        (Self::Store, "store", "store"),
        (Self::Cache, "cache", "cache"),
        (Self::Libsecret, "libsecret", "libsecret"),
        (Self::Keychain, "keychain", "osxkeychain"),
        (Self::Manager, "manager", "manager"),
    ];

    /// The names that people write.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(|(_, name, _)| name)
    }

    /// The helper of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, known, _)| *known == name).map(|(helper, ..)| helper)
    }

    pub(crate) fn config(self) -> &'static str {
        Self::ALL.into_iter().find(|(helper, ..)| *helper == self).map_or("", |(.., config)| config)
    }

    /// The helper that a value of `credential.helper` means, however its program is written: `store`, `!gh auth
    /// git-credential`, `/usr/lib/git-core/git-credential-libsecret`.
    fn meant(value: &str) -> Option<Self> {
        let words: Vec<&str> = value.trim_start_matches('!').split_whitespace().collect();
        let (first, rest) = words.split_first()?;
        let program = first.rsplit('/').next()?;
        let name = program.strip_prefix("git-credential-").unwrap_or(program);
        match (name, rest) {
            ("gh", ["auth", "git-credential"]) => Some(Self::GitHub),
            ("glab", ["auth", "git-credential"]) => Some(Self::GitLab),
            ("manager-core", []) => Some(Self::Manager),
            // One with options of its own, such as a file, would read something else.
            (name, []) => Self::ALL.into_iter().find(|(.., config)| *config == name).map(|(helper, ..)| helper),
            _ => None,
        }
    }
}

/// The credential helpers that the person's own git settings name, for all hosts or for one, as far as they are known.
///
/// Reads only the person's own files, never a repository's, and runs nothing.
pub async fn helpers(git: &Path, person: &BTreeMap<String, String>) -> Vec<CredentialHelper> {
    let found = settings(git, person, &["--get-regexp", r"^credential\.(.*\.)?helper$"]).await.unwrap_or_default();
    let mut all = Vec::new();
    for line in found.lines() {
        // An empty value forgets those before it; another host's list begins with one, too.
        let value = line.split_once(' ').map_or("", |(_, value)| value);
        if let Some(helper) = CredentialHelper::meant(value)
            && !all.contains(&helper)
        {
            all.push(helper);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn helpers_come_from_the_persons_git_settings() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().to_string_lossy().into_owned();
        let path = std::env::var("PATH").unwrap();
        let person = BTreeMap::from([("HOME".to_owned(), folder), ("PATH".to_owned(), path)]);
        assert_eq!(helpers(Path::new("git"), &person).await, []);
        let settings = "[credential]\n\thelper = store\n\thelper = /usr/lib/git-core/git-credential-libsecret\n\
                        [credential \"https://github.com\"]\n\thelper =\n\thelper = !/usr/bin/gh auth git-credential\n\
                        [credential \"https://gist.github.com\"]\n\thelper =\n\thelper = !/usr/bin/gh auth git-credential\n";
        std::fs::write(home.path().join(".gitconfig"), settings).unwrap();
        let expected = [CredentialHelper::Store, CredentialHelper::Libsecret, CredentialHelper::GitHub];
        assert_eq!(helpers(Path::new("git"), &person).await, expected);
    }

    #[test]
    fn only_known_programs_are_helpers() {
        for value in
            ["", "!f() { echo password=x; }; f", "!gh", "!gh auth token", "evil", "!sh -c store", "store --file /x"]
        {
            assert_eq!(CredentialHelper::meant(value), None, "{value}");
        }
        for name in CredentialHelper::names() {
            let helper = CredentialHelper::named(name).unwrap();
            assert_eq!(CredentialHelper::meant(helper.config()), Some(helper));
        }
        assert_eq!(CredentialHelper::named("!gh"), None);
    }
}
