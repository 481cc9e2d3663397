//! Names of branches: what is accepted, and what a workspace's own branch is called.

use crate::WorkspaceId;

/// Why a text is no branch name of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a branch has letters, digits and `._/-` only, does not start with `-`, `.` or `/`, and has no `..` or `//`")]
pub struct BranchError;

/// Refuses whatever git, a shell or a command line could take for something else.
pub fn check(name: &str) -> Result<(), BranchError> {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._/-".contains(&b));
    let parts = name.split('/').all(|part| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock"));
    let safe = plain && parts && !name.starts_with('-') && !name.contains("..") && !name.ends_with('.');
    if safe && name.len() <= 255 && name != "HEAD" { Ok(()) } else { Err(BranchError) }
}

/// A readable branch for a line of work, different for each workspace.
pub fn of_workspace(title: &str, workspace: WorkspaceId) -> String {
    let mut slug = String::new();
    for c in title.chars().flat_map(char::to_lowercase) {
        match c {
            c if c.is_ascii_alphanumeric() => slug.push(c),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
        if slug.len() >= 40 {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    let id = workspace.to_string();
    let end = &id[id.len() - 6..];
    if slug.is_empty() { format!("shopfloor/{end}") } else { format!("shopfloor/{slug}-{end}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hostile_names_are_refused() {
        for bad in [
            "",
            "-x",
            "--upload-pack=id",
            "a b",
            "$(id)",
            "a;id",
            "a\nb",
            "a\0b",
            "@{-1}",
            "a..b",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a/.b",
            "a.lock",
            "a.lock/b",
            "HEAD",
            "a.",
            "ä",
            "a~1",
            "a^",
            "a:b",
            "a\\b",
            "a*",
            "refs heads",
        ] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
        for good in ["main", "feature/login", "v1.2", "a-b_c".replace('_', ".").as_str(), "release/2026.11"] {
            assert!(check(good).is_ok(), "{good:?}");
        }
    }

    proptest! {
        #[test]
        fn a_made_name_is_always_accepted(title in ".{0,80}") {
            let name = of_workspace(&title, WorkspaceId::generate());
            prop_assert!(check(&name).is_ok(), "{}", name);
        }
    }
}
