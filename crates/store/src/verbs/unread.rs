//! How far people have read.

use domain::{Action, ProjectId, UserId};
use protocol::{Change, MarkRead, Unread};
use serde::Serialize;

use super::projects;
use crate::batch::PendingEvent;
use crate::sql::{Connection, args, text};
use crate::writer::Tx;
use crate::{Command, EventBody, StoreError};

/// One person's unread counts in these projects.
pub(crate) async fn of(
    c: &mut Connection<'_>,
    user: UserId,
    projects: impl Iterator<Item = ProjectId>,
) -> Result<Vec<Unread>, StoreError> {
    let mut found = Vec::new();
    for project in projects {
        let sql = "SELECT number FROM reads WHERE user_id = $1 AND project = $2";
        let read = c.first(sql, vec![text(user), text(project)]).await?;
        let read = read.map(|row| row.count("number")).transpose()?.unwrap_or(0);
        found.push(count(c, user, project, read).await?);
    }
    Ok(found)
}

async fn count(c: &mut Connection<'_>, user: UserId, project: ProjectId, read: u32) -> Result<Unread, StoreError> {
    let unread = "FROM messages WHERE project = $1 AND number > $2 AND author <> $3 AND deleted_at IS NULL";
    let sql = format!("SELECT COUNT(*) AS total, COUNT(CASE WHEN mentions LIKE $4 THEN 1 END) AS mentioned {unread}");
    let values = args![project.to_string(), read, user.to_string(), format!("%{user}%")];
    let row = c.first(&sql, values).await?.ok_or_else(|| StoreError::Corrupt("a count has no row".into()))?;
    Ok(Unread { project, read, count: row.count("total")?, mentions: row.count("mentioned")? })
}

/// Remembers how far the caller has read; never goes back.
#[derive(Debug, Serialize)]
pub struct ReadChat {
    /// Which project's chat.
    pub project: ProjectId,
    /// How far.
    pub input: MarkRead,
}

impl Command for ReadChat {
    type Output = Unread;
    const VERB: &'static str = "chat.read";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Unread, StoreError> {
        let caller = tx.caller;
        projects::check(tx.read(), caller, self.project, Action::MarkRead, "project").await?;
        let me = caller.person()?;
        let last = tx.read().first("SELECT last_message FROM projects WHERE id = $1", vec![text(self.project)]).await?;
        let last = last.ok_or(StoreError::NotFound("project"))?.count("last_message")?;
        let sql = "SELECT number FROM reads WHERE user_id = $1 AND project = $2";
        let known = tx.read().first(sql, vec![text(me.id), text(self.project)]).await?;
        let known = known.map(|row| row.count("number")).transpose()?.unwrap_or(0);
        let read = self.input.number.min(last).max(known);
        if read > known {
            let sql = "INSERT INTO reads (user_id, project, number) VALUES ($1, $2, $3) \
                       ON CONFLICT (user_id, project) DO UPDATE SET number = excluded.number";
            tx.run(sql, args![me.id.to_string(), self.project.to_string(), read]).await?;
        }
        let unread = count(tx.read(), me.id, self.project, read).await?;
        if read > known {
            let body = EventBody::Change { change: Change::Unread { unread: unread.clone() } };
            tx.announce(PendingEvent { project: Some(self.project), audience: Some(me.id), facts_before: None, body });
        }
        Ok(unread)
    }
}
