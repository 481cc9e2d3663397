//! Pushes to the repositories of a project, seen by a runner or landed through the merge queue: each counts once.
//!
//! While a project waits for pushes, hubs ask a runner where the branches of its repositories are. What is there at the
//! first look was not pushed while somebody waited.

use std::collections::HashSet;

use domain::{ProjectId, Seq, UserId};
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::sql::{Connection, args};
use crate::tx::Tx;
use crate::verbs::{executions, schedules};
use crate::{Command, Store, StoreError};

/// How many branches of a repository are looked at.
const MAX_BRANCHES: usize = 2_000;
/// How long a commit is remembered that no branch is at any more.
const REMEMBERED_MILLIS: i64 = 30 * 24 * 3_600_000;
/// The projects that wait for pushes.
const WAITING: &str = "SELECT project FROM schedules WHERE awaits = 'push' UNION \
    SELECT project FROM execution_work WHERE awaits = 'push' AND state = 'running'";

/// A repository whose branches somebody waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// The project.
    pub project: ProjectId,
    /// Where the repository is.
    pub repository: String,
    /// Whose runners look: the project's owner, who alone chooses its repositories. The credentials of others must not
    /// reveal what is at an address that somebody else chose.
    pub owner: UserId,
}

/// Where the branches of a repository are.
#[derive(Debug, Serialize)]
pub struct SeeTips {
    /// The project.
    pub project: ProjectId,
    /// The repository.
    pub repository: String,
    /// The branches with their commits.
    pub tips: Vec<(String, String)>,
    /// The repository's own default branch.
    pub base: Option<String>,
}

impl Command for SeeTips {
    /// How many pushes it found.
    type Output = u32;
    const VERB: &'static str = "hub.pushes";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<u32, StoreError> {
        let first = base(tx.read(), self.project, &self.repository).await?.is_none();
        let sql = "INSERT INTO branch_looks (project, repository, base, at) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (project, repository) DO UPDATE SET base = excluded.base, at = excluded.at";
        tx.run(sql, args![self.project.to_string(), &self.repository, self.base.clone(), tx.now]).await?;
        let known = known(tx.read(), self.project, &self.repository).await?;
        let mut pushed = 0;
        for (branch, commit) in self.tips.iter().take(MAX_BRANCHES) {
            if known.contains(&(branch.clone(), commit.clone())) {
                continue;
            }
            match if first { Whose::Old } else { whose(tx.read(), self.project, branch, commit).await? } {
                // It counts as a push once its landing is over, with what is known about it.
                Whose::Lands => continue,
                Whose::Old => drop(remember(tx, self.project, &self.repository, branch, commit).await?),
                Whose::Theirs => {
                    remember(tx, self.project, &self.repository, branch, commit).await?;
                    let event = json!({
                        "kind": "push", "repository": self.repository, "branch": branch,
                        "base": self.base.as_ref() == Some(branch), "commit": commit, "landing": null, "task": null,
                        "by": null,
                    });
                    happened(tx, self.project, &event).await?;
                    pushed += 1;
                }
            }
        }
        self.forget_old(tx).await?;
        Ok(pushed)
    }
}

impl SeeTips {
    /// Whether something is new.
    fn is_needed(&self, known: &HashSet<(String, String)>) -> bool {
        self.tips.iter().take(MAX_BRANCHES).any(|tip| !known.contains(tip))
    }

    /// Forgets commits that no branch has been at for long.
    async fn forget_old(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let (project, before) = (self.project.to_string(), tx.now.plus_millis(-REMEMBERED_MILLIS));
        let sql = "SELECT branch, commit_id FROM branch_tips WHERE project = $1 AND repository = $2 AND at < $3";
        for row in tx.read().all(sql, args![&project, &self.repository, before]).await? {
            let tip = (row.text("branch")?, row.text("commit_id")?);
            if !self.tips.contains(&tip) {
                let sql = "DELETE FROM branch_tips WHERE project = $1 AND repository = $2 AND branch = $3 \
                           AND commit_id = $4";
                tx.run(sql, args![&project, &self.repository, tip.0, tip.1]).await?;
            }
        }
        Ok(())
    }
}

/// Forgets the branches of projects that no longer wait for pushes.
#[derive(Debug, Serialize)]
pub struct ForgetTips {}

impl Command for ForgetTips {
    type Output = ();
    const VERB: &'static str = "hub.pushes";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        for table in ["branch_tips", "branch_looks"] {
            let sql = format!("DELETE FROM {table} WHERE project NOT IN (SELECT project FROM ({WAITING}) w)");
            tx.run(&sql, args![]).await?;
        }
        Ok(())
    }
}

/// Who put a commit there.
enum Whose {
    /// It was there already, or Shopfloor published it for review.
    Old,
    /// The merge queue lands it.
    Lands,
    /// Somebody pushed it.
    Theirs,
}

