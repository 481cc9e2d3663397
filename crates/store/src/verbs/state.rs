//! The full state that a client may see, as of one position.

use domain::{Action, Actor, ProjectId, Seq};
use protocol::Change;

use super::{activities, projects, runners, unread, users};
use crate::sql::{Connection, args};
use crate::{Caller, Store, StoreError};

impl Store {
    /// Everything that the caller may see, as the changes that would create it, and the position it is as of.
    pub async fn state(&self, caller: &Caller) -> Result<(Seq, Vec<Change>), StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let row = c.first("SELECT seq FROM ledger WHERE one = 1", args![]).await?;
        let row = row.ok_or_else(|| StoreError::Corrupt("the ledger has no row".into()))?;
        let seq = Seq(row.integer("seq")?.cast_unsigned());
        let mut changes = Vec::new();
        if let Some(Actor::User { .. }) = caller.actor() {
            changes.extend(users::all(&mut c).await?.into_iter().map(|user| Change::User { user }));
            changes.extend(runners::all(&mut c).await?.into_iter().map(|runner| Change::Runner { runner }));
        }
        for project in projects::visible(&mut c, caller).await? {
            project_state(&mut c, caller, project, &mut changes).await?;
        }
        Ok((seq, changes))
    }

    /// One project with all that is in it; empty if the caller may not see it now.
    pub async fn state_of(&self, caller: &Caller, id: ProjectId) -> Result<Vec<Change>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let project = match projects::find(&mut c, caller, id, Action::See).await {
            Ok(project) => project,
            Err(StoreError::NotFound(_)) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut changes = Vec::new();
        project_state(&mut c, caller, project, &mut changes).await?;
        Ok(changes)
    }
}

async fn project_state(
    c: &mut Connection<'_>,
    caller: &Caller,
    project: protocol::Project,
    changes: &mut Vec<Change>,
) -> Result<(), StoreError> {
    let id = project.id;
    changes.push(Change::Project { project });
    changes.extend(activities::of(c, id).await?.into_iter().map(|activity| Change::Activity { activity }));
    if let Some(Actor::User { id: me, .. }) = caller.actor() {
        let counts = unread::of(c, *me, [id].into_iter()).await?;
        changes.extend(counts.into_iter().map(|unread| Change::Unread { unread }));
    }
    Ok(())
}
