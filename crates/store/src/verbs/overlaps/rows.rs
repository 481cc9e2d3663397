//! Stored overlaps.

use std::collections::BTreeMap;

use domain::text::title;
use domain::{OverlapId, OverlapKind, ProjectId, Timestamp, UserId, WorkspaceId};
use engine::overlaps::tells;
use protocol::{Change, OverlapSide, WorkOverlap};

use super::compare::Places;
use crate::StoreError;
use crate::batch::PendingEvent;
use crate::event::EventBody;
use crate::sql::{Connection, Row, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::{chat, projects, users};

pub(super) const COLUMNS: &str = "SELECT o.id, o.project, o.kind, o.places, o.more, o.since, o.updated_at, o.ended_at, \
    o.told_at, o.gone_since, o.one, o.one_activity, oa.content AS one_content, o.one_owner, ou.name AS one_owner_name, \
    r.expires_at AS one_until, o.base, o.other, o.other_activity, ta.content AS other_content, o.other_owner, \
    tu.name AS other_owner_name, q.expires_at AS other_until FROM work_overlaps o \
    JOIN activities oa ON oa.id = o.one_activity JOIN users ou ON ou.id = o.one_owner \
    LEFT JOIN activities ta ON ta.id = o.other_activity LEFT JOIN users tu ON tu.id = o.other_owner \
    LEFT JOIN reservations r ON r.id = o.one LEFT JOIN reservations q ON q.id = o.other";

/// What work meets.
pub(super) enum Against {
    /// The work in another workspace.
    Work(WorkspaceId),
    /// Its base branch, with this name.
    Base(String),
}

const KNOWN: &str = "id, kind, places, more, base, ended_at, told_at, gone_since FROM work_overlaps";

/// A stored overlap.
pub(super) struct Known {
    pub(super) id: OverlapId,
    kind: OverlapKind,
    places: String,
    more: u32,
    base: Option<String>,
    pub(super) ended_at: Option<Timestamp>,
    told_at: Option<Timestamp>,
    gone_since: Option<Timestamp>,
}

/// An overlap as people see it.
pub(super) fn view(row: &Row) -> Result<WorkOverlap, StoreError> {
    let side = |name: &str| {
        let id = row.text(name)?;
        Ok::<_, StoreError>(OverlapSide {
            activity: row.parsed(&format!("{name}_activity"))?,
            name: title(&row.text(&format!("{name}_content"))?),
            workspace: id.parse().ok(),
            reservation: id.parse().ok(),
            task: id.parse().ok(),
            until: row.time_or_none(&format!("{name}_until"))?,
            owner: users::reference(row, &format!("{name}_owner"))?,
        })
    };
    Ok(WorkOverlap {
        id: row.parsed("id")?,
        project: row.parsed("project")?,
        one: side("one")?,
        other: row.text_or_none("other")?.map(|_| side("other")).transpose()?,
        base: row.text_or_none("base")?,
        kind: row.parsed("kind")?,
        places: row.json("places")?,
        more: row.count("more")?,
        since: row.time("since")?,
        updated_at: row.time("updated_at")?,
        ended_at: row.time_or_none("ended_at")?,
    })
}

/// The overlaps of the work in a workspace with that in others, by the other one; also those that ended.
pub(super) async fn of(
    c: &mut Connection<'_>,
    workspace: WorkspaceId,
) -> Result<BTreeMap<WorkspaceId, Known>, StoreError> {
    let sql = format!("SELECT one, other, {KNOWN} WHERE other IS NOT NULL AND (one = $1 OR other = $1) AND kind <> $2");
    let mut found = BTreeMap::new();
    for row in c.all(&sql, args![workspace.to_string(), OverlapKind::Declared.word()]).await? {
        let (one, other): (WorkspaceId, WorkspaceId) = (row.parsed("one")?, row.parsed("other")?);
        found.insert(if one == workspace { other } else { one }, known(&row)?);
    }
    Ok(found)
}

/// The conflict of a workspace with its base branch; also one that ended.
pub(super) async fn with_base(c: &mut Connection<'_>, workspace: WorkspaceId) -> Result<Option<Known>, StoreError> {
    let sql = format!("SELECT {KNOWN} WHERE one = $1 AND other IS NULL");
    c.first(&sql, vec![text(workspace)]).await?.as_ref().map(known).transpose()
}

fn known(row: &Row) -> Result<Known, StoreError> {
    Ok(Known {
        id: row.parsed("id")?,
        kind: row.parsed("kind")?,
        places: row.text("places")?,
        more: row.count("more")?,
        base: row.text_or_none("base")?,
        ended_at: row.time_or_none("ended_at")?,
        told_at: row.time_or_none("told_at")?,
        gone_since: row.time_or_none("gone_since")?,
    })
}

/// An overlap has ended.
pub(super) async fn end(tx: &mut Tx<'_>, known: OverlapId) -> Result<(), StoreError> {
    let sql =
        "UPDATE work_overlaps SET ended_at = $1, updated_at = $1, gone_since = COALESCE(gone_since, $1) WHERE id = $2";
    tx.run(sql, args![tx.now, known.to_string()]).await?;
    announce(tx, known).await.map(|_| ())
}

/// Stores where work meets something, announces it if it is new, and tells the chat of a new conflict.
pub(super) async fn keep(
    tx: &mut Tx<'_>,
    mine: WorkspaceId,
    against: Against,
    known: Option<&Known>,
    found: Places,
) -> Result<(), StoreError> {
    let places = to_json(&found.places);
    let (one, other, base) = match against {
        Against::Work(theirs) => (mine.min(theirs), Some(mine.max(theirs).to_string()), None),
        Against::Base(name) => (mine, None, Some(name)),
    };
    let same = |known: &&Known| {
        let before = (known.kind, &known.places, known.more, &known.base);
        known.ended_at.is_none() && before == (found.kind, &places, found.more, &base)
    };
    if known.filter(same).is_some() {
        return Ok(());
    }
    let conflicts = found.kind.conflicts();
    // Without a conflict before, it was gone since the last one, if there was any.
    let told = known.and_then(|known| known.told_at);
    let tell = conflicts && tells(told, known.and_then(|known| known.gone_since), tx.now);
    let gone = match conflicts {
        true => None,
        false => known.and_then(|known| known.gone_since).or(Some(tx.now)),
    };
    let told = if tell { Some(tx.now) } else { told };
    let id = match known {
        Some(known) => {
            let sql = "UPDATE work_overlaps SET kind = $1, places = $2, more = $3, \
                       since = CASE WHEN ended_at IS NULL THEN since ELSE $4 END, updated_at = $4, ended_at = NULL, \
                       told_at = $5, gone_since = $6, base = $7 WHERE id = $8";
            let values = args![found.kind.word(), places, found.more, tx.now, told, gone, base, known.id.to_string()];
            tx.run(sql, values).await?;
            known.id
        }
        None => {
            let id = OverlapId::generate();
            let sql = "INSERT INTO work_overlaps (id, project, one, other, base, one_activity, other_activity, one_owner, \
                       other_owner, kind, places, more, since, updated_at, told_at, gone_since) SELECT $1, w.project, \
                       $2, $3, $4, w.activity, o.activity, w.owner, o.owner, $5, $6, $7, $8, $8, $9, $10 \
                       FROM workspaces w LEFT JOIN workspaces o ON o.id = $3 WHERE w.id = $2";
            let (one, kind) = (one.to_string(), found.kind.word());
            let values = args![id.to_string(), one, other, base, kind, places, found.more, tx.now, told, gone];
            tx.run(sql, values).await?;
            id
        }
    };
    let shown = announce(tx, id).await?;
    if tell && let Some(shown) = shown {
        tell_chat(tx, &shown).await?;
    }
    Ok(())
}

/// Announces an overlap to those who may see all work in it.
pub(super) async fn announce(tx: &mut Tx<'_>, id: OverlapId) -> Result<Option<WorkOverlap>, StoreError> {
    let row = tx.read().first(&format!("{COLUMNS} WHERE o.id = $1"), vec![text(id)]).await?;
    let Some(overlap) = row.as_ref().map(view).transpose()? else { return Ok(None) };
    let project = overlap.project;
    let mut owners: Vec<UserId> = workers(&overlap).collect();
    owners.dedup();
    let execution_of = match owners.as_slice() {
        // What is declared belongs to the project.
        [] => None,
        [owner] => Some(*owner),
        // Work of two people is visible only to those who may see all execution in the project: its owner, if it is not
        // shared.
        _ => match projects::facts_of(tx.read(), project).await? {
            Some(facts) => Some(facts.owner),
            None => return Ok(Some(overlap)),
        },
    };
    let body = EventBody::Change { change: Change::Overlap { overlap: overlap.clone() } };
    tx.announce(PendingEvent { project: Some(project), audience: None, facts_before: None, execution_of, body });
    Ok(Some(overlap))
}

/// The owners of the workspaces that meet.
pub(super) fn workers(overlap: &WorkOverlap) -> impl Iterator<Item = UserId> {
    sides(overlap).filter(|side| side.workspace.is_some()).map(|side| side.owner.id)
}

/// What meets.
pub(super) fn sides(overlap: &WorkOverlap) -> impl Iterator<Item = &OverlapSide> {
    [&overlap.one].into_iter().chain(&overlap.other)
}

/// Everybody who sees the project reads its chat, so it gets the message only where all of them may see its execution.
async fn tell_chat(tx: &mut Tx<'_>, overlap: &WorkOverlap) -> Result<(), StoreError> {
    if !shared(tx.read(), overlap.project).await? {
        return Ok(());
    }
    let place = overlap.places.first().map(|place| match (place.first, place.last) {
        (Some(first), Some(last)) if first != last => format!("`{}`, lines {first} to {last}", place.path),
        (Some(first), _) => format!("`{}`, line {first}", place.path),
        _ => format!("`{}`", place.path),
    });
    let others = (overlap.places.len() + overlap.more as usize).saturating_sub(1);
    let more = match others {
        0 => String::new(),
        1 => " and one more place".to_owned(),
        more => format!(" and {more} more places"),
    };
    let with = match (&overlap.other, &overlap.base) {
        (Some(other), _) => format!("that of {} in `{}`", other.owner.name, other.name),
        (None, base) => format!("`{}`", base.as_deref().unwrap_or_default()),
    };
    let (one, place) = (&overlap.one, place.unwrap_or_default());
    let content = format!("The work of {} in `{}` conflicts with {with}: {place}{more}.", one.owner.name, one.name);
    chat::say(tx, overlap.project, &content).await
}

async fn shared(c: &mut Connection<'_>, project: ProjectId) -> Result<bool, StoreError> {
    Ok(projects::facts_of(c, project).await?.is_some_and(|facts| facts.share_execution))
}
