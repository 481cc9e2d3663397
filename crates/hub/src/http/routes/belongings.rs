//! What belongs to the caller: tokens, logins, invitations, runners, and what may run on those.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use domain::{ApprovalId, GrantId, InviteId, LoginId, RunnerId, TokenId};
use protocol::{
    Approval, ApprovalAnswer, ApprovalFilter, Call, Grant, Invite, InviteCreate, Login, LoginLink, NewInvite,
    NewRunner, NewToken, Runner, RunnerCreate, RunnerUpdate, Token, TokenCreate,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::extract::{Body, Id, Search, Session};
use crate::hub::Hub;

/// The routes of this subject.
pub(super) fn routes() -> OpenApiRouter<Arc<Hub>> {
    OpenApiRouter::new()
        .routes(routes!(tokens, create_token))
        .routes(routes!(revoke_token))
        .routes(routes!(logins, revoke_logins))
        .routes(routes!(revoke_login))
        .routes(routes!(login_link))
        .routes(routes!(invites, create_invite))
        .routes(routes!(revoke_invite))
        .routes(routes!(runners, create_runner))
        .routes(routes!(remove_runner, update_runner))
        .routes(routes!(approvals))
        .routes(routes!(approval))
        .routes(routes!(answer_approval))
        .routes(routes!(grants))
        .routes(routes!(revoke_grant))
}

/// The caller's tokens.
#[utoipa::path(get, path = "/api/tokens", tag = "tokens", responses((status = 200, body = Vec<Token>)))]
async fn tokens(State(hub): State<Arc<Hub>>, session: Session) -> Response {
    session.run(&hub, Call::TokenList {}).await
}

/// Makes a token; the secret is shown once.
#[utoipa::path(post, path = "/api/tokens", tag = "tokens", request_body = TokenCreate, responses((status = 201, body = NewToken)))]
async fn create_token(State(hub): State<Arc<Hub>>, session: Session, Body(input): Body<TokenCreate>) -> Response {
    session.run(&hub, Call::TokenCreate { input }).await
}

/// Ends a token, and every connection made with it.
#[utoipa::path(delete, path = "/api/tokens/{token}", tag = "tokens", params(("token" = TokenId, Path)), responses((status = 204, description = "done")))]
async fn revoke_token(State(hub): State<Arc<Hub>>, session: Session, Id(token): Id<TokenId>) -> Response {
    session.run(&hub, Call::TokenRevoke { token }).await
}

/// The caller's browsers that are logged in.
#[utoipa::path(get, path = "/api/logins", tag = "logins", responses((status = 200, body = Vec<Login>)))]
async fn logins(State(hub): State<Arc<Hub>>, session: Session) -> Response {
    session.run(&hub, Call::LoginList {}).await
}

/// Logs all of the caller's browsers out.
#[utoipa::path(delete, path = "/api/logins", tag = "logins", responses((status = 204, description = "done")))]
async fn revoke_logins(State(hub): State<Arc<Hub>>, session: Session) -> Response {
    session.run(&hub, Call::LoginRevokeAll {}).await
}

/// Logs one of the caller's browsers out.
#[utoipa::path(delete, path = "/api/logins/{login}", tag = "logins", params(("login" = LoginId, Path)), responses((status = 204, description = "done")))]
async fn revoke_login(State(hub): State<Arc<Hub>>, session: Session, Id(login): Id<LoginId>) -> Response {
    session.run(&hub, Call::LoginRevoke { login }).await
}

/// Makes a one-time link that logs a browser in as the caller.
#[utoipa::path(post, path = "/api/login-links", tag = "logins", responses((status = 201, body = LoginLink)))]
async fn login_link(State(hub): State<Arc<Hub>>, session: Session) -> Response {
    session.run(&hub, Call::LoginLink {}).await
}

/// The caller's invitations.
#[utoipa::path(get, path = "/api/invites", tag = "invites", responses((status = 200, body = Vec<Invite>)))]
async fn invites(State(hub): State<Arc<Hub>>, session: Session) -> Response {
    session.run(&hub, Call::InviteList {}).await
}

/// Makes an invitation; the link is shown once.
#[utoipa::path(post, path = "/api/invites", tag = "invites", request_body = InviteCreate, responses((status = 201, body = NewInvite)))]
async fn create_invite(State(hub): State<Arc<Hub>>, session: Session, Body(input): Body<InviteCreate>) -> Response {
    session.run(&hub, Call::InviteCreate { input }).await
}

/// Takes an invitation back.
#[utoipa::path(delete, path = "/api/invites/{invite}", tag = "invites", params(("invite" = InviteId, Path)), responses((status = 204, description = "done")))]
async fn revoke_invite(State(hub): State<Arc<Hub>>, session: Session, Id(invite): Id<InviteId>) -> Response {
    session.run(&hub, Call::InviteRevoke { invite }).await
}

/// The runners of this hub.
#[utoipa::path(get, path = "/api/runners", tag = "runners", responses((status = 200, body = Vec<Runner>)))]
async fn runners(State(hub): State<Arc<Hub>>, session: Session) -> Response {
    session.run(&hub, Call::RunnerList {}).await
}

/// Registers a runner; the secret is shown once.
#[utoipa::path(post, path = "/api/runners", tag = "runners", request_body = RunnerCreate, responses((status = 201, body = NewRunner)))]
async fn create_runner(State(hub): State<Arc<Hub>>, session: Session, Body(input): Body<RunnerCreate>) -> Response {
    session.run(&hub, Call::RunnerCreate { input }).await
}

/// Changes what one of the caller's runners runs for others.
#[utoipa::path(patch, path = "/api/runners/{runner}", tag = "runners", params(("runner" = RunnerId, Path)), request_body = RunnerUpdate, responses((status = 200, body = Runner)))]
async fn update_runner(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(runner): Id<RunnerId>,
    Body(input): Body<RunnerUpdate>,
) -> Response {
    session.run(&hub, Call::RunnerUpdate { runner, input }).await
}

/// What others wrote and would run on the caller's runners.
#[utoipa::path(get, path = "/api/approvals", tag = "approvals", params(ApprovalFilter), responses((status = 200, body = Vec<Approval>)))]
async fn approvals(State(hub): State<Arc<Hub>>, session: Session, Search(filter): Search<ApprovalFilter>) -> Response {
    session.run(&hub, Call::ApprovalList { filter }).await
}

/// One such request.
#[utoipa::path(get, path = "/api/approvals/{approval}", tag = "approvals", params(("approval" = ApprovalId, Path)), responses((status = 200, body = Approval)))]
async fn approval(State(hub): State<Arc<Hub>>, session: Session, Id(approval): Id<ApprovalId>) -> Response {
    session.run(&hub, Call::ApprovalShow { approval }).await
}

/// Allows it, or not.
#[utoipa::path(post, path = "/api/approvals/{approval}/answer", tag = "approvals", params(("approval" = ApprovalId, Path)), request_body = ApprovalAnswer, responses((status = 200, body = Approval)))]
async fn answer_approval(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(approval): Id<ApprovalId>,
    Body(input): Body<ApprovalAnswer>,
) -> Response {
    session.run(&hub, Call::ApprovalAnswer { approval, input }).await
}

/// What the caller allowed for good.
#[utoipa::path(get, path = "/api/grants", tag = "approvals", responses((status = 200, body = Vec<Grant>)))]
async fn grants(State(hub): State<Arc<Hub>>, session: Session) -> Response {
    session.run(&hub, Call::GrantList {}).await
}

/// Takes such a permission back.
#[utoipa::path(delete, path = "/api/grants/{grant}", tag = "approvals", params(("grant" = GrantId, Path)), responses((status = 204, description = "done")))]
async fn revoke_grant(State(hub): State<Arc<Hub>>, session: Session, Id(grant): Id<GrantId>) -> Response {
    session.run(&hub, Call::GrantRevoke { grant }).await
}

/// Removes one of the caller's runners.
#[utoipa::path(delete, path = "/api/runners/{runner}", tag = "runners", params(("runner" = RunnerId, Path)), responses((status = 204, description = "done")))]
async fn remove_runner(State(hub): State<Arc<Hub>>, session: Session, Id(runner): Id<RunnerId>) -> Response {
    session.run(&hub, Call::RunnerRemove { runner }).await
}
