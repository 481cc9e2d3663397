//! Probes a sandbox from inside: isolation is tested, not assumed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{PATIENCE, SandboxError, SandboxSpec, sandbox};
use crate::adapters::Adapters;
use crate::lines::{COMMAND, PROBE};

/// Time limit of a connection on this machine.
const DIAL: Duration = Duration::from_secs(3);

/// What to try from inside.
#[derive(Debug, Clone, Default)]
pub struct Tries {
    /// Folders to create a file in.
    pub write: Vec<PathBuf>,
    /// Folders and files to read.
    pub look: Vec<PathBuf>,
}

/// What a process in a sandbox reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// The folders in which it created the file; it is deleted again.
    pub wrote: Vec<PathBuf>,
    /// Those that look the same inside and outside.
    pub saw: Vec<PathBuf>,
    /// Whether it reached a port of this machine.
    pub network: bool,
    /// Whether it could write in its own workspace.
    pub workspace: bool,
}

/// The probe's input.
#[derive(Debug, Serialize, Deserialize)]
struct Questions {
    workspace: PathBuf,
    mark: String,
    write: Vec<PathBuf>,
    look: Vec<(PathBuf, u64, u64)>,
    dial: SocketAddr,
}

/// Its answer, in one line.
#[derive(Debug, Serialize, Deserialize)]
struct Answers {
    saw: Vec<PathBuf>,
    network: bool,
    workspace: bool,
}

/// Runs a probe in a sandbox and returns what it reached.
pub async fn sandbox_reach(
    person: &BTreeMap<String, String>,
    spec: &SandboxSpec,
    tries: &Tries,
) -> Result<Reach, SandboxError> {
    let failed = |why: String| SandboxError::Forbidden(crate::text::line(&why, 200));
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|error| failed(error.to_string()))?;
    let dial = listener.local_addr().map_err(|error| failed(error.to_string()))?;
    let here = |path: &PathBuf| std::fs::metadata(path).ok().map(|found| (path.clone(), found.dev(), found.ino()));
    let questions = Questions {
        workspace: spec.workspace.clone(),
        mark: format!(".shopfloor-probe-{}", uuid::Uuid::now_v7().simple()),
        write: tries.write.clone(),
        look: tries.look.iter().filter_map(here).collect(),
        dial,
    };
    let asked = serde_json::to_string(&questions).map_err(|error| failed(error.to_string()))?;
    let adapters = Adapters::built_in();
    let adapter = adapters.get("command").ok_or_else(|| failed("there is no adapter for commands".to_owned()))?;
    let exe = spec.exe.to_string_lossy().into_owned();
    let inner = [exe, COMMAND.to_owned(), PROBE.to_owned(), asked];
    let argv = sandbox(adapter, &inner, person, spec)?;
    let mut command = tokio::process::Command::new(&argv[0]);
    command.args(&argv[1..]).stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output()).await;
    let output = output.map_err(|_| failed("it does not answer".to_owned()))?;
    let output = output.map_err(|error| failed(error.to_string()))?;
    let wrote = questions.write.iter().filter(|folder| left(folder, &questions.mark)).cloned().collect();
    let answers: Answers = serde_json::from_slice(&output.stdout)
        .map_err(|_| failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))?;
    let workspace = answers.workspace && left(&spec.workspace, &questions.mark);
    Ok(Reach { wrote, saw: answers.saw, network: answers.network, workspace })
}

/// Whether the probe's file exists outside, too; deletes it.
fn left(folder: &Path, mark: &str) -> bool {
    std::fs::remove_file(folder.join(mark)).is_ok()
}

/// The probe itself, inside; returns an exit code.
pub(crate) fn main(asked: Option<String>) -> i32 {
    let Some(questions) = asked.and_then(|asked| serde_json::from_str::<Questions>(&asked).ok()) else { return 64 };
    let mark = |folder: &Path| File::create_new(folder.join(&questions.mark)).is_ok();
    for folder in &questions.write {
        mark(folder);
    }
    let same = |(path, dev, ino): &(PathBuf, u64, u64)| {
        std::fs::metadata(path).is_ok_and(|found| (found.dev(), found.ino()) == (*dev, *ino))
    };
    let answers = Answers {
        saw: questions.look.iter().filter(|looked| same(looked)).map(|(path, ..)| path.clone()).collect(),
        network: TcpStream::connect_timeout(&questions.dial, DIAL).is_ok(),
        workspace: mark(&questions.workspace),
    };
    let told = serde_json::to_string(&answers).unwrap_or_default();
    i32::from(std::io::stdout().write_all(told.as_bytes()).is_err())
}
