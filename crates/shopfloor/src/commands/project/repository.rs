//! Checks the repositories of `--repo` before anything is created: a folder on this machine must be a git repository
//! with a commit. A URL, and a folder on the machine of a runner, are left to the runner.

use std::path::{Path, PathBuf};

use client::Client;
use protocol::{Call, Repository, Runner};

use crate::commands::runner::machine_name;
use crate::{Context, Failure};

/// What is wrong with a folder.
#[derive(Debug, PartialEq, Eq)]
enum Fault {
    /// There is nothing.
    Missing,
    /// It is a file.
    File,
    /// It is a folder in this repository.
    Inside(PathBuf),
    /// It is a folder without a repository.
    Plain,
    /// It is a repository without a commit.
    Empty,
}

/// Refuses a folder that cannot be a repository; warns only if a runner on another machine may have it.
pub(super) async fn check(repositories: &[Repository], client: &Client, context: &Context) -> Result<(), Failure> {
    let mut here = None;
    for Repository { location, .. } in repositories {
        let Some((path, relative)) = folder(location) else { continue };
        let Some(fault) = fault(&path) else {
            // A path of this machine says nothing to a runner on another one, which reports its own fault.
            continue;
        };
        let local = match (relative, here) {
            (true, _) => true,
            (false, Some(here)) => here,
            (false, None) => *here.insert(all_here(client, context).await),
        };
        let failure = explain(location, &path, &fault);
        if local {
            return Err(failure);
        }
        let reason = failure.render(false);
        let reason = reason.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        context.out.note(&format!("warning: {reason}; a runner on another machine may have it"));
    }
    Ok(())
}

/// The folder that a location means, and whether it can only be one here; none for a URL.
fn folder(location: &str) -> Option<(PathBuf, bool)> {
    let path = Path::new(location);
    if path.is_absolute() {
        return Some((path.to_owned(), false));
    }
    // `~` is the home folder of the runner's user.
    if location.contains(':') || location.starts_with('~') {
        return None;
    }
    // The components leave `./` out.
    Some((std::env::current_dir().unwrap_or_default().join(location).components().collect(), true))
}

/// Whether all runners are on this machine, as far as is known.
async fn all_here(client: &Client, context: &Context) -> bool {
    let runners = client.ask::<Vec<Runner>>(Call::RunnerList {}).await.unwrap_or_default();
    let machines: Vec<&str> =
        runners.iter().filter_map(|runner| runner.about.as_ref()).map(|about| about.machine.as_str()).collect();
    if machines.is_empty() {
        let signs = ["://127.", "://localhost", "://[::1]"];
        return context.hub().is_ok_and(|hub| signs.iter().any(|sign| hub.contains(sign)));
    }
    let here = machine_name();
    machines.iter().all(|machine| *machine == here)
}

fn fault(path: &Path) -> Option<Fault> {
    if path.is_file() {
        return Some(Fault::File);
    }
    if !path.is_dir() {
        return Some(Fault::Missing);
    }
    if path.join(".git").is_file() {
        // A linked working copy or a submodule, which has a commit.
        return None;
    }
    let Some(git) = git_folder(path) else {
        let around = path.ancestors().skip(1).find(|outer| git_folder(outer).is_some());
        return Some(around.map_or(Fault::Plain, |outer| Fault::Inside(outer.to_owned())));
    };
    (!has_commit(&git)).then_some(Fault::Empty)
}

/// The git folder of a working copy or of a bare repository.
fn git_folder(path: &Path) -> Option<PathBuf> {
    let is = |path: &Path| path.join("HEAD").exists() && path.join("objects").is_dir();
    [path.join(".git"), path.to_owned()].into_iter().find(|path| is(path))
}

/// Whether a repository has a branch with a commit. Read from its files: git itself would read the configuration of the
/// repository, which may name programs.
fn has_commit(git: &Path) -> bool {
    let head = std::fs::read_to_string(git.join("HEAD")).unwrap_or_default();
    let detached = !head.trim().is_empty() && !head.starts_with("ref:");
    let packed = std::fs::read_to_string(git.join("packed-refs")).unwrap_or_default();
    let packed = packed.lines().any(|line| !line.starts_with('#') && line.contains(" refs/heads/"));
    detached || packed || git.join("reftable").is_dir() || has_file(&git.join("refs/heads"))
}

fn has_file(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| path.is_file() || path.is_dir() && has_file(&path))
}

fn explain(location: &str, path: &Path, fault: &Fault) -> Failure {
    let shown = path.display();
    let quoted = shell(path);
    let commit = format!("git -C {quoted} add -A && git -C {quoted} commit -m Start");
    match fault {
        Fault::Missing if Path::new(location).is_absolute() => {
            Failure::usage(format!("{shown} does not exist on this machine"))
                .advise("check the path, or pass the repository's URL")
        }
        Fault::Missing => Failure::usage(format!("there is no folder `{location}` here: {shown} does not exist"))
            .advise("check the path, or pass the repository's URL"),
        Fault::File => Failure::usage(format!("{shown} is a file")).advise("pass the folder of a git repository"),
        Fault::Inside(outer) => {
            Failure::usage(format!("{shown} is a folder inside the repository {}", outer.display()))
                .advise(format!("pass the repository: --repo {}", shell(outer)))
        }
        Fault::Plain => Failure::usage(format!("{shown} is not a git repository"))
            .advise(format!("make it one: git init {quoted} && {commit}")),
        Fault::Empty => {
            Failure::usage(format!("the git repository {shown} has no commit, so agents have nothing to start from"))
                .advise(format!("commit something: {commit}"))
        }
    }
}

/// A path as a word for a shell.
fn shell(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+@%,".contains(c));
    if plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_a_repository_with_a_commit() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert_eq!(fault(&at("nope")), Some(Fault::Missing));
        std::fs::write(at("file"), "x").unwrap();
        assert_eq!(fault(&at("file")), Some(Fault::File));
        for bare in [false, true] {
            let root = at(if bare { "bare" } else { "work" });
            std::fs::create_dir_all(root.join("src")).unwrap();
            assert_eq!(fault(&root), Some(Fault::Plain));
            let git = if bare { root.clone() } else { root.join(".git") };
            std::fs::create_dir_all(git.join("objects")).unwrap();
            std::fs::create_dir_all(git.join("refs/heads/topic")).unwrap();
            std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
            assert_eq!(fault(&root), Some(Fault::Empty));
            assert_eq!(fault(&root.join("src")), Some(Fault::Inside(root.clone())));
            std::fs::write(git.join("packed-refs"), "# pack-refs\nabc refs/tags/v1\n").unwrap();
            assert_eq!(fault(&root), Some(Fault::Empty), "a tag is no branch");
            std::fs::write(git.join("refs/heads/topic/one"), "abc\n").unwrap();
            assert_eq!(fault(&root), None);
        }
    }

    #[test]
    fn a_url_is_left_to_the_runner() {
        for url in ["https://example.org/a.git", "git@example.org:a.git", "~/app"] {
            assert_eq!(folder(url), None, "{url}");
        }
        assert!(folder("nope").is_some_and(|(path, relative)| path.is_absolute() && relative));
        assert_eq!(folder("/srv/app"), Some((PathBuf::from("/srv/app"), false)));
    }

    #[test]
    fn the_advice_can_be_pasted_into_a_shell() {
        let said = explain("/srv/my app", Path::new("/srv/my app"), &Fault::Plain).render(false);
        assert!(said.contains("git init '/srv/my app' && git -C '/srv/my app' add -A"), "{said}");
    }
}
