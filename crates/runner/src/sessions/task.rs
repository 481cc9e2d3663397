//! A task's session: its brief, its identity in the queue, and the tools to report with.

use std::path::Path;

use agents::{File, McpServer};
use domain::SessionMode;
use protocol::link::{DesiredSession, DesiredTask};

const TASK_FILE: &str = "task.json";
const BRIEF_FILE: &str = "brief.md";

/// Variables that the tools need, from the session's environment.
const TOOLS_KNOW: &[&str] = &[
    "SHOPFLOOR_HUB",
    "SHOPFLOOR_TOKEN_FILE",
    super::launch::SESSION,
    "SHOPFLOOR_PROJECT",
    "SHOPFLOOR_ACTIVITY",
    "SHOPFLOOR_TASK",
    "SHOPFLOOR_FENCE",
];

/// The agent's first prompt.
pub(super) fn prompt(desired: &DesiredSession) -> &str {
    desired.task.as_ref().map_or(&desired.prompt, |task| &task.brief)
}

/// The task for programs, and its brief as a file.
pub(super) fn files(task: &DesiredTask) -> Vec<File> {
    let file = |name: &str, text: String| File { name: name.to_owned(), text };
    let json = serde_json::to_string_pretty(task).unwrap_or_default();
    vec![file(TASK_FILE, json), file(BRIEF_FILE, task.brief.clone())]
}

/// Variables that name the task to a session's programs.
pub(super) fn variables(task: &DesiredTask, session_dir: &Path) -> Vec<(String, String)> {
    let path = |name: &str| session_dir.join(name).to_string_lossy().into_owned();
    let all = [
        ("SHOPFLOOR_TASK", task.task.to_string()),
        ("SHOPFLOOR_FENCE", task.fence.to_string()),
        ("SHOPFLOOR_TASK_FILE", path(TASK_FILE)),
        ("SHOPFLOOR_BRIEF_FILE", path(BRIEF_FILE)),
    ];
    all.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

/// Our tools, for agents that speak MCP: with a task to take part in the queue, with a screen to be handed off.
pub(super) fn servers(desired: &DesiredSession, exe: &Path) -> Vec<McpServer> {
    let tools = McpServer {
        name: "shopfloor".to_owned(),
        command: exe.to_string_lossy().into_owned(),
        args: vec!["mcp".to_owned()],
        env: Vec::new(),
        passed: TOOLS_KNOW.iter().map(|name| (*name).to_owned()).collect(),
    };
    let has_tools = desired.task.is_some() || desired.mode == SessionMode::Interactive;
    has_tools.then_some(tools).into_iter().collect()
}
