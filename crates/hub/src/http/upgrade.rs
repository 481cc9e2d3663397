//! The door of the WebSocket: who does not pass it has no socket.

use std::sync::Arc;

use axum::RequestPartsExt;
use axum::extract::ws::{WebSocketUpgrade, rejection::WebSocketUpgradeRejection};
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use protocol::{MAX_FRAME, ProblemKind};

use super::extract::Session;
use super::reply;
use crate::AppError;
use crate::hub::Hub;
use crate::live::socket::{self, Revocations};

/// A session whose end is watched since before its credential was checked.
pub(crate) struct Watched {
    revoked: Revocations,
    session: Session,
}

impl FromRequestParts<Arc<Hub>> for Watched {
    type Rejection = AppError;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, AppError> {
        let revoked = hub.live.revocations();
        let session = parts.extract_with_state::<Session, _>(hub).await?;
        Ok(Self { revoked, session })
    }
}

/// Upgrades a request with a valid credential. A cookie, which browsers send by themselves, needs our own `Origin`;
/// a foreign `Origin` was refused before routing.
pub(crate) async fn upgrade(
    State(hub): State<Arc<Hub>>,
    Watched { revoked, session }: Watched,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    if session.credential.by_cookie && headers.get(header::ORIGIN).is_none() {
        return AppError::new(ProblemKind::Forbidden, "a socket by cookie must name its origin").into_response();
    }
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => {
            let error = AppError::new(ProblemKind::Invalid, rejection.body_text());
            return reply::problem(error, Some(StatusCode::UPGRADE_REQUIRED));
        }
    };
    let origin = session.origin.text();
    upgrade
        .read_buffer_size(4096)
        .write_buffer_size(0)
        .max_write_buffer_size(4 * MAX_FRAME)
        .max_message_size(MAX_FRAME)
        .max_frame_size(MAX_FRAME)
        .on_upgrade(move |stream| socket::serve(hub, session.credential, origin, revoked, stream))
}
