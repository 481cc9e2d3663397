//! Compares what activities declare, by reservations and by the files of their running tasks, with what others change or
//! declare, and keeps the overlaps.

use std::collections::BTreeMap;

use domain::{OverlapId, OverlapKind, ProjectId, ReservationId, TaskId, Timestamp, WorkspaceId};
use engine::overlaps::{Claim, Files, Pair, Pattern, declared, declared_by};
use protocol::OverlapPlace;
use serde::Serialize;

use super::{paths, reserve, rows};
use crate::sql::{Connection, Row, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::projects;
use crate::verbs::work::workers::leases::HELD;
use crate::{Command, Store, StoreError};

/// Maximum number of running tasks, and of works, that are compared.
const READ: u32 = 200;
/// How long a declared overlap that ended is kept, in milliseconds.
const KEPT_MS: i64 = 7 * 24 * 3_600_000;

/// What claims files: a workspace, a reservation or a task.
struct Source {
    id: String,
    activity: String,
    owner: String,
}

/// Claims, whose keys are places in the list of sources.
#[derive(Default)]
struct Claims {
    sources: Vec<Source>,
    claims: Vec<Claim<usize>>,
}

impl Claims {
    fn add(&mut self, row: &Row, files: Files) -> Result<(), StoreError> {
        let key = self.sources.len();
        self.claims.push(Claim { key, activity: row.parsed("activity")?, files });
        let source = Source { id: row.text("id")?, activity: row.text("activity")?, owner: row.text("owner")? };
        self.sources.push(source);
        Ok(())
    }
}

/// The open overlaps of declared files, by the ids of both sides.
type Open = BTreeMap<(String, String), (OverlapId, String, u32)>;

/// Compares everything that is declared in a project.
pub(super) async fn again(tx: &mut Tx<'_>, project: ProjectId) -> Result<(), StoreError> {
    let now = tx.now;
    let mut claims = declarations(tx.read(), project, now).await?;
    if !claims.claims.is_empty() {
        works(tx.read(), &mut claims, "f.project = $1", project.to_string()).await?;
    }
    let found = declared(&claims.claims, now);
    let open = open(tx.read(), "project = $1", project.to_string()).await?;
    keep(tx, project, &claims.sources, found, open).await
}

/// Compares the work in a workspace with everything that others declare.
pub(super) async fn again_of(tx: &mut Tx<'_>, workspace: WorkspaceId) -> Result<(), StoreError> {
    let row = tx.read().first("SELECT project FROM workspaces WHERE id = $1", vec![text(workspace)]).await?;
    let Some(project) = row.map(|row| row.parsed("project")).transpose()? else { return Ok(()) };
    let open = open(tx.read(), "(one = $1 OR other = $1)", workspace.to_string()).await?;
    let now = tx.now;
    let others = declarations(tx.read(), project, now).await?;
    if others.claims.is_empty() && open.is_empty() {
        return Ok(());
    }
    let Claims { mut sources, claims: others } = others;
    let mut mine = Claims::default();
    works(tx.read(), &mut mine, "f.workspace = $1", workspace.to_string()).await?;
    let key = sources.len();
    sources.append(&mut mine.sources);
    let own = mine.claims.into_iter().map(|claim| Claim { key, ..claim });
    let found = own.flat_map(|own| declared_by(&own, &others, now)).collect();
    keep(tx, project, &sources, found, open).await
}

/// The reservations that stand, and the running tasks of activities that name files.
async fn declarations(c: &mut Connection<'_>, project: ProjectId, now: Timestamp) -> Result<Claims, StoreError> {
    let mut found = Claims::default();
    let sql = "SELECT id, activity, by_user AS owner, patterns, expires_at FROM reservations WHERE project = $1 \
               AND ended_at IS NULL AND expires_at > $2 ORDER BY id";
    for row in c.all(sql, args![project.to_string(), now]).await? {
        found.add(&row, Files::Reserved { patterns: patterns(&row, "patterns")?, until: row.time("expires_at")? })?;
    }
    let sql = format!(
        "SELECT t.id, t.activity, a.owner, t.files {HELD} JOIN activities a ON a.id = t.activity \
         WHERE w.project = $1 AND t.files <> '[]' AND a.status <> 'abandoned' ORDER BY t.id LIMIT $2"
    );
    for row in c.all(&sql, args![project.to_string(), READ]).await? {
        found.add(&row, Files::Planned(patterns(&row, "files")?))?;
    }
    Ok(found)
}

fn patterns(row: &Row, column: &str) -> Result<Vec<Pattern>, StoreError> {
    Ok(row.json::<Vec<String>>(column)?.iter().map(|text| Pattern::lenient(text)).collect())
}

/// Adds the work in workspaces, the last changed first.
async fn works(c: &mut Connection<'_>, claims: &mut Claims, of: &str, id: String) -> Result<(), StoreError> {
    let sql = format!(
        "SELECT w.id, w.activity, w.owner, f.work FROM workspace_work f JOIN workspaces w ON w.id = f.workspace \
         JOIN activities a ON a.id = w.activity WHERE {of} AND w.status <> 'cleaned' AND a.status <> 'abandoned' \
         ORDER BY f.updated_at DESC, f.workspace LIMIT $2"
    );
    for row in c.all(&sql, args![id, READ]).await? {
        claims.add(&row, Files::changed(paths::paths(&row)?))?;
    }
    Ok(())
}

async fn open(c: &mut Connection<'_>, of: &str, id: String) -> Result<Open, StoreError> {
    let sql =
        format!("SELECT id, one, other, places, more FROM work_overlaps WHERE {of} AND kind = $2 AND ended_at IS NULL");
    let rows = c.all(&sql, args![id, OverlapKind::Declared.word()]).await?;
    let read = |row: &Row| {
        Ok(((row.text("one")?, row.text("other")?), (row.parsed("id")?, row.text("places")?, row.count("more")?)))
    };
    rows.iter().map(read).collect()
}

/// Stores what was found, and ends what is no longer so.
async fn keep(
    tx: &mut Tx<'_>,
    project: ProjectId,
    sources: &[Source],
    found: Vec<Pair<usize>>,
    mut open: Open,
) -> Result<(), StoreError> {
    for pair in found {
        let (mut one, mut other) = (&sources[pair.one], &sources[pair.other]);
        if one.id > other.id {
            std::mem::swap(&mut one, &mut other);
        }
        let more = u32::try_from(pair.more).unwrap_or(u32::MAX);
        let place = |place: engine::overlaps::Place| OverlapPlace {
            path: domain::text::plain(&place.path.replace('\n', " "), 1024),
            kind: OverlapKind::Declared,
            first: None,
            last: None,
            symbol: None,
            why: domain::text::plain(&place.why.replace('\n', " "), 1024),
        };
        let places = to_json(&pair.places.into_iter().map(place).collect::<Vec<_>>());
        let known = open.remove(&(one.id.clone(), other.id.clone()));
        if known.is_some_and(|(_, before, left_out)| before == places && left_out == more) {
            continue;
        }
        let sql = "INSERT INTO work_overlaps (id, project, one, other, one_activity, other_activity, one_owner, \
                   other_owner, kind, places, more, since, updated_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12) ON CONFLICT (one, other) DO UPDATE \
                   SET places = excluded.places, more = excluded.more, updated_at = excluded.updated_at, \
                   since = CASE WHEN work_overlaps.ended_at IS NULL THEN work_overlaps.since ELSE excluded.since END, \
                   ended_at = NULL";
        let values = args![
            OverlapId::generate().to_string(),
            project.to_string(),
            &one.id,
            &other.id,
            &one.activity,
            &other.activity,
            &one.owner,
            &other.owner,
            OverlapKind::Declared.word(),
            places,
            more,
            tx.now,
        ];
        tx.run(sql, values).await?;
        let sql = "SELECT id FROM work_overlaps WHERE one = $1 AND other = $2";
        let row = tx.read().first(sql, args![&one.id, &other.id]).await?;
        if let Some(row) = row {
            rows::announce(tx, row.parsed("id")?).await?;
        }
    }
    for (id, ..) in open.into_values() {
        rows::end(tx, id).await?;
    }
    Ok(())
}

/// The end of a reservation moved: its overlaps show the new one.
pub(super) async fn moved(tx: &mut Tx<'_>, reservation: ReservationId) -> Result<(), StoreError> {
    let sql = "SELECT id FROM work_overlaps WHERE (one = $1 OR other = $1) AND ended_at IS NULL AND updated_at < $2 \
               ORDER BY id";
    let values = args![reservation.to_string(), tx.now];
    for row in tx.read().all(sql, values).await? {
        let id: OverlapId = row.parsed("id")?;
        tx.run("UPDATE work_overlaps SET updated_at = $1 WHERE id = $2", args![tx.now, id.to_string()]).await?;
        rows::announce(tx, id).await?;
    }
    Ok(())
}

/// What is declared in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredIn {
    /// The project.
    pub project: ProjectId,
    /// The reservations that have not ended.
    pub reservations: Vec<(ReservationId, Timestamp)>,
    /// The running tasks that name files.
    pub tasks: Vec<(TaskId, Vec<String>)>,
}

