//! A hub and a runner of the real binary in folders of their own, the CLI, and plain HTTP.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{HubProcess, RunnerProcess, binary, wait_until};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// How long a command of the CLI may take before it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Fixture {
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) runner_token: String,
    hub: Option<HubProcess>,
    runner: Option<RunnerProcess>,
    http: reqwest::Client,
    // Declared last: processes end before their folder goes.
    folder: tempfile::TempDir,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Absent: by a signal.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Ended {
    pub(crate) fn said(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// What came back over HTTP.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn body(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }
}

impl Fixture {
    /// A hub on `database` (a SQLite file when absent) and its runner, whose owner's shell has these variables and these
    /// agents of their own.
    pub(crate) async fn open(database: Option<&str>, env: &[(String, String)], agents: &[(&str, String)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let data = folder.path().join("hub");
        let file = format!("sqlite:{}", data.join("shopfloor.db").display());
        let mut hub = HubProcess::spawn(&data, database.unwrap_or(&file), port);
        let url = hub.ready().await;
        let token = std::fs::read_to_string(data.join("token")).unwrap().trim().to_owned();
        let http = plain_http();
        let mut fixture = Self { url, token, runner_token: String::new(), hub: Some(hub), runner: None, http, folder };
        for name in ["home/.config/shopfloor/agents", "scratch"] {
            std::fs::create_dir_all(fixture.path(name)).unwrap();
        }
        for (name, text) in agents {
            std::fs::write(fixture.path(&format!("home/.config/shopfloor/agents/{name}.toml")), text).unwrap();
        }
        let made = fixture.post("/api/runners", json!({ "name": "here" })).await;
        fixture.runner_token = made["secret"].as_str().unwrap().to_owned();
        let mut all = vec![("HOME".to_owned(), fixture.path("home").display().to_string())];
        all.extend(env.iter().cloned());
        let (dir, secret) = (fixture.path("runner"), &fixture.runner_token);
        fixture.runner = Some(RunnerProcess::spawn_with(&dir, &fixture.url, secret, "here", &all));
        wait_until("the runner is connected", async || {
            fixture.get("/api/runners").await.as_array()?.iter().any(|one| one["connected"] == true).then_some(())
        })
        .await;
        fixture
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) async fn http(&self, method: Method, path: &str, body: Option<&Value>) -> Reply {
        self.http_in("", method, path, body).await
    }

    /// The same for a client of MCP with a session of its own.
    pub(crate) async fn http_in(&self, session: &str, method: Method, path: &str, body: Option<&Value>) -> Reply {
        let mut request = self.http.request(method, format!("{}{path}", self.url)).bearer_auth(&self.token);
        request = request.header("accept", "application/json, text/event-stream");
        if !session.is_empty() {
            request = request.header("mcp-session-id", session);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await.unwrap_or_else(|error| panic!("{path}: {error}\n{}", self.logs()));
        Reply { status: answer.status().as_u16(), text: answer.text().await.unwrap() }
    }

    /// A request with somebody else's token.
    pub(crate) async fn as_other(&self, token: &str, method: Method, path: &str, body: Option<&Value>) -> Reply {
        let mut request = self.http.request(method, format!("{}{path}", self.url)).bearer_auth(token);
        request = request.header("accept", "application/json, text/event-stream");
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await.unwrap_or_else(|error| panic!("{path}: {error}\n{}", self.logs()));
        Reply { status: answer.status().as_u16(), text: answer.text().await.unwrap() }
    }

    /// Posts what is taken; what came back.
    pub(crate) async fn post(&self, path: &str, body: Value) -> Value {
        let reply = self.http(Method::POST, path, Some(&body)).await;
        assert!((200..300).contains(&reply.status), "{path} {body}: {}", reply.text);
        reply.body()
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.http(Method::GET, path, None).await.body()
    }

    /// Runs the CLI in a folder of its own.
    pub(crate) async fn cli(&self, args: &[&str], input: &str) -> Ended {
        let mut command = Command::new(binary());
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.path("home"));
        command.env("SHOPFLOOR_HUB", &self.url).env("SHOPFLOOR_TOKEN", &self.token).args(args);
        command.current_dir(self.path("scratch")).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{args:?}: {error}"));
        // It may end without having read it.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes()).await;
        let output = tokio::time::timeout(PATIENCE, child.wait_with_output()).await;
        let output = output.unwrap_or_else(|_| panic!("{args:?} hangs")).unwrap();
        Ended { code: output.status.code(), stdout: output.stdout, stderr: output.stderr }
    }

    /// Runs a command of the CLI that works; what it printed.
    pub(crate) async fn text(&self, args: &[&str]) -> String {
        let ended = self.cli(args, "").await;
        assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.said());
        String::from_utf8_lossy(&ended.stdout).into_owned()
    }

    /// A repository with one commit, at `place`.
    pub(crate) fn repository(&self, place: &Path) {
        std::fs::create_dir_all(place).unwrap();
        std::fs::write(place.join("README.md"), "# A repository\n").unwrap();
        git(place, &["init", "-q", "-b", "main"]);
        git(place, &["add", "-A"]);
        git(place, &["commit", "-q", "-m", "base"]);
    }

    /// A project on a repository of its own.
    pub(crate) async fn project(&self, name: &str) -> Value {
        let place = self.path("repository");
        if !place.exists() {
            self.repository(&place);
        }
        self.post("/api/projects", json!({ "content": name, "repositories": [{ "location": place }] })).await
    }

    /// Waits until a session is over; how it is then.
    pub(crate) async fn ended(&self, session: &Value) -> Value {
        let path = format!("/api/sessions/{}", session["id"].as_str().unwrap());
        wait_until("the session is over", async || {
            let found = self.get(&path).await;
            matches!(found["session"]["state"]["status"].as_str(), Some("exited" | "lost")).then_some(found)
        })
        .await
    }

    /// Whatever hub and runner have logged.
    pub(crate) fn logs(&self) -> String {
        let hub = self.hub.as_ref().map(HubProcess::log_text).unwrap_or_default();
        hub + &self.runner.as_ref().map(RunnerProcess::log_text).unwrap_or_default()
    }

    /// Kills both without warning, and ends the sessions that are left.
    pub(crate) async fn close(&mut self) {
        if let Some(runner) = self.runner.take() {
            runner.kill().await;
        }
        if let Some(hub) = self.hub.take() {
            hub.kill().await;
        }
        self.end_hosts();
    }

    /// The processes that hold sessions.
    pub(crate) fn hosts(&self) -> Vec<u32> {
        let folders = ["runner/sessions", "his/sessions"].map(|name| std::fs::read_dir(self.path(name)));
        let folders = folders.into_iter().flatten().flatten().flatten();
        let notes = folders.filter_map(|session| std::fs::read_to_string(session.path().join("host.pid")).ok());
        // Only what is still one of ours: a number may belong to somebody else by now.
        let ours = |pid: &u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(&*self.folder.path().to_string_lossy())
        };
        notes.filter_map(|pid| pid.trim().parse::<u32>().ok()).filter(ours).collect()
    }

    fn end_hosts(&self) {
        for pid in self.hosts() {
            // It may have ended meanwhile.
            let _ = std::process::Command::new("kill").arg(pid.to_string()).stderr(Stdio::null()).status();
        }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.end_hosts();
    }
}

/// A client of HTTP alone.
pub(crate) fn plain_http() -> reqwest::Client {
    // Nothing here needs TLS, but no client is made before somebody has said how it is done: ours does.
    client::Client::new("http://127.0.0.1:9", "").unwrap();
    reqwest::Client::new()
}

pub(crate) fn git(place: &Path, args: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    let done = std::process::Command::new("git").args(identity).args(args).current_dir(place).output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}
