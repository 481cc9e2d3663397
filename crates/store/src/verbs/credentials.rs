//! Tokens, logins and one-time login links. Only hashes are stored.

use domain::limits::MAX_OPEN_LOGIN_LINKS;
use domain::text::NAME;
use domain::{Action, Actor, LoginId, Resource, RunnerId, Timestamp, TokenId, TokenKind, UserId};
use protocol::{Login, LoginLink, NewToken, Token, User, Verb, verbs};
use serde::{Deserialize, Serialize};

use super::room::room;
use super::users;
use crate::error::Spent;
use crate::sql::{Connection, Row, args, text};
use crate::tx::{AuditScope, Tx};
use crate::{Caller, Command, Secret, Store, StoreError};

/// The lifetime of a one-time login link.
const LOGIN_LINK_MINUTES: i64 = 15;
/// The maximum idle time and the maximum age of a login.
const LOGIN_IDLE_DAYS: i64 = 7;
const LOGIN_AGE_DAYS: i64 = 30;
/// The maximum number of tokens of one person.
const MAX_TOKENS: usize = 200;

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

/// A presented credential.
#[derive(Debug, Clone)]
pub enum Bearer {
    /// `Authorization: Bearer …`.
    Token(Secret),
    /// The login cookie.
    Cookie(Secret),
}

/// A credential that is valid now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// The id of the token or login.
    pub id: String,
    /// Further ids whose revocation ends this credential: the user, the observer link.
    pub depends_on: String,
    /// The identity that it proves.
    pub actor: Actor,
    /// The person's name; empty for an observer.
    pub name: String,
    /// Whether it came as a cookie, which a browser sends automatically.
    pub by_cookie: bool,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// When the browser logged in; absent for a token.
    pub logged_in_at: Option<Timestamp>,
}

impl Credential {
    /// The caller with this credential, from `origin`.
    pub fn caller(&self, origin: impl Into<String>) -> Caller {
        Caller::bearer(self.actor, &self.name, origin)
    }
}

impl Store {
    /// The valid credential for a bearer's secret, if there is one.
    pub async fn authenticate(&self, bearer: &Bearer) -> Result<Option<Credential>, StoreError> {
        let now = self.now();
        let mut reader = self.readers.get().await?;
        let mut c = reader.borrow();
        match bearer {
            Bearer::Token(secret) => token_credential(&mut c, secret, now).await,
            Bearer::Cookie(secret) => login_credential(&mut c, secret, now).await,
        }
    }

    /// The caller's tokens.
    pub async fn tokens(&self, caller: &Caller) -> Result<Vec<Token>, StoreError> {
        let me = caller.person()?;
        tokens_of(&mut self.readers.get().await?.borrow(), me.id).await
    }

    /// The caller's logged-in browsers; `current` is the calling one.
    pub async fn logins(&self, caller: &Caller, current: Option<&str>) -> Result<Vec<Login>, StoreError> {
        let me = caller.person()?;
        let sql = "SELECT id, client, address, created_at, last_used_at FROM logins WHERE user_id = $1 \
                   AND last_used_at > $2 ORDER BY last_used_at DESC, id";
        let since = self.now().plus_millis(-LOGIN_IDLE_DAYS * DAY);
        let mut reader = self.readers.get().await?;
        let rows = reader.borrow().all(sql, args![me.id.to_string(), since]).await?;
        rows.iter().map(|row| login(row, current)).collect()
    }
}

fn login(row: &Row, current: Option<&str>) -> Result<Login, StoreError> {
    let id: LoginId = row.parsed("id")?;
    Ok(Login {
        id,
        client: row.text("client")?,
        address: row.text("address")?,
        created_at: row.time("created_at")?,
        last_used_at: row.time("last_used_at")?,
        current: current == Some(id.to_string().as_str()),
    })
}

fn token(row: &Row) -> Result<Token, StoreError> {
    Ok(Token {
        id: row.parsed("id")?,
        name: row.text("name")?,
        kind: row.parsed("kind")?,
        created_at: row.time("created_at")?,
        expires_at: row.time_or_none("expires_at")?,
        last_used_at: row.time_or_none("last_used_at")?,
    })
}

