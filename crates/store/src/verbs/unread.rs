//! Read positions and unread counts.

use std::collections::HashMap;

use domain::{Action, ProjectId, UserId};
use protocol::{Change, Unread, Verb, verbs};

use crate::batch::PendingEvent;
use crate::sql::{Connection, Row, args, text};
use crate::tx::Tx;
use crate::{Command, EventBody, StoreError};

/// One person's unread counts, in every project or in one. The caller must check access.
pub(crate) async fn of(
    c: &mut Connection<'_>,
    user: UserId,
    only: Option<ProjectId>,
) -> Result<HashMap<ProjectId, Unread>, StoreError> {
    let filter = if only.is_some() { "WHERE p.id = $3" } else { "" };
    let sql = format!(
        "SELECT p.id, COALESCE(r.number, 0) AS read_upto, COUNT(m.id) AS total, \
         COUNT(CASE WHEN m.mentions LIKE $2 THEN 1 END) AS mentioned FROM projects p \
         LEFT JOIN reads r ON r.project = p.id AND r.user_id = $1 \
         LEFT JOIN messages m ON m.project = p.id AND m.number > COALESCE(r.number, 0) AND m.author <> $1 \
         AND m.deleted_at IS NULL {filter} GROUP BY p.id, r.number"
    );
    let mut values = args![user.to_string(), format!("%{user}%")];
    values.extend(only.map(text));
    let rows = c.all(&sql, values).await?;
    rows.iter().map(|row| unread(row).map(|unread| (unread.project, unread))).collect()
}

fn unread(row: &Row) -> Result<Unread, StoreError> {
    Ok(Unread {
        project: row.parsed("id")?,
        read: row.count("read_upto")?,
        count: row.count("total")?,
        mentions: row.count("mentioned")?,
    })
}

/// One person's unread count in one project.
async fn one(c: &mut Connection<'_>, user: UserId, project: ProjectId) -> Result<Unread, StoreError> {
    of(c, user, Some(project)).await?.remove(&project).ok_or(StoreError::NotFound("project"))
}

impl Command for verbs::ChatRead {
    type Output = Unread;
    const VERB: &'static str = verbs::ChatRead::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Unread, StoreError> {
        let caller = tx.caller;
        tx.check(self.project, Action::MarkRead, "project").await?;
        let me = caller.person()?;
        let last = tx.read().first("SELECT last_message FROM projects WHERE id = $1", vec![text(self.project)]).await?;
        let last = last.ok_or(StoreError::NotFound("project"))?.count("last_message")?;
        let known = one(tx.read(), me.id, self.project).await?.read;
        let read = self.input.number.min(last).max(known);
        if read > known {
            let sql = "INSERT INTO reads (user_id, project, number) VALUES ($1, $2, $3) \
                       ON CONFLICT (user_id, project) DO UPDATE SET number = excluded.number";
            tx.run(sql, args![me.id.to_string(), self.project.to_string(), read]).await?;
        }
        let unread = one(tx.read(), me.id, self.project).await?;
        if read > known {
            let body = EventBody::Change { change: Change::Unread { unread: unread.clone() } };
            tx.announce(PendingEvent {
                project: Some(self.project),
                audience: Some(me.id),
                facts_before: None,
                execution_of: None,
                body,
            });
        }
        Ok(unread)
    }
}
