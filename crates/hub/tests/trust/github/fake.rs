//! A GitHub of the test's own: codes, PKCE, accounts, organisations, and bad days.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::json;
use sha2::{Digest, Sha256};

/// An account at GitHub.
#[derive(Debug, Clone)]
pub(super) struct Account {
    pub(super) id: i64,
    pub(super) login: &'static str,
    pub(super) organizations: Vec<&'static str>,
}

/// How GitHub is today.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Mood {
    #[default]
    Well,
    /// The exchange of codes fails as a proxy fails.
    NoTokens,
    /// Tokens are given, the API is down.
    NoApi,
    /// The API answers something else than JSON.
    Nonsense,
}

#[derive(Default)]
struct Inner {
    codes: HashMap<String, (Account, String)>,
    tokens: HashMap<String, Account>,
    mood: Mood,
    count: u32,
}

/// The server; it ends with the test.
#[derive(Clone, Default)]
pub(super) struct FakeGithub(Arc<Mutex<Inner>>);

impl FakeGithub {
    /// Starts on a free port and returns the address.
    pub(super) async fn start(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("bound");
        let router = Router::new()
            .route("/login/oauth/access_token", post(exchange))
            .route("/user", get(user))
            .route("/user/orgs", get(organizations))
            .with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}")
    }

    pub(super) fn feel(&self, mood: Mood) {
        self.0.lock().expect("not poisoned").mood = mood;
    }

    /// What GitHub's page does when a person says yes: a code bound to the challenge.
    pub(super) fn agree(&self, account: &Account, challenge: &str) -> String {
        let mut inner = self.0.lock().expect("not poisoned");
        inner.count += 1;
        let code = format!("code{}", inner.count);
        inner.codes.insert(code.clone(), (account.clone(), challenge.to_owned()));
        code
    }
}

async fn exchange(State(github): State<FakeGithub>, headers: HeaderMap, body: String) -> Response {
    let form = super::pairs(&body);
    let mut inner = github.0.lock().expect("not poisoned");
    if inner.mood == Mood::NoTokens {
        return (StatusCode::BAD_GATEWAY, "<html>unicorn</html>").into_response();
    }
    // GitHub says no with status 200.
    let no = |error: &str| Json(json!({"error": error, "error_description": "no"})).into_response();
    let basic = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let by_header = basic == format!("Basic {}", base64::prelude::BASE64_STANDARD.encode("the-id:the-secret"));
    let by_form = form.get("client_secret").is_some_and(|secret| secret == "the-secret");
    if !by_header && !by_form {
        return no("incorrect_client_credentials");
    }
    let Some((account, challenge)) = form.get("code").and_then(|code| inner.codes.remove(code)) else {
        return no("bad_verification_code");
    };
    let verifier = form.get("code_verifier").cloned().unwrap_or_default();
    if BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier)) != challenge {
        return no("bad_verification_code");
    }
    inner.count += 1;
    let token = format!("gho_{}", inner.count);
    inner.tokens.insert(token.clone(), account);
    Json(json!({"access_token": token, "token_type": "bearer", "scope": "read:org"})).into_response()
}

fn account(github: &FakeGithub, headers: &HeaderMap) -> Result<Account, Box<Response>> {
    let inner = github.0.lock().expect("not poisoned");
    match inner.mood {
        Mood::NoApi => return Err(Box::new(StatusCode::SERVICE_UNAVAILABLE.into_response())),
        Mood::Nonsense => return Err(Box::new("<html>unicorn</html>".into_response())),
        Mood::Well | Mood::NoTokens => {}
    }
    let token = headers.get("authorization").and_then(|value| value.to_str().ok());
    let token = token.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    inner.tokens.get(token).cloned().ok_or_else(|| Box::new(StatusCode::UNAUTHORIZED.into_response()))
}

async fn user(State(github): State<FakeGithub>, headers: HeaderMap) -> Response {
    match account(&github, &headers) {
        Ok(account) => Json(json!({"id": account.id, "login": account.login, "name": "ignored"})).into_response(),
        Err(refused) => *refused,
    }
}

async fn organizations(State(github): State<FakeGithub>, headers: HeaderMap) -> Response {
    match account(&github, &headers) {
        Ok(account) => {
            let list: Vec<_> = account.organizations.iter().map(|login| json!({"login": login, "id": 1})).collect();
            Json(list).into_response()
        }
        Err(refused) => *refused,
    }
}
