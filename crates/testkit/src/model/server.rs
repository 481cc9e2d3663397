//! The endpoint: takes requests, plays the script, remembers.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use futures_util::StreamExt;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::script::{Act, Turn};
use super::{chat, contents, messages, responses};

const FLUSH: Duration = Duration::from_millis(50);

/// A model on loopback; gone when it is dropped.
#[derive(Debug)]
pub struct Model {
    address: std::net::SocketAddr,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

/// A request that the model got.
#[derive(Debug, Clone)]
pub struct Asked {
    /// As in `/v1/responses`.
    pub path: String,
    /// With names in lower case.
    pub headers: HeaderMap,
    /// Its body; null if it had none.
    pub body: Value,
    /// Whether the script has answered it, rather than a fixed reply for things beside the conversation.
    pub scripted: bool,
}

#[derive(Debug)]
struct Shared {
    script: Mutex<VecDeque<Turn>>,
    asked: Mutex<Vec<Asked>>,
    released: Semaphore,
}

impl Model {
    /// Starts a model that plays this script, a turn for each request.
    pub async fn start(script: impl IntoIterator<Item = Turn>) -> Self {
        let script = Mutex::new(script.into_iter().collect());
        let shared = Arc::new(Shared { script, asked: Mutex::new(Vec::new()), released: Semaphore::new(0) });
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a listener has an address");
        let app = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let task = tokio::spawn(async move { axum::serve(listener, app).await.expect("a listener accepts") });
        Self { address, shared, task }
    }

    /// The base address that clients are configured with, ending in `/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The same without a path, for clients that know the rest themselves.
    pub fn root(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds turns to the script.
    pub fn then(&self, turns: impl IntoIterator<Item = Turn>) {
        lock(&self.shared.script).extend(turns);
    }

    /// Lets one held turn go on.
    pub fn release(&self) {
        self.shared.released.add_permits(1);
    }

    /// Everything that was asked so far.
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.shared.asked).clone()
    }

    /// The turns that nobody has asked for yet.
    pub fn left(&self) -> usize {
        lock(&self.shared.script).len()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nobody panics with the lock held")
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Result<Response, Infallible> {
    let (parts, body) = request.into_parts();
    let bytes = axum::body::to_bytes(body, 64 << 20).await.unwrap_or_default();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let path = parts.uri.path().to_owned();
    let kind = [
        ("/responses", responses::events as Events),
        ("/chat/completions", chat::events as Events),
        ("/messages", messages::events as Events),
        (":streamGenerateContent", contents::events as Events),
    ];
    let events = kind.into_iter().find(|(end, _)| path.ends_with(end)).map(|(_, events)| events);
    // Titles are asked for without tools or in a form; they are not what a script is about.
    let in_form = body["text"]["format"]["type"] == "json_schema";
    let with_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let scripted = events.is_some() && with_tools && !in_form;
    lock(&shared.asked).push(Asked { path: path.clone(), headers: parts.headers, body: body.clone(), scripted });
    let Some(events) = events else { return Ok(beside(&path)) };
    let number = lock(&shared.asked).len();
    let title = if in_form { "{\"title\":\"Scripted title\"}" } else { "Scripted title" };
    let turn = if scripted { lock(&shared.script).pop_front() } else { Some(Turn::say(title)) };
    let Some(turn) = turn else { return Ok(failure(500, None, "the script is over")) };
    if let Act::Refuse { status, retry_after, message } = &turn.act {
        return Ok(failure(*status, *retry_after, message));
    }
    Ok(match events(&turn, number, &body) {
        Ok(_) if turn.empty => stream(turn, Vec::new(), shared),
        Ok(events) => stream(turn, events, shared),
        Err(message) => failure(400, None, &message),
    })
}

type Events = fn(&Turn, usize, &Value) -> Result<Vec<String>, String>;

/// What clients ask beside conversations.
fn beside(path: &str) -> Response {
    if path.ends_with("/models") {
        return reply(200, None, json!({ "object": "list", "data": [], "models": [] }));
    }
    failure(404, None, "there is nothing here")
}

fn failure(status: u16, retry_after: Option<u64>, message: &str) -> Response {
    let kind = match status {
        401 | 403 => "invalid_api_key",
        429 => "rate_limit_exceeded",
        _ => "server_error",
    };
    reply(status, retry_after, json!({ "error": { "message": message, "type": kind, "code": kind } }))
}

fn reply(status: u16, retry_after: Option<u64>, body: Value) -> Response {
    let status = StatusCode::from_u16(status).expect("scripts use real statuses");
    let mut response = Response::builder().status(status).header("content-type", "application/json");
    if let Some(seconds) = retry_after {
        response = response.header("retry-after", seconds);
    }
    response.body(Body::from(body.to_string())).expect("a fixed response is valid")
}

fn stream(turn: Turn, events: Vec<String>, shared: Arc<Shared>) -> Response {
    let middle = events.len() / 2;
    let parts = futures_util::stream::iter(events.into_iter().enumerate()).then(move |(index, event)| {
        let (shared, pace, held, broken) = (Arc::clone(&shared), turn.pace, turn.held, turn.broken);
        async move {
            if pace > Duration::ZERO {
                tokio::time::sleep(pace).await;
            }
            if held && index == 1 {
                shared.released.acquire().await.expect("the model lives").forget();
            }
            if broken && index == middle {
                // What was said before gets out first: a connection that ends at once is another fault.
                tokio::time::sleep(FLUSH).await;
                return Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset));
            }
            Ok(Bytes::from(event))
        }
    });
    let response = Response::builder().header("content-type", "text/event-stream").header("cache-control", "no-cache");
    response.body(Body::from_stream(parts)).expect("a fixed response is valid")
}
