//! The bytes of artifacts: they stream in and out, and are never in memory as a whole.
//!
//! What people and agents put here is never rendered by the hub's own origin: a download is an attachment of unknown type,
//! in a sandbox without rights.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, BodyDataStream};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use domain::artifacts::{BINARY, is_sha256};
use domain::{ArtifactId, ProjectId};
use futures_util::{StreamExt, stream};
use protocol::{ArtifactContent, ProblemKind};
use sha2::{Digest, Sha256};
use store::{ARTIFACT_CHUNK, AppendContent, ArtifactStream, BeginContent, Caller, DropContent, EndContent};

use super::extract::Authenticated;
use crate::AppError;
use crate::app;
use crate::hub::Hub;

/// Where content is sent to, and where it comes from.
pub(crate) const PUT: &str = "/api/projects/{project}/artifacts/contents/{sha256}";
pub(crate) const GET: &str = "/api/artifacts/{artifact}/content";

/// How long a sender may be silent, and how long all of an upload may take.
const SILENCE: Duration = Duration::from_secs(30);
const UPLOAD: Duration = Duration::from_secs(3600);
/// How long the rest of a refused upload is read.
const DISCARD: Duration = Duration::from_secs(5);
/// The policy of a download that a browser shows after all.
const SANDBOX: &str = "default-src 'none'; sandbox";

/// Takes the content of an artifact: as many bytes as come, if they have the hash that the path names.
#[utoipa::path(put, path = "/api/projects/{project}/artifacts/contents/{sha256}", tag = "artifacts",
    params(("project" = ProjectId, Path), ("sha256" = String, Path, description = "of the content, in hexadecimal digits")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = ArtifactContent, description = "the hub has all of it: `artifact.put` can name it")))]
pub(crate) async fn put(
    State(hub): State<Arc<Hub>>,
    caller: Authenticated,
    path: Result<Path<(ProjectId, String)>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, AppError> {
    let Path((project, sha256)) = path.map_err(|error| invalid(error.body_text()))?;
    app::no_runner(&caller.credential)?;
    if !is_sha256(&sha256) {
        return Err(invalid("the path ends with the SHA-256 hash of the content: 64 digits of 0-9 and a-f"));
    }
    let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let room = hub.store.artifact_room(&caller.caller, project).await?;
    if let Err(refused) = room.check(length.unwrap_or(0)) {
        discard(body.into_data_stream()).await;
        return Err(too_large(refused));
    }
    let most = room.most.min(room.left);
    let content = hub.store.write(&caller.caller, None, BeginContent { project }).await?.value;
    let upload = Upload { hub: hub.clone(), caller: caller.caller.clone(), content, ended: false };
    let arrived = tokio::time::timeout(UPLOAD, upload.receive(body.into_data_stream(), most)).await;
    let arrived = arrived.map_err(|_| invalid("the upload took longer than an hour"))??;
    room.check(arrived.size).map_err(too_large)?;
    if arrived.sha256 != sha256 {
        let why = format!("the hash of the {} bytes that arrived is {}, not {sha256}", arrived.size, arrived.sha256);
        return Err(invalid(format!("{why}: the content was damaged on its way, or the hash is of other content")));
    }
    let sent = upload.end(project, arrived).await?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(sent)).into_response())
}

/// Reads what a client still sends for a moment: most clients read an answer only afterwards, and would report a broken
/// connection instead of the reason.
async fn discard(mut body: BodyDataStream) {
    let all = async { while let Some(Ok(_)) = body.next().await {} };
    tokio::time::timeout(DISCARD, all).await.ok();
}

/// Content on its way. Dropped before its end, it is removed.
struct Upload {
    hub: Arc<Hub>,
    caller: Caller,
    content: String,
    ended: bool,
}

impl Upload {
    /// Stores chunk after chunk.
    async fn receive(&self, mut body: BodyDataStream, most: u64) -> Result<ArtifactContent, AppError> {
        let (mut hash, mut size, mut number) = (Sha256::new(), 0_u64, 0);
        let mut chunk = Vec::new();
        loop {
            let piece = tokio::time::timeout(SILENCE, body.next()).await;
            let piece = piece.map_err(|_| invalid(format!("no byte came for {} s", SILENCE.as_secs())))?;
            let Some(piece) = piece else { break };
            let mut piece =
                piece.map_err(|_| invalid("the content ended before all of it had arrived: send it again"))?;
            size += piece.len() as u64;
            if size > most {
                // The message depends on the limit that it exceeds.
                return Ok(ArtifactContent { sha256: String::new(), size });
            }
            hash.update(&piece);
            while !piece.is_empty() {
                let take = piece.len().min(ARTIFACT_CHUNK - chunk.len());
                chunk.extend_from_slice(&piece.split_to(take));
                if chunk.len() == ARTIFACT_CHUNK {
                    self.store(number, std::mem::take(&mut chunk)).await?;
                    number += 1;
                }
            }
        }
        if !chunk.is_empty() {
            self.store(number, chunk).await?;
        }
        Ok(ArtifactContent { sha256: hex::encode(hash.finalize()), size })
    }

