//! Configuration in a workspace that agents, editors or git would execute: listed and hashed, for a person's approval.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use domain::WorkspaceId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::beneath::{Found, Root, read_all};
use crate::create::blocking;
use crate::{Result, Worktrees};

const LARGEST: u64 = 4 << 20;
const MOST: usize = 20_000;
/// How much content to show in total; a file is shown completely or not at all.
const SHOWN: usize = 64 * 1024;
/// How much to read for that.
const READ: usize = 16 * SHOWN;

/// Which program would execute it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfigKind {
    /// Settings of an agent, which can name hooks and commands.
    Agent,
    /// Servers that an agent would start.
    McpServers,
    /// Tasks that an editor would run.
    Editor,
    /// Variables and commands that a shell would load.
    Shell,
    /// Hooks that git would run once somebody points it at them.
    GitHooks,
}

/// One file that would be executed, or names what is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutableConfig {
    /// Where it is in the workspace.
    pub path: String,
    /// Which program would execute it.
    pub kind: ConfigKind,
    /// The hash of its content, or of a link's target.
    pub sha256: String,
    /// How many bytes it has.
    #[serde(skip)]
    pub size: usize,
    /// Its content for the person; absent if it is not text, or too long to show.
    #[serde(skip)]
    pub text: Option<String>,
}

/// All of them, with one hash that changes with any of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigSet {
    /// The files, in order of their paths.
    pub files: Vec<ExecutableConfig>,
    /// The hash that a person approves: path, kind and content of every file.
    pub sha256: String,
    /// Whether there were too many to list; then nothing can be approved.
    pub truncated: bool,
}

/// Files and folders by name; a folder stands for its content.
const KNOWN: &[(&str, ConfigKind)] = &[
    (".claude/settings.json", ConfigKind::Agent),
    (".claude/settings.local.json", ConfigKind::Agent),
    (".claude/hooks", ConfigKind::Agent),
    (".claude/commands", ConfigKind::Agent),
    (".claude/agents", ConfigKind::Agent),
    (".claude/skills", ConfigKind::Agent),
    (".claude/plugins", ConfigKind::Agent),
    (".claude-plugin", ConfigKind::Agent),
    (".codex", ConfigKind::Agent),
    ("opencode.json", ConfigKind::Agent),
    ("opencode.jsonc", ConfigKind::Agent),
    (".opencode", ConfigKind::Agent),
    (".gemini/settings.json", ConfigKind::Agent),
    (".gemini/extensions", ConfigKind::Agent),
    (".gemini/commands", ConfigKind::Agent),
    (".gemini/.env", ConfigKind::Shell),
    (".mcp.json", ConfigKind::McpServers),
    (".cursor/mcp.json", ConfigKind::McpServers),
    (".cursor/hooks.json", ConfigKind::Agent),
    (".vscode/mcp.json", ConfigKind::McpServers),
    (".vscode/tasks.json", ConfigKind::Editor),
    (".vscode/settings.json", ConfigKind::Editor),
    (".vscode/launch.json", ConfigKind::Editor),
    (".envrc", ConfigKind::Shell),
    (".mise.toml", ConfigKind::Shell),
    ("mise.toml", ConfigKind::Shell),
    (".githooks", ConfigKind::GitHooks),
    (".husky", ConfigKind::GitHooks),
    (".pre-commit-config.yaml", ConfigKind::GitHooks),
    ("lefthook.yml", ConfigKind::GitHooks),
];

impl Worktrees {
    /// The files in a workspace that agents, editors or git would execute, besides the code itself.
    pub async fn executable_config(&self, id: WorkspaceId) -> Result<ConfigSet> {
        let tree = self.find(id).await?.path;
        blocking(move || {
            let root = Root::open(&tree)?;
            let mut set = ConfigSet::default();
            for (path, kind) in KNOWN {
                let path = Path::new(path);
                // A link on the way hides what an agent would find behind it.
                let way = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                let path = way.filter(|way| matches!(root.look(way), Ok(Found::Link(_)))).unwrap_or(path);
                collect(&root, path, *kind, 0, &mut set);
            }
            set.files.sort_by(|a, b| a.path.cmp(&b.path));
            set.files.dedup_by(|a, b| a.path == b.path);
            show_short_ones(&mut set.files);
            let mut hash = Sha256::new();
            for file in &set.files {
                hash.update(serde_json::to_vec(file).unwrap_or_default());
                hash.update([0]);
            }
            set.sha256 = hex::encode(hash.finalize());
            Ok(set)
        })
        .await
    }
}

/// Keeps the texts of as many files as possible, shortest first, so that long files cannot hide short ones.
fn show_short_ones(files: &mut [ExecutableConfig]) {
    let mut shortest: Vec<&mut ExecutableConfig> = files.iter_mut().collect();
    shortest.sort_by_key(|file| file.size);
    let mut room = SHOWN;
    for file in shortest {
        match room.checked_sub(file.size).filter(|_| file.text.is_some()) {
            Some(left) => room = left,
            None => file.text = None,
        }
    }
}

fn collect(root: &Root, path: &Path, kind: ConfigKind, depth: usize, set: &mut ConfigSet) {
    if set.files.len() >= MOST {
        set.truncated = true;
        return;
    }
    let mut add = |content: &[u8], what: &str| {
        let mut hash = Sha256::new();
        hash.update(what.as_bytes());
        hash.update(content);
        let path = path.to_string_lossy().into_owned();
        let before: usize = set.files.iter().filter_map(|file| file.text.as_ref()).map(String::len).sum();
        let fits = content.len() <= SHOWN && before + content.len() <= READ;
        let text = fits.then(|| String::from_utf8(content.to_vec()).ok()).flatten();
        let sha256 = hex::encode(hash.finalize());
        set.files.push(ExecutableConfig { path, kind, sha256, size: content.len(), text });
    };
    match root.look(path) {
        Ok(Found::File { file, .. }) => match read_all(file, LARGEST) {
            Ok(Some(bytes)) => add(&bytes, ""),
            // An unreadable file cannot be approved: it gets a unique hash.
            _ => set.truncated = true,
        },
        // An agent would follow it, and its target may change unnoticed.
        Ok(Found::Link(target)) => {
            add(&target, "link:");
            set.truncated = true;
        }
        Ok(Found::Folder) if depth < 8 => {
            let entries = root.folder(path).and_then(|folder| folder.entries());
            for (name, _) in entries.unwrap_or_default() {
                let name = OsStr::from_bytes(&name);
                collect(root, &path.join(name), kind, depth + 1, set);
            }
        }
        Ok(Found::Folder) => set.truncated = true,
        Ok(Found::Special | Found::Nothing) => {}
        Err(_) => set.truncated = true,
    }
}
