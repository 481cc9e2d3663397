//! Secrets: 256 random bits for the bearer, a hash for the database.

use std::fmt;

use rand::TryRngCore;
use sha2::{Digest, Sha256};

/// A bearer's secret; never logged, and stored only as its hash.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A fresh secret with a visible prefix such as `sf_`.
    pub fn generate(prefix: &str) -> Self {
        let mut bytes = [0_u8; 32];
        rand::rngs::OsRng.try_fill_bytes(&mut bytes).expect("the operating system has randomness");
        Self(format!("{prefix}{}", hex::encode(bytes)))
    }

    /// A secret that a bearer presented.
    pub fn presented(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The secret itself, to be shown once.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The hash that the database stores. The secret has full entropy, so one round of SHA-256 is enough.
    pub fn hash(&self) -> String {
        hex::encode(Sha256::digest(self.0.as_bytes()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
