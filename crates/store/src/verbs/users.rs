//! People.

use domain::names::looks_like;
use domain::text::NAME;
use domain::{Action, Resource, UserId};
use protocol::{Change, User, UserRef, Verb, verbs};
use serde::Serialize;

use super::credentials::{FreshLogin, add_login};
use super::sessions;
use crate::batch::PendingEvent;
use crate::sql::{Connection, Row, args, text};
use crate::tx::{AuditScope, Tx};
use crate::{Caller, Command, EventBody, Store, StoreError};

const COLUMNS: &str = "SELECT id, name, hub_owner, disabled, last_seen_at, created_at FROM users";

/// Reads a user's row; the hub adds whether they are connected.
fn user(row: &Row) -> Result<User, StoreError> {
    Ok(User {
        id: row.parsed("id")?,
        name: row.text("name")?,
        hub_owner: row.flag("hub_owner")?,
        disabled: row.flag("disabled")?,
        connected: false,
        last_seen_at: row.time_or_none("last_seen_at")?,
        created_at: row.time("created_at")?,
    })
}

/// One person.
pub(crate) async fn find(c: &mut Connection<'_>, id: UserId) -> Result<Option<User>, StoreError> {
    let row = c.first(&format!("{COLUMNS} WHERE id = $1"), vec![text(id)]).await?;
    row.as_ref().map(user).transpose()
}

/// All users, by name.
pub(crate) async fn all(c: &mut Connection<'_>) -> Result<Vec<User>, StoreError> {
    c.all(&format!("{COLUMNS} ORDER BY name_key"), args![]).await?.iter().map(user).collect()
}

/// The id and name in columns `{prefix}` and `{prefix}_name`.
pub(crate) fn reference(row: &Row, prefix: &str) -> Result<UserRef, StoreError> {
    Ok(UserRef { id: row.parsed(prefix)?, name: row.text(&format!("{prefix}_name"))? })
}

pub(crate) fn announce(tx: &mut Tx<'_>, user: User) {
    let body = EventBody::Change { change: Change::User { user } };
    tx.announce(PendingEvent { project: None, audience: None, facts_before: None, execution_of: None, body });
}

fn name_key(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Refuses a name that another person has, or that looks like another person's.
async fn check_free(tx: &mut Tx<'_>, name: &str, except: Option<UserId>) -> Result<(), StoreError> {
    let looks = looks_like(name);
    for other in all(tx.read()).await?.into_iter().filter(|other| Some(other.id) != except) {
        if name_key(&other.name) == name_key(name) {
            return Err(StoreError::Conflict(format!("the name `{name}` is taken: choose another")));
        }
        if looks_like(&other.name) == looks {
            let why = format!("the name `{name}` could be taken for `{}`: choose one that looks different", other.name);
            return Err(StoreError::Conflict(why));
        }
    }
    Ok(())
}

/// Adds a person whose name is free.
pub(crate) async fn add(
    tx: &mut Tx<'_>,
    name: &str,
    hub_owner: bool,
    github_id: Option<i64>,
) -> Result<User, StoreError> {
    let name = NAME.name(name)?;
    check_free(tx, &name, None).await?;
    let user = User {
        id: UserId::generate(),
        name: name.clone(),
        hub_owner,
        disabled: false,
        connected: false,
        last_seen_at: Some(tx.now),
        created_at: tx.now,
    };
    let sql = "INSERT INTO users (id, name, name_key, hub_owner, disabled, github_id, last_seen_at, created_at) \
               VALUES ($1, $2, $3, $4, 0, $5, $6, $6)";
    let values = args![user.id.to_string(), &user.name, name_key(&name), hub_owner, github_id, tx.now];
    tx.run(sql, values).await?;
    announce(tx, user.clone());
    Ok(user)
}

/// The hub's owner: added once, then found again.
#[derive(Debug, Serialize)]
pub struct EnterHubOwner {
    /// The name for a new owner.
    pub name: String,
}

impl Command for EnterHubOwner {
    type Output = User;
    const VERB: &'static str = "user.join";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<User, StoreError> {
        let sql = format!("{COLUMNS} WHERE hub_owner = 1 ORDER BY created_at LIMIT 1");
        if let Some(row) = tx.read().first(&sql, args![]).await? {
            return user(&row);
        }
        let owner = add(tx, &self.name, true, None).await?;
        tx.audit(Self::VERB, owner.id, AuditScope::Hub, format!("{} set this hub up", owner.name));
        Ok(owner)
    }
}