impl DeclaredIn {
    /// When the next reservation expires.
    pub fn next(&self) -> Option<Timestamp> {
        self.reservations.iter().map(|(_, until)| *until).min()
    }
}

impl Store {
    /// What is declared, by project.
    pub async fn declared(&self) -> Result<Vec<DeclaredIn>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let mut found: BTreeMap<ProjectId, DeclaredIn> = BTreeMap::new();
        let empty = |project| DeclaredIn { project, reservations: Vec::new(), tasks: Vec::new() };
        let sql = "SELECT id, project, expires_at FROM reservations WHERE ended_at IS NULL ORDER BY id";
        for row in c.all(sql, args![]).await? {
            let project = row.parsed("project")?;
            let known = found.entry(project).or_insert_with(|| empty(project));
            known.reservations.push((row.parsed("id")?, row.time("expires_at")?));
        }
        let sql = format!(
            "SELECT t.id, t.project, t.files {HELD} WHERE t.files <> '[]' AND t.activity IS NOT NULL ORDER BY t.id"
        );
        for row in c.all(&sql, args![]).await? {
            let project = row.parsed("project")?;
            let known = found.entry(project).or_insert_with(|| empty(project));
            known.tasks.push((row.parsed("id")?, row.json("files")?));
        }
        Ok(found.into_values().collect())
    }
}

/// Ends the expired reservations of a project, and compares what is declared in it again.
#[derive(Debug, Serialize)]
pub struct TendDeclared {
    /// The project.
    pub project: ProjectId,
}

impl Command for TendDeclared {
    type Output = ();
    const VERB: &'static str = "overlap.tend";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        if projects::facts_of(tx.read(), self.project).await?.is_none() {
            return Ok(());
        }
        let sql = "DELETE FROM work_overlaps WHERE project = $1 AND kind = $2 AND ended_at < $3";
        let old = tx.now.plus_millis(-KEPT_MS);
        tx.run(sql, args![self.project.to_string(), OverlapKind::Declared.word(), old]).await?;
        reserve::expire(tx, self.project).await?;
        again(tx, self.project).await
    }
}
