//! Adding and removing artifacts.

use domain::artifacts::{ARTIFACT_NAME, BINARY, is_media_type, is_sha256, name_trouble};
use domain::{Action, ArtifactId, ArtifactKind, ExecutionId, ProjectFacts, ProjectId, SessionId, UserId};
use protocol::{ARTIFACT_TEXT, Artifact, UserRef, Verb, verbs};

use super::{contents, rows, upload};
use crate::sql::{args, text};
use crate::tx::{AuditScope, Tx};
use crate::verbs::work::tasks::row::id_or_none;
use crate::verbs::workspaces::sees;
use crate::{Command, StoreError};

/// How many artifacts a project has at most.
const MOST: u32 = 20_000;

/// Where an artifact belongs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    pub(crate) execution: Option<ExecutionId>,
    pub(crate) path: Option<String>,
    pub(crate) attempt: Option<u32>,
    pub(crate) session: Option<SessionId>,
    /// The person whose execution it comes from.
    pub(crate) ran_for: Option<UserId>,
}

/// An artifact to add.
pub(crate) struct NewArtifact {
    pub(crate) project: ProjectId,
    pub(crate) name: String,
    pub(crate) kind: ArtifactKind,
    pub(crate) media_type: String,
    pub(crate) place: Place,
    pub(crate) by: UserRef,
    pub(crate) by_agent: bool,
}

/// Adds an artifact with a short content, without an access check and without looking at the project's limits. One with
/// the same content, name and place stays as it is.
pub(crate) async fn add(tx: &mut Tx<'_>, new: NewArtifact, bytes: &[u8]) -> Result<Artifact, StoreError> {
    let sha256 = contents::hash(bytes);
    if let Some(known) = same(tx, &new, &sha256).await? {
        return Ok(known);
    }
    contents::keep(tx, bytes).await?;
    insert(tx, new, sha256, bytes.len() as u64).await
}

/// The artifact with the same content and name in the same place.
async fn same(tx: &mut Tx<'_>, new: &NewArtifact, sha256: &str) -> Result<Option<Artifact>, StoreError> {
    let sql = format!(
        "{} WHERE a.project = $1 AND a.sha256 = $2 AND a.name = $3 AND COALESCE(a.execution, '') = $4 \
         AND COALESCE(a.path, '') = $5 AND COALESCE(a.attempt, 0) = $6 AND COALESCE(a.session, '') = $7 ORDER BY a.id",
        rows::COLUMNS
    );
    let Place { execution, path, attempt, session, .. } = &new.place;
    let values = args![
        new.project.to_string(),
        sha256,
        &new.name,
        execution.map(|id| id.to_string()).unwrap_or_default(),
        path.clone().unwrap_or_default(),
        attempt.unwrap_or(0),
        session.map(|id| id.to_string()).unwrap_or_default(),
    ];
    Ok(tx.read().first(&sql, values).await?.as_ref().map(rows::read).transpose()?.map(|row| row.artifact))
}

async fn insert(tx: &mut Tx<'_>, new: NewArtifact, sha256: String, size: u64) -> Result<Artifact, StoreError> {
    let NewArtifact { project, name, kind, media_type, place, by, by_agent } = new;
    let Place { execution, path, attempt, session, ran_for } = place;
    let id = ArtifactId::generate();
    let sql = "INSERT INTO artifacts (id, project, name, kind, media_type, sha256, size, execution, path, attempt, session, \
               owner, by_agent, ran_for, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, \
               $15)";
    let values = args![
        id.to_string(),
        project.to_string(),
        &name,
        kind.word(),
        &media_type,
        &sha256,
        size,
        execution.map(|id| id.to_string()),
        path.clone(),
        attempt,
        session.map(|id| id.to_string()),
        by.id.to_string(),
        by_agent,
        ran_for.map(|id| id.to_string()),
        tx.now,
    ];
    tx.run(sql, values).await?;
    let created_at = tx.now;
    Ok(Artifact {
        id,
        project,
        name,
        kind,
        media_type,
        size,
        sha256,
        execution,
        path,
        attempt,
        session,
        by,
        by_agent,
        created_at,
    })
}

