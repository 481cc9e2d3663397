//! Programs that Shopfloor uses: git, and the coding agents.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::Check;

/// Agents start slowly on a cold machine.
const PATIENCE: Duration = Duration::from_secs(15);
/// The oldest git whose worktrees and options we rely on.
const GIT: (u32, u32) = (2, 40);
/// Each agent with the command that installs it.
const AGENTS: [(&str, &str); 4] = [
    ("claude", "npm install -g @anthropic-ai/claude-code"),
    ("codex", "npm install -g @openai/codex"),
    ("gemini", "npm install -g @google/gemini-cli"),
    ("opencode", "npm install -g opencode-ai"),
];

/// Looks for all of them at once.
pub(crate) async fn check_all() -> Vec<Check> {
    let agents: Vec<_> = AGENTS.into_iter().map(|(name, install)| tokio::spawn(check_agent(name, install))).collect();
    let mut checks = vec![check_git(version("git").await)];
    for agent in agents {
        // A check that panicked has nothing to say.
        checks.extend(agent.await);
    }
    checks
}

fn check_git(version: Result<String, String>) -> Check {
    let install = "install git 2.40 or newer, as with `apt install git`";
    let version = match version {
        Ok(version) => version,
        Err(why) => return Check::missing("git", why, install).required(),
    };
    match numbers(&version) {
        Some(found) if found >= GIT => Check::ok("git", version),
        Some(_) => Check::missing("git", format!("{version} is too old"), install).required(),
        None => Check::warn("git", format!("`{version}` names no version"), install),
    }
}

async fn check_agent(name: &'static str, install: &'static str) -> Check {
    match version(name).await {
        Ok(version) => Check::ok(name, version),
        Err(why) => Check::missing(name, why, format!("if you want to use it: {install}")),
    }
}

/// The first two numbers of a version.
fn numbers(text: &str) -> Option<(u32, u32)> {
    let word = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = word.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The first line that `program --version` prints.
async fn version(program: &str) -> Result<String, String> {
    let path = find(program).ok_or("not on the PATH")?;
    let mut command = Command::new(path);
    command.arg("--version").stdin(Stdio::null()).kill_on_drop(true);
    let output = match tokio::time::timeout(PATIENCE, command.output()).await {
        Err(_) => return Err("does not say its version".to_owned()),
        Ok(Err(error)) => return Err(format!("could not be run: {error}")),
        Ok(Ok(output)) => output,
    };
    let text = String::from_utf8_lossy(&output.stdout);
    match text.lines().find(|line| !line.trim().is_empty()) {
        Some(line) if output.status.success() => Ok(line.trim().chars().take(60).collect()),
        _ => Err(format!("`{program} --version` failed ({})", output.status)),
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
