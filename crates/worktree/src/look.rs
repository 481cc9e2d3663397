//! What a folder on this machine is as a repository; reads only.

use std::path::Path;
use std::time::Duration;

use crate::Result;
use crate::git::{Git, Reach, failed};

/// Maximum number of branches.
const BRANCHES: usize = 100;
/// A repository with this much of branches is not listed.
const LIMIT: usize = 4 << 20;
/// A slow disk must not hold up a person who types.
const PATIENCE: Duration = Duration::from_secs(10);

/// The branches of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Looked {
    /// Their names, at most 100.
    pub branches: Vec<String>,
    /// The branch that HEAD names; absent in an empty repository.
    pub default_branch: Option<String>,
}

/// Whether a folder is a repository: one with files, or a bare one.
pub fn is_repository(folder: &Path) -> bool {
    let bare = || folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir();
    folder.join(".git").exists() || bare()
}

/// Reads the branches of the repository in a folder.
pub async fn look(folder: &Path) -> Result<Looked> {
    // The repository is the remote side: its settings and hooks are not ours.
    let git = Git::new(Path::new("/"), "ls-remote").args(["--symref"]).reach(Reach::Files);
    let git = git.timeout(PATIENCE).limit(LIMIT).operands([folder.as_os_str()]).args(["HEAD", "refs/heads/*"]);
    let ended = git.ended(|_| {}).await?;
    if !ended.status.success() {
        return Err(failed("ls-remote", &ended));
    }
    let said = String::from_utf8_lossy(&ended.stdout);
    Ok(read(&said))
}

fn read(said: &str) -> Looked {
    let named = said.lines().find_map(|line| line.strip_prefix("ref: refs/heads/")?.strip_suffix("\tHEAD"));
    let branches: Vec<String> =
        said.lines().filter_map(|line| Some(line.split_once("\trefs/heads/")?.1.to_owned())).take(BRANCHES).collect();
    // HEAD of an empty repository names a branch that does not exist yet.
    let default_branch = named.filter(|_| !branches.is_empty()).map(str::to_owned);
    Looked { branches, default_branch }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_and_the_default_are_read() {
        let said = "ref: refs/heads/main\tHEAD\n0f\tHEAD\n0f\trefs/heads/main\n1a\trefs/heads/fix/one\n";
        let looked = read(said);
        assert_eq!(looked.branches, ["main", "fix/one"]);
        assert_eq!(looked.default_branch.as_deref(), Some("main"));
        assert_eq!(read("ref: refs/heads/main\tHEAD\n"), Looked::default(), "no commits");
    }

    #[tokio::test]
    async fn a_folder_that_is_no_repository_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_repository(folder.path()));
        assert!(look(folder.path()).await.is_err());
    }
}
