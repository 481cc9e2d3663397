//! Encryption of secrets that the hub must be able to read again: XChaCha20-Poly1305 with a key outside the database.

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use rand::TryRngCore;
use sha2::{Digest, Sha256};

const NONCE: usize = 24;
const KEY: usize = 32;

/// Why a secret cannot be sealed or opened.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The key file cannot be read or written.
    #[error("cannot use the key file {0}: {1}")]
    File(PathBuf, #[source] std::io::Error),
    /// Others may read the key file.
    #[error("other users can read the key file {0}: run `chmod 600` on it")]
    Shared(PathBuf),
    /// The file is no key.
    #[error("{0} is not a key file: expected 64 hexadecimal digits")]
    Malformed(PathBuf),
    /// Another key sealed it.
    #[error("another key encrypted it (`{0}`)")]
    OtherKey(String),
    /// It was changed, or belongs to another row.
    #[error("it was changed, or belongs to something else")]
    Changed,
}

/// The key that encrypts secrets in the database; it must never be in the database or its backups.
#[derive(Clone)]
pub struct MasterKey {
    cipher: XChaCha20Poly1305,
    /// Further keys are derived from it.
    root: [u8; KEY],
    id: String,
}

impl MasterKey {
    /// Reads the key, or makes one if the file does not exist.
    pub fn load(path: &Path) -> Result<Self, SealError> {
        let failed = |error| SealError::File(path.to_owned(), error);
        match std::fs::File::open(path) {
            Ok(file) => Self::read(path, file),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if let Some(folder) = path.parent() {
                    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
                }
                Self::create(path)
            }
            Err(error) => Err(failed(error)),
        }
    }

    fn create(path: &Path) -> Result<Self, SealError> {
        let failed = |error| SealError::File(path.to_owned(), error);
        // Complete before it has its name: another hub may start at the same time.
        let beside = path.with_extension(format!("{}.new", std::process::id()));
        let key: [u8; KEY] = random();
        let written = (|| {
            let mut file = std::fs::File::options().write(true).create_new(true).mode(0o600).open(&beside)?;
            file.write_all(hex::encode(key).as_bytes())?;
            file.sync_all()?;
            std::fs::hard_link(&beside, path)
        })();
        let _ = std::fs::remove_file(&beside);
        match written {
            Ok(()) => Ok(Self::of(key)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Self::read(path, std::fs::File::open(path).map_err(failed)?)
            }
            Err(error) => Err(failed(error)),
        }
    }

    fn read(path: &Path, mut file: std::fs::File) -> Result<Self, SealError> {
        let failed = |error| SealError::File(path.to_owned(), error);
        if file.metadata().map_err(failed)?.permissions().mode() & 0o077 != 0 {
            return Err(SealError::Shared(path.to_owned()));
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        let mut key = [0; KEY];
        hex::decode_to_slice(text.trim(), &mut key).map_err(|_| SealError::Malformed(path.to_owned()))?;
        Ok(Self::of(key))
    }

    fn of(key: [u8; KEY]) -> Self {
        let id = hex::encode(&Sha256::digest(key)[..6]);
        Self { cipher: XChaCha20Poly1305::new(&Key::from(key)), root: key, id }
    }

    /// Encrypts a secret; `place` names the row and column, where alone it can be opened.
    pub fn seal(&self, place: &str, secret: &str) -> Result<String, SealError> {
        let nonce: [u8; NONCE] = random();
        let bound = self.bound(place);
        let payload = Payload { msg: secret.as_bytes(), aad: bound.as_bytes() };
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), payload).map_err(|_| SealError::Changed)?;
        Ok(format!("1.{}.{}{}", self.id, hex::encode(nonce), hex::encode(sealed)))
    }

    /// Decrypts a secret of this place.
    pub fn open(&self, place: &str, sealed: &str) -> Result<String, SealError> {
        let mut parts = sealed.split('.');
        let (Some("1"), Some(id), Some(rest), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
            return Err(SealError::Changed);
        };
        if id != self.id {
            return Err(SealError::OtherKey(id.chars().take(20).collect()));
        }
        let bytes = hex::decode(rest).map_err(|_| SealError::Changed)?;
        let (nonce, text) = bytes.split_at_checked(NONCE).ok_or(SealError::Changed)?;
        let nonce: [u8; NONCE] = nonce.try_into().map_err(|_| SealError::Changed)?;
        let bound = self.bound(place);
        let payload = Payload { msg: text, aad: bound.as_bytes() };
        let opened = self.cipher.decrypt(&XNonce::from(nonce), payload).map_err(|_| SealError::Changed)?;
        String::from_utf8(opened).map_err(|_| SealError::Changed)
    }

    /// Another key for this purpose, the same on every hub with this key.
    pub fn derive(&self, purpose: &str) -> [u8; KEY] {
        let label = format!("shopfloor 1 derived key for {purpose} ");
        Sha256::new().chain_update(label).chain_update(self.root).finalize().into()
    }

    fn bound(&self, place: &str) -> String {
        format!("shopfloor 1 {} {place}", self.id)
    }
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0_u8; N];
    rand::rngs::OsRng.try_fill_bytes(&mut bytes).expect("the operating system has randomness");
    bytes
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MasterKey({})", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_opens_only_unchanged_in_its_place_and_with_its_key() {
        let (key, other) = (MasterKey::of([7; KEY]), MasterKey::of([8; KEY]));
        let sealed = key.seal("chn_1 usr_1", "https://example.org/secret").unwrap();
        assert!(!sealed.contains("example") && !format!("{key:?}").contains("0707"));
        assert_eq!(key.open("chn_1 usr_1", &sealed).unwrap(), "https://example.org/secret");
        assert!(key.open("chn_2 usr_1", &sealed).is_err(), "another row");
        assert!(matches!(other.open("chn_1 usr_1", &sealed), Err(SealError::OtherKey(_))));
        for at in 0..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
            assert!(key.open("chn_1 usr_1", &String::from_utf8(bytes).unwrap()).is_err(), "byte {at} changed");
            assert!(key.open("chn_1 usr_1", &sealed[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn the_key_is_made_once_and_for_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys").join("master");
        let key = MasterKey::load(&path).unwrap();
        let sealed = key.seal("place", "secret").unwrap();
        assert_eq!(MasterKey::load(&path).unwrap().open("place", &sealed).unwrap(), "secret");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(MasterKey::load(&path), Err(SealError::Shared(_))));
    }
}