/// Refuses a name or a media type that is not one.
fn check(input: &protocol::ArtifactPut) -> Result<String, StoreError> {
    ARTIFACT_NAME.check(&input.name)?;
    if let Some(why) = name_trouble(&input.name) {
        return Err(StoreError::invalid("name", format!("`{}` cannot be the name of an artifact: {why}", input.name)));
    }
    let media_type = input.media_type.clone().unwrap_or_else(|| BINARY.to_owned());
    match is_media_type(&media_type) {
        true => Ok(media_type),
        false => Err(StoreError::invalid("media_type", "a media type is like `text/markdown`, without parameters")),
    }
}

/// The hash and size of what the input names.
async fn content(
    tx: &mut Tx<'_>,
    input: &protocol::ArtifactPut,
    facts: &ProjectFacts,
) -> Result<(String, u64), StoreError> {
    if let Some(sha256) = &input.sha256
        && !is_sha256(sha256)
    {
        return Err(StoreError::invalid("sha256", "a SHA-256 hash has 64 digits of 0-9 and a-f"));
    }
    match (&input.text, &input.sha256) {
        (Some(text), _) if text.len() > ARTIFACT_TEXT => {
            let most = ARTIFACT_TEXT / 1024;
            Err(StoreError::invalid(
                "text",
                format!("the text is larger than {most} KiB: use `shopfloor artifact put`"),
            ))
        }
        (Some(text), named) => {
            let sha256 = contents::hash(text.as_bytes());
            match named {
                Some(named) if *named != sha256 => {
                    let why = format!(
                        "the text has the hash {sha256}: it was damaged on its way, or the hash is of other content"
                    );
                    Err(StoreError::invalid("sha256", why))
                }
                _ => Ok((sha256, text.len() as u64)),
            }
        }
        (None, Some(sha256)) => sent(tx, sha256, facts).await,
        (None, None) => {
            Err(StoreError::invalid("text", "give the content: `text`, or the `sha256` of content that you sent"))
        }
    }
}

/// The size of content that the caller has sent, or sees in the project. Others do not learn that it exists.
async fn sent(tx: &mut Tx<'_>, sha256: &str, facts: &ProjectFacts) -> Result<(String, u64), StoreError> {
    let unknown =
        || StoreError::invalid("sha256", "you have sent no content with this hash to this project in the last hour");
    let caller = tx.caller;
    let project = facts.id.to_string();
    let sql = "SELECT sha256 FROM artifact_uploads WHERE project = $1 AND sender = $2 AND sha256 = $3";
    let mut known = tx.read().first(sql, args![&project, caller.key_scope(), sha256]).await?.is_some();
    if !known {
        let sql = format!("{} WHERE a.project = $1 AND a.sha256 = $2", rows::COLUMNS);
        for row in tx.read().all(&sql, args![&project, sha256]).await? {
            known |= rows::may_see(caller, facts, rows::read(&row)?.ran_for);
        }
    }
    let found = if known { contents::find(tx.read(), sha256).await? } else { None };
    found.map(|content| (sha256.to_owned(), content.size)).ok_or_else(unknown)
}

/// Where an artifact belongs that the caller puts.
async fn place(tx: &mut Tx<'_>, input: &protocol::ArtifactPut, facts: &ProjectFacts) -> Result<Place, StoreError> {
    let caller = tx.caller;
    let mut place = match caller.session() {
        Some(session) => of_session(tx, session).await?,
        None => Place::default(),
    };
    if let Some(id) = input.execution.filter(|id| place.execution != Some(*id)) {
        let sql = "SELECT project, owner FROM executions WHERE id = $1";
        let row = tx.read().first(sql, vec![text(id)]).await?.ok_or(StoreError::NotFound("execution"))?;
        let (project, owner): (ProjectId, UserId) = (row.parsed("project")?, row.parsed("owner")?);
        if project != facts.id || !sees(caller, Some(facts), owner) {
            return Err(StoreError::NotFound("execution"));
        }
        place = Place { execution: Some(id), session: place.session, ran_for: Some(owner), ..Place::default() };
    }
    if let Some(path) = input.path.as_ref().filter(|path| place.path.as_ref() != Some(*path)) {
        let Some(execution) = place.execution else {
            return Err(StoreError::invalid("path", "a step belongs to an execution: give `execution`, too"));
        };
        let sql = "SELECT attempt FROM execution_work WHERE execution = $1 AND path = $2 ORDER BY attempt DESC LIMIT 1";
        let row = tx.read().first(sql, args![execution.to_string(), path]).await?;
        let row = row.ok_or_else(|| StoreError::invalid("path", "the execution has begun no step with this path"))?;
        (place.path, place.attempt) = (Some(path.clone()), Some(row.count("attempt")?));
    }
    Ok(place)
}

