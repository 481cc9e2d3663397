//! Login with GitHub: authorization code with PKCE; people are identified by GitHub's number.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use oauth2::basic::{BasicClient, BasicRequestTokenError};
use oauth2::{
    AuthUrl, AuthorizationCode, ClientId, ClientSecret, CsrfToken, EndpointNotSet, EndpointSet, HttpRequest,
    HttpResponse, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RequestTokenError, Scope, TokenResponse, TokenUrl,
};
use parking_lot::Mutex;
use protocol::ProblemKind;
use serde::Deserialize;
use store::{Caller, EnterByGithub};
use utoipa::IntoParams;

use super::entry;
use super::extract::{Origin, Search};
use crate::AppError;
use crate::hub::{Hub, too_many};
use crate::options::GithubOptions;

/// How long a login may take, and how many may be pending.
const PATIENCE: Duration = Duration::from_secs(600);
const MAX_WAITING: usize = 1000;
/// Binds a login to the browser that started it.
const STATE_COOKIE: &str = "shopfloor_github";

type Client = BasicClient<EndpointSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointSet>;

/// A configured GitHub.
pub(crate) struct Github {
    client: Client,
    http: reqwest::Client,
    api_url: String,
    allow: Vec<String>,
    waiting: Mutex<HashMap<String, (PkceCodeVerifier, Instant)>>,
}

#[derive(Deserialize)]
struct Account {
    id: i64,
    login: String,
}

#[derive(Deserialize)]
struct Organization {
    login: String,
}

impl Github {
    /// Checks the addresses; `redirect` is where GitHub sends people back.
    pub(crate) fn new(options: &GithubOptions, url: &str) -> anyhow::Result<Self> {
        let base = options.url.trim_end_matches('/');
        let client = BasicClient::new(ClientId::new(options.client_id.clone()))
            .set_client_secret(ClientSecret::new(options.client_secret.clone()))
            .set_auth_uri(AuthUrl::new(format!("{base}/login/oauth/authorize"))?)
            .set_token_uri(TokenUrl::new(format!("{base}/login/oauth/access_token"))?)
            .set_redirect_uri(RedirectUrl::new(format!("{url}/api/auth/github/callback"))?);
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(Duration::from_secs(15))
            .user_agent("shopfloor")
            .build()?;
        Ok(Self {
            client,
            http,
            api_url: options.api_url.trim_end_matches('/').to_owned(),
            allow: options.allow.iter().map(|entry| entry.to_lowercase()).collect(),
            waiting: Mutex::default(),
        })
    }

    fn begin(&self) -> (String, String) {
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let mut request = self.client.authorize_url(CsrfToken::new_random).set_pkce_challenge(challenge);
        if self.allow.iter().any(|entry| entry.starts_with("org:")) {
            request = request.add_scope(Scope::new("read:org".into()));
        }
        let (url, state) = request.url();
        let mut waiting = self.waiting.lock();
        waiting.retain(|_, (_, since)| since.elapsed() < PATIENCE);
        if waiting.len() < MAX_WAITING {
            waiting.insert(state.secret().clone(), (verifier, Instant::now()));
        }
        (url.to_string(), state.into_secret())
    }

    /// The account of this code. A state works once and for a limited time.
    async fn identify(&self, state: &str, code: String) -> Result<Account, AppError> {
        let known = self.waiting.lock().remove(state).filter(|(_, since)| since.elapsed() < PATIENCE);
        let (verifier, _) = known.ok_or_else(stale)?;
        let exchange = self.client.exchange_code(AuthorizationCode::new(code)).set_pkce_verifier(verifier);
        let token = exchange.request_async(&|request| send(self.http.clone(), request)).await.map_err(|error| {
            tracing::warn!(%error, "could not exchange a login code");
            if is_refusal(&error) {
                return AppError::new(ProblemKind::Forbidden, "GitHub did not confirm this login: start again");
            }
            away()
        })?;
        let token = token.access_token().secret();
        let account: Account = self.get("/user", token).await?;
        if !self.is_allowed(&account, token).await? {
            let detail = format!("{} may not log in to this hub: ask its owner", account.login);
            return Err(AppError::new(ProblemKind::Forbidden, detail));
        }
        Ok(account)
    }

    async fn is_allowed(&self, account: &Account, token: &str) -> Result<bool, AppError> {
        if self.allow.contains(&format!("user:{}", account.login.to_lowercase())) {
            return Ok(true);
        }
        if !self.allow.iter().any(|entry| entry.starts_with("org:")) {
            return Ok(false);
        }
        let organizations: Vec<Organization> = self.get("/user/orgs?per_page=100", token).await?;
        Ok(organizations.iter().any(|org| self.allow.contains(&format!("org:{}", org.login.to_lowercase()))))
    }

