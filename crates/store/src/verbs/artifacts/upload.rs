//! Content on its way: begun, sent in chunks, complete or dropped.
//!
//! Each chunk is a short transaction, so that a large upload holds nobody up. Until the last of them has compared size and
//! hash, no artifact can use the content; what never ends is removed by [`super::TidyArtifacts`].

use domain::{Action, ProjectId};
use protocol::ArtifactContent;
use serde::Serialize;

use super::{contents, settings};
use crate::sql::{Connection, args, text};
use crate::tx::Tx;
use crate::verbs::projects;
use crate::{Caller, Command, Store, StoreError};

/// How many uploads of one caller may be under way.
const AT_ONCE: u32 = 16;

/// How much content a project still takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArtifactRoom {
    /// The most bytes of one artifact.
    pub most: u64,
    /// The most bytes of all artifacts of the project.
    pub total: u64,
    /// How many of these are left.
    pub left: u64,
}

/// How much content a project still takes. Content that was sent and not used counts until it is removed.
pub(super) async fn room(c: &mut Connection<'_>, project: ProjectId) -> Result<ArtifactRoom, StoreError> {
    let settings = settings::of(c, project).await?;
    let mut used = 0;
    for sql in [
        "SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) AS used FROM artifacts WHERE project = $1",
        "SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) AS used FROM artifact_uploads WHERE project = $1",
    ] {
        let row = c.first(sql, vec![text(project)]).await?;
        used += row.map_or(Ok(0), |row| row.integer("used"))?.cast_unsigned();
    }
    let total = settings::most_of_all(&settings);
    Ok(ArtifactRoom { most: settings::most_of_one(&settings), total, left: total.saturating_sub(used) })
}

/// Whether a project takes this many bytes more in one artifact.
pub(crate) async fn has_room(c: &mut Connection<'_>, project: ProjectId, size: u64) -> Result<bool, StoreError> {
    Ok(room(c, project).await?.check(size).is_ok())
}

impl ArtifactRoom {
    /// Refuses content that does not fit.
    pub fn check(&self, size: u64) -> Result<(), String> {
        let mib = |bytes: u64| bytes / 1024 / 1024;
        if size > self.most {
            return Err(format!(
                "an artifact of this project has at most {} MiB; its owner can change that: `shopfloor artifact configure`",
                mib(self.most)
            ));
        }
        if size > self.left {
            return Err(format!(
                "the artifacts of this project have at most {} MiB together, and {size} bytes more do not fit: remove some",
                mib(self.total)
            ));
        }
        Ok(())
    }
}

/// Begins to take content.
#[derive(Debug, Clone, Serialize)]
pub struct BeginContent {
    /// The project that it is for.
    pub project: ProjectId,
}

impl Command for BeginContent {
    type Output = String;
    const VERB: &'static str = "artifact.begin_content";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<String, StoreError> {
        tx.check(self.project, Action::Write, "project").await?;
        let sender = tx.caller.key_scope();
        let sql = "SELECT COUNT(*) AS open FROM artifact_contents WHERE sha256 IS NULL AND sender = $1";
        let open = tx.read().first(sql, args![&sender]).await?.map_or(Ok(0), |row| row.count("open"))?;
        if open >= AT_ONCE {
            let why = format!("{AT_ONCE} uploads of yours are under way: wait until one ends");
            return Err(StoreError::Conflict(why));
        }
        let id = contents::fresh_id();
        let sql = "INSERT INTO artifact_contents (id, size, sender, touched_at) VALUES ($1, 0, $2, $3)";
        let now = tx.now;
        tx.run(sql, args![&id, sender, now]).await?;
        Ok(id)
    }
}

/// Adds the next chunk of content.
#[derive(Debug, Clone, Serialize)]
pub struct AppendContent {
    /// The content, as [`BeginContent`] named it.
    pub content: String,
    /// The number of the chunk, counted from 0.
    pub number: u64,
    /// Its bytes.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

impl Command for AppendContent {
    type Output = ();
    const VERB: &'static str = "artifact.append_content";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        open(tx, &self.content).await?;
        contents::write(tx, &self.content, self.number, &self.bytes).await?;
        let sql = "UPDATE artifact_contents SET size = size + $1, touched_at = $2 WHERE id = $3";
        let now = tx.now;
        tx.run(sql, args![self.bytes.len() as u64, now, &self.content]).await.map(|_| ())
    }
}

/// The size so far of content on its way.
async fn open(tx: &mut Tx<'_>, content: &str) -> Result<u64, StoreError> {
    let sender = tx.caller.key_scope();
    let sql = "SELECT size FROM artifact_contents WHERE id = $1 AND sender = $2 AND sha256 IS NULL";
    let row = tx.read().first(sql, args![content, sender]).await?;
    let gone = || StoreError::Conflict("the upload took too long and was dropped: send the content again".into());
    row.ok_or_else(gone)?.integer("size").map(i64::cast_unsigned)
}

/// Completes content: its hash is known, and it fits into the project.
#[derive(Debug, Clone, Serialize)]
pub struct EndContent {
    /// The content, as [`BeginContent`] named it.
    pub content: String,
    /// The project that it is for.
    pub project: ProjectId,
    /// The hash of what arrived.
    pub sha256: String,
    /// How many bytes arrived.
    pub size: u64,
}

impl Command for EndContent {
    type Output = ArtifactContent;
    const VERB: &'static str = "artifact.end_content";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<ArtifactContent, StoreError> {
        tx.check(self.project, Action::Write, "project").await?;
        if open(tx, &self.content).await? != self.size {
            return Err(StoreError::Conflict("a part of the content is missing: send it again".into()));
        }
        let sender = tx.caller.key_scope();
        let again = "SELECT size FROM artifact_uploads WHERE project = $1 AND sender = $2 AND sha256 = $3";
        let project = self.project.to_string();
        if tx.read().first(again, args![&project, &sender, &self.sha256]).await?.is_none() {
            let room = room(tx.read(), self.project).await?;
            room.check(self.size).map_err(|why| StoreError::invalid("size", why))?;
        }
        let now = tx.now;
        match contents::find(tx.read(), &self.sha256).await? {
            // Somebody has stored the same before: one copy is enough.
            Some(_) => contents::delete(tx, &self.content).await?,
            None => {
                let sql = "UPDATE artifact_contents SET sha256 = $1, sender = '', touched_at = $2 WHERE id = $3";
                tx.run(sql, args![&self.sha256, now, &self.content]).await?;
            }
        }
        let sql = "INSERT INTO artifact_uploads (project, sender, sha256, size, at) VALUES ($1, $2, $3, $4, $5) \
                   ON CONFLICT (project, sender, sha256) DO UPDATE SET at = $5";
        tx.run(sql, args![project, sender, &self.sha256, self.size, now]).await?;
        Ok(ArtifactContent { sha256: self.sha256.clone(), size: self.size })
    }
}

/// Drops content whose sender stopped, or whose hash is another one.
#[derive(Debug, Clone, Serialize)]
pub struct DropContent {
    /// The content, as [`BeginContent`] named it.
    pub content: String,
}

impl Command for DropContent {
    type Output = ();
    const VERB: &'static str = "artifact.drop_content";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        match open(tx, &self.content).await {
            Ok(_) => contents::delete(tx, &self.content).await,
            Err(StoreError::Conflict(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Store {
    /// How much content a project still takes from the caller.
    pub async fn artifact_room(&self, caller: &Caller, project: ProjectId) -> Result<ArtifactRoom, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        projects::check(&mut c, caller, project, Action::Write, "project").await?;
        room(&mut c, project).await
    }
}
