//! Invitations: a link that lets one new person in.

use domain::limits::{MAX_LISTED, MAX_OPEN_INVITES};
use domain::text::NAME;
use domain::{Action, InviteId, Resource, Timestamp, UserId};
use protocol::{Invite, NewInvite, UserRef, Verb, verbs};
use serde::Serialize;

use super::credentials::{FreshLogin, add_login, check_expiry};
use super::room::room;
use super::users;
use crate::error::Spent;
use crate::sql::{Connection, Row, args, text};
use crate::tx::{AuditScope, Tx};
use crate::{Caller, Command, Secret, Store, StoreError};

/// The default and maximum lifetime of an invitation, in days.
const DAYS: (i64, i64) = (7, 90);
const DAY: i64 = 86_400_000;

const COLUMNS: &str = "SELECT i.id, i.name, i.created_by, u.name AS created_by_name, i.created_at, i.expires_at, \
    i.accepted_by, a.name AS accepted_by_name FROM invites i JOIN users u ON u.id = i.created_by \
    LEFT JOIN users a ON a.id = i.accepted_by";

fn invite(row: &Row) -> Result<Invite, StoreError> {
    let accepted_by = match row.text_or_none("accepted_by")? {
        Some(_) => Some(users::reference(row, "accepted_by")?),
        None => None,
    };
    Ok(Invite {
        id: row.parsed("id")?,
        name: row.text("name")?,
        created_by: users::reference(row, "created_by")?,
        created_at: row.time("created_at")?,
        expires_at: row.time("expires_at")?,
        accepted_by,
    })
}

async fn first(c: &mut Connection<'_>, filter: &str, key: String) -> Result<Option<Invite>, StoreError> {
    let row = c.first(&format!("{COLUMNS} WHERE {filter} = $1"), args![key]).await?;
    row.as_ref().map(invite).transpose()
}

fn expiry(verb: &verbs::InviteCreate, now: Timestamp) -> Result<Timestamp, StoreError> {
    check_expiry(verb.input.expires_at, now)?;
    let latest = now.plus_millis(DAYS.1 * DAY);
    match verb.input.expires_at {
        Some(at) if at > latest => {
            Err(StoreError::invalid("expires_at", format!("an invitation lasts {} days at most", DAYS.1)))
        }
        asked => Ok(asked.unwrap_or_else(|| now.plus_millis(DAYS.0 * DAY))),
    }
}

impl Command for verbs::InviteCreate {
    type Output = NewInvite;
    const VERB: &'static str = verbs::InviteCreate::SPEC.name;
    const SECRET: bool = true;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<NewInvite, StoreError> {
        tx.caller.may(Action::TakePart, Resource::Hub, "invite")?;
        let created_by = tx.caller.person()?;
        let name = NAME.name(&self.input.name)?;
        let expires_at = expiry(self, tx.now)?;
        let sql =
            "SELECT COUNT(*) AS total FROM invites WHERE created_by = $1 AND accepted_by IS NULL AND expires_at > $2";
        let full = || format!("you have {MAX_OPEN_INVITES} open invitations: revoke some (`shopfloor invite revoke`)");
        room(tx, sql, args![created_by.id.to_string(), tx.now], MAX_OPEN_INVITES, full).await?;
        let secret = Secret::generate("");
        let id = InviteId::generate();
        let sql = "INSERT INTO invites (id, name, created_by, created_at, expires_at, hash) \
                   VALUES ($1, $2, $3, $4, $5, $6)";
        let values = args![id.to_string(), &name, created_by.id.to_string(), tx.now, expires_at, secret.hash()];
        tx.run(sql, values).await?;
        tx.audit(Self::VERB, id, AuditScope::Hub, format!("invited `{name}`"));
        let invite = Invite { id, name, created_by, created_at: tx.now, expires_at, accepted_by: None };
        Ok(NewInvite { invite, link: secret.reveal().to_owned() })
    }
}

impl Command for verbs::InviteRevoke {
    type Output = ();
    const VERB: &'static str = verbs::InviteRevoke::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let found = first(tx.read(), "i.id", self.invite.to_string()).await?.ok_or(StoreError::NotFound("invite"))?;
        tx.caller.may(Action::ManageOwn, Resource::Belongings(found.created_by.id), "invite")?;
        tx.run("DELETE FROM invites WHERE id = $1", vec![text(self.invite)]).await?;
        tx.audit(Self::VERB, self.invite, AuditScope::Hub, format!("revoked the invitation of `{}`", found.name));
        Ok(())
    }
}

/// Adds the holder of an invitation as a new user, and logs their browser in.
#[derive(Debug, Serialize)]
pub struct AcceptInvite {
    /// The hash of the invitation's secret.
    pub hash: String,
    /// The new person's name.
    pub name: String,
    /// The browser's description of itself.
    pub client: String,
    /// The browser's address.
    pub address: String,
}

impl Command for AcceptInvite {
    type Output = FreshLogin;
    const VERB: &'static str = "invite.accept";
    const SECRET: bool = true;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<FreshLogin, StoreError> {
        let found = first(tx.read(), "i.hash", self.hash.clone()).await?.ok_or(StoreError::NotFound("invite"))?;
        let spent = |why| Err(StoreError::Spent("invitation", why));
        if found.accepted_by.is_some() {
            return spent(Spent::Used);
        }
        if found.expires_at <= tx.now {
            return spent(Spent::Expired);
        }
        let user = users::add(tx, &self.name, false, None).await?;
        let sql = "UPDATE invites SET accepted_by = $1 WHERE id = $2 AND accepted_by IS NULL";
        if tx.run(sql, vec![text(user.id), text(found.id)]).await? == 0 {
            return spent(Spent::Used);
        }
        let cookie = add_login(tx, Some(user.id), None, &self.client, &self.address).await?;
        let UserRef { name: host, .. } = found.created_by;
        tx.audit(Self::VERB, user.id, AuditScope::Hub, format!("{} joined, invited by {host}", user.name));
        Ok(FreshLogin { cookie, user: Some(user), observes: None })
    }
}

impl Store {
    /// The caller's invitations, newest first.
    pub async fn invites(&self, caller: &Caller) -> Result<Vec<Invite>, StoreError> {
        let me: UserId = caller.person()?.id;
        let sql = format!("{COLUMNS} WHERE i.created_by = $1 ORDER BY i.created_at DESC, i.id LIMIT {MAX_LISTED}");
        let mut reader = self.readers.get().await?;
        reader.borrow().all(&sql, vec![text(me)]).await?.iter().map(invite).collect()
    }
}
