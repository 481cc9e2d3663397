//! Activities.

use std::collections::HashMap;

use domain::limits::MAX_LISTED;
use domain::text::{ACTIVITY_CONTENT, LINK_TARGET, MAX_LINKS, title};
use domain::{Action, ActivityId, ActivityStatus, ProjectFacts, ProjectId, Resource};
use protocol::{Activity, Change, Link, UserRef, Veil, Verb, WrittenBy, of_execution, verbs};

use super::fitting::Fitting;
use super::work::tasks::reach::list;
use super::{overlaps, projects, users, versions};
use crate::batch::PendingEvent;
use crate::sql::{Connection, Row, args, text, to_json};
use crate::tx::{AuditScope, Tx};
use crate::{Caller, Command, EventBody, Store, StoreError};

const COLUMNS: &str = "SELECT a.id, a.project, a.owner, u.name AS owner_name, a.status, a.content, a.version, a.links, \
    a.created_at, a.updated_at FROM activities a JOIN users u ON u.id = a.owner";

fn activity(row: &Row) -> Result<Activity, StoreError> {
    let content = row.text("content")?;
    Ok(Activity {
        id: row.parsed("id")?,
        project: row.parsed("project")?,
        name: title(&content),
        owner: users::reference(row, "owner")?,
        status: row.parsed("status")?,
        content,
        version: row.count("version")?,
        links: row.json("links")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
    })
}

/// The activity, if the caller may do this in its project.
pub(crate) async fn find(
    c: &mut Connection<'_>,
    caller: &Caller,
    id: ActivityId,
    action: Action,
) -> Result<Activity, StoreError> {
    let row = c.first(&format!("{COLUMNS} WHERE a.id = $1"), vec![text(id)]).await?;
    let found = activity(&row.ok_or(StoreError::NotFound("activity"))?)?;
    projects::check(c, caller, found.project, action, "activity").await?;
    Ok(found)
}

/// The activities of these projects, oldest first. The caller must check access.
pub(crate) async fn of(c: &mut Connection<'_>, projects: &[ProjectId]) -> Result<Vec<Activity>, StoreError> {
    if projects.is_empty() {
        return Ok(Vec::new());
    }
    let (places, values) = list(projects);
    let sql = format!("{COLUMNS} WHERE a.project IN ({places}) ORDER BY a.created_at, a.id");
    c.all(&sql, values).await?.iter().map(activity).collect()
}

fn announce(tx: &mut Tx<'_>, activity: Activity) {
    let project = Some(activity.project);
    let body = EventBody::Change { change: Change::Activity { activity } };
    tx.announce(PendingEvent { project, audience: None, facts_before: None, execution_of: None, body });
}

fn check_links(links: &[Link]) -> Result<(), StoreError> {
    if links.len() > MAX_LINKS {
        return Err(StoreError::invalid("links", format!("an activity has at most {MAX_LINKS} links")));
    }
    links.iter().try_for_each(|link| LINK_TARGET.check(&link.target)).map_err(StoreError::from)
}

impl Command for verbs::ActivityCreate {
    type Output = Activity;
    const VERB: &'static str = verbs::ActivityCreate::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Activity, StoreError> {
        tx.check(self.project, Action::Decide, "project").await?;
        let owner = tx.caller.person()?;
        ACTIVITY_CONTENT.check(&self.input.content)?;
        check_links(&self.input.links)?;
        let begun = Begun {
            project: self.project,
            by: tx.caller.writer()?,
            owner,
            status: self.input.status.unwrap_or(ActivityStatus::Active),
            content: self.input.content.clone(),
            links: self.input.links.clone(),
        };
        Ok(begin(tx, begun))
    }
}

/// Parameters of a new activity.
pub(crate) struct Begun {
    pub(crate) project: ProjectId,
    /// The owner of the activity.
    pub(crate) owner: UserRef,
    /// The author of its text.
    pub(crate) by: WrittenBy,
    pub(crate) status: ActivityStatus,
    pub(crate) content: String,
    pub(crate) links: Vec<Link>,
}

/// Starts an activity without an access check. The audit trail names the caller.
pub(crate) fn begin(tx: &mut Tx<'_>, begun: Begun) -> Activity {
    let created = Activity {
        id: ActivityId::generate(),
        project: begun.project,
        name: title(&begun.content),
        owner: begun.owner,
        status: begun.status,
        content: begun.content,
        version: 1,
        links: begun.links,
        created_at: tx.now,
        updated_at: tx.now,
    };
    let head = "INSERT INTO activities (id, project, owner, status, content, version, links, created_at, updated_at)";
    let row = args![
        created.id.to_string(),
        created.project.to_string(),
        created.owner.id.to_string(),
        created.status.word(),
        &created.content,
        created.version,
        to_json(&created.links),
        tx.now,
        tx.now,
    ];
    tx.later(head, row);
    versions::add(tx, &created.id.to_string(), 1, &begun.by, &created.content);
    announce(tx, created.clone());
    let detail = format!("started `{}`, {}", created.name, created.status);
    tx.audit(verbs::ActivityCreate::VERB, created.id, AuditScope::Project(created.project), detail);
    created
}

