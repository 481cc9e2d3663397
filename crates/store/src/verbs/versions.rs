//! Earlier texts of projects and activities.

use domain::{Action, ActivityId, AuthorKind, ProjectFacts, ProjectId, UserId};
use protocol::{Veil, Version};

use super::tasks::row::id_or_none;
use super::workspaces::sees;
use super::{activities, projects, users};
use crate::sql::{Connection, Row, args};
use crate::tx::Tx;
use crate::{Caller, Store, StoreError};

/// Keeps a text as version `version` of its subject.
pub(crate) fn add(tx: &mut Tx<'_>, subject: &str, version: u32, author: UserId, content: &str) {
    let head = "INSERT INTO versions (subject, version, author, at, content, author_kind, author_session)";
    let session = tx.caller.session();
    let kind = if session.is_some() { AuthorKind::Agent } else { AuthorKind::User };
    let session = session.map(|id| id.to_string());
    tx.later(head, args![subject, version, author.to_string(), tx.now, content, kind.word(), session]);
}

/// Refuses when somebody else wrote a newer version meanwhile.
pub(crate) fn expect(expected: Option<u32>, current: u32) -> Result<(), StoreError> {
    match expected {
        Some(expected) if expected != current => Err(StoreError::Conflict(format!(
            "the content is at version {current}, not {expected}: somebody wrote meanwhile, look again and merge"
        ))),
        _ => Ok(()),
    }
}

fn version(row: &Row) -> Result<Version, StoreError> {
    Ok(Version {
        version: row.count("version")?,
        author: users::reference(row, "author")?,
        at: row.time("at")?,
        content: row.text("content")?,
        author_kind: row.parsed("author_kind")?,
        author_session: id_or_none(row, "author_session")?,
    })
}

async fn of(
    c: &mut Connection<'_>,
    caller: &Caller,
    facts: &ProjectFacts,
    subject: String,
) -> Result<Vec<Version>, StoreError> {
    let sql = "SELECT v.version, v.author, u.name AS author_name, v.at, v.content, v.author_kind, v.author_session \
               FROM versions v JOIN users u ON u.id = v.author WHERE v.subject = $1 ORDER BY v.version DESC LIMIT 500";
    let mut versions = c.all(sql, args![subject]).await?.iter().map(version).collect::<Result<Vec<_>, _>>()?;
    for version in versions.iter_mut().filter(|version| !sees(caller, Some(facts), version.author.id)) {
        version.veil();
    }
    Ok(versions)
}

impl Store {
    /// The versions of a project's content, newest first.
    pub async fn project_versions(&self, caller: &Caller, id: ProjectId) -> Result<Vec<Version>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let facts = projects::check(&mut c, caller, id, Action::See, "project").await?;
        of(&mut c, caller, &facts, id.to_string()).await
    }

    /// The versions of an activity's content, newest first.
    pub async fn activity_versions(&self, caller: &Caller, id: ActivityId) -> Result<Vec<Version>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let activity = activities::find(&mut c, caller, id, Action::See).await?;
        let facts = projects::check(&mut c, caller, activity.project, Action::See, "activity").await?;
        of(&mut c, caller, &facts, id.to_string()).await
    }
}
