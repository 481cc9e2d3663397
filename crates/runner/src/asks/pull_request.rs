//! Opens pull requests with the GitHub CLI of the runner's owner.

use std::process::Stdio;
use std::time::Duration;

use protocol::{Problem, ProblemKind};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::Asks;

/// How long the GitHub CLI may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest title and message.
const TITLE: usize = 200;
const SAID: usize = 500;

impl Asks {
    /// The address of the pull request for a branch, which is opened if there is none.
    pub(super) async fn pull_request(
        &self,
        location: &str,
        branch: &str,
        target: &str,
        title: &str,
        body: &str,
    ) -> Result<String, Problem> {
        let Some(repository) = on_github(&self.machine.location(location)) else {
            return Err(refused("a pull request needs a repository on GitHub: land the work instead"));
        };
        let view = ["pr", "view", branch, "--repo", &repository, "--json", "url", "--jq", ".url"];
        if let Ok(there) = self.gh(&view, "").await
            && there.starts_with("https://")
        {
            return Ok(there);
        }
        let title: String = title.chars().take(TITLE).collect();
        let create = [
            "pr",
            "create",
            "--repo",
            &repository,
            "--head",
            branch,
            "--base",
            target,
            "--title",
            &title,
            "--body-file",
            "-",
        ];
        let said = self.gh(&create, body).await?;
        let address = said.lines().rev().map(str::trim).find(|line| line.starts_with("https://"));
        address.map(str::to_owned).ok_or_else(|| refused(format!("`gh` printed no address: {said}")))
    }

    /// Runs the GitHub CLI with the owner's environment; returns what it printed.
    async fn gh(&self, args: &[&str], input: &str) -> Result<String, Problem> {
        let mut command = Command::new("gh");
        command.args(args).env_clear().envs(&self.machine.person);
        command.env("GH_PROMPT_DISABLED", "1").env("NO_COLOR", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                refused("`gh` is not installed on the runner: install the GitHub CLI there")
            }
            _ => refused(format!("could not run `gh`: {error}")),
        })?;
        if let Some(mut stdin) = child.stdin.take() {
            // A program that reads nothing has its reasons, and says so.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
        let ended = tokio::time::timeout(PATIENCE, child.wait_with_output()).await;
        let ended = ended.map_err(|_| refused("`gh` did not answer within a minute"))?;
        let ended = ended.map_err(|error| refused(format!("could not run `gh`: {error}")))?;
        let text = |bytes: &[u8]| domain::text::plain(String::from_utf8_lossy(bytes).trim(), SAID);
        match ended.status.success() {
            true => Ok(text(&ended.stdout)),
            false => Err(refused(format!("`gh` failed on the runner: {}", text(&ended.stderr)))),
        }
    }
}

fn refused(why: impl Into<String>) -> Problem {
    Problem::new(ProblemKind::Conflict, why)
}

/// The repository as `gh` names it, if its location is on GitHub.
fn on_github(location: &str) -> Option<String> {
    let rest = ["https://github.com/", "ssh://git@github.com/", "git@github.com:"]
        .iter()
        .find_map(|prefix| location.strip_prefix(prefix))?;
    let name = rest.trim_end_matches('/').trim_end_matches(".git");
    let (owner, repository) = name.split_once('/')?;
    let plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with('-')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
    };
    (plain(owner) && plain(repository)).then(|| format!("{owner}/{repository}"))
}

#[cfg(test)]
mod tests {
    use super::on_github;

    #[test]
    fn only_repositories_on_github_have_pull_requests() {
        for location in ["https://github.com/a/b.git", "git@github.com:a/b", "ssh://git@github.com/a/b.git"] {
            assert_eq!(on_github(location).as_deref(), Some("a/b"), "{location}");
        }
        for location in ["/home/ann/b", "https://example.org/a/b", "https://github.com/a", "git@github.com:-x/b", ""] {
            assert_eq!(on_github(location), None, "{location}");
        }
    }
}
