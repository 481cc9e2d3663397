//! Tokens of a session's agent: each lives for an hour, is replaced in time, and ends with the session.

use domain::{RunnerId, SessionId, TokenKind};
use serde::Serialize;

use super::get;
use crate::sql::{args, text};
use crate::tx::{AuditScope, Tx};
use crate::verbs::credentials;
use crate::{Command, StoreError};

/// The lifetime of an agent's token: short, in case it leaks. The runner asks for the next one in time.
pub const AGENT_TOKEN_SECONDS: u32 = 60 * 60;

/// Creates a token for a session's agent. The previous token stays valid until it expires, because it may be in use.
#[derive(Debug, Serialize)]
pub struct MintAgentToken {
    /// The runner that asks.
    pub runner: RunnerId,
    /// The session.
    pub session: SessionId,
}

impl Command for MintAgentToken {
    type Output = Option<String>;
    const VERB: &'static str = "session.token";
    const SECRET: bool = true;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Option<String>, StoreError> {
        let found = get(tx.read(), self.session).await?.map(|(session, _)| session);
        let Some(session) = found.filter(|session| session.runner == self.runner && !session.state.ended()) else {
            return Ok(None);
        };
        let outlived = "DELETE FROM tokens WHERE session = $1 AND expires_at <= $2";
        tx.run(outlived, args![session.id.to_string(), tx.now]).await?;
        let follows = "SELECT id FROM tokens WHERE session = $1";
        let follows = tx.read().first(follows, vec![text(session.id)]).await?.is_some();
        let owner = session.owner.id;
        let until = Some(tx.now.plus_millis(i64::from(AGENT_TOKEN_SECONDS) * 1000));
        let (token, secret) = credentials::add_token(tx, owner, TokenKind::Agent, None, &session.title, until).await?;
        let sql = "UPDATE tokens SET session = $1 WHERE id = $2";
        tx.run(sql, args![session.id.to_string(), token.id.to_string()]).await?;
        // Only the first token of a session is audited.
        if !follows {
            tx.audit(Self::VERB, session.id, AuditScope::Private(owner), "made the token of the session's agent");
        }
        Ok(Some(secret.reveal().to_owned()))
    }
}

/// Ends the tokens of a session, and every connection made with them.
pub(super) async fn end(tx: &mut Tx<'_>, session: SessionId) -> Result<(), StoreError> {
    let rows = tx.read().all("SELECT id FROM tokens WHERE session = $1", vec![text(session)]).await?;
    let ids: Vec<String> = rows.iter().map(|row| row.text("id")).collect::<Result<_, _>>()?;
    if !ids.is_empty() {
        tx.run("DELETE FROM tokens WHERE session = $1", vec![text(session)]).await?;
        tx.revoke(ids);
    }
    Ok(())
}