/// A user that GitHub identified; recognized by GitHub's number even if the login changes.
#[derive(Debug, Serialize)]
pub struct EnterByGithub {
    /// GitHub's number for the account.
    pub github_id: i64,
    /// The account's login, used as a name the first time.
    pub login: String,
    /// The browser's description of itself.
    pub client: String,
    /// The browser's address.
    pub address: String,
}

impl EnterByGithub {
    async fn user(&self, tx: &mut Tx<'_>) -> Result<User, StoreError> {
        let sql = format!("{COLUMNS} WHERE github_id = $1");
        if let Some(row) = tx.read().first(&sql, args![self.github_id]).await? {
            let known = user(&row)?;
            if known.disabled {
                return Err(StoreError::Forbidden("this person was disabled by the hub's owner"));
            }
            return Ok(known);
        }
        let free = check_free(tx, &self.login, None).await.is_ok();
        let name = if free { self.login.clone() } else { format!("{} ({})", self.login, self.github_id) };
        let user = add(tx, &name, false, Some(self.github_id)).await?;
        tx.audit(Self::VERB, user.id, AuditScope::Hub, format!("{} joined with GitHub", user.name));
        Ok(user)
    }
}

impl Command for EnterByGithub {
    type Output = FreshLogin;
    const VERB: &'static str = "user.join";
    const SECRET: bool = true;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<FreshLogin, StoreError> {
        let user = self.user(tx).await?;
        let cookie = add_login(tx, Some(user.id), None, &self.client, &self.address).await?;
        tx.audit("login", user.id, AuditScope::Private(user.id), format!("{} logged in with GitHub", user.name));
        Ok(FreshLogin { cookie, user: Some(user), observes: None })
    }
}

impl Command for verbs::MeRename {
    type Output = User;
    const VERB: &'static str = verbs::MeRename::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<User, StoreError> {
        let me = tx.caller.person()?;
        let name = NAME.name(&self.input.name)?;
        check_free(tx, &name, Some(me.id)).await?;
        let before = find(tx.read(), me.id).await?.ok_or(StoreError::NotFound("user"))?;
        let sql = "UPDATE users SET name = $1, name_key = $2 WHERE id = $3";
        tx.run(sql, args![&name, name_key(&name), me.id.to_string()]).await?;
        let after = User { name, ..before.clone() };
        announce(tx, after.clone());
        tx.audit(Self::VERB, me.id, AuditScope::Hub, format!("{} is now {}", before.name, after.name));
        Ok(after)
    }
}

impl Command for verbs::UserDisable {
    type Output = User;
    const VERB: &'static str = verbs::UserDisable::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<User, StoreError> {
        let after = set_disabled(tx, self.user, true).await?;
        tx.run("DELETE FROM logins WHERE user_id = $1", vec![text(self.user)]).await?;
        tx.revoke(vec![self.user.to_string()]);
        tx.audit(Self::VERB, self.user, AuditScope::Hub, format!("{} was disabled", after.name));
        Ok(after)
    }
}

impl Command for verbs::UserEnable {
    type Output = User;
    const VERB: &'static str = verbs::UserEnable::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<User, StoreError> {
        let after = set_disabled(tx, self.user, false).await?;
        tx.audit(Self::VERB, self.user, AuditScope::Hub, format!("{} was enabled", after.name));
        Ok(after)
    }
}

