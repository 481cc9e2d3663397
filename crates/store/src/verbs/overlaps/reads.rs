//! What people and agents see of overlaps.

use domain::{Action, OverlapId, OverlapKind, ProjectFacts, ProjectId, Resource, Timestamp};
use protocol::{ExecutionFilter, OverlapFilter, WorkOverlap};

use super::rows::{COLUMNS, sides, view, workers};
use crate::sql::{Connection, args, text};
use crate::verbs::projects;
use crate::verbs::workspaces::{check_filter, sees};
use crate::{Caller, Store, StoreError};

/// Maximum number of overlaps in a list.
const LISTED: usize = 500;
/// Maximum number of rows that are read for one.
const READ: u32 = 5000;
/// How long an overlap that ended is listed, in milliseconds.
const ENDED_MS: i64 = 7 * 24 * 3_600_000;

/// The overlaps that exist now, in one project or in all, newest first. The caller must check access.
pub(crate) async fn current(
    c: &mut Connection<'_>,
    only: Option<ProjectId>,
    now: Timestamp,
) -> Result<Vec<WorkOverlap>, StoreError> {
    let (of, values) = match only {
        Some(project) => (" AND o.project = $2", args![READ, project.to_string()]),
        None => ("", args![READ]),
    };
    let sql = format!("{COLUMNS} WHERE o.ended_at IS NULL{of} ORDER BY o.updated_at DESC, o.id LIMIT $1");
    let mut found = c.all(&sql, values).await?.iter().map(view).collect::<Result<Vec<_>, _>>()?;
    found.retain(|overlap| stands(overlap, now));
    Ok(found)
}

/// Whether the caller may see all work in it. What is declared is visible with its project.
pub(crate) fn visible(caller: &Caller, facts: Option<&ProjectFacts>, overlap: &WorkOverlap) -> bool {
    let project = |facts| caller.may(Action::See, Resource::Project(facts), "project").is_ok();
    facts.is_some_and(project) && workers(overlap).all(|owner| sees(caller, facts, owner))
}

/// Whether an overlap exists: a reservation that expired counts no more, also before it is marked as ended.
fn stands(overlap: &WorkOverlap, now: Timestamp) -> bool {
    let mut untils = sides(overlap).filter_map(|side| side.until);
    overlap.ended_at.is_some() || untils.all(|until| until > now)
}

impl Store {
    /// The overlaps that the caller may see, conflicts first.
    pub async fn overlaps(&self, caller: &Caller, filter: OverlapFilter) -> Result<Vec<WorkOverlap>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let within =
            ExecutionFilter { project: filter.project, activity: filter.activity, ..ExecutionFilter::default() };
        check_filter(&mut c, caller, within).await?;
        let facts = projects::all_facts(&mut c).await?;
        let since = self.now().plus_millis(-ENDED_MS);
        let sql = format!(
            "{COLUMNS} WHERE (o.ended_at IS NULL OR ($1 = 1 AND o.ended_at > $2)) AND ($3 = '' OR o.project = $3) \
             AND ($4 = '' OR o.one_activity = $4 OR o.other_activity = $4) ORDER BY o.updated_at DESC, o.id LIMIT $5"
        );
        let (project, activity) = (filter.project.map(|id| id.to_string()), filter.activity.map(|id| id.to_string()));
        let ended = i64::from(filter.ended.unwrap_or(false));
        let values = args![ended, since, project.unwrap_or_default(), activity.unwrap_or_default(), READ];
        let rows = c.all(&sql, values).await?;
        let mut found = rows.iter().map(view).collect::<Result<Vec<_>, _>>()?;
        let now = self.now();
        found.retain(|overlap| stands(overlap, now) && visible(caller, facts.get(&overlap.project), overlap));
        found.sort_by_key(|overlap| (overlap.ended_at.is_some(), std::cmp::Reverse(rank(overlap.kind))));
        found.truncate(LISTED);
        Ok(found)
    }

    /// One overlap.
    pub async fn overlap(&self, caller: &Caller, id: OverlapId) -> Result<WorkOverlap, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let row = c.first(&format!("{COLUMNS} WHERE o.id = $1"), vec![text(id)]).await?;
        let found = row.as_ref().map(view).transpose()?.ok_or(StoreError::NotFound("overlap"))?;
        let facts = projects::facts_of(&mut c, found.project).await?;
        if visible(caller, facts.as_ref(), &found) { Ok(found) } else { Err(StoreError::NotFound("overlap")) }
    }
}

/// The severity of a kind.
fn rank(kind: OverlapKind) -> usize {
    OverlapKind::ALL.iter().position(|one| *one == kind).unwrap_or_default()
}
