//! Finds the agents that are installed on this machine.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::Command;

use crate::adapter::Adapter;
use crate::adapters::Adapters;
use crate::environment::environment;
use crate::secrets::Secrets;
use crate::text;

/// An adapter, and whether its program is installed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct FoundAgent {
    /// The adapter's name.
    pub name: String,
    /// Its label for people.
    pub label: String,
    /// Where the program is; `None` if it is missing.
    pub path: Option<PathBuf>,
    /// Its version, if it prints one in time.
    pub version: Option<String>,
    /// The command that installs it, if it is missing.
    pub install: Option<String>,
    /// Needs no program of its own: it runs a given command.
    pub any: bool,
}

/// How long a program may take to print its version.
const PATIENCE: Duration = Duration::from_secs(5);
const VERSION_LIMIT: usize = 64;
/// How much of its output to read.
const SAID_LIMIT: u64 = 64 << 10;

impl Adapters {
    /// Which agents are installed, by the `PATH` of the person's environment; does not run them.
    pub fn here(&self, person: &BTreeMap<String, String>) -> Vec<FoundAgent> {
        self.iter().map(|adapter| here(adapter, person)).collect()
    }

    /// The same with their versions, queried concurrently.
    pub async fn find(&self, person: &BTreeMap<String, String>) -> Vec<FoundAgent> {
        let mut tasks = Vec::new();
        for adapter in self.iter() {
            let (adapter, person) = (adapter.clone(), person.clone());
            tasks.push(tokio::spawn(async move { find(&adapter, &person).await }));
        }
        let mut found = Vec::new();
        for task in tasks {
            found.extend(task.await.ok());
        }
        found
    }
}

async fn find(adapter: &Adapter, person: &BTreeMap<String, String>) -> FoundAgent {
    let found = here(adapter, person);
    let version = match &found.path {
        Some(path) if !adapter.version.is_empty() => version(adapter, path, person).await,
        _ => None,
    };
    FoundAgent { version, ..found }
}

fn here(adapter: &Adapter, person: &BTreeMap<String, String>) -> FoundAgent {
    let program = adapter.program();
    let path = program.as_deref().and_then(|program| look_up(program, person.get("PATH")?));
    let missing = program.is_some() && path.is_none() && !adapter.install.is_empty();
    FoundAgent {
        name: adapter.name.to_string(),
        label: adapter.label.clone(),
        version: None,
        install: missing.then(|| adapter.install.clone()),
        any: program.is_none(),
        path,
    }
}

/// The program in the absolute folders of `path`: a relative one would let a workspace decide what we run.
pub(crate) fn look_up(program: &str, path: &str) -> Option<PathBuf> {
    let is_program =
        |file: &PathBuf| file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|file| file.is_absolute() && is_program(file));
    }
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(is_program)
}

async fn version(adapter: &Adapter, path: &Path, person: &BTreeMap<String, String>) -> Option<String> {
    let mut command = Command::new(path);
    let environment = environment(adapter, person);
    command.args(&adapter.version).env_clear().envs(environment.clone()).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let asked = async {
        let mut child = command.spawn().ok()?;
        let mut said = Vec::new();
        child.stdout.take()?.take(SAID_LIMIT).read_to_end(&mut said).await.ok()?;
        child.wait().await.ok()?.success().then_some(said)
    };
    let said = tokio::time::timeout(PATIENCE, asked).await.ok()??;
    let text = text::uncoloured(&String::from_utf8_lossy(&said));
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    // Before cutting: half a secret is a secret, too.
    let masked = Secrets::of(environment.into_iter()).masked_text(line);
    Some(text::line(&masked, VERSION_LIMIT))
}