impl Command for verbs::ActivityUpdate {
    type Output = Activity;
    const VERB: &'static str = verbs::ActivityUpdate::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Activity, StoreError> {
        let caller = tx.caller;
        let before = find(tx.read(), caller, self.activity, Action::Write).await?;
        let author = tx.caller.writer()?;
        let input = &self.input;
        versions::expect(input.expected_version, before.version)?;
        if let Some(content) = &input.content {
            ACTIVITY_CONTENT.check(content)?;
        }
        let shares = shares(tx.read(), caller, before.project).await?;
        let links = input.links.clone().map(|mut links| {
            // Links that the caller cannot see must survive the caller's edit.
            let hidden = before.links.iter().filter(|link| !shares && of_execution(link.kind) && !links.contains(link));
            let room = MAX_LINKS.saturating_sub(links.len());
            let hidden: Vec<Link> = hidden.take(room).cloned().collect();
            links.extend(hidden);
            links
        });
        check_links(links.as_deref().unwrap_or_default())?;
        let content = input.content.clone().unwrap_or_else(|| before.content.clone());
        let edited = content != before.content;
        let after = Activity {
            name: title(&content),
            status: input.status.unwrap_or(before.status),
            links: links.unwrap_or_else(|| before.links.clone()),
            version: before.version + u32::from(edited),
            content,
            updated_at: tx.now,
            ..before.clone()
        };
        let changes = differences(&before, &after);
        if changes.is_empty() {
            return Ok(if shares { before } else { before.veiled() });
        }
        let sql =
            "UPDATE activities SET status = $1, content = $2, version = $3, links = $4, updated_at = $5 WHERE id = $6";
        let values = args![
            after.status.word(),
            &after.content,
            after.version,
            to_json(&after.links),
            tx.now,
            after.id.to_string(),
        ];
        tx.run(sql, values).await?;
        if edited {
            versions::add(tx, &after.id.to_string(), after.version, &author, &after.content);
        }
        announce(tx, after.clone());
        if before.status != after.status {
            overlaps::turned(tx, after.id).await?;
        }
        tx.audit(Self::VERB, after.id, AuditScope::Project(after.project), changes.join("; "));
        Ok(if shares { after } else { after.veiled() })
    }
}

/// Changes an activity's status without an access check.
pub(crate) async fn turn(
    tx: &mut Tx<'_>,
    id: ActivityId,
    status: ActivityStatus,
    why: &str,
) -> Result<Activity, StoreError> {
    let row = tx.read().first(&format!("{COLUMNS} WHERE a.id = $1"), vec![text(id)]).await?;
    let before = activity(&row.ok_or(StoreError::NotFound("activity"))?)?;
    let sql = "UPDATE activities SET status = $1, updated_at = $2 WHERE id = $3";
    tx.run(sql, args![status.word(), tx.now, id.to_string()]).await?;
    let detail = format!("status {} → {status}: {why}", before.status);
    let after = Activity { status, updated_at: tx.now, ..before };
    announce(tx, after.clone());
    overlaps::turned(tx, id).await?;
    tx.audit(verbs::ActivityUpdate::VERB, id, AuditScope::Project(after.project), detail);
    Ok(after)
}

/// The changed fields, for the audit trail.
fn differences(before: &Activity, after: &Activity) -> Vec<String> {
    let mut changes = Vec::new();
    if before.content != after.content {
        changes.push(format!("wrote version {} of the content", after.version));
    }
    if before.status != after.status {
        changes.push(format!("status {} → {}", before.status, after.status));
    }
    if before.links != after.links {
        changes.push("changed the links".to_owned());
    }
    changes
}

/// Whether the caller may see all execution in a project.
pub(crate) fn looks(caller: &Caller, facts: &ProjectFacts) -> bool {
    caller.may(Action::SeeExecution, Resource::Project(facts), "project").is_ok()
}

async fn shares(c: &mut Connection<'_>, caller: &Caller, project: ProjectId) -> Result<bool, StoreError> {
    Ok(projects::facts_of(c, project).await?.is_some_and(|facts| looks(caller, &facts)))
}

impl Store {
    /// The last changed activities of one project, or of all that the caller may see, oldest first, as many as fit into
    /// one answer.
    pub async fn activities(&self, caller: &Caller, project: Option<ProjectId>) -> Result<Vec<Activity>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let facts: HashMap<ProjectId, ProjectFacts> = match project {
            Some(id) => [(id, projects::check(&mut c, caller, id, Action::See, "project").await?)].into(),
            None => projects::seen(&mut c, caller).await?,
        };
        if facts.is_empty() {
            return Ok(Vec::new());
        }
        let (places, values) = list(&facts.keys().collect::<Vec<_>>());
        let (size, among) = ("LENGTH(content) + LENGTH(links)", format!("project IN ({places})"));
        let listed = Fitting { table: "activities", size, newest: "updated_at", among: &among, most: MAX_LISTED };
        let sql = format!("{COLUMNS} WHERE a.id IN ({}) ORDER BY a.created_at, a.id", listed.ids());
        let mut found = c.all(&sql, values).await?.iter().map(activity).collect::<Result<Vec<_>, _>>()?;
        let shared = |activity: &Activity| facts.get(&activity.project).is_some_and(|facts| looks(caller, facts));
        found.iter_mut().filter(|activity| !shared(activity)).for_each(Veil::veil);
        Ok(found)
    }

    /// One activity.
    pub async fn activity(&self, caller: &Caller, id: ActivityId) -> Result<Activity, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let found = find(&mut c, caller, id, Action::See).await?;
        let shares = shares(&mut c, caller, found.project).await?;
        Ok(if shares { found } else { found.veiled() })
    }
}
