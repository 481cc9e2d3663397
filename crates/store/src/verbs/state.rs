//! The full state for a client, as of one position.

use std::collections::{HashMap, HashSet};

use domain::{Action, Actor, ProjectFacts, ProjectId, Seq, Timestamp};
use protocol::{ApprovalFilter, Change, Project, Veil};

use super::work::{tasks, workers};
use super::workspaces::{only as in_project, sees};
use super::{
    activities, approvals, executions, handoff, landing, merge, overlaps, projects, runners, schedules, sessions,
    unread, users, workspaces,
};
use crate::sql::{Connection, args};
use crate::{Caller, Store, StoreError};

impl Store {
    /// Everything that the caller may see, as the changes that would create it, with its position.
    pub async fn state(&self, caller: &Caller) -> Result<(Seq, Vec<Change>), StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let row = c.first("SELECT seq FROM ledger WHERE one = 1", args![]).await?;
        let row = row.ok_or_else(|| StoreError::Corrupt("the ledger has no row".into()))?;
        let seq = Seq(row.integer("seq")?.cast_unsigned());
        let mut changes = Vec::new();
        if let Some(Actor::User { .. }) = caller.actor() {
            changes.extend(users::all(&mut c).await?.into_iter().map(|user| Change::User { user }));
            changes.extend(runners::all(&mut c, self.now()).await?.into_iter().map(|runner| Change::Runner { runner }));
        }
        let visible = projects::visible(&mut c, caller).await?;
        changes.extend(contents(&mut c, caller, visible, None, self.now()).await?);
        Ok((seq, changes))
    }

    /// One project with its contents; empty if the caller may not see it.
    pub async fn state_of(&self, caller: &Caller, id: ProjectId) -> Result<Vec<Change>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let project = match projects::find(&mut c, caller, id, Action::See).await {
            Ok(project) => project,
            Err(StoreError::NotFound(_)) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        contents(&mut c, caller, vec![project], Some(id), self.now()).await
    }
}

/// Visible projects with their contents; `only` is set if there is just one project.
async fn contents(
    c: &mut Connection<'_>,
    caller: &Caller,
    projects: Vec<Project>,
    only: Option<ProjectId>,
    now: Timestamp,
) -> Result<Vec<Change>, StoreError> {
    let visible: HashSet<ProjectId> = projects.iter().map(|project| project.id).collect();
    let facts: HashMap<ProjectId, ProjectFacts> =
        projects.iter().map(|project| (project.id, project.facts())).collect();
    let mut activities = activities::of(c, &projects.iter().map(|project| project.id).collect::<Vec<_>>()).await?;
    let whole = |project: ProjectId| facts.get(&project).is_some_and(|facts| activities::looks(caller, facts));
    activities.iter_mut().filter(|activity| !whole(activity.project)).for_each(Veil::veil);
    let mut changes: Vec<Change> = projects.into_iter().map(|project| Change::Project { project }).collect();
    changes.extend(activities.into_iter().map(|activity| Change::Activity { activity }));
    let workspaces = workspaces::of(c, in_project(only)).await?.into_iter();
    let workspaces = workspaces.filter(|found| sees(caller, facts.get(&found.project), found.owner.id));
    changes.extend(workspaces.map(|workspace| Change::Workspace { workspace }));
    let met = overlaps::current(c, only, now).await?.into_iter();
    let met = met.filter(|found| overlaps::visible(caller, facts.get(&found.project), found));
    changes.extend(met.map(|overlap| Change::Overlap { overlap }));
    let reserved = overlaps::reservations(c, only, now).await?.into_iter();
    let reserved = reserved.filter(|found| visible.contains(&found.project));
    changes.extend(reserved.map(|reservation| Change::Reservation { reservation }));
    let sessions = sessions::of(c, in_project(only), Some(now)).await?.into_iter();
    let sessions = sessions.filter(|found| sees(caller, facts.get(&found.project), found.owner.id));
    changes.extend(sessions.map(|session| Change::Session { session }));
    let handoffs = handoff::current(c, only, now).await?.into_iter();
    let handoffs = handoffs.filter(|found| sees(caller, facts.get(&found.project), found.owner.id));
    changes.extend(handoffs.map(|handoff| Change::Handoff { handoff }));
    let workers = workers::rows::all(c, only).await?.into_iter().filter(|found| visible.contains(&found.project));
    let workers = workers.map(|slot| match sees(caller, facts.get(&slot.view.project), slot.view.owner.id) {
        true => slot.view,
        false => slot.view.veiled(),
    });
    changes.extend(workers::told::together(workers).into_iter().map(|(_, change)| change));
    let asked = tasks::reads::open_escalations(c, caller, only).await?.into_iter();
    let asked = asked.filter(|found| visible.contains(&found.project));
    changes.extend(asked.map(|escalation| Change::Escalation { escalation }));
    let settings = workers::settings::all(c, only).await?.into_iter().filter(|(project, _)| visible.contains(project));
    changes.extend(settings.map(|(project, settings)| Change::WorkSettings { project, settings }));
    let landings = landing::current(c, only).await?.into_iter().filter(|found| visible.contains(&found.project));
    changes.extend(landings.map(|landing| Change::Landing { landing }));
    let settings = landing::all_settings(c, only).await?.into_iter().filter(|(project, _)| visible.contains(project));
    changes.extend(settings.map(|(project, settings)| Change::LandingSettings { project, settings }));
    let queues = merge::not_idle(c, only, now).await?.into_iter().filter(|found| visible.contains(&found.project));
    changes.extend(queues.map(|queue| Change::MergeQueue { queue }));
    let executions = executions::current(c, only).await?.into_iter().filter(|found| visible.contains(&found.project));
    let executions = executions.map(|found| match sees(caller, facts.get(&found.project), found.started_by.id) {
        true => found,
        false => found.veiled(),
    });
    changes.extend(executions.map(|execution| Change::Execution { execution }));
    let schedules = schedules::all(c, only, now).await?.into_iter().filter(|found| visible.contains(&found.project));
    changes.extend(schedules.map(|schedule| Change::Schedule { schedule }));
    if let Some(Actor::User { id: me, .. }) = caller.actor() {
        let unreads = unread::of(c, *me, only).await?.into_values().filter(|unread| visible.contains(&unread.project));
        changes.extend(unreads.map(|unread| Change::Unread { unread }));
        let filter = ApprovalFilter { project: only, ..Default::default() };
        let asked = approvals::of(c, *me, filter).await?.into_iter().filter(|asked| visible.contains(&asked.project));
        changes.extend(asked.map(|approval| Change::Approval { approval }));
    }
    Ok(changes)
}
