//! Branch names: which are accepted, which conflict, and the names of workspaces' own branches.

use crate::WorkspaceId;

/// Maximum length: hosts store branches as files.
const LONGEST: usize = 200;

/// Why a branch name is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BranchError {
    /// Characters with a meaning for git, a shell or a command line.
    #[error(
        "a branch name may contain only letters, digits and `._/-`, must not start with `-`, `.` or `/`, and must not contain `..` or `//`"
    )]
    Characters,
    /// git's own prefix of refs, which would become part of the name.
    #[error("write a branch name without `refs/heads/`: git would make it part of the name")]
    Refs,
    /// git writes such files while it works on a branch.
    #[error("no part of a branch name may end with `.lock`: git reserves it")]
    Lock,
    /// The name of whatever is checked out.
    #[error("`HEAD` is not a branch name: git uses it for what is checked out")]
    Head,
    /// It does not fit into a file name.
    #[error("a branch name has at most {LONGEST} characters")]
    TooLong,
}

/// Refuses names with a meaning for git, a shell or a command line.
pub fn check(name: &str) -> Result<(), BranchError> {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._/-".contains(&b));
    let part = |part: &str| !part.is_empty() && !part.starts_with(['.', '-']) && !part.ends_with('.');
    let lock = |part: &str| part.to_ascii_lowercase().ends_with(".lock");
    if name.len() > LONGEST {
        Err(BranchError::TooLong)
    } else if !plain || !name.split('/').all(part) || name.contains("..") {
        Err(BranchError::Characters)
    } else if name == "HEAD" {
        Err(BranchError::Head)
    } else if name == "refs" || name.starts_with("refs/") {
        Err(BranchError::Refs)
    } else if name.split('/').any(lock) {
        Err(BranchError::Lock)
    } else {
        Ok(())
    }
}

/// Whether two branches conflict: they are equal, or one is a folder of the other.
pub fn clash(one: &str, other: &str) -> bool {
    let beneath = |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with('/'));
    one == other || beneath(one, other) || beneath(other, one)
}

/// A readable branch name for an activity, unique for each workspace.
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

    #[test]
    fn a_refusal_says_why() {
        let why = |name: &str| check(name).unwrap_err();
        assert_eq!(why("refs/heads/x"), BranchError::Refs);
        assert_eq!((why("x.lock"), why("a/B.LOCK/c")), (BranchError::Lock, BranchError::Lock));
        assert_eq!(why("HEAD"), BranchError::Head);
        assert_eq!(why(&"x".repeat(201)), BranchError::TooLong);
        assert_eq!((why("a b"), why("a/-b")), (BranchError::Characters, BranchError::Characters));
        assert!(why("refs/heads/x").to_string().contains("without `refs/heads/`"));
    }

    #[test]
    fn a_name_beneath_another_conflicts_with_it() {
        assert!(clash("dup", "dup") && clash("dup/sub", "dup") && clash("dup", "dup/sub/x"));
        assert!(!clash("dup", "dup2") && !clash("dup-2/sub", "dup") && !clash("a/b", "a/c"));
    }

    proptest! {
        #[test]
        fn a_made_name_is_always_accepted(title in ".{0,80}") {
            let name = of_workspace(&title, WorkspaceId::generate());
            prop_assert!(check(&name).is_ok(), "{}", name);
        }
    }
}