async fn tokens_of(c: &mut Connection<'_>, user: UserId) -> Result<Vec<Token>, StoreError> {
    let sql = "SELECT id, name, kind, created_at, expires_at, last_used_at FROM tokens WHERE user_id = $1 \
               AND session IS NULL ORDER BY created_at, id";
    c.all(sql, vec![text(user)]).await?.iter().map(token).collect()
}

async fn token_credential(
    c: &mut Connection<'_>,
    secret: &Secret,
    now: Timestamp,
) -> Result<Option<Credential>, StoreError> {
    let sql = "SELECT t.id, t.user_id, t.kind, t.runner, t.session, t.expires_at, u.name, u.hub_owner, s.project FROM tokens t \
               JOIN users u ON u.id = t.user_id LEFT JOIN sessions s ON s.id = t.session \
               WHERE t.hash = $1 AND u.disabled = 0 \
               AND (t.expires_at IS NULL OR t.expires_at > $2)";
    let Some(row) = c.first(sql, args![secret.hash(), now]).await? else { return Ok(None) };
    let user: UserId = row.parsed("user_id")?;
    let actor = match (row.text_or_none("session")?, row.text_or_none("runner")?) {
        (Some(_), _) => Actor::Agent { user, project: row.parsed("project")?, session: row.parsed("session")? },
        (None, Some(_)) => Actor::Runner { user, runner: row.parsed("runner")? },
        // A session's or runner's token without its session or runner is broken: it must not act as the person.
        (None, None) if row.text("kind")? != TokenKind::Personal.word() => return Ok(None),
        (None, None) => Actor::User { id: user, hub_owner: row.flag("hub_owner")? },
    };
    Ok(Some(Credential {
        id: row.text("id")?,
        depends_on: user.to_string(),
        actor,
        name: row.text("name")?,
        by_cookie: false,
        expires_at: row.time_or_none("expires_at")?,
        logged_in_at: None,
    }))
}

async fn login_credential(
    c: &mut Connection<'_>,
    secret: &Secret,
    now: Timestamp,
) -> Result<Option<Credential>, StoreError> {
    let sql = "SELECT l.id, l.user_id, l.observer, l.created_at, u.name, u.hub_owner, o.project, o.expires_at \
               FROM logins l LEFT JOIN users u ON u.id = l.user_id LEFT JOIN observers o ON o.id = l.observer \
               WHERE l.hash = $1 AND l.last_used_at > $2 AND l.created_at > $3 AND COALESCE(u.disabled, 0) = 0 \
               AND (o.expires_at IS NULL OR o.expires_at > $4)";
    let (idle, age) = (now.plus_millis(-LOGIN_IDLE_DAYS * DAY), now.plus_millis(-LOGIN_AGE_DAYS * DAY));
    let Some(row) = c.first(sql, args![secret.hash(), idle, age, now]).await? else { return Ok(None) };
    let logged_in_at = row.time("created_at")?;
    let end = logged_in_at.plus_millis(LOGIN_AGE_DAYS * DAY);
    let (actor, name, depends_on) = match row.text_or_none("user_id")? {
        Some(user) => {
            let actor = Actor::User { id: row.parsed("user_id")?, hub_owner: row.flag("hub_owner")? };
            (actor, row.text("name")?, user)
        }
        None => (Actor::Observer { project: row.parsed("project")? }, String::new(), row.text("observer")?),
    };
    Ok(Some(Credential {
        id: row.text("id")?,
        depends_on,
        actor,
        name,
        by_cookie: true,
        expires_at: Some(row.time_or_none("expires_at")?.map_or(end, |expiry| expiry.min(end))),
        logged_in_at: Some(logged_in_at),
    }))
}

/// Adds a token's row.
pub(crate) async fn add_token(
    tx: &mut Tx<'_>,
    user: UserId,
    kind: TokenKind,
    runner: Option<RunnerId>,
    name: &str,
    expires_at: Option<Timestamp>,
) -> Result<(Token, Secret), StoreError> {
    let secret = Secret::generate("sf_");
    let id = TokenId::generate();
    let sql = "INSERT INTO tokens (id, user_id, kind, runner, name, hash, created_at, expires_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let runner = runner.map(|id| id.to_string());
    let values = args![id.to_string(), user.to_string(), kind.word(), runner, name, secret.hash(), tx.now, expires_at];
    tx.run(sql, values).await?;
    let token = Token { id, name: name.to_owned(), kind, created_at: tx.now, expires_at, last_used_at: None };
    Ok((token, secret))
}

