//! Verbs over HTTP: one request each, retried if the connection breaks.

use std::time::{Duration, Instant};

use domain::SessionId;
use protocol::{Answer, Call, Health, Problem, ProblemKind};
use rand::Rng;

use crate::url::HubUrl;
use crate::{Backoff, ClientError, HttpRequest, Terminal, Token, View, Watch, request};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// Longer waits are left to the caller.
const LONGEST_WAIT: Duration = Duration::from_secs(15);
const TRIES: u32 = 4;
/// How long to wait for a new token after the last one was refused.
const RENEWAL: Duration = Duration::from_secs(2);
/// No retries after this time.
const PATIENCE: Duration = Duration::from_secs(30);

/// Calls one hub as one person.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    url: HubUrl,
    token: Option<Token>,
    by_agent: bool,
}

impl Client {
    /// A client of the hub at `hub_url` with a token; sends nothing yet.
    pub fn new(hub_url: &str, token: &str) -> Result<Self, ClientError> {
        Self::with(hub_url, Token::Given(token.to_owned()))
    }

    /// The same with a token that somebody else may renew.
    pub fn with(hub_url: &str, token: Token) -> Result<Self, ClientError> {
        Self::build(hub_url, Some(token))
    }

    /// A client without a token, for public requests.
    pub fn anonymous(hub_url: &str) -> Result<Self, ClientError> {
        Self::build(hub_url, None)
    }

    /// The same for an agent that has the person's own token: the hub records its writes as an agent's.
    pub fn for_agent(self) -> Self {
        Self { by_agent: true, ..self }
    }

    /// Scheme, host and port of the hub.
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// The token, if it is fixed.
    pub fn token(&self) -> Option<&str> {
        match &self.token {
            Some(Token::Given(secret)) => Some(secret),
            Some(Token::File(_)) | None => None,
        }
    }

    /// The connection, for requests that are not verbs.
    pub(crate) fn http(&self) -> &reqwest::Client {
        &self.http
    }

    /// Sends `call` and returns its answer; a change gets its own key, so that a retry does not act twice.
    pub async fn call(&self, call: Call) -> Result<Answer, ClientError> {
        let key = call.changes().then(fresh_key);
        self.call_with_key(call, key.as_deref()).await
    }

    /// Like [`Client::call`] with the caller's own idempotency key.
    pub async fn call_with_key(&self, call: Call, key: Option<&str>) -> Result<Answer, ClientError> {
        let request = request(&call);
        let body = self.patiently(&request, key).await?;
        request.decode(&body).map_err(|error| {
            ClientError::Protocol(format!("the hub's answer to {} could not be read: {error}", call.verb()))
        })
    }

    /// Sends `call` and returns the view in its answer.
    pub async fn ask<T: View>(&self, call: Call) -> Result<T, ClientError> {
        let verb = call.verb();
        let answer = self.call(call).await?;
        T::from_answer(answer).ok_or_else(|| ClientError::Protocol(format!("unexpected answer to {verb}")))
    }

    /// The hub's health; not retried, so that the answer is current.
    pub async fn health(&self) -> Result<Health, ClientError> {
        // An unhealthy hub answers with an error status.
        let url = format!("{}/api/health", self.url.as_str());
        let lost = |error: reqwest::Error| ClientError::unreachable(self.url.as_str(), error.without_url());
        let body = self.http.get(url).send().await.map_err(lost)?.bytes().await.map_err(lost)?;
        serde_json::from_slice(&body)
            .map_err(|error| ClientError::Protocol(format!("{} is not a hub: {error}", self.url.as_str())))
    }

    /// The hub's OpenAPI document.
    pub async fn openapi(&self) -> Result<serde_json::Value, ClientError> {
        let body = self.patiently(&document("/api/openapi.json"), None).await?;
        serde_json::from_slice(&body)
            .map_err(|error| ClientError::Protocol(format!("the hub's document could not be read: {error}")))
    }

    /// Watches everything that this client may see; connects on the first `next`.
    pub fn watch(&self) -> Watch {
        Watch::start(self.url.clone(), self.token.clone())
    }

    /// Watches a session's terminal; connects at once, and reconnects.
    pub fn terminal(&self, session: SessionId) -> Terminal {
        Terminal::start(self.url.clone(), self.token.clone(), session)
    }

    /// A request with the caller's credential.
    pub(crate) fn allowed(&self, request: reqwest::RequestBuilder) -> Result<reqwest::RequestBuilder, ClientError> {
        let request = match &self.token {
            Some(token) => request.bearer_auth(token.now()?),
            None => request,
        };
        Ok(if self.by_agent { request.header(protocol::BY_AGENT, "1") } else { request })
    }

