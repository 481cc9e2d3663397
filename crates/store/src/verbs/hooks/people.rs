//! What people do with webhooks.

use domain::text::{Field, NAME};
use domain::{Action, HookId, ProjectId};
use protocol::{Hook, HookDelivery, Verb, verbs};
use serde::Serialize;

use super::rows::{self, HookRow};
use crate::sql::{args, text};
use crate::tx::{AuditScope, Tx};
use crate::verbs::projects;
use crate::{Caller, Command, Store, StoreError};

/// The maximum number of webhooks of a project.
const MAX_HOOKS: usize = 50;
/// How long an old secret stays valid, in hours: by default, and at most.
const KEEP_HOURS: (u32, u32) = (24, 168);

async fn found(tx: &mut Tx<'_>, id: HookId) -> Result<HookRow, StoreError> {
    let caller = tx.caller;
    let row = rows::find(tx.read(), id).await?.ok_or(StoreError::NotFound("webhook"))?;
    projects::check(tx.read(), caller, row.hook.project, Action::Decide, "webhook").await?;
    caller.person()?;
    Ok(row)
}

async fn shown(tx: &mut Tx<'_>, id: HookId) -> Result<Hook, StoreError> {
    let now = tx.now;
    let row = rows::find(tx.read(), id).await?.ok_or(StoreError::NotFound("webhook"))?;
    Ok(rows::shown(row, now))
}

/// Adds a webhook.
#[derive(Debug, Serialize)]
pub struct AddHook {
    /// What the person asked for.
    pub verb: verbs::HookAdd,
    /// Its id, which the secret is encrypted for.
    #[serde(skip)]
    pub id: HookId,
    /// Its encrypted secret.
    #[serde(skip)]
    pub sealed: String,
}

impl Command for AddHook {
    type Output = Hook;
    const VERB: &'static str = verbs::HookAdd::SPEC.name;
    const SECRET: bool = true;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Hook, StoreError> {
        let verbs::HookAdd { project, input } = &self.verb;
        tx.check(*project, Action::Decide, "project").await?;
        let by = tx.caller.person()?;
        let name = Field { name: "name", ..NAME }.name(&input.name)?;
        let there = rows::of(tx.read(), *project).await?;
        if there.iter().any(|other| other.hook.name == name) {
            let message = format!("there is a webhook `{name}` in this project: choose another name");
            return Err(StoreError::Taken { field: "name", message });
        }
        if there.len() >= MAX_HOOKS {
            return Err(StoreError::Conflict(format!("a project has at most {MAX_HOOKS} webhooks: remove one first")));
        }
        let sql = "INSERT INTO hooks (id, project, name, kind, sealed, added_by, created_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let (id, of, by) = (self.id.to_string(), project.to_string(), by.id.to_string());
        tx.run(sql, args![id, of, &name, input.kind.word(), &self.sealed, by, tx.now]).await?;
        tx.audit(Self::VERB, self.id, AuditScope::Project(*project), format!("added the webhook `{name}`"));
        shown(tx, self.id).await
    }
}

/// Gives a webhook another secret.
#[derive(Debug, Serialize)]
pub struct RotateHook {
    /// What the person asked for.
    pub verb: verbs::HookRotate,
    /// The encrypted new secret.
    #[serde(skip)]
    pub sealed: String,
}

impl Command for RotateHook {
    type Output = Hook;
    const VERB: &'static str = verbs::HookRotate::SPEC.name;
    const SECRET: bool = true;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Hook, StoreError> {
        let row = found(tx, self.verb.hook).await?;
        let hours = self.verb.input.keep_hours.unwrap_or(KEEP_HOURS.0);
        if hours > KEEP_HOURS.1 {
            let message = format!("an old secret stays valid for at most {} hours, not {hours}", KEEP_HOURS.1);
            return Err(StoreError::invalid("keep_hours", message));
        }
        let until = tx.now.plus_millis(i64::from(hours) * 3_600_000);
        let sql = "UPDATE hooks SET old_sealed = sealed, old_until = $1, sealed = $2 WHERE id = $3";
        tx.run(sql, args![until, &self.sealed, self.verb.hook.to_string()]).await?;
        let detail = format!("gave the webhook `{}` another secret; the old one ends in {hours} h", row.hook.name);
        tx.audit(Self::VERB, self.verb.hook, AuditScope::Project(row.hook.project), detail);
        shown(tx, self.verb.hook).await
    }
}

impl Command for verbs::HookRemove {
    type Output = ();
    const VERB: &'static str = verbs::HookRemove::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let row = found(tx, self.hook).await?;
        tx.run("DELETE FROM hook_deliveries WHERE hook = $1", vec![text(self.hook)]).await?;
        tx.run("DELETE FROM hooks WHERE id = $1", vec![text(self.hook)]).await?;
        let detail = format!("removed the webhook `{}`", row.hook.name);
        tx.audit(Self::VERB, self.hook, AuditScope::Project(row.hook.project), detail);
        Ok(())
    }
}

impl Store {
    /// The webhooks of a project, by name; the address lacks the hub's.
    pub async fn hooks(&self, caller: &Caller, project: ProjectId) -> Result<Vec<Hook>, StoreError> {
        let mut reader = self.readers.get().await?;
        let mut c = reader.borrow();
        projects::check(&mut c, caller, project, Action::See, "project").await?;
        let now = self.now();
        Ok(rows::of(&mut c, project).await?.into_iter().map(|row| rows::shown(row, now)).collect())
    }

    /// What a webhook received, newest first.
    pub async fn hook_deliveries(&self, caller: &Caller, id: HookId) -> Result<Vec<HookDelivery>, StoreError> {
        let mut reader = self.readers.get().await?;
        let mut c = reader.borrow();
        let row = rows::find(&mut c, id).await?.ok_or(StoreError::NotFound("webhook"))?;
        projects::check(&mut c, caller, row.hook.project, Action::See, "webhook").await?;
        rows::deliveries(&mut c, id).await
    }

    /// Refuses unless the caller may change the webhooks of a project.
    pub async fn may_change_hooks(&self, caller: &Caller, project: ProjectId) -> Result<(), StoreError> {
        let mut reader = self.readers.get().await?;
        projects::check(&mut reader.borrow(), caller, project, Action::Decide, "project").await.map(|_| ())
    }
}