/// Refuses an expiry in the past.
pub(crate) fn check_expiry(expires_at: Option<Timestamp>, now: Timestamp) -> Result<(), StoreError> {
    match expires_at {
        Some(at) if at <= now => Err(StoreError::invalid("expires_at", "`expires_at` has passed already")),
        _ => Ok(()),
    }
}

impl Command for verbs::TokenCreate {
    type Output = NewToken;
    const VERB: &'static str = verbs::TokenCreate::SPEC.name;
    const SECRET: bool = true;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<NewToken, StoreError> {
        let me = tx.caller.person()?;
        let name = &NAME.name(&self.input.name)?;
        check_expiry(self.input.expires_at, tx.now)?;
        if tokens_of(tx.read(), me.id).await?.len() >= MAX_TOKENS {
            return Err(StoreError::Conflict(format!("you have {MAX_TOKENS} tokens: revoke some first")));
        }
        let expires_at = self.input.expires_at;
        let (token, secret) = add_token(tx, me.id, TokenKind::Personal, None, name, expires_at).await?;
        tx.audit(Self::VERB, token.id, AuditScope::Private(me.id), format!("made token `{name}`"));
        Ok(NewToken { token, secret: secret.reveal().to_owned() })
    }
}

impl Command for verbs::TokenRevoke {
    type Output = ();
    const VERB: &'static str = verbs::TokenRevoke::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let row = tx.read().first("SELECT user_id, name FROM tokens WHERE id = $1", vec![text(self.token)]).await?;
        let row = row.ok_or(StoreError::NotFound("token"))?;
        let owner: UserId = row.parsed("user_id")?;
        tx.caller.may(Action::ManageOwn, Resource::Belongings(owner), "token")?;
        tx.run("DELETE FROM tokens WHERE id = $1", vec![text(self.token)]).await?;
        tx.revoke(vec![self.token.to_string()]);
        let detail = format!("revoked token `{}`", row.text("name")?);
        tx.audit(Self::VERB, self.token, AuditScope::Private(owner), detail);
        Ok(())
    }
}

/// Makes a one-time link that logs a browser in as `user`; the output is the link's secret.
#[derive(Debug, Serialize)]
pub struct CreateLoginLink {
    /// The user to log in; the caller if absent.
    pub user: Option<UserId>,
}

impl Command for CreateLoginLink {
    type Output = LoginLink;
    const VERB: &'static str = "login.link";
    const SECRET: bool = true;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<LoginLink, StoreError> {
        let user = match self.user {
            Some(user) => user,
            None => tx.caller.person()?.id,
        };
        tx.caller.may(Action::ManageOwn, Resource::Belongings(user), "user")?;
        let sql =
            "SELECT COUNT(*) AS total FROM login_links WHERE user_id = $1 AND expires_at > $2 AND used_at IS NULL";
        let full = || {
            let ends = format!("each ends after {LOGIN_LINK_MINUTES} minutes");
            format!("{MAX_OPEN_LOGIN_LINKS} login links are unused: use one, or wait; {ends}")
        };
        room(tx, sql, args![user.to_string(), tx.now], MAX_OPEN_LOGIN_LINKS, full).await?;
        let secret = Secret::generate("");
        let expires_at = tx.now.plus_millis(LOGIN_LINK_MINUTES * MINUTE);
        let sql = "INSERT INTO login_links (hash, user_id, expires_at) VALUES ($1, $2, $3)";
        tx.run(sql, args![secret.hash(), user.to_string(), expires_at]).await?;
        tx.audit(Self::VERB, user, AuditScope::Private(user), "made a one-time login link");
        Ok(LoginLink { link: secret.reveal().to_owned(), expires_at })
    }
}

/// A new login of a browser.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FreshLogin {
    /// The cookie's value.
    pub cookie: String,
    /// The person; absent for an observer.
    pub user: Option<User>,
    /// The project of an observer.
    pub observes: Option<domain::ProjectId>,
}

