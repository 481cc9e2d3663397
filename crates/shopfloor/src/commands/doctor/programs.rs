//! Programs that Shopfloor needs: git and the coding agents.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use agents::{Adapters, FoundAgent};
use tokio::process::Command;

use super::Check;

/// Agents start slowly on a cold machine.
const PATIENCE: Duration = Duration::from_secs(15);
/// The oldest git version that has the features we use.
const GIT: (u32, u32) = (2, 40);
/// Looks for all of them; `config_dir` has the adapters that people added.
pub(crate) async fn check_all(config_dir: Option<&Path>) -> Vec<Check> {
    let mut checks = vec![check_git(version("git", "--version").await)];
    let adapters = config_dir.map_or_else(Adapters::built_in, Adapters::load);
    checks.extend(adapters.errors().iter().map(|error| {
        Check::warn("agents", format!("ignored a file: {error}"), "fix it; `docs/agents.md` describes the keys")
    }));
    let person =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let found = adapters.find(&person.collect()).await;
    checks.extend(found.into_iter().filter(|agent| !agent.any && agent.name != "shell").map(check_agent));
    checks
}

fn check_git(version: Result<String, String>) -> Check {
    let install = "install git 2.40 or newer, for example with `apt install git`";
    let version = match version {
        Ok(version) => version,
        Err(why) => return Check::missing("git", why, install).required(),
    };
    match numbers(&version) {
        Some(found) if found >= GIT => Check::ok("git", version),
        Some(_) => Check::missing("git", format!("{version} is too old"), install).required(),
        None => Check::warn("git", format!("could not read a version from `{version}`"), install),
    }
}

fn check_agent(agent: FoundAgent) -> Check {
    match (agent.path, agent.version) {
        (Some(_), Some(version)) => Check::ok(&agent.name, version),
        (Some(path), None) => Check::ok(&agent.name, format!("{} (version unknown)", path.display())),
        (None, _) => {
            let install =
                agent.install.map_or("install it".to_owned(), |install| format!("if you want to use it: {install}"));
            Check::missing(&agent.name, "not on the PATH", install)
        }
    }
}

/// The first two numbers of a version.
fn numbers(text: &str) -> Option<(u32, u32)> {
    let word = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = word.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The first line of output of `program --version`.
pub(super) async fn version(program: &str, flag: &str) -> Result<String, String> {
    let path = find(program).ok_or("not on the PATH")?;
    let mut command = Command::new(path);
    command.arg(flag).stdin(Stdio::null()).kill_on_drop(true);
    let output = match tokio::time::timeout(PATIENCE, command.output()).await {
        Err(_) => return Err("printed no version in time".to_owned()),
        Ok(Err(error)) => return Err(format!("could not be started: {error}")),
        Ok(Ok(output)) => output,
    };
    let text = String::from_utf8_lossy(&output.stdout);
    match text.lines().find(|line| !line.trim().is_empty()) {
        Some(line) if output.status.success() => Ok(line.trim().chars().take(60).collect()),
        _ => Err(format!("`{program} {flag}` failed ({})", output.status)),
    }
}

fn find(program: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|dir| dir.join(program)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Status;

    #[test]
    fn git_must_be_new_enough() {
        let check = |version: &str, status, broken| {
            let check = check_git(Ok(version.to_owned()));
            assert_eq!((check.status, check.is_broken()), (status, broken), "{check:?}");
        };
        check("git version 2.47.3", Status::Ok, false);
        check("git version 2.40.0 (Apple Git-1)", Status::Ok, false);
        check("git version 2.39.5", Status::Missing, true);
        check("git version 10.1", Status::Ok, false);
        check("git", Status::Warn, false);
        assert!(check_git(Err("not on the PATH".into())).is_broken());
    }
}