    async fn get<T: serde::de::DeserializeOwned>(&self, path: &str, token: &str) -> Result<T, AppError> {
        let request = self.http.get(format!("{}{path}", self.api_url)).bearer_auth(token);
        let request = request.header(header::ACCEPT, "application/vnd.github+json");
        let answer = async { request.send().await?.error_for_status()?.json().await };
        answer.await.map_err(|error: reqwest::Error| {
            tracing::warn!(error = %error.without_url(), "GitHub's API did not answer");
            away()
        })
    }
}

fn away() -> AppError {
    AppError::new(ProblemKind::Unavailable, "GitHub does not answer: try again later")
}

/// Whether GitHub refused or did not answer. It may also refuse with status 200 and an `error` field.
fn is_refusal(error: &BasicRequestTokenError<reqwest::Error>) -> bool {
    match error {
        RequestTokenError::ServerResponse(_) => true,
        RequestTokenError::Parse(_, body) => {
            serde_json::from_slice::<serde_json::Value>(body).is_ok_and(|said| said.get("error").is_some())
        }
        RequestTokenError::Request(_) | RequestTokenError::Other(_) => false,
    }
}

async fn send(http: reqwest::Client, request: HttpRequest) -> Result<HttpResponse, reqwest::Error> {
    let (parts, body) = request.into_parts();
    let answer = http.request(parts.method, parts.uri.to_string()).headers(parts.headers).body(body).send().await?;
    let mut response = HttpResponse::default();
    *response.status_mut() = answer.status();
    *response.headers_mut() = answer.headers().clone();
    *response.body_mut() = answer.bytes().await?.to_vec();
    Ok(response)
}

fn stale() -> AppError {
    AppError::new(
        ProblemKind::Invalid,
        "this login was started elsewhere, was already used, or took too long: start again",
    )
}

fn configured(hub: &Hub) -> Result<&Github, AppError> {
    hub.github.as_ref().ok_or_else(|| AppError::new(ProblemKind::NotFound, "this hub does not offer GitHub login"))
}

/// Sends a browser to GitHub.
#[utoipa::path(get, path = "/api/auth/github", tag = "entry", security(()),
    responses((status = 303, description = "to GitHub")))]
pub(crate) async fn begin(State(hub): State<Arc<Hub>>, origin: Origin) -> Result<Response, AppError> {
    let github = configured(&hub)?;
    hub.meters.entry(origin.address).map_err(too_many)?;
    let (url, state) = github.begin();
    let secure = if hub.doors.secure() { "; Secure" } else { "" };
    let cookie = format!("{STATE_COOKIE}={state}; Path=/api/auth; HttpOnly; SameSite=Lax; Max-Age=600{secure}");
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to(&url)).into_response())
}

/// The parameters of GitHub's redirect.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Callback {
    /// Exchanged for a token.
    code: Option<String>,
    /// The login's state.
    state: Option<String>,
    /// Why GitHub refused.
    error: Option<String>,
}

/// Completes a login with GitHub.
#[utoipa::path(get, path = "/api/auth/github/callback", tag = "entry", security(()), params(Callback),
    responses((status = 303, description = "to the page, logged in")))]
pub(crate) async fn callback(
    State(hub): State<Arc<Hub>>,
    origin: Origin,
    headers: HeaderMap,
    Search(answer): Search<Callback>,
) -> Result<Response, AppError> {
    let github = configured(&hub)?;
    hub.meters.entry(origin.address).map_err(too_many)?;
    if let Some(error) = answer.error {
        let reason: String = error.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(60).collect();
        return Err(AppError::new(ProblemKind::Forbidden, format!("GitHub refused the login ({reason}): start again")));
    }
    let (Some(code), Some(state)) = (answer.code, answer.state) else { return Err(stale()) };
    if !began_here(&headers, &state) {
        return Err(stale());
    }
    let account = github.identify(&state, code).await?;
    let command = EnterByGithub {
        github_id: account.id,
        login: account.login,
        client: origin.client.clone(),
        address: origin.address.to_string(),
    };
    let fresh = hub.store.write(&Caller::hub(origin.text()), None, command).await?;
    let login = entry::cookie(&hub, fresh.value.cookie, 30);
    let over = format!("{STATE_COOKIE}=; Path=/api/auth; Max-Age=0");
    let mut response = Redirect::to("/").into_response();
    for cookie in [login, over] {
        let value = cookie.parse().map_err(|error| AppError::Internal(anyhow::Error::new(error)))?;
        response.headers_mut().append(header::SET_COOKIE, value);
    }
    debug_assert_eq!(response.status(), StatusCode::SEE_OTHER);
    Ok(response)
}

fn began_here(headers: &HeaderMap, state: &str) -> bool {
    use subtle::ConstantTimeEq;
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|line| cookie::Cookie::split_parse(line.to_owned()).flatten());
    let found = pairs.find(|pair| pair.name() == STATE_COOKIE);
    found.is_some_and(|pair| pair.value().as_bytes().ct_eq(state.as_bytes()).into())
}
