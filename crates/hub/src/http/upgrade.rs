//! Upgrades to WebSockets: checked before there is a socket.

use std::sync::Arc;

use axum::RequestPartsExt;
use axum::extract::ws::{WebSocketUpgrade, rejection::WebSocketUpgradeRejection};
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::Actor;
use protocol::link::MAX_LINK_FRAME;
use protocol::{MAX_FRAME, ProblemKind};

use super::extract::Authenticated;
use super::reply;
use crate::AppError;
use crate::app;
use crate::hub::Hub;
use crate::links;
use crate::live::socket::{self, Revocations};

/// A caller whose credential has been watched since before it was checked.
pub(crate) struct Watched {
    revoked: Revocations,
    caller: Authenticated,
}

impl FromRequestParts<Arc<Hub>> for Watched {
    type Rejection = AppError;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, AppError> {
        let revoked = hub.live.revocations();
        let caller = parts.extract_with_state::<Authenticated, _>(hub).await?;
        Ok(Self { revoked, caller })
    }
}

/// A client's socket.
pub(crate) async fn client(
    State(hub): State<Arc<Hub>>,
    Watched { revoked, caller }: Watched,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    if let Err(refusal) = app::no_runner(&caller.credential) {
        return refusal.into_response();
    }
    let upgrade = match checked(&caller, &headers, upgrade, MAX_FRAME) {
        Ok(upgrade) => upgrade,
        Err(refusal) => return *refusal,
    };
    let origin = caller.origin.text();
    upgrade.on_upgrade(move |stream| socket::serve(hub, caller.credential, origin, revoked, stream))
}

/// A runner's link: only a runner's own token opens it.
pub(crate) async fn link(
    State(hub): State<Arc<Hub>>,
    Watched { revoked, caller }: Watched,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let Actor::Runner { user: owner, runner } = caller.credential.actor else {
        let detail = "only a runner's own token opens a link; `shopfloor runner create` creates one";
        return AppError::new(ProblemKind::Forbidden, detail).into_response();
    };
    let upgrade = match checked(&caller, &headers, upgrade, MAX_LINK_FRAME) {
        Ok(upgrade) => upgrade,
        Err(refusal) => return *refusal,
    };
    let (origin, credential) = (caller.origin.text(), caller.credential);
    upgrade.on_upgrade(move |stream| links::socket::serve(hub, credential, runner, owner, origin, revoked, stream))
}

/// Refuses requests that are not upgrades. A cookie, which browsers send by themselves, needs our own `Origin`; a
/// foreign `Origin` was refused before routing.
fn checked(
    caller: &Authenticated,
    headers: &HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
    largest: usize,
) -> Result<WebSocketUpgrade, Box<Response>> {
    if caller.credential.by_cookie && headers.get(header::ORIGIN).is_none() {
        let error = AppError::new(ProblemKind::Forbidden, "a socket with a cookie needs an `Origin` header");
        return Err(Box::new(error.into_response()));
    }
    let upgrade = upgrade.map_err(|rejection| {
        let error = AppError::new(ProblemKind::Invalid, rejection.body_text());
        Box::new(reply::problem(error, Some(StatusCode::UPGRADE_REQUIRED)))
    })?;
    Ok(upgrade
        .read_buffer_size(4096)
        .write_buffer_size(0)
        .max_write_buffer_size(4 * largest)
        .max_message_size(largest)
        .max_frame_size(largest))
}
