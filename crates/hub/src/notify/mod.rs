//! Sends notifications: to ntfy, webhooks, Slack, Discord and browsers.

mod guard;
mod message;
mod push;
mod send;
mod target;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::OnceLock;

use protocol::ProblemKind;
use store::MasterKey;

use crate::AppError;

pub(crate) use message::Message;
pub(crate) use send::{Letterhead, Sent};
pub(crate) use target::{Target, place};

use guard::Guard;
use push::PushKey;

/// What sending needs: the key that opens addresses, and the addresses that are allowed.
pub(crate) struct Notify {
    key_file: PathBuf,
    key: OnceLock<MasterKey>,
    guard: Guard,
}

impl Notify {
    /// `allowed`: hosts, with or without a port, that may be in a private network and without TLS.
    pub(crate) fn new(key_file: PathBuf, allowed: &[String]) -> Self {
        Self { key_file, key: OnceLock::new(), guard: Guard::new(allowed) }
    }

    /// The key that encrypts addresses; made when it is first needed.
    pub(crate) fn key(&self) -> Result<&MasterKey, AppError> {
        if let Some(key) = self.key.get() {
            return Ok(key);
        }
        let loaded = MasterKey::load(&self.key_file).map_err(|error| {
            tracing::error!(%error, "cannot use the key that encrypts the addresses of notifications");
            AppError::new(ProblemKind::Storage, format!("addresses cannot be encrypted: {error}"))
        })?;
        Ok(self.key.get_or_init(|| loaded))
    }

    /// The key that browsers know this hub by.
    pub(crate) fn push_key(&self) -> Result<PushKey, AppError> {
        Ok(PushKey::of(self.key()?))
    }
}