    async fn store(&self, number: u64, bytes: Vec<u8>) -> Result<(), AppError> {
        let command = AppendContent { content: self.content.clone(), number, bytes };
        self.hub.store.write(&self.caller, None, command).await?;
        Ok(())
    }

    async fn end(mut self, project: ProjectId, arrived: ArtifactContent) -> Result<ArtifactContent, AppError> {
        let ArtifactContent { sha256, size } = arrived;
        let command = EndContent { content: self.content.clone(), project, sha256, size };
        let done = self.hub.store.write(&self.caller, None, command).await?;
        self.ended = true;
        Ok(done.value)
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let (hub, caller, content) = (self.hub.clone(), self.caller.clone(), std::mem::take(&mut self.content));
        // Whatever this misses, the clean-up removes later.
        tokio::spawn(async move {
            if let Err(error) = hub.store.write(&caller, None, DropContent { content }).await {
                tracing::debug!(%error, "could not drop an upload that did not end");
            }
        });
    }
}

/// Sends the content of an artifact.
#[utoipa::path(get, path = "/api/artifacts/{artifact}/content", tag = "artifacts",
    params(("artifact" = ArtifactId, Path)),
    responses((status = 200, body = Vec<u8>, content_type = "application/octet-stream")))]
pub(crate) async fn get(
    State(hub): State<Arc<Hub>>,
    caller: Authenticated,
    path: Result<Path<ArtifactId>, PathRejection>,
) -> Result<Response, AppError> {
    let Path(id) = path.map_err(|error| invalid(error.body_text()))?;
    app::no_runner(&caller.credential)?;
    let found = hub.store.artifact_stream(&caller.caller, id).await?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(BINARY)),
        (header::CONTENT_LENGTH, HeaderValue::from(found.artifact.size)),
        (header::CONTENT_DISPOSITION, attachment(&found.artifact.name)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(SANDBOX)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((StatusCode::OK, headers, Body::from_stream(chunks(hub, found))).into_response())
}

/// The chunks of a content. An error ends the connection early, which the client sees by the length.
fn chunks(hub: Arc<Hub>, found: ArtifactStream) -> impl futures_util::Stream<Item = Result<Bytes, store::StoreError>> {
    stream::unfold(Some((hub, found)), |state| async move {
        let (hub, mut found) = state?;
        match hub.store.artifact_chunk(&mut found).await {
            Ok(None) => None,
            Ok(Some(bytes)) => Some((Ok(Bytes::from(bytes)), Some((hub, found)))),
            Err(error) => {
                tracing::warn!(%error, artifact = %found.artifact.id, "a download ended early");
                Some((Err(error), None))
            }
        }
    })
}

/// `Content-Disposition` for a file name: plain letters for old clients, and the name itself (RFC 6266, RFC 8187).
fn attachment(name: &str) -> HeaderValue {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let fallback: String = name.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    let mut exact = String::new();
    for byte in name.bytes() {
        match char::from(byte) {
            c if plain(c) => exact.push(c),
            _ => exact.push_str(&format!("%{byte:02X}")),
        }
    }
    let value = format!("attachment; filename=\"{fallback}\"; filename*=UTF-8''{exact}");
    HeaderValue::from_str(&value).unwrap_or_else(|_| HeaderValue::from_static("attachment"))
}

fn invalid(detail: impl Into<String>) -> AppError {
    AppError::new(ProblemKind::Invalid, detail)
}

fn too_large(detail: String) -> AppError {
    AppError::new(ProblemKind::TooLarge, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_header() {
        let check = |name: &str, expected: &str| assert_eq!(attachment(name).to_str().unwrap(), expected);
        check("report.md", "attachment; filename=\"report.md\"; filename*=UTF-8''report.md");
        check("ä b.txt", "attachment; filename=\"__b.txt\"; filename*=UTF-8''%C3%A4%20b.txt");
        check("x\"; y=\r\nz", "attachment; filename=\"x___y___z\"; filename*=UTF-8''x%22%3B%20y%3D%0D%0Az");
    }
}