    /// The error for an answer that is a refusal.
    pub(crate) fn refusal(&self, status: u16, body: &[u8]) -> ClientError {
        self.refused(status, None, body).error
    }

    fn build(hub_url: &str, token: Option<Token>) -> Result<Self, ClientError> {
        let url = HubUrl::parse(hub_url)?;
        crate::tls::choose_provider();
        let mut builder = reqwest::Client::builder()
            .tcp_nodelay(true)
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(ANSWER_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("shopfloor-client/", env!("CARGO_PKG_VERSION")));
        if url.is_loopback() {
            builder = builder.no_proxy();
        }
        let http = builder
            .build()
            .map_err(|error| ClientError::Protocol(format!("could not prepare the HTTP client: {}", chain(&error))))?;
        Ok(Self { http, url, token, by_agent: false })
    }

    async fn patiently(&self, request: &HttpRequest, key: Option<&str>) -> Result<Vec<u8>, ClientError> {
        let started = Instant::now();
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(2));
        let mut tries = 1;
        loop {
            let Failed { error, again } = match self.once(request, key).await {
                Ok(body) => return Ok(body),
                Err(failed) => failed,
            };
            let wait = match again {
                Again::Never => return Err(error),
                Again::Soon => backoff.next_wait(),
                Again::After(wait) => wait,
            };
            if tries >= TRIES || wait > LONGEST_WAIT || started.elapsed() + wait > PATIENCE {
                return Err(error);
            }
            tracing::debug!(path = request.path, ?wait, %error, "retrying");
            tokio::time::sleep(wait).await;
            tries += 1;
        }
    }

    async fn once(&self, request: &HttpRequest, key: Option<&str>) -> Result<Vec<u8>, Failed> {
        let mut builder = self.http.request(request.method.clone(), format!("{}{}", self.url.as_str(), request.path));
        builder = builder.query(&request.query);
        if let Some(token) = &self.token {
            let secret = token.now().map_err(|error| Failed { error, again: self.unless_renewed() })?;
            builder = builder.bearer_auth(secret);
        }
        if self.by_agent {
            builder = builder.header(protocol::BY_AGENT, "1");
        }
        if let Some(key) = key {
            builder = builder.header("idempotency-key", key);
        }
        if let Some(body) = &request.body {
            builder = builder.json(body);
        }
        let lost = |error: reqwest::Error| {
            // A request that cannot be sent now cannot be sent later either.
            let again = if error.is_builder() { Again::Never } else { Again::Soon };
            Failed { error: ClientError::unreachable(self.url.as_str(), error.without_url()), again }
        };
        let response = builder.send().await.map_err(lost)?;
        let status = response.status();
        let retry_after = retry_after(response.headers());
        let body = response.bytes().await.map_err(lost)?;
        if status.is_success() { Ok(body.into()) } else { Err(self.refused(status.as_u16(), retry_after, &body)) }
    }

    fn refused(&self, status: u16, retry_after: Option<u32>, body: &[u8]) -> Failed {
        let url = self.url.as_str();
        let Ok(mut problem) = serde_json::from_slice::<Problem>(body) else {
            let error = format!("{url} answered {status} without saying why: is it a Shopfloor hub?");
            return match status {
                // A proxy in front of a hub that is starting.
                502..=504 => Failed { error: ClientError::unreachable(url, error), again: Again::Soon },
                _ => Failed { error: ClientError::Protocol(error), again: Again::Never },
            };
        };
        problem.retry_after_seconds = problem.retry_after_seconds.or(retry_after);
        let wait = problem.retry_after_seconds.map(|seconds| Again::After(Duration::from_secs(seconds.into())));
        let again = match problem.kind {
            ProblemKind::RateLimited | ProblemKind::Unavailable => wait.unwrap_or(Again::Soon),
            ProblemKind::Unauthenticated => self.unless_renewed(),
            _ => Again::Never,
        };
        Failed { error: ClientError::Problem(problem), again }
    }

    /// When to retry with a refused token.
    fn unless_renewed(&self) -> Again {
        let renewed = self.token.as_ref().is_some_and(Token::is_renewed);
        if renewed { Again::After(RENEWAL) } else { Again::Never }
    }
}

struct Failed {
    error: ClientError,
    again: Again,
}

enum Again {
    Never,
    Soon,
    After(Duration),
}

fn document(path: &str) -> HttpRequest {
    HttpRequest::plain(http::Method::GET, path)
}

fn retry_after(headers: &http::HeaderMap) -> Option<u32> {
    headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
}

fn fresh_key() -> String {
    format!("{:032x}", rand::rng().random::<u128>())
}

/// The error with its causes, on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
