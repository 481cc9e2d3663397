//! Versions of the contents of projects and activities.

use domain::{Action, ActivityId, AuthorKind, ProjectFacts, ProjectId};
use protocol::{DiffRange, Veil, Version, VersionPage, WrittenBy};

use super::chat::page_size;
use super::work::tasks::row::id_or_none;
use super::workspaces::sees;
use super::{activities, projects, users};
use crate::sql::{Connection, Row, args};
use crate::tx::Tx;
use crate::{Caller, Store, StoreError};

/// Stores a content as version `version` of its subject.
pub(crate) fn add(tx: &mut Tx<'_>, subject: &str, version: u32, by: &WrittenBy, content: &str) {
    let head = "INSERT INTO versions (subject, version, author, at, content, author_kind, author_session)";
    let kind = if by.agent.is_some() || by.by_agent { AuthorKind::Agent } else { AuthorKind::User };
    let session = by.agent.map(|id| id.to_string());
    tx.later(head, args![subject, version, by.user.id.to_string(), tx.now, content, kind.word(), session]);
}

/// Refuses if somebody else wrote a newer version meanwhile.
pub(crate) fn expect(expected: Option<u32>, current: u32) -> Result<(), StoreError> {
    match expected {
        Some(expected) if expected != current => Err(StoreError::Conflict(format!(
            "the content is at version {current}, not {expected}, because somebody else changed it: reload and merge"
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

/// The reader of versions, with the access facts.
struct Sight<'a> {
    caller: &'a Caller,
    facts: &'a ProjectFacts,
}

impl Sight<'_> {
    /// The versions, as far as the reader may see them.
    fn of(&self, mut versions: Vec<Version>) -> Vec<Version> {
        let hidden = |version: &&mut Version| !sees(self.caller, Some(self.facts), version.author.id);
        versions.iter_mut().filter(hidden).for_each(Veil::veil);
        versions
    }
}

/// The access facts of an activity, if the caller may see it.
async fn of_activity(c: &mut Connection<'_>, caller: &Caller, id: ActivityId) -> Result<ProjectFacts, StoreError> {
    let activity = activities::find(c, caller, id, Action::See).await?;
    projects::check(c, caller, activity.project, Action::See, "activity").await
}

/// Reads versions.
const SELECT: &str = "SELECT v.version, v.author, u.name AS author_name, v.at, v.content, v.author_kind, \
                      v.author_session FROM versions v JOIN users u ON u.id = v.author WHERE v.subject = $1";

/// The default and maximum page size.
const PAGE: (u32, u32) = (100, 100);
/// The maximum number of characters on a page with more than one version.
const PAGE_TEXT: i64 = 1 << 20;

/// A page of versions. Reads their sizes first, so that only those that fit are loaded.
async fn of(
    c: &mut Connection<'_>,
    sight: Sight<'_>,
    subject: String,
    page: VersionPage,
) -> Result<Vec<Version>, StoreError> {
    let limit = page_size(page.limit, PAGE)?;
    let before = page.before.map_or(i64::MAX, i64::from);
    let sql = "SELECT version, CAST(LENGTH(content) AS BIGINT) AS size FROM versions \
               WHERE subject = $1 AND version < $2 ORDER BY version DESC LIMIT $3";
    let (mut lowest, mut room) = (before, PAGE_TEXT);
    for row in c.all(sql, args![subject.clone(), before, limit]).await? {
        let size = row.integer("size")?;
        if size > room && lowest != before {
            break;
        }
        room -= size;
        lowest = row.integer("version")?;
    }
    let sql = format!("{SELECT} AND v.version >= $2 AND v.version < $3 ORDER BY v.version DESC");
    let versions = c.all(&sql, args![subject, lowest, before]).await?.iter().map(version).collect::<Result<_, _>>()?;
    Ok(sight.of(versions))
}

/// The two versions to compare, newest first, as far as they exist.
async fn pair(
    c: &mut Connection<'_>,
    sight: Sight<'_>,
    subject: String,
    range: DiffRange,
) -> Result<Vec<Version>, StoreError> {
    let newest = "SELECT COALESCE(MAX(version), 0) AS version FROM versions WHERE subject = $1";
    let newest = c.first(newest, args![subject.clone()]).await?;
    let newest = newest.map_or(Ok(0), |row| row.count("version"))?;
    let to = range.to.unwrap_or(newest);
    let from = range.from.unwrap_or_else(|| to.saturating_sub(1));
    let sql = format!("{SELECT} AND v.version IN ($2, $3) ORDER BY v.version DESC");
    let versions = c.all(&sql, args![subject, to, from]).await?.iter().map(version).collect::<Result<_, _>>()?;
    Ok(sight.of(versions))
}

impl Store {
    /// A page of the versions of a project's content, newest first.
    pub async fn project_versions(
        &self,
        caller: &Caller,
        id: ProjectId,
        page: VersionPage,
    ) -> Result<Vec<Version>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let facts = projects::check(&mut c, caller, id, Action::See, "project").await?;
        of(&mut c, Sight { caller, facts: &facts }, id.to_string(), page).await
    }

    /// The two versions of a project's content to compare, newest first.
    pub async fn project_pair(
        &self,
        caller: &Caller,
        id: ProjectId,
        range: DiffRange,
    ) -> Result<Vec<Version>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let facts = projects::check(&mut c, caller, id, Action::See, "project").await?;
        pair(&mut c, Sight { caller, facts: &facts }, id.to_string(), range).await
    }

    /// A page of the versions of an activity's content, newest first.
    pub async fn activity_versions(
        &self,
        caller: &Caller,
        id: ActivityId,
        page: VersionPage,
    ) -> Result<Vec<Version>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let facts = of_activity(&mut c, caller, id).await?;
        of(&mut c, Sight { caller, facts: &facts }, id.to_string(), page).await
    }

    /// The two versions of an activity's content to compare, newest first.
    pub async fn activity_pair(
        &self,
        caller: &Caller,
        id: ActivityId,
        range: DiffRange,
    ) -> Result<Vec<Version>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let facts = of_activity(&mut c, caller, id).await?;
        pair(&mut c, Sight { caller, facts: &facts }, id.to_string(), range).await
    }
}
