//! Landing: accepted work on its way to the project's repository.

mod land;
mod publish;
mod settings;

pub use land::MAX_LANDINGS;
pub use publish::{PublishEnded, PublishResult, Publishing, PullRequestText};

pub(crate) use land::{automatically, of_report, publish_for_others};
pub(crate) use publish::{Evidence, ejected, landed, removed, replaced, undecided, withdraw};

use domain::{Action, LandingId, ProjectId, Resource};
use protocol::{Change, Landing, LandingFilter};

use crate::batch::PendingEvent;
use crate::sql::{Connection, Row, args, text};
use crate::tx::Tx;
use crate::verbs::work::tasks::row::id_or_none;
use crate::verbs::{projects, users};
use crate::{Caller, EventBody, Store, StoreError};

/// The default and maximum number of listed landings.
const LISTED: (u32, u32) = (100, 500);

const COLUMNS: &str = "SELECT l.id, l.project, l.task, l.activity, l.title, l.branch, l.target, l.state, l.detail, \
    l.push_only, l.published, l.landed, l.candidate, l.pull_request, l.asked_by, u.name AS asked_by_name, l.created_at, \
    l.updated_at FROM landings l LEFT JOIN users u ON u.id = l.asked_by";

fn landing(row: &Row) -> Result<Landing, StoreError> {
    let asked = row.text_or_none("asked_by")?.is_some();
    Ok(Landing {
        id: row.parsed("id")?,
        project: row.parsed("project")?,
        task: id_or_none(row, "task")?,
        activity: id_or_none(row, "activity")?,
        title: row.text("title")?,
        branch: row.text("branch")?,
        target: row.text_or_none("target")?,
        state: row.parsed("state")?,
        detail: row.text_or_none("detail")?,
        push_only: row.flag("push_only")?,
        commit: row.text_or_none("published")?,
        landed: row.text_or_none("landed")?,
        candidate: id_or_none(row, "candidate")?,
        pull_request: row.text_or_none("pull_request")?,
        asked_by: if asked { Some(users::reference(row, "asked_by")?) } else { None },
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
    })
}

async fn get(c: &mut Connection<'_>, id: LandingId) -> Result<Option<Landing>, StoreError> {
    c.first(&format!("{COLUMNS} WHERE l.id = $1"), vec![text(id)]).await?.as_ref().map(landing).transpose()
}

/// Stores a landing's state and announces it to everybody who sees the project.
async fn save(tx: &mut Tx<'_>, after: &Landing) -> Result<(), StoreError> {
    let sql = "UPDATE landings SET state = $1, detail = $2, published = $3, landed = $4, candidate = $5, \
               pull_request = $6, target = $7, updated_at = $8 WHERE id = $9";
    let values = args![
        after.state.word(),
        after.detail.clone(),
        after.commit.clone(),
        after.landed.clone(),
        after.candidate.map(|id| id.to_string()),
        after.pull_request.clone(),
        after.target.clone(),
        tx.now,
        after.id.to_string(),
    ];
    tx.run(sql, values).await?;
    announce(tx, Landing { updated_at: tx.now, ..after.clone() });
    Ok(())
}

fn announce(tx: &mut Tx<'_>, landing: Landing) {
    tell(tx, landing.project, Change::Landing { landing });
}

fn tell(tx: &mut Tx<'_>, project: ProjectId, change: Change) {
    let body = EventBody::Change { change };
    let project = Some(project);
    tx.announce(PendingEvent { project, audience: None, facts_before: None, execution_of: None, body });
}

/// The landings that are not over, and the newest others, for the state of a client.
pub(crate) async fn current(c: &mut Connection<'_>, only: Option<ProjectId>) -> Result<Vec<Landing>, StoreError> {
    let filter = if only.is_some() { "AND l.project = $1" } else { "" };
    let sql = format!("{COLUMNS} WHERE 1 = 1 {filter} ORDER BY l.id DESC LIMIT {}", LISTED.1);
    c.all(&sql, only.map(text).into_iter().collect()).await?.iter().rev().map(landing).collect()
}

pub(crate) use settings::all as all_settings;

impl Store {
    /// The newest landings that the caller may see, newest first.
    pub async fn landings(&self, caller: &Caller, filter: LandingFilter) -> Result<Vec<Landing>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let facts = projects::all_facts(&mut c).await?;
        if let Some(project) = filter.project {
            projects::check(&mut c, caller, project, Action::See, "project").await?;
        }
        let mut values = Vec::new();
        let mut sql = format!("{COLUMNS} WHERE 1 = 1");
        let columns = [
            ("project", filter.project.map(|id| id.to_string())),
            ("task", filter.task.map(|id| id.to_string())),
            ("activity", filter.activity.map(|id| id.to_string())),
        ];
        for (column, id) in columns {
            if let Some(id) = id {
                values.push(text(id));
                sql.push_str(&format!(" AND l.{column} = ${}", values.len()));
            }
        }
        let limit = filter.limit.unwrap_or(LISTED.0).min(LISTED.1) as usize;
        sql.push_str(" ORDER BY l.id DESC");
        let mut seen = Vec::new();
        for row in c.all(&sql, values).await? {
            let found = landing(&row)?;
            let visible = facts.get(&found.project);
            let may = |facts| caller.may(Action::See, Resource::Project(facts), "project").is_ok();
            if visible.is_some_and(may) {
                seen.push(found);
            }
            if seen.len() == limit {
                break;
            }
        }
        Ok(seen)
    }

    /// What happens to accepted work of a project.
    pub async fn landing_settings(
        &self,
        caller: &Caller,
        project: ProjectId,
    ) -> Result<protocol::LandingSettings, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        projects::check(&mut c, caller, project, Action::See, "project").await?;
        settings::of(&mut c, project).await
    }
}
