//! Compares the work in a workspace with the others of its project, and keeps the overlaps.

use std::collections::BTreeMap;

use domain::text::plain;
use domain::{ActivityId, ActivityStatus, OverlapKind, WorkspaceId};
use engine::overlaps::{Meeting, MeetingKind, Prepared};
use protocol::OverlapPlace;
use protocol::link::{MAX_SYMBOL_NAME, WorkFacts};

use super::rows::Against;
use super::{base, declared, reserve, rows, work};
use crate::StoreError;
use crate::sql::{Connection, args, text};
use crate::tx::Tx;

/// Maximum number of works that one is compared with, and how many are read at once.
const COMPARED: usize = 1000;
const READ: usize = 100;
/// Maximum number of places that are stored.
const PLACES: usize = 50;

/// Compares the work in a workspace with the others, and stores what is new.
pub(super) async fn again(tx: &mut Tx<'_>, workspace: WorkspaceId) -> Result<(), StoreError> {
    let found = meetings(tx.read(), workspace).await?;
    let known = rows::of(tx.read(), workspace).await?;
    for (other, row) in &known {
        if row.ended_at.is_none() && !found.contains_key(other) {
            rows::end(tx, row.id).await?;
        }
    }
    for (other, places) in found {
        rows::keep(tx, workspace, Against::Work(other), known.get(&other), places).await?;
    }
    Ok(())
}

/// The status of an activity changed: the work of one that was given up meets nothing, and one that is over reserves
/// nothing.
pub(crate) async fn turned(tx: &mut Tx<'_>, activity: ActivityId) -> Result<(), StoreError> {
    let sql = "SELECT f.workspace FROM workspace_work f JOIN workspaces w ON w.id = f.workspace WHERE w.activity = $1 \
               ORDER BY f.workspace";
    for row in tx.read().all(sql, vec![text(activity)]).await? {
        again(tx, row.parsed("workspace")?).await?;
    }
    base::turned(tx, activity).await?;
    let sql = "SELECT project, status FROM activities WHERE id = $1";
    let Some(row) = tx.read().first(sql, vec![text(activity)]).await? else { return Ok(()) };
    let status = row.parsed("status")?;
    let over = matches!(status, ActivityStatus::Completed | ActivityStatus::Abandoned);
    let released = over && reserve::end_all(tx, activity).await?;
    // The work of a completed activity still counts.
    if !released && status == ActivityStatus::Completed {
        return Ok(());
    }
    declared::again(tx, row.parsed("project")?).await
}

/// The work in a workspace is over: nothing meets it any more.
pub(crate) async fn over(tx: &mut Tx<'_>, workspace: WorkspaceId) -> Result<(), StoreError> {
    for row in rows::of(tx.read(), workspace).await?.values().filter(|row| row.ended_at.is_none()) {
        rows::end(tx, row.id).await?;
    }
    if let Some(row) = rows::with_base(tx.read(), workspace).await?.filter(|row| row.ended_at.is_none()) {
        rows::end(tx, row.id).await?;
    }
    tx.run("DELETE FROM work_names WHERE workspace = $1", vec![text(workspace)]).await?;
    tx.run("DELETE FROM workspace_work WHERE workspace = $1", vec![text(workspace)]).await?;
    declared::again_of(tx, workspace).await
}

/// The places where a work meets another one, and how many more there are.
pub(super) struct Places {
    pub(super) kind: OverlapKind,
    pub(super) places: Vec<OverlapPlace>,
    pub(super) more: u32,
}

/// The works that the one in a workspace meets. Works of the same activity are not compared, nor are those of activities
/// that were given up.
async fn meetings(c: &mut Connection<'_>, workspace: WorkspaceId) -> Result<BTreeMap<WorkspaceId, Places>, StoreError> {
    let mine = "SELECT f.work FROM workspace_work f JOIN workspaces w ON w.id = f.workspace \
                JOIN activities a ON a.id = w.activity WHERE f.workspace = $1 AND w.status <> 'cleaned' \
                AND a.status <> 'abandoned'";
    let Some(row) = c.first(mine, vec![text(workspace)]).await? else { return Ok(BTreeMap::new()) };
    let Some(mine) = work::work(row.json::<Vec<WorkFacts>>("work")?) else { return Ok(BTreeMap::new()) };
    let mine = Prepared::new(&mine);
    let others = "SELECT f.workspace, f.work FROM workspace_work f JOIN workspaces w ON w.id = f.workspace \
                  JOIN activities a ON a.id = w.activity JOIN workspaces m ON m.id = $1 \
                  WHERE f.workspace IN (SELECT o.workspace FROM work_names n \
                  JOIN work_names o ON o.project = n.project AND o.name = n.name WHERE n.workspace = $1) \
                  AND f.workspace <> $1 AND w.activity <> m.activity AND w.status <> 'cleaned' \
                  AND a.status <> 'abandoned' ORDER BY f.updated_at DESC, f.workspace LIMIT $2 OFFSET $3";
    let mut found = BTreeMap::new();
    for at in (0..COMPARED).step_by(READ) {
        let rows = c.all(others, args![workspace.to_string(), READ as u64, at as u64]).await?;
        for row in &rows {
            let theirs = work::work(row.json::<Vec<WorkFacts>>("work")?);
            if let Some(places) = theirs.and_then(|theirs| shown(mine.with(&theirs)?)) {
                found.insert(row.parsed("workspace")?, places);
            }
        }
        if rows.len() < READ {
            break;
        }
    }
    Ok(found)
}

/// The most severe places, and how many others there are; `None` without any.
pub(super) fn shown(mut met: Vec<Meeting>) -> Option<Places> {
    met.sort_by(|one, other| other.kind.cmp(&one.kind).then_with(|| one.cmp(other)));
    let kind = kind(met.first()?.kind);
    let more = u32::try_from(met.len().saturating_sub(PLACES)).unwrap_or(u32::MAX);
    Some(Places { kind, places: met.iter().take(PLACES).map(place).collect(), more })
}

fn place(met: &Meeting) -> OverlapPlace {
    OverlapPlace {
        path: plain(&met.path.replace('\n', " "), 1024),
        kind: kind(met.kind),
        first: met.lines.map(|(first, _)| first),
        last: met.lines.map(|(_, last)| last),
        symbol: met.symbol.as_deref().map(|symbol| plain(symbol, MAX_SYMBOL_NAME)),
        why: met.why.to_owned(),
    }
}

fn kind(kind: MeetingKind) -> OverlapKind {
    match kind {
        MeetingKind::SameFile => OverlapKind::SameFile,
        MeetingKind::RenamedUnder => OverlapKind::RenamedUnder,
        MeetingKind::SameSymbol => OverlapKind::SameSymbol,
        MeetingKind::SameLines => OverlapKind::SameLines,
        MeetingKind::Contradiction => OverlapKind::Contradiction,
        MeetingKind::Base => OverlapKind::Base,
    }
}
