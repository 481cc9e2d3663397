//! The rows of webhooks.

use domain::{HookId, ProjectId, Timestamp};
use protocol::{Hook, HookDelivery};

use crate::StoreError;
use crate::sql::{Connection, Row, text};
use crate::verbs::users;

const COLUMNS: &str = "SELECT h.id, h.project, h.name, h.kind, h.sealed, h.old_sealed, h.old_until, h.added_by, \
    u.name AS added_by_name, h.received_at, h.created_at FROM hooks h JOIN users u ON u.id = h.added_by";

/// How many deliveries are listed.
const LISTED: u32 = 200;

/// A webhook with its encrypted secrets.
#[derive(Debug, Clone)]
pub(super) struct HookRow {
    pub(super) hook: Hook,
    pub(super) sealed: String,
    pub(super) old_sealed: Option<String>,
}

fn read(row: &Row) -> Result<HookRow, StoreError> {
    let id: HookId = row.parsed("id")?;
    let hook = Hook {
        id,
        project: row.parsed("project")?,
        name: row.text("name")?,
        kind: row.parsed("kind")?,
        url: format!("/api/hooks/{id}/deliveries"),
        old_secret_until: row.time_or_none("old_until")?,
        received_at: row.time_or_none("received_at")?,
        added_by: users::reference(row, "added_by")?,
        created_at: row.time("created_at")?,
    };
    Ok(HookRow { hook, sealed: row.text("sealed")?, old_sealed: row.text_or_none("old_sealed")? })
}

/// A webhook, without an access check.
pub(super) async fn find(c: &mut Connection<'_>, id: HookId) -> Result<Option<HookRow>, StoreError> {
    c.first(&format!("{COLUMNS} WHERE h.id = $1"), vec![text(id)]).await?.as_ref().map(read).transpose()
}

/// The webhooks of a project, by name.
pub(super) async fn of(c: &mut Connection<'_>, project: ProjectId) -> Result<Vec<HookRow>, StoreError> {
    let sql = format!("{COLUMNS} WHERE h.project = $1 ORDER BY h.name");
    c.all(&sql, vec![text(project)]).await?.iter().map(read).collect()
}

/// A webhook as people see it: an old secret that is no longer valid is not mentioned.
pub(super) fn shown(row: HookRow, now: Timestamp) -> Hook {
    let mut hook = row.hook;
    hook.old_secret_until = hook.old_secret_until.filter(|until| *until > now);
    hook
}

/// What a webhook received, newest first.
pub(super) async fn deliveries(c: &mut Connection<'_>, id: HookId) -> Result<Vec<HookDelivery>, StoreError> {
    let sql = format!(
        "SELECT delivery, event, woke, at FROM hook_deliveries WHERE hook = $1 ORDER BY at DESC, delivery LIMIT {LISTED}"
    );
    let rows = c.all(&sql, vec![text(id)]).await?;
    let read = |row: &Row| {
        Ok(HookDelivery {
            delivery: row.text("delivery")?,
            event: row.text_or_none("event")?,
            woke: row.count("woke")?,
            at: row.time("at")?,
        })
    };
    rows.iter().map(read).collect()
}
