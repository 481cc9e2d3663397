//! What other services send to the webhooks of projects.
//!
//! In this order: the size, the signature over the bytes as they came, the time, whether it was received before. Nothing
//! of the body is read before its signature is right.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use domain::{HookId, HookKind};
use protocol::ProblemKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Caller, HookSecrets, ReceiveHook, Received};
use utoipa::ToSchema;

use super::extract::Origin;
use crate::AppError;
use crate::hooks::{Signed, TOLERANCE_SECONDS, fits, place, shorten};
use crate::hub::{Hub, too_many};
use crate::listen::Peer;

/// What became of a message.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct HookReceived {
    /// How many schedules it made due, and how many waiting steps it ended.
    woke: u32,
    /// Whether it was received before, and counted then.
    repeated: bool,
}

/// Receives a signed message of another service.
#[utoipa::path(post, path = "/api/hooks/{hook}/deliveries", tag = "hooks", security(()),
    params(("hook" = HookId, Path, description = "the webhook")),
    request_body(content = Value, description = "at most 1 MiB of JSON, signed as the webhook's kind says"),
    responses((status = 202, body = HookReceived)))]
pub(crate) async fn receive(
    State(hub): State<Arc<Hub>>,
    origin: Origin,
    Path(hook): Path<String>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, AppError> {
    // Only messages whose signature is wrong count as guesses.
    let guess = |why: &str| match hub.meters.entry(origin.address).map_err(too_many) {
        Ok(()) => AppError::new(ProblemKind::Unauthenticated, format!("the signature is missing or wrong: {why}")),
        Err(error) => error,
    };
    const WRONG: &str = "use the address and the secret of one webhook, and its kind";
    let Ok(id) = hook.parse::<HookId>() else { return Err(guess(WRONG)) };
    let Some(secrets) = hub.store.hook_secrets(id).await? else { return Err(guess(WRONG)) };
    let signed = Signed::read(secrets.kind, &headers).map_err(guess)?;
    if !is_right(&hub, id, &secrets, &signed, &body)? {
        return Err(guess(WRONG));
    }
    if let Some(Extension(peer)) = peer {
        peer.is_known();
    }
    let now = hub.store.now().as_millis() / 1000;
    if signed.at_seconds.is_some_and(|at| at.abs_diff(now) > TOLERANCE_SECONDS.unsigned_abs()) {
        return Err(guess("its time is more than 5 minutes from now"));
    }
    hub.meters.request(&id.to_string()).map_err(too_many)?;
    let data: Value = serde_json::from_slice(&body).map_err(|_| {
        AppError::new(ProblemKind::Invalid, "the body is not JSON: set the content type `application/json`")
    })?;
    let event = event(secrets.kind, &headers, &data);
    let ping = secrets.kind == HookKind::Github && event.as_deref() == Some("ping");
    let (data, shortened) = if fits(&data) { (data, false) } else { (shorten(data), true) };
    let command = ReceiveHook { hook: id, delivery: signed.delivery, event, data, shortened, ping };
    let (woke, repeated) = match hub.store.write(&Caller::hub("webhook"), None, command).await?.value {
        Received::Woke(woke) => (woke, false),
        Received::Before => (0, true),
    };
    Ok((StatusCode::ACCEPTED, Json(HookReceived { woke, repeated })).into_response())
}

/// Whether a valid secret of the webhook signed it.
fn is_right(hub: &Hub, id: HookId, secrets: &HookSecrets, signed: &Signed, body: &[u8]) -> Result<bool, AppError> {
    let key = hub.notify.key()?;
    let mut right = false;
    for sealed in &secrets.sealed {
        match key.open(&place(id), sealed) {
            Ok(secret) => right |= signed.is_of(secrets.kind, &secret, body),
            Err(error) => tracing::warn!(%error, hook = %id, "cannot open the secret of a webhook: rotate it"),
        }
    }
    Ok(right)
}

/// What happened, in the service's words.
fn event(kind: HookKind, headers: &HeaderMap, data: &Value) -> Option<String> {
    match kind {
        HookKind::Github => headers.get("x-github-event")?.to_str().ok().map(str::to_owned),
        HookKind::Standard => data.get("type")?.as_str().map(str::to_owned),
    }
}
