//! Pushes one commit to one branch, with a lease, and says exactly what became of it.

use crate::bare::Oid;
use crate::git::Reach;
use crate::hosts::reach;
use crate::location::Location;
use crate::names::BranchName;
use crate::process::Ended;
use crate::store::{Store, refused};
use crate::{Options, Result};

/// How much of a remote's message is shown.
const LONGEST: usize = 600;

/// A push to make.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Push<'a> {
    pub(crate) branch: &'a BranchName,
    pub(crate) commit: &'a Oid,
    /// Where the branch must be; `None`: it must not exist.
    pub(crate) expect: Option<&'a Oid>,
    pub(crate) checkout: Checkout,
}

/// What happens to a folder in which the branch is checked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checkout {
    /// The push is refused.
    Refuse,
    /// Files and index are updated with the branch, by the owner's settings; refused if anything is uncommitted.
    Update,
    /// Only the branch moves.
    Leave,
}

/// How a push ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pushed {
    Done,
    /// The branch is not where it was expected.
    Stale,
    /// It is checked out there.
    InUse,
    /// It is checked out there, with something uncommitted.
    Dirty,
    /// The repository's rules forbid it; what it said.
    Declined(String),
}

impl Store {
    /// Pushes; an error only if the repository could not be reached or did not answer.
    pub(crate) async fn push(&self, location: &Location, options: &Options, push: Push<'_>) -> Result<Pushed> {
        let Push { branch, commit, expect, checkout } = push;
        let name = format!("refs/heads/{branch}");
        let lease = format!("--force-with-lease={name}:{}", expect.map_or("", Oid::as_str));
        let mut git = self.git("push").args(["--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", &lease]);
        let mut by = reach(location, options).await?;
        if location.path().is_some() {
            git = git.args([format!("--receive-pack={}", receiver(checkout))]);
            if checkout == Checkout::Update {
                by = Reach::Owner;
            }
        }
        let git = git.operands([location.to_string(), format!("{commit}:{name}")]);
        let ended = git.reach(by).timeout(options.fetch_timeout).ended(|_| {}).await?;
        match understood(&ended, &name) {
            Some(pushed) => Ok(pushed),
            None => Err(refused(location, "push", &ended)),
        }
    }

    /// All branches of a repository, as they are now.
    pub(crate) async fn remote_heads(
        &self,
        location: &Location,
        options: &Options,
        only: Option<&BranchName>,
    ) -> Result<Vec<(String, Oid)>> {
        let mut operands = vec![location.to_string()];
        operands.extend(only.map(|branch| format!("refs/heads/{branch}")));
        let git = self.git("ls-remote").args(["--refs", "--heads"]).operands(operands);
        let ended = git.reach(reach(location, options).await?).timeout(options.fetch_timeout).ended(|_| {}).await?;
        if !ended.status.success() {
            return Err(refused(location, "ls-remote", &ended));
        }
        let said = String::from_utf8_lossy(&ended.stdout);
        let pairs = said.lines().filter_map(|line| line.split_once('\t'));
        let heads =
            pairs.filter_map(|(id, name)| Some((name.strip_prefix("refs/heads/")?.to_owned(), id.parse().ok()?)));
        // git matches the end of a name, too.
        Ok(heads.filter(|(name, _)| only.is_none_or(|only| only.as_str() == name)).collect())
    }
}

/// The receiving side in a folder of this machine: its hooks are its rules; its other settings count only where they
/// are about its files.
fn receiver(checkout: Checkout) -> String {
    let (settings, current) = match checkout {
        Checkout::Refuse => ("", "refuse"),
        Checkout::Leave => ("", "ignore"),
        Checkout::Update => (
            "unset GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM GIT_ATTR_SOURCE GIT_ATTR_NOSYSTEM GIT_LITERAL_PATHSPECS \
             XDG_CONFIG_HOME; ",
            "updateInstead",
        ),
    };
    format!("{settings}git -c receive.denyCurrentBranch={current} -c receive.autoGc=false receive-pack")
}

/// Reads the line about a ref; `None` if there is none.
fn understood(ended: &Ended, name: &str) -> Option<Pushed> {
    let said = String::from_utf8_lossy(&ended.stdout);
    let (flag, what) = said.lines().find_map(|line| {
        let mut columns = line.splitn(3, '\t');
        let (flag, refs, what) = (columns.next()?, columns.next()?, columns.next()?);
        (refs.rsplit_once(':')?.1 == name).then(|| (flag.to_owned(), what.to_owned()))
    })?;
    if flag != "!" {
        return Some(Pushed::Done);
    }
    let any = |signs: &[&str]| signs.iter().any(|sign| what.contains(sign));
    // Somebody else pushed between the check of the lease and the update.
    let outrun = || any(&["failed to update ref"]) && ended.stderr.lines().any(is_lock_on_another_commit);
    let stale = any(&["stale info", "fetch first", "non-fast-forward", "but expected", "reference already exists"]);
    if (stale && !what.contains("denyNonFastForwards")) || outrun() {
        return Some(Pushed::Stale);
    }
    if any(&["branch is currently checked out"]) {
        return Some(Pushed::InUse);
    }
    if any(&["Working directory has", "Could not update working tree", "unable to checkout", "Up-to-date check failed"])
    {
        return Some(Pushed::Dirty);
    }
    // Without an answer about the ref, nothing is known.
    if any(&["[remote failure]"]) {
        return None;
    }
    Some(Pushed::Declined(words(&what, &ended.stderr)))
}

/// Whether git says here that a branch is no longer where the push expects it.
fn is_lock_on_another_commit(line: &str) -> bool {
    line.contains("cannot lock ref") && (line.contains("but expected") || line.contains("reference already exists"))
}

/// What a repository said about its reasons.
fn words(what: &str, stderr: &str) -> String {
    let why = what.split_once('(').map_or(what, |(_, why)| why.trim_end().trim_end_matches(')'));
    let remote = stderr.lines().filter_map(|line| line.strip_prefix("remote:")).map(str::trim);
    let mut all: Vec<&str> = remote.filter(|line| !line.is_empty()).collect();
    all.push(why);
    all.join("; ").chars().filter(|c| !c.is_control()).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn a_push_that_loses_a_race_is_stale_and_a_refused_one_is_declined() {
        let rejected = "To /repository\n!\tc0ffee:refs/heads/main\t[remote rejected] (failed to update ref)\nDone\n";
        let read = |stderr: &str| {
            let status = std::process::ExitStatus::from_raw(256);
            let ended = Ended { status, stdout: rejected.into(), whole: true, stderr: stderr.to_owned() };
            understood(&ended, "refs/heads/main")
        };
        let raced = "remote: error: cannot lock ref 'refs/heads/main': is at af5c57c9 but expected 25d2c763\n";
        assert_eq!(read(raced), Some(Pushed::Stale));
        let full = "remote: error: cannot lock ref 'refs/heads/main': No space left on device\n";
        assert!(matches!(read(full), Some(Pushed::Declined(_))));
    }
}