/// Adds a login's row and returns the cookie.
pub(crate) async fn add_login(
    tx: &mut Tx<'_>,
    user: Option<UserId>,
    observer: Option<String>,
    client: &str,
    address: &str,
) -> Result<String, StoreError> {
    let secret = Secret::generate("");
    let client: String = client.chars().filter(|c| !c.is_control()).take(200).collect();
    let sql = "INSERT INTO logins (id, user_id, observer, hash, client, address, created_at, last_used_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $7)";
    let user = user.map(|id| id.to_string());
    let values = args![LoginId::generate().to_string(), user, observer, secret.hash(), client, address, tx.now];
    tx.run(sql, values).await?;
    Ok(secret.reveal().to_owned())
}

/// Logs a browser in by a one-time link.
#[derive(Debug, Serialize)]
pub struct UseLoginLink {
    /// The hash of the link's secret.
    pub hash: String,
    /// The browser's description of itself.
    pub client: String,
    /// The browser's address.
    pub address: String,
}

impl Command for UseLoginLink {
    type Output = FreshLogin;
    const VERB: &'static str = "login";
    const SECRET: bool = true;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<FreshLogin, StoreError> {
        let sql = "SELECT user_id, expires_at, used_at FROM login_links WHERE hash = $1";
        let row = tx.read().first(sql, args![&self.hash]).await?.ok_or(StoreError::NotFound("login link"))?;
        if row.integer_or_none("used_at")?.is_some() {
            return Err(StoreError::Spent("login link", Spent::Used));
        }
        if row.time("expires_at")? <= tx.now {
            return Err(StoreError::Spent("login link", Spent::Expired));
        }
        let id: UserId = row.parsed("user_id")?;
        let user = users::find(tx.read(), id).await?.ok_or(StoreError::NotFound("login link"))?;
        if user.disabled {
            return Err(StoreError::NotFound("login link"));
        }
        tx.run("UPDATE login_links SET used_at = $1 WHERE hash = $2", args![tx.now, &self.hash]).await?;
        let cookie = add_login(tx, Some(id), None, &self.client, &self.address).await?;
        tx.audit(Self::VERB, id, AuditScope::Private(id), format!("{} logged in by link", user.name));
        Ok(FreshLogin { cookie, user: Some(user), observes: None })
    }
}

/// Logs the calling browser out.
#[derive(Debug, Serialize)]
pub struct EndLogin {
    /// The id of the login to end.
    pub login: String,
}

impl Command for EndLogin {
    type Output = ();
    const VERB: &'static str = "logout";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        tx.run("DELETE FROM logins WHERE id = $1", args![&self.login]).await?;
        tx.revoke(vec![self.login.clone()]);
        if let Ok(me) = tx.caller.person() {
            tx.audit(Self::VERB, &self.login, AuditScope::Private(me.id), "logged out");
        }
        Ok(())
    }
}

impl Command for verbs::LoginRevoke {
    type Output = ();
    const VERB: &'static str = verbs::LoginRevoke::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let me = tx.caller.person()?;
        let sql = "SELECT id FROM logins WHERE id = $1 AND user_id = $2";
        let known = tx.read().first(sql, vec![text(self.login), text(me.id)]).await?;
        known.ok_or(StoreError::NotFound("login"))?;
        tx.run("DELETE FROM logins WHERE id = $1", vec![text(self.login)]).await?;
        tx.revoke(vec![self.login.to_string()]);
        tx.audit(Self::VERB, self.login, AuditScope::Private(me.id), "logged a browser out");
        Ok(())
    }
}

impl Command for verbs::LoginRevokeAll {
    type Output = ();
    const VERB: &'static str = verbs::LoginRevokeAll::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let me = tx.caller.person()?;
        let rows = tx.read().all("SELECT id FROM logins WHERE user_id = $1", vec![text(me.id)]).await?;
        let ids: Vec<String> = rows.iter().map(|row| row.text("id")).collect::<Result<_, _>>()?;
        if ids.is_empty() {
            return Ok(());
        }
        tx.run("DELETE FROM logins WHERE user_id = $1", vec![text(me.id)]).await?;
        tx.audit(Self::VERB, me.id, AuditScope::Private(me.id), format!("logged {} browsers out", ids.len()));
        tx.revoke(ids);
        Ok(())
    }
}
