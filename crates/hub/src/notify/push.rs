//! Web push: messages for browsers, encrypted for each (RFC 8291) and signed by this hub (RFC 8292).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::Timestamp;
use reqwest::Url;
use serde_json::json;
use store::MasterKey;
use web_push_native::p256::PublicKey;
use web_push_native::p256::ecdsa::signature::Signer;
use web_push_native::p256::ecdsa::{Signature, SigningKey};
use web_push_native::{Auth, encrypt};

/// How long a push service keeps a message for a browser that is off, in seconds.
pub(super) const KEEP: u32 = 12 * 3600;

/// Whether bytes are a public key.
pub(super) fn is_point(bytes: &[u8]) -> bool {
    PublicKey::from_sec1_bytes(bytes).is_ok()
}

/// The key that the hub signs its messages with.
pub(crate) struct PushKey(SigningKey);

impl PushKey {
    /// The key of every hub with this master key.
    pub(super) fn of(key: &MasterKey) -> Self {
        let number = |count: u32| key.derive(&format!("push {count}"));
        // Nearly every number is a key: the first is taken.
        let mut keys = (0..).filter_map(|count| SigningKey::from_slice(&number(count)).ok());
        Self(keys.next().expect("one of many numbers is a key"))
    }

    /// The public key, as browsers take it.
    pub(crate) fn public(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0.verifying_key().to_encoded_point(false).as_bytes())
    }

    /// The `Authorization` header for a push service.
    pub(super) fn authorize(&self, endpoint: &Url, hub: &str, now: Timestamp) -> String {
        // A push service may contact the sender: an https address, or a mailbox.
        let subject = if hub.starts_with("https://") { hub } else { "mailto:shopfloor@localhost" };
        let expires = now.as_millis() / 1000 + i64::from(KEEP);
        let head = json!({ "typ": "JWT", "alg": "ES256" });
        let claims = json!({ "aud": endpoint.origin().ascii_serialization(), "exp": expires, "sub": subject });
        let part = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(head), part(claims));
        let signature: Signature = self.0.sign(signed.as_bytes());
        format!("vapid t={signed}.{}, k={}", URL_SAFE_NO_PAD.encode(signature.to_bytes()), self.public())
    }
}

/// Encrypts a message for one browser; `None` if its keys are not usable.
pub(super) fn seal(text: String, key: &str, auth: &str) -> Option<Vec<u8>> {
    let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
    let key = PublicKey::from_sec1_bytes(&bytes(key)?).ok()?;
    let auth: [u8; 16] = bytes(auth)?.try_into().ok()?;
    encrypt(text.into_bytes(), &key, &Auth::from(auth)).ok()
}
