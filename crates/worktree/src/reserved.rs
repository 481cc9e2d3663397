//! Names reserved by git, as any file system may read them: none of them can be in a tree.

use std::ffi::OsStr;

/// Characters that some file systems ignore in names.
const PASSED_OVER: [std::ops::RangeInclusive<char>; 4] =
    ['\u{200c}'..='\u{200f}', '\u{202a}'..='\u{202e}', '\u{206a}'..='\u{206f}', '\u{feff}'..='\u{feff}'];

/// Whether git refuses such a name in a tree: `.git` in any spelling, and for a link also `.gitmodules`.
pub(crate) fn reserved(name: &OsStr, link: bool) -> bool {
    let name = name.to_string_lossy();
    // Some systems read the part after a `\` as a name.
    let parts = std::iter::once(&*name).chain(name.match_indices('\\').map(|(at, _)| &name[at + 1..]));
    let short = |part: &str| link && part.starts_with("gi") && part.chars().take(9).any(|c| c == '~');
    parts.map(str::to_lowercase).any(|part| {
        let seen: String = part.chars().filter(|c| !PASSED_OVER.iter().any(|range| range.contains(c))).collect();
        let before = seen.split(['\\', ':']).next().unwrap_or_default().trim_end_matches(['.', ' ']);
        matches!(before, ".git" | "git~1") || (link && before == ".gitmodules") || short(&seen)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_the_git_folder_is_reserved() {
        for name in [
            ".git",
            ".GIT",
            ".git ",
            ".git.",
            ".git. .",
            ".Git...",
            "git~1",
            "GIT~1",
            "GIT~1 .",
            ".git:x",
            "a\\.git",
            "a\\git~1",
            ".g\u{200c}it",
            "\u{feff}.git",
            ".git\\x",
        ] {
            assert!(reserved(OsStr::new(name), false), "{name:?}");
        }
        for name in [".gitignore", ".gitmodules", "git", ".github", "git~2", ".git-x", "a.git", ". git", "x\\a.git"] {
            assert!(!reserved(OsStr::new(name), false), "{name:?}");
        }
        for name in [".gitmodules", ".GitModules ", "gitmod~1", "gi7eba~1", ".gitm\u{200d}odules"] {
            assert!(reserved(OsStr::new(name), true), "{name:?}");
        }
        assert!(!reserved(OsStr::new("a link"), true));
    }
}
