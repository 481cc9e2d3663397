//! A session host's input and results.

use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::limit::Limit;
use crate::masks::Masks;

/// Everything a session host needs to know; `<dir>/spec.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Program and arguments, exactly as the child gets them.
    pub argv: Vec<String>,
    /// Where the child starts.
    pub cwd: PathBuf,
    /// The complete environment of the child: nothing is inherited.
    #[serde(default)]
    pub env: Vec<(String, String)>,
    /// Width of the screen at the start.
    #[serde(default = "default_cols")]
    pub cols: u16,
    /// Height of the screen at the start.
    #[serde(default = "default_rows")]
    pub rows: u16,
    /// Lines that the virtual screen keeps above the visible ones.
    #[serde(default = "default_scrollback")]
    pub scrollback: usize,
    /// Secret values that must not appear in the stream, the screen or the recording.
    #[serde(default)]
    pub masks: Vec<String>,
    /// Whether to record the owner's input.
    #[serde(default)]
    pub record_input: bool,
    /// Standard input of a child that does not read from the terminal.
    #[serde(default)]
    pub stdin_file: Option<PathBuf>,
    /// How many bytes the recording may take on disk.
    #[serde(default = "default_recording_limit")]
    pub recording_limit: u64,
    /// Title of the recording.
    #[serde(default)]
    pub title: String,
    /// How long processes may take to end before they are killed.
    #[serde(default = "default_stop_grace_ms")]
    pub stop_grace_ms: u64,
    /// When it ends by itself, unless the host gets another time.
    #[serde(default)]
    pub until: Option<Limit>,
    /// How much to lower the child's priority below the host's, from 0 to 19.
    #[serde(default)]
    pub nice: u8,
    /// Limits for all processes of the session together.
    #[serde(default)]
    pub limits: Limits,
}

/// Limits for all processes of a session together; a session above one is killed. Checked once a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of private memory: mapped files do not count.
    #[serde(default)]
    pub memory: Option<u64>,
    /// How many there may be at once.
    #[serde(default)]
    pub processes: Option<u32>,
    /// Seconds of processor time, including exited processes.
    #[serde(default)]
    pub cpu_seconds: Option<u64>,
}

fn default_cols() -> u16 {
    120
}

fn default_rows() -> u16 {
    32
}

fn default_scrollback() -> usize {
    1000
}

fn default_recording_limit() -> u64 {
    256 << 20
}

fn default_stop_grace_ms() -> u64 {
    5000
}

impl Spec {
    /// A specification with defaults for everything but the program and where it starts.
    pub fn new(argv: Vec<String>, cwd: impl Into<PathBuf>) -> Spec {
        Spec {
            argv,
            cwd: cwd.into(),
            env: Vec::new(),
            cols: default_cols(),
            rows: default_rows(),
            scrollback: default_scrollback(),
            masks: Vec::new(),
            record_input: false,
            stdin_file: None,
            recording_limit: default_recording_limit(),
            title: String::new(),
            stop_grace_ms: default_stop_grace_ms(),
            until: None,
            nice: 0,
            limits: Limits::default(),
        }
    }

    /// Reads `<dir>/spec.json`.
    pub fn read(dir: &Path) -> io::Result<Spec> {
        Ok(serde_json::from_slice(&std::fs::read(Files::new(dir).spec())?)?)
    }

    /// Writes `<dir>/spec.json`, readable by its owner only.
    pub fn write(&self, dir: &Path) -> io::Result<()> {
        replace_file(&Files::new(dir).spec(), &serde_json::to_vec_pretty(self)?)
    }

    /// The same without secrets: what stays on disk once the host has read it.
    pub(crate) fn without_secrets(&self) -> Spec {
        let env = self.env.iter().map(|(name, _)| (name.clone(), String::new())).collect();
        let masks = Masks::new(&self.masks);
        let argv = self.argv.iter().map(|arg| masks.masked(arg)).collect();
        Spec { env, argv, title: masks.masked(&self.title), masks: Vec::new(), ..self.clone() }
    }
}

/// How a session ended; `<dir>/exit.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// Exit code of the child, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended the child.
    pub signal: Option<i32>,
    /// How many bytes of output there were.
    pub offset: u64,
    /// When it ended.
    pub at: String,
    /// Whether its host ended it because its time was up.
    #[serde(default)]
    pub overdue: bool,
    /// Which limit it exceeded, for people, if its host killed it for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
}

impl Exit {
    /// Reads `<dir>/exit.json`; `None` while the session has not ended.
    pub fn read(dir: &Path) -> io::Result<Option<Exit>> {
        read_json(&Files::new(dir).exit())
    }
}

/// The final screen of a session; `<dir>/screen.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalScreen {
    /// How many bytes of output led to it.
    pub offset: u64,
    /// Its width.
    pub cols: u16,
    /// Its height.
    pub rows: u16,
    /// The title that the program had set.
    pub title: String,
    /// What paints it on a terminal of that size.
    pub bytes: String,
    /// What can be read on it.
    pub text: String,
}

impl FinalScreen {
    /// Reads `<dir>/screen.json`; `None` while the session has not ended.
    pub fn read(dir: &Path) -> io::Result<Option<FinalScreen>> {
        read_json(&Files::new(dir).screen())
    }
}

/// The paths in the directory of a session.
#[derive(Debug, Clone)]
pub struct Files {
    dir: PathBuf,
}

impl Files {
    /// The files of the session in this directory.
    pub fn new(dir: &Path) -> Files {
        Files { dir: dir.to_owned() }
    }

    /// The host's input.
    pub fn spec(&self) -> PathBuf {
        self.dir.join("spec.json")
    }

    /// The socket on which the host listens.
    pub fn socket(&self) -> PathBuf {
        self.dir.join("host.sock")
    }

    /// The process id of the host; locked while it lives.
    pub fn pid(&self) -> PathBuf {
        self.dir.join("host.pid")
    }

    /// The host's own log.
    pub fn log(&self) -> PathBuf {
        self.dir.join("host.log")
    }

    /// How the session ended.
    pub fn exit(&self) -> PathBuf {
        self.dir.join("exit.json")
    }

    /// The final screen.
    pub fn screen(&self) -> PathBuf {
        self.dir.join("screen.json")
    }

    /// The recording.
    pub fn recording(&self) -> PathBuf {
        self.dir.join("recording")
    }
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes a file atomically, also across a power cut.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        // Delete the partial file: it is useless and takes space.
        let _ = std::fs::remove_file(&new);
    }
    written?;
    std::fs::rename(&new, path)?;
    if let Some(dir) = path.parent() {
        std::fs::File::open(dir)?.sync_all()?;
    }
    Ok(())
}