/// The step that a session works on, itself or with its task.
async fn of_session(tx: &mut Tx<'_>, session: SessionId) -> Result<Place, StoreError> {
    let sql = "SELECT s.owner, w.execution, w.path, w.attempt, x.execution AS by_task, x.path AS task_path, \
               x.attempt AS task_attempt FROM sessions s LEFT JOIN execution_work w ON w.session = s.id \
               LEFT JOIN execution_tasks x ON x.task = s.task WHERE s.id = $1";
    let Some(row) = tx.read().first(sql, vec![text(session)]).await? else { return Ok(Place::default()) };
    let mut place = Place { session: Some(session), ran_for: Some(row.parsed("owner")?), ..Place::default() };
    for [execution, path, attempt] in [["execution", "path", "attempt"], ["by_task", "task_path", "task_attempt"]] {
        if place.execution.is_none() && row.text_or_none(execution)?.is_some() {
            place.execution = id_or_none(&row, execution)?;
            (place.path, place.attempt) = (row.text_or_none(path)?, Some(row.count(attempt)?));
        }
    }
    Ok(place)
}

impl Command for verbs::ArtifactPut {
    type Output = Artifact;
    const VERB: &'static str = verbs::ArtifactPut::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Artifact, StoreError> {
        let facts = tx.check(self.project, Action::Write, "project").await?;
        let input = &self.input;
        let media_type = check(input)?;
        let writer = tx.caller.writer()?;
        let place = place(tx, input, &facts).await?;
        let (sha256, size) = content(tx, input, &facts).await?;
        let (by, by_agent) = (writer.user, writer.by_agent);
        let new = NewArtifact {
            project: self.project,
            name: input.name.clone(),
            kind: ArtifactKind::File,
            media_type,
            place,
            by,
            by_agent,
        };
        if let Some(known) = same(tx, &new, &sha256).await? {
            return Ok(known);
        }
        check_room(tx, self.project, &sha256, size).await?;
        // No refusals below this line.
        if let Some(text) = &input.text {
            contents::keep(tx, text.as_bytes()).await?;
        }
        let sql = "DELETE FROM artifact_uploads WHERE project = $1 AND sender = $2 AND sha256 = $3";
        let sender = tx.caller.key_scope();
        tx.run(sql, args![self.project.to_string(), sender, &sha256]).await?;
        let added = insert(tx, new, sha256, size).await?;
        let detail = format!("put {}, {size} bytes", said(&added));
        tx.audit(Self::VERB, added.id, AuditScope::Project(self.project), detail);
        Ok(added)
    }
}

/// An artifact in the audit trail, which more people read than those who may see what runs.
fn said(artifact: &Artifact) -> String {
    match (artifact.execution, artifact.session) {
        (None, None) => format!("`{}`", artifact.name),
        _ => "an artifact of an execution".to_owned(),
    }
}

/// Refuses what does not fit into the project. Content that was sent for it counts already.
async fn check_room(tx: &mut Tx<'_>, project: ProjectId, sha256: &str, size: u64) -> Result<(), StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM artifacts WHERE project = $1";
    let total = tx.read().first(sql, vec![text(project)]).await?.map_or(Ok(0), |row| row.count("total"))?;
    if total >= MOST {
        return Err(StoreError::Conflict(format!("a project has at most {MOST} artifacts: remove some first")));
    }
    let sender = tx.caller.key_scope();
    let sql = "SELECT size FROM artifact_uploads WHERE project = $1 AND sender = $2 AND sha256 = $3";
    let sent = tx.read().first(sql, args![project.to_string(), sender, sha256]).await?.is_some();
    let mut room = upload::room(tx.read(), project).await?;
    if sent {
        room.left = room.left.saturating_add(size);
    }
    room.check(size).map_err(|why| StoreError::invalid("size", why))
}

impl Command for verbs::ArtifactRemove {
    type Output = ();
    const VERB: &'static str = verbs::ArtifactRemove::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let caller = tx.caller;
        let found = rows::find(tx.read(), caller, self.artifact, Action::Decide).await?;
        tx.run("DELETE FROM artifacts WHERE id = $1", vec![text(found.id)]).await?;
        tx.audit(Self::VERB, found.id, AuditScope::Project(found.project), format!("removed {}", said(&found)));
        Ok(())
    }
}
