//! Webhooks of projects: their secrets, and what is signed with them.

mod shorten;
mod signature;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::{HookId, HookKind};
use rand::TryRngCore;

pub(crate) use shorten::{fits, shorten};
pub(crate) use signature::{Signed, TOLERANCE_SECONDS};

/// Where alone an encrypted secret can be opened.
pub(crate) fn place(hook: HookId) -> String {
    format!("hook {hook}")
}

/// A fresh secret, in the form that services of this kind expect.
pub(crate) fn secret(kind: HookKind) -> String {
    let mut bytes = [0_u8; 32];
    rand::rngs::OsRng.try_fill_bytes(&mut bytes).expect("the operating system has randomness");
    match kind {
        HookKind::Github => format!("sfh_{}", hex::encode(bytes)),
        HookKind::Standard => format!("whsec_{}", STANDARD.encode(bytes)),
    }
}