async fn whose(c: &mut Connection<'_>, project: ProjectId, branch: &str, commit: &str) -> Result<Whose, StoreError> {
    let sql = "SELECT 1 AS n FROM merge_runs WHERE project = $1 AND top = $2 AND purpose = 'land' LIMIT 1";
    if c.first(sql, args![project.to_string(), commit]).await?.is_some() {
        return Ok(Whose::Lands);
    }
    let sql = "SELECT 1 AS n FROM landings WHERE project = $1 AND branch = $2 AND published = $3 LIMIT 1";
    let published = c.first(sql, args![project.to_string(), branch, commit]).await?.is_some();
    Ok(if published { Whose::Old } else { Whose::Theirs })
}

/// Remembers a commit of a branch; `false`: it was known.
async fn remember(
    tx: &mut Tx<'_>,
    project: ProjectId,
    repository: &str,
    branch: &str,
    commit: &str,
) -> Result<bool, StoreError> {
    let sql = "INSERT INTO branch_tips (project, repository, branch, commit_id, at) VALUES ($1, $2, $3, $4, $5) \
               ON CONFLICT (project, repository, branch, commit_id) DO NOTHING";
    Ok(tx.run(sql, args![project.to_string(), repository, branch, commit, tx.now]).await? > 0)
}

async fn happened(tx: &mut Tx<'_>, project: ProjectId, event: &Json) -> Result<(), StoreError> {
    // Whatever waits now has begun to wait before this.
    let seq = Seq(tx.position()?.0.saturating_add(1));
    executions::event_happened(tx, project, "push", event, seq).await?;
    schedules::event_happened(tx, project, "push", event, seq).await.map(|_| ())
}

/// Work has landed: names its branch, and tells whether this is the first that is heard of it.
pub(super) async fn landed(tx: &mut Tx<'_>, project: ProjectId, event: &mut Json) -> Result<bool, StoreError> {
    let word = |event: &Json, field: &str| event[field].as_str().map(str::to_owned);
    let (Some(landing), Some(commit)) = (word(event, "landing"), word(event, "commit")) else { return Ok(true) };
    let row = tx.read().first("SELECT location FROM landings WHERE id = $1", args![landing]).await?;
    let Some(repository) = row.map(|row| row.text("location")).transpose()? else { return Ok(true) };
    event["repository"] = json!(repository);
    // Before the first look, the commit will be there at it.
    let Some(base) = base(tx.read(), project, &repository).await? else { return Ok(true) };
    let Some(branch) = word(event, "branch").or(base.clone()) else { return Ok(true) };
    event["base"] = json!(base.as_ref() == Some(&branch));
    event["branch"] = json!(branch);
    remember(tx, project, &repository, &branch, &commit).await
}

/// The default branch of a repository that was looked at; `None`: it was not.
async fn base(
    c: &mut Connection<'_>,
    project: ProjectId,
    repository: &str,
) -> Result<Option<Option<String>>, StoreError> {
    let sql = "SELECT base FROM branch_looks WHERE project = $1 AND repository = $2";
    let row = c.first(sql, args![project.to_string(), repository]).await?;
    row.map(|row| row.text_or_none("base")).transpose()
}

async fn known(
    c: &mut Connection<'_>,
    project: ProjectId,
    repository: &str,
) -> Result<HashSet<(String, String)>, StoreError> {
    let sql = "SELECT branch, commit_id FROM branch_tips WHERE project = $1 AND repository = $2";
    let rows = c.all(sql, args![project.to_string(), repository]).await?;
    rows.iter().map(|row| Ok((row.text("branch")?, row.text("commit_id")?))).collect()
}

impl Store {
    /// The repositories whose branches somebody waits for, and whether others were looked at before.
    pub async fn watched_repositories(&self) -> Result<(Vec<Watched>, bool), StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let sql = format!(
            "SELECT p.id, p.owner, p.repositories FROM projects p WHERE p.id IN (SELECT project FROM ({WAITING}) w) \
             ORDER BY p.id"
        );
        let mut all = Vec::new();
        for row in c.all(&sql, args![]).await? {
            let (project, owner) = (row.parsed("id")?, row.parsed("owner")?);
            let repositories: Vec<protocol::Repository> = row.json("repositories")?;
            all.extend(repositories.into_iter().map(|of| Watched { project, repository: of.location, owner }));
        }
        let sql =
            format!("SELECT 1 AS n FROM branch_looks WHERE project NOT IN (SELECT project FROM ({WAITING}) w) LIMIT 1");
        let others = c.first(&sql, args![]).await?.is_some();
        Ok((all, others))
    }

    /// What a runner saw, if it is worth a transaction.
    pub async fn new_tips(&self, seen: SeeTips) -> Result<Option<SeeTips>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let first = base(&mut c, seen.project, &seen.repository).await?.is_none();
        let known = known(&mut c, seen.project, &seen.repository).await?;
        Ok(Some(seen).filter(|seen| first || seen.is_needed(&known)))
    }
}