/// What a person left on the floor: a table, its column with the person, and what people call it.
const LEFT: &[(&str, &str, &str)] = &[
    ("projects", "owner", "a project"),
    ("runners", "owner", "a runner"),
    ("activities", "owner", "an activity"),
    ("versions", "author", "a version of a text"),
    ("messages", "author", "a message"),
    ("workspaces", "owner", "a workspace"),
    ("sessions", "owner", "a session"),
    ("session_questions", "asked_by", "a question to an agent"),
    ("tasks", "created_by", "a task"),
    ("workers", "owner", "a worker"),
    ("escalations", "answered_by", "an answer"),
    ("approvals", "author", "a request for approval"),
    ("grants", "author", "a permission"),
    ("merge_settings", "author", "merge settings"),
    ("merge_candidates", "added_by", "a branch in a merge queue"),
    ("handoffs", "owner", "a handoff"),
    ("handoffs", "to_owner", "a handoff"),
    ("handoffs", "asked_by", "a handoff"),
    ("landings", "owner", "landed work"),
    ("landings", "asked_by", "landed work"),
    ("review_threads", "resolved_by", "a review"),
    ("review_comments", "author", "a review comment"),
    ("review_approvals", "approved_by", "a review"),
    ("observers", "created_by", "an observer link"),
    ("recipe_versions", "author", "a recipe"),
    ("agent_profiles", "author", "an agent profile"),
    ("executions", "owner", "an execution"),
    ("schedules", "owner", "a schedule"),
    ("artifacts", "owner", "an artifact"),
    ("freezes", "user_id", "a freeze"),
];

impl Command for verbs::UserRemove {
    type Output = ();
    const VERB: &'static str = verbs::UserRemove::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        tx.caller.may(Action::ManageUsers, Resource::Hub, "user")?;
        let found = find(tx.read(), self.user).await?.ok_or(StoreError::NotFound("user"))?;
        if !found.disabled {
            let message = format!("{} can still log in: disable them first (`shopfloor user disable`)", found.name);
            return Err(StoreError::Conflict(message));
        }
        for (table, column, what) in LEFT {
            let sql = format!("SELECT 1 AS one FROM {table} WHERE {column} = $1 LIMIT 1");
            if tx.read().first(&sql, vec![text(self.user)]).await?.is_some() {
                let message = format!("{} has {what} on this hub: they stay disabled", found.name);
                return Err(StoreError::Conflict(message));
            }
        }
        for sql in [
            "DELETE FROM login_links WHERE user_id = $1",
            "DELETE FROM logins WHERE user_id = $1",
            "DELETE FROM tokens WHERE user_id = $1",
            "DELETE FROM reads WHERE user_id = $1",
            "DELETE FROM notify_deliveries WHERE channel IN (SELECT id FROM notify_channels WHERE user_id = $1)",
            "DELETE FROM notices WHERE channel IN (SELECT id FROM notify_channels WHERE user_id = $1)",
            "DELETE FROM notify_channels WHERE user_id = $1",
            "DELETE FROM notify_settings WHERE user_id = $1",
            "DELETE FROM invites WHERE created_by = $1 OR accepted_by = $1",
            "DELETE FROM users WHERE id = $1",
        ] {
            tx.run(sql, vec![text(self.user)]).await?;
        }
        tx.revoke(vec![self.user.to_string()]);
        let body = EventBody::Change { change: Change::UserGone { user: self.user } };
        tx.announce(PendingEvent { project: None, audience: None, facts_before: None, execution_of: None, body });
        tx.audit(Self::VERB, self.user, AuditScope::Hub, format!("removed {}", found.name));
        Ok(())
    }
}

/// Disables or enables a user.
async fn set_disabled(tx: &mut Tx<'_>, user: UserId, disabled: bool) -> Result<User, StoreError> {
    tx.caller.may(Action::ManageUsers, Resource::Hub, "user")?;
    let before = find(tx.read(), user).await?.ok_or(StoreError::NotFound("user"))?;
    if before.hub_owner {
        return Err(StoreError::Conflict("the hub's owner cannot be disabled".into()));
    }
    tx.run("UPDATE users SET disabled = $1 WHERE id = $2", args![i64::from(disabled), user.to_string()]).await?;
    let after = User { disabled, ..before };
    announce(tx, after.clone());
    if disabled {
        sessions::keyboard::forget(tx, user).await?;
    }
    Ok(after)
}

impl Store {
    /// All users of this hub.
    pub async fn users(&self, caller: &Caller) -> Result<Vec<User>, StoreError> {
        caller.may(Action::TakePart, Resource::Hub, "user")?;
        all(&mut self.readers.get().await?.borrow()).await
    }

    /// One person.
    pub async fn user(&self, caller: &Caller, id: UserId) -> Result<User, StoreError> {
        caller.may(Action::TakePart, Resource::Hub, "user")?;
        find(&mut self.readers.get().await?.borrow(), id).await?.ok_or(StoreError::NotFound("user"))
    }
}
