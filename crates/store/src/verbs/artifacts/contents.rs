//! Content by hash, in chunks.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rand::Rng;
use sha2::{Digest, Sha256};

use super::ARTIFACT_CHUNK;
use crate::StoreError;
use crate::sql::{Connection, args};
use crate::tx::Tx;

/// The hash of a content as it is written.
pub(super) fn hash(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// An id for content that is on its way.
pub(super) fn fresh_id() -> String {
    format!("cnt_{:032x}", rand::rng().random::<u128>())
}

/// A complete content.
#[derive(Debug, Clone)]
pub(super) struct Content {
    pub(super) id: String,
    pub(super) size: u64,
}

/// The complete content with this hash.
pub(super) async fn find(c: &mut Connection<'_>, sha256: &str) -> Result<Option<Content>, StoreError> {
    let row = c.first("SELECT id, size FROM artifact_contents WHERE sha256 = $1", args![sha256]).await?;
    row.map(|row| Ok(Content { id: row.text("id")?, size: row.integer("size")?.cast_unsigned() })).transpose()
}

/// Stores a short content, unless it is there; returns its hash.
pub(super) async fn keep(tx: &mut Tx<'_>, bytes: &[u8]) -> Result<String, StoreError> {
    let sha256 = hash(bytes);
    if find(tx.read(), &sha256).await?.is_some() {
        return Ok(sha256);
    }
    let id = fresh_id();
    let sql = "INSERT INTO artifact_contents (id, sha256, size, sender, touched_at) VALUES ($1, $2, $3, '', $4)";
    let now = tx.now;
    tx.run(sql, args![&id, &sha256, bytes.len() as u64, now]).await?;
    for (number, part) in bytes.chunks(ARTIFACT_CHUNK).enumerate() {
        write(tx, &id, number as u64, part).await?;
    }
    Ok(sha256)
}

/// Writes one chunk.
pub(super) async fn write(tx: &mut Tx<'_>, content: &str, number: u64, bytes: &[u8]) -> Result<(), StoreError> {
    let sql = "INSERT INTO artifact_chunks (content, number, data) VALUES ($1, $2, $3)";
    tx.run(sql, args![content, number, STANDARD.encode(bytes)]).await.map(|_| ())
}

/// Reads one chunk; `None`: it was removed.
pub(super) async fn read(c: &mut Connection<'_>, content: &str, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
    let sql = "SELECT data FROM artifact_chunks WHERE content = $1 AND number = $2";
    let Some(row) = c.first(sql, args![content, number]).await? else { return Ok(None) };
    let bytes = STANDARD.decode(row.text("data")?);
    bytes.map(Some).map_err(|error| StoreError::Corrupt(format!("a chunk of an artifact: {error}")))
}

/// Deletes content with its chunks.
pub(super) async fn delete(tx: &mut Tx<'_>, content: &str) -> Result<(), StoreError> {
    tx.run("DELETE FROM artifact_chunks WHERE content = $1", args![content]).await?;
    tx.run("DELETE FROM artifact_contents WHERE id = $1", args![content]).await.map(|_| ())
}
