//! Setup and teardown: people's shell commands, run in the workspace with an allow-listed environment.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use domain::WorkspaceId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::layout::write;
use crate::log::Log;
use crate::ports::PortRange;
use crate::process::Process;
use crate::{Error, Result, Worktrees};

/// The runner's variables that a shell command gets.
const ALLOWED: &[&str] = &["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"];

/// A project's shell command, to run in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The command, as its author wrote it.
    pub line: String,
    /// How long it may take.
    pub timeout: Duration,
    /// Ports that the workspace may listen on.
    pub ports: Option<PortRange>,
    /// More variables; only names that start with `SHOPFLOOR_` are passed on.
    pub env: Vec<(String, String)>,
    /// The command that runs a shell in a sandbox; absent: without one.
    pub contained: Option<Vec<String>>,
}

impl Script {
    /// A command with half an hour of time.
    pub fn new(line: impl std::convert::Into<String>) -> Self {
        Self { line: line.into(), timeout: Duration::from_secs(1800), ports: None, env: vec![], contained: None }
    }

    /// The program and the arguments that run the shell without a sandbox.
    pub fn argv(&self) -> Vec<String> {
        // People wrote a shell command, so a shell reads it. Nothing else is ever put into it.
        vec!["/bin/sh".to_owned(), "-c".to_owned(), self.line.clone()]
    }
}

/// Variables with a workspace's ports: `SHOPFLOOR_PORT_FIRST`, `SHOPFLOOR_PORT_LAST`, `PORT`.
pub fn port_variables(ports: PortRange) -> Vec<(String, String)> {
    vec![
        ("SHOPFLOOR_PORT_FIRST".into(), ports.first.to_string()),
        ("SHOPFLOOR_PORT_LAST".into(), ports.last.to_string()),
        ("PORT".into(), ports.first.to_string()),
    ]
}

/// How a shell command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// Its exit code; absent when a signal ended it.
    pub code: Option<i32>,
    /// Where its output is.
    pub log: PathBuf,
}

/// Stores that a setup succeeded, so that it is not repeated after a kill.
#[derive(Debug, Serialize, Deserialize)]
struct Done {
    line: String,
}

/// A variable that only a workspace's shell commands get: leftovers of an abandoned one are found by it.
pub fn script_variable(id: WorkspaceId) -> (&'static str, String) {
    ("SHOPFLOOR_SCRIPT_IN", id.to_string())
}

fn digest(script: &Script) -> String {
    hex::encode(Sha256::digest(script.line.as_bytes()))
}

impl Worktrees {
    /// Runs the setup of a workspace; a command that has succeeded there is not run again. Whatever an earlier runner
    /// started must have ended before, see [`script_variable`].
    pub async fn setup(&self, id: WorkspaceId, script: &Script) -> Result<Ran> {
        if self.is_set_up(id, script) {
            return Ok(Ran { code: Some(0), log: self.setup_log(id) });
        }
        let ran = self.run_script(id, "setup", script).await?;
        let done = Done { line: digest(script) };
        write(&self.set_up_mark(id), &serde_json::to_vec(&done).unwrap_or_default())?;
        Ok(ran)
    }

    /// Whether this command has succeeded in a workspace.
    pub fn is_set_up(&self, id: WorkspaceId, script: &Script) -> bool {
        let done = std::fs::read(self.set_up_mark(id)).ok();
        let done: Option<Done> = done.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        done.is_some_and(|done| done.line == digest(script))
    }

    /// The output of a workspace's last setup so far.
    pub fn setup_log(&self, id: WorkspaceId) -> PathBuf {
        self.layout().home(id).log("setup")
    }

    /// The same for the teardown, which is deleted with it.
    pub fn teardown_log(&self, id: WorkspaceId) -> PathBuf {
        self.layout().home(id).log("teardown")
    }

    fn set_up_mark(&self, id: WorkspaceId) -> PathBuf {
        self.layout().home(id).0.join("setup.json")
    }

    /// Runs the teardown. What it changes is saved like everything else.
    pub async fn teardown(&self, id: WorkspaceId, script: &Script) -> Result<Ran> {
        self.run_script(id, "teardown", script).await
    }

    async fn run_script(&self, id: WorkspaceId, name: &'static str, script: &Script) -> Result<Ran> {
        let workspace = self.find(id).await?;
        let log = self.layout().home(id).log(name);
        let mut env: Vec<(OsString, OsString)> =
            ALLOWED.iter().filter_map(|key| Some(((*key).into(), std::env::var_os(key)?))).collect();
        let mut more = script.env.clone();
        more.retain(|(key, _)| key.starts_with("SHOPFLOOR_"));
        more.extend(script.ports.map(port_variables).unwrap_or_default());
        more.push(("SHOPFLOOR_WORKSPACE".into(), id.to_string()));
        more.push(("SHOPFLOOR_WORKSPACE_PATH".into(), workspace.path.to_string_lossy().into_owned()));
        more.extend(workspace.facts.branch.map(|branch| ("SHOPFLOOR_BRANCH".into(), branch.to_string())));
        let (name, value) = script_variable(id);
        more.push((name.to_owned(), value));
        env.extend(more.into_iter().map(|(key, value)| (key.into(), value.into())));
        let mut argv = script.contained.clone().unwrap_or_else(|| script.argv()).into_iter().map(OsString::from);
        let process = Process {
            what: name.to_owned(),
            program: argv.next().unwrap_or_default(),
            args: argv.collect(),
            env,
            cwd: workspace.path,
            timeout: script.timeout,
            limit: 0,
            cut: false,
        };
        let status = process.run_into(&Log::begin(&log)?).await?;
        if status.success() {
            return Ok(Ran { code: status.code(), log });
        }
        let line = crate::error::printable(&script.line);
        Err(Error::Script { line, status: status.to_string(), log })
    }
}
