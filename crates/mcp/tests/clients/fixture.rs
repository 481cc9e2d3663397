//! A real hub with a project, and other people's clients.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use client::Client;
use protocol::{Call, Project, ProjectCreate, TaskAdd, TaskDetail, TaskFilter, TaskLine, TasksAdd};
use serde_json::Value;
use testkit::HubProcess;
use tokio::process::Command;

pub(crate) struct Fixture {
    folder: tempfile::TempDir,
    _hub: HubProcess,
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) ann: Client,
    pub(crate) project: Project,
}

impl Fixture {
    pub(crate) async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let data = folder.path().join("hub");
        let database = format!("sqlite:{}", data.join("shopfloor.db").display());
        let mut hub = HubProcess::spawn(&data, &database, port);
        let url = hub.ready().await;
        let token = std::fs::read_to_string(data.join("token")).unwrap().trim().to_owned();
        let ann = Client::new(&url, &token).unwrap();
        let project = create(&ann, "Parser").await;
        Self { folder, _hub: hub, url, token, ann, project }
    }

    /// A folder for the clients' files.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) async fn add(&self, description: &str) -> TaskLine {
        let input = TasksAdd { tasks: vec![TaskAdd { description: description.into(), ..empty() }] };
        let call = Call::TaskAdd { project: self.project.id, input };
        let added: protocol::AddedTasks = self.ann.ask(call).await.unwrap();
        added.tasks.into_iter().next().unwrap()
    }

    pub(crate) async fn tasks(&self) -> Vec<TaskLine> {
        let filter = TaskFilter { project: Some(self.project.id), ..TaskFilter::default() };
        self.ann.ask(Call::TaskList { filter }).await.unwrap()
    }

    pub(crate) async fn show(&self, line: &TaskLine) -> TaskDetail {
        self.ann.ask(Call::TaskShow { task: line.id }).await.unwrap()
    }

    /// Calls with the Inspector over HTTP. Each call is a new connection; the session makes them one agent.
    pub(crate) async fn over_http(&self, token: &str, method: &[&str]) -> Result<Value, String> {
        let (url, header) = (format!("{}/mcp", self.url), format!("Authorization: Bearer {token}"));
        let session = "Mcp-Session-Id: inspector";
        let args = ["--cli", &url, "--transport", "http", "--header", &header, "--header", session];
        inspect(&[&args, method].concat()).await
    }

    /// Calls with the Inspector, which starts `shopfloor mcp` for each call.
    pub(crate) async fn over_stdio(&self, method: &[&str]) -> Result<Value, String> {
        let program = testkit::binary().display().to_string();
        let env = [format!("SHOPFLOOR_HUB={}", self.url), format!("SHOPFLOOR_TOKEN={}", self.token)];
        let args = ["--cli", "-e", &env[0], "-e", &env[1], &program, "mcp"];
        inspect(&[&args, method].concat()).await
    }
}

pub(crate) async fn create(client: &Client, name: &str) -> Project {
    let input: ProjectCreate = serde_json::from_value(serde_json::json!({ "content": name })).unwrap();
    client.ask(Call::ProjectCreate { input }).await.unwrap()
}

fn empty() -> TaskAdd {
    serde_json::from_value(serde_json::json!({ "description": "" })).unwrap()
}

/// Where `scripts/tools` puts the clients.
pub(crate) fn clients() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/mcp");
    assert!(folder.join("node_modules").exists(), "the MCP clients are missing: run scripts/tools");
    folder.canonicalize().unwrap()
}

async fn inspect(args: &[&str]) -> Result<Value, String> {
    let mut command = Command::new("node");
    command.arg(clients().join("node_modules/@modelcontextprotocol/inspector-cli/build/cli.js")).args(args);
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        return Err(format!("{out}{err}"));
    }
    serde_json::from_str(&out).map_err(|error| format!("{error} in {out}{err}"))
}

/// The names of the tools in a list.
pub(crate) fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// Every promised tool.
pub(crate) const TOOLS: [&str; 23] = [
    "list_tasks",
    "take_task",
    "heartbeat",
    "report",
    "review_reply",
    "ask",
    "escalate",
    "chat_send",
    "chat_read",
    "search",
    "artifact_put",
    "artifact_get",
    "artifact_list",
    "activity_update",
    "who_is_doing_what",
    "overlaps",
    "reserve",
    "release",
    "add_tasks",
    "merge_request",
    "edit_task",
    "handoff_write",
    "handoff_ack",
];
