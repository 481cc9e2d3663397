//! Finds the agent's own log of a conversation, for token usage.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use crate::adapter::{Adapter, Log};
use crate::json;
use crate::sandbox::private;

const DEPTH: usize = 5;
/// Newer agents write some lines about themselves before the one that names the workspace.
const HEAD_LINES: usize = 32;
const HEAD_BYTES: u64 = 1 << 20;

/// The newest log that the agent began in `workspace` after `since`; `None` if there is none yet, or the adapter has no
/// logs. Reads folders: not for an async thread.
pub fn find_log(
    adapter: &Adapter,
    env: &BTreeMap<String, String>,
    workspace: &Path,
    since: SystemTime,
) -> Option<PathBuf> {
    newest(adapter, &folder(adapter, env)?, workspace, since)
}

/// The same for a session in a sandbox, whose logs are below its `state_dir`.
pub fn find_log_in_sandbox(
    adapter: &Adapter,
    env: &BTreeMap<String, String>,
    state_dir: &Path,
    workspace: &Path,
    since: SystemTime,
) -> Option<PathBuf> {
    let folder = folder(adapter, env)?;
    let states = adapter.state_folders(env);
    let inside =
        |(index, state): (usize, &PathBuf)| Some(private(state_dir, index).join(folder.strip_prefix(state).ok()?));
    newest(adapter, &states.iter().enumerate().find_map(inside)?, workspace, since)
}

fn folder(adapter: &Adapter, env: &BTreeMap<String, String>) -> Option<PathBuf> {
    adapter.log.as_ref()?.folders.iter().find_map(|folder| expand(folder, env))
}

fn newest(adapter: &Adapter, folder: &Path, workspace: &Path, since: SystemTime) -> Option<PathBuf> {
    let log = adapter.log.as_ref()?;
    let mut found = Vec::new();
    collect(folder, &log.suffix, since, DEPTH, &mut found);
    found.sort();
    found.into_iter().rev().map(|(_, path)| path).find(|path| belongs(log, path, workspace))
}

/// A path that begins with `~/` or `$NAME/`; `None` if that is unknown.
pub(crate) fn expand(path: &str, env: &BTreeMap<String, String>) -> Option<PathBuf> {
    let (root, rest) = path.split_once('/').unwrap_or((path, ""));
    let root = match root.strip_prefix('$') {
        Some(name) => env.get(name)?,
        None if root == "~" => env.get("HOME")?,
        None => return Some(PathBuf::from(path)),
    };
    (!root.is_empty()).then(|| if rest.is_empty() { PathBuf::from(root) } else { Path::new(root).join(rest) })
}

fn collect(folder: &Path, suffix: &str, since: SystemTime, depth: usize, found: &mut Vec<(SystemTime, PathBuf)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 {
            collect(&entry.path(), suffix, since, depth - 1, found);
        } else if kind.is_file() && entry.file_name().to_string_lossy().ends_with(suffix) {
            let changed = entry.metadata().and_then(|metadata| metadata.modified());
            found.extend(changed.ok().filter(|changed| *changed >= since).map(|changed| (changed, entry.path())));
        }
    }
}

fn belongs(log: &Log, path: &Path, workspace: &Path) -> bool {
    let Ok(file) = std::fs::File::open(path) else { return false };
    let lines = BufReader::new(file.take(HEAD_BYTES)).lines().take(HEAD_LINES).map_while(Result::ok);
    let mut lines = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
    lines.any(|line| {
        let named = json::at(&line, &log.workspace).and_then(Value::as_str);
        json::holds(&log.when, &line) && named.is_some_and(|named| Path::new(named) == workspace)
    })
}
