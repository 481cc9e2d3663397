//! The files that the checks of a project name: a branch that changes one of them may have changed its own checks.

use protocol::MergeCommand;

/// The build files that well-known programs read without being told.
const BUILD_FILES: &[(&[&str], &[&str])] = &[
    (&["make", "gmake"], &["GNUmakefile", "makefile", "Makefile"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["npm", "npx", "yarn", "pnpm", "bun"], &["package.json"]),
];

/// The characters besides blanks that end a word of a script.
const ENDS: &[char] = &[';', '&', '|', '(', ')', '{', '}', '<', '>', '"', '\'', '`', '=', '$'];

/// Which of these paths the checks name, or read as the build file of a well-known program.
pub(super) fn among(paths: &[String], checks: &[MergeCommand]) -> Vec<String> {
    // An argument can be a whole script (`sh -c 'make test'`), and a path with blanks can be one argument.
    let split = |word: &'_ String| {
        let parts: Vec<String> =
            word.split(|c: char| c.is_whitespace() || ENDS.contains(&c)).map(|part| plain(part).to_owned()).collect();
        parts
    };
    let arguments = || checks.iter().flat_map(|check| &check.argv);
    let mut words: Vec<String> = arguments().flat_map(split).filter(|word| !word.is_empty()).collect();
    words.extend(arguments().map(|word| plain(word).to_owned()));
    paths.iter().filter(|path| names(&words, path)).cloned().collect()
}

/// A path without what does not change its meaning.
fn plain(word: &str) -> &str {
    let mut word = word;
    while let Some(rest) = word.strip_prefix("./") {
        word = rest;
    }
    word.trim_end_matches('/')
}

fn names(words: &[String], path: &str) -> bool {
    let there = |wanted: &str| words.iter().any(|word| word == wanted);
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let runs =
        |programs: &[&str]| words.iter().any(|word| programs.contains(&word.rsplit('/').next().unwrap_or_default()));
    let build = BUILD_FILES.iter().any(|(programs, files)| files.contains(&file) && runs(programs));
    there(path) || (build && (folder.is_empty() || there(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(argv: &[&str], path: &str) -> bool {
        let argv = argv.iter().map(|word| (*word).to_owned()).collect();
        !among(&[path.to_owned()], &[MergeCommand { argv, seconds: 1 }]).is_empty()
    }

    #[test]
    fn build_files_of_programs_are_named_wherever_the_program_is() {
        for file in ["GNUmakefile", "makefile", "Makefile"] {
            assert!(named(&["make", "test"], file));
            assert!(named(&["/usr/bin/make"], file));
            assert!(named(&["sh", "-c", "make test"], file));
            assert!(named(&["bash", "-ec", "cd . && (make lint;make test)"], file));
        }
        assert!(named(&["npm", "test"], "package.json"));
        assert!(named(&["sh", "-c", "CI=1 npm test"], "package.json"));
        assert!(named(&["just"], ".justfile"));
        assert!(!named(&["cargo", "test"], "Makefile"));
        assert!(!named(&["echo", "remake"], "Makefile"));
    }

    #[test]
    fn build_files_in_folders_are_named_if_the_folder_is() {
        assert!(named(&["make", "-C", "web/", "test"], "web/Makefile"));
        assert!(named(&["sh", "-c", "cd web && npm test"], "web/package.json"));
        assert!(!named(&["make", "test"], "web/Makefile"));
    }

    #[test]
    fn files_are_named_as_arguments_and_in_scripts() {
        for argv in [
            &["./check.sh"] as &[&str],
            &["sh", "check.sh"],
            &["sh", "-c", "./check.sh --all"],
            &["sh", "-c", "set -e; ./check.sh|tee log"],
            &["sh", "-c", "exec './check.sh'"],
        ] {
            assert!(named(argv, "check.sh"), "{argv:?}");
        }
        assert!(named(&["pytest", "--config-file=ci/pytest.ini"], "ci/pytest.ini"));
        assert!(named(&["run me.sh"], "run me.sh"), "a path with a blank");
        assert!(!named(&["./check.sh"], "src/check.sh"));
        assert!(!named(&["sh", "-c", "./check.sh.orig"], "check.sh"));
    }
}
