//! The secret part of a channel: where it is and how to sign, as it is encrypted.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use domain::{ChannelId, ChannelKind, UserId};
use protocol::NotifyAdd;
use rand::TryRngCore;
use serde::{Deserialize, Serialize};
use store::StoreError;

use super::Notify;

/// Where a channel's messages go.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Target {
    pub(super) url: String,
    /// The access token of an ntfy topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<String>,
    /// The secret that a webhook's messages are signed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) secret: Option<String>,
    /// A browser's public key and secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) push: Option<(String, String)>,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Target(…)")
    }
}

/// The place that a channel's target is sealed for.
pub(crate) fn place(channel: ChannelId, owner: UserId) -> String {
    format!("notify_channels.sealed {channel} {owner}")
}

impl Target {
    /// Checks what a person gave; returns the target and its host.
    pub(crate) fn new(notify: &Notify, input: &NotifyAdd) -> Result<(Self, String), StoreError> {
        let refuse = |why: String| StoreError::invalid("url", why);
        let url = notify.guard.check(&input.url).map_err(refuse)?;
        let last = url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default();
        if input.kind == ChannelKind::Ntfy && last.is_empty() {
            return Err(refuse("name the topic, as https://ntfy.sh/my-topic".to_owned()));
        }
        let token = input.token.clone().filter(|token| !token.is_empty());
        if token.is_some() && input.kind != ChannelKind::Ntfy {
            return Err(StoreError::invalid("token", "only ntfy takes a token"));
        }
        if token.as_ref().is_some_and(|token| token.len() > 500 || token.bytes().any(|byte| !byte.is_ascii_graphic())) {
            return Err(StoreError::invalid(
                "token",
                "a token has at most 500 letters, digits and signs, without spaces",
            ));
        }
        let push = match (input.kind, &input.key, &input.auth) {
            (ChannelKind::Push, Some(key), Some(auth)) => {
                let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
                let fits = bytes(key).is_some_and(|key| super::push::is_point(&key));
                if !fits || bytes(auth).is_none_or(|auth| auth.len() != 16) {
                    return Err(StoreError::invalid("key", "these are not the keys of a browser's subscription"));
                }
                Some((key.clone(), auth.clone()))
            }
            (ChannelKind::Push, ..) => return Err(StoreError::invalid("key", "a browser needs `key` and `auth`")),
            (_, None, None) => None,
            _ => return Err(StoreError::invalid("key", "only a browser takes `key` and `auth`")),
        };
        let secret = (input.kind == ChannelKind::Webhook).then(signing_secret);
        let host = url.host_str().unwrap_or_default().to_owned();
        Ok((Self { url: url.to_string(), token, secret, push }, host))
    }

    /// The secret that a webhook's receiver verifies signatures with.
    pub(crate) fn secret(&self) -> Option<String> {
        self.secret.clone()
    }
}

/// As Standard Webhooks writes it: a prefix and 32 random bytes.
fn signing_secret() -> String {
    let mut bytes = [0_u8; 32];
    rand::rngs::OsRng.try_fill_bytes(&mut bytes).expect("the operating system has randomness");
    format!("whsec_{}", STANDARD.encode(bytes))
}
