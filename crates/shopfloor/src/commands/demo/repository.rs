//! The example's repository: a small shell program with tests, and the scripted agent that works on it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;

/// Its files.
const FILES: &[(&str, &str)] = &[
    ("README.md", include_str!("units/README.md")),
    ("convert.sh", include_str!("units/convert.sh")),
    ("test.sh", include_str!("units/test.sh")),
    (".demo/agent.sh", include_str!("units/agent.sh")),
    ("units/feet.txt", "m ft 3.28084 0\n"),
    ("tests/feet.txt", "10 m ft 32.81\n"),
];

/// Its plan, as a Markdown list.
pub(super) const PLAN: &str = include_str!("units/plan.md");

/// Creates the repository in an empty folder of its own, and returns its path.
pub(super) fn create(folder: &Path) -> Result<PathBuf, Failure> {
    let root = folder.join("units");
    let failed = |error: std::io::Error| Failure::other(format!("could not create {}: {error}", root.display()));
    // What a kill left half done.
    remove(folder)?;
    for (name, text) in FILES {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&root)).map_err(failed)?;
        std::fs::write(&path, text).map_err(failed)?;
    }
    git(&root, &["init", "--quiet", "--initial-branch=main"])?;
    git(&root, &["add", "--all"])?;
    git(&root, &["commit", "--quiet", "--message=Convert metres to feet"])?;
    Ok(root)
}

/// Deletes the folder.
pub(super) fn remove(folder: &Path) -> Result<(), Failure> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::other(format!("could not delete {}: {error}", folder.display())))
        }
        _ => Ok(()),
    }
}

/// Runs git without the person's settings: hooks and signatures do not belong into an example.
fn git(root: &Path, args: &[&str]) -> Result<(), Failure> {
    let author = ["-c", "user.name=Demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgSign=false"];
    let mut command = Command::new("git");
    command.current_dir(root).args(author).args(args);
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_TEMPLATE_DIR"] {
        command.env_remove(name);
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let failed = |why: String| Failure::other(format!("git could not create {}: {why}", root.display()));
    let ended = command.output().map_err(|error| failed(error.to_string()))?;
    match ended.status.success() {
        true => Ok(()),
        false => Err(failed(String::from_utf8_lossy(&ended.stderr).trim().to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Format;

    #[test]
    fn the_plan_is_valid() {
        let plan = plan::read(PLAN.as_bytes(), "example", Some(Format::Markdown));
        assert_eq!((plan.faults.as_slice(), plan.similar.as_slice()), (&[][..], &[][..]));
        assert_eq!(plan.notes, Vec::<String>::new());
    }

    #[test]
    fn the_program_passes_its_own_test() {
        let folder = tempfile::tempdir().unwrap();
        let root = create(folder.path()).unwrap();
        let ended = Command::new("sh").arg("test.sh").current_dir(&root).output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    }
}
