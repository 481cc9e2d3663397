//! Observer links: a read-only page of one project, without an account.

use domain::limits::MAX_OBSERVERS;
use domain::text::NAME;
use domain::{Action, ObserverId, ProjectId};
use protocol::{NewObserver, Observer, Verb, verbs};
use serde::Serialize;

use super::credentials::{FreshLogin, add_login, check_expiry};
use super::room::room;
use super::{projects, users};
use crate::error::Spent;
use crate::sql::{Row, args, text};
use crate::tx::{AuditScope, Tx};
use crate::{Caller, Command, Secret, Store, StoreError};

const COLUMNS: &str = "SELECT o.id, o.name, o.project, o.created_by, u.name AS created_by_name, o.created_at, \
    o.expires_at FROM observers o JOIN users u ON u.id = o.created_by";

fn observer(row: &Row) -> Result<Observer, StoreError> {
    Ok(Observer {
        id: row.parsed("id")?,
        name: row.text("name")?,
        project: row.parsed("project")?,
        created_by: users::reference(row, "created_by")?,
        created_at: row.time("created_at")?,
        expires_at: row.time_or_none("expires_at")?,
    })
}

impl Command for verbs::ObserverCreate {
    type Output = NewObserver;
    const VERB: &'static str = verbs::ObserverCreate::SPEC.name;
    const SECRET: bool = true;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<NewObserver, StoreError> {
        let caller = tx.caller;
        tx.check(self.project, Action::Govern, "project").await?;
        let created_by = caller.person()?;
        let name = NAME.name(&self.input.name)?;
        check_expiry(self.input.expires_at, tx.now)?;
        let sql = "SELECT COUNT(*) AS total FROM observers WHERE project = $1";
        let full = || format!("the project has {MAX_OBSERVERS} observer links: revoke some first");
        room(tx, sql, args![self.project.to_string()], MAX_OBSERVERS, full).await?;
        let secret = Secret::generate("");
        let made = Observer {
            id: ObserverId::generate(),
            name,
            project: self.project,
            created_by,
            created_at: tx.now,
            expires_at: self.input.expires_at,
        };
        let sql = "INSERT INTO observers (id, project, name, created_by, hash, created_at, expires_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let values = args![
            made.id.to_string(),
            made.project.to_string(),
            &made.name,
            made.created_by.id.to_string(),
            secret.hash(),
            tx.now,
            made.expires_at,
        ];
        tx.run(sql, values).await?;
        tx.audit(Self::VERB, made.id, AuditScope::Project(self.project), format!("made observer link `{}`", made.name));
        Ok(NewObserver { observer: made, link: secret.reveal().to_owned() })
    }
}

impl Command for verbs::ObserverRevoke {
    type Output = ();
    const VERB: &'static str = verbs::ObserverRevoke::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let row = tx.read().first(&format!("{COLUMNS} WHERE o.id = $1"), vec![text(self.observer)]).await?;
        let found = observer(&row.ok_or(StoreError::NotFound("observer"))?)?;
        tx.check(found.project, Action::Govern, "observer").await?;
        tx.run("DELETE FROM logins WHERE observer = $1", vec![text(self.observer)]).await?;
        tx.run("DELETE FROM observers WHERE id = $1", vec![text(self.observer)]).await?;
        tx.revoke(vec![self.observer.to_string()]);
        let detail = format!("revoked observer link `{}`", found.name);
        tx.audit(Self::VERB, self.observer, AuditScope::Project(found.project), detail);
        Ok(())
    }
}

/// Logs a browser in by an observer link.
#[derive(Debug, Serialize)]
pub struct UseObserverLink {
    /// The hash of the link's secret.
    pub hash: String,
    /// The browser's description of itself.
    pub client: String,
    /// The browser's address.
    pub address: String,
}

impl Command for UseObserverLink {
    type Output = FreshLogin;
    const VERB: &'static str = "observe";
    const SECRET: bool = true;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<FreshLogin, StoreError> {
        let row = tx.read().first(&format!("{COLUMNS} WHERE o.hash = $1"), args![&self.hash]).await?;
        let found = observer(&row.ok_or(StoreError::NotFound("observer link"))?)?;
        if found.expires_at.is_some_and(|at| at <= tx.now) {
            return Err(StoreError::Spent("observer link", Spent::Expired));
        }
        let cookie = add_login(tx, None, Some(found.id.to_string()), &self.client, &self.address).await?;
        let detail = format!("a browser opened observer link `{}`", found.name);
        tx.audit(Self::VERB, found.id, AuditScope::Project(found.project), detail);
        Ok(FreshLogin { cookie, user: None, observes: Some(found.project) })
    }
}

impl Store {
    /// A project's observer links; only its owner sees them.
    pub async fn observers(&self, caller: &Caller, project: ProjectId) -> Result<Vec<Observer>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        projects::check(&mut c, caller, project, Action::Govern, "project").await?;
        let sql = format!("{COLUMNS} WHERE o.project = $1 ORDER BY o.created_at, o.id");
        c.all(&sql, vec![text(project)]).await?.iter().map(observer).collect()
    }
}
