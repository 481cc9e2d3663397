//! The name of the person who starts a hub for the first time.

use std::process::Stdio;
use std::time::Duration;

use domain::text::NAME;
use tokio::process::Command;
use tokio::time::timeout;

/// Git only reads two small files.
const PATIENCE: Duration = Duration::from_secs(2);

/// The person's name: as in git's settings, else the account's.
pub(crate) async fn name() -> Option<String> {
    let account = ["USER", "LOGNAME"].map(|variable| std::env::var(variable).ok());
    first(std::iter::once(of_git().await).chain(account))
}

fn first(candidates: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let trimmed = candidates.into_iter().flatten().map(|name| name.trim().to_owned());
    trimmed.into_iter().find(|name| NAME.name(name).is_ok())
}

/// Outside of any repository: a repository's own name may be another one.
async fn of_git() -> Option<String> {
    let mut git = Command::new("git");
    git.args(["config", "--get", "user.name"]).current_dir("/").stdin(Stdio::null()).stderr(Stdio::null());
    let shown = timeout(PATIENCE, git.kill_on_drop(true).output()).await.ok()?.ok()?;
    String::from_utf8(shown.stdout).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_usable_name_counts() {
        let first = |names: &[&str]| first(names.iter().map(|name| Some((*name).to_owned())));
        assert_eq!(first(&["Ann Smith\n", "ann"]).as_deref(), Some("Ann Smith"));
        assert_eq!(first(&["", "ann"]).as_deref(), Some("ann"));
        assert_eq!(first(&["a\u{1b}b", &"x".repeat(81), "ann"]).as_deref(), Some("ann"));
        assert_eq!(first(&[" "]), None);
    }
}
