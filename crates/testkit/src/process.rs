//! The real binary as a child process, which never outlives its test.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

/// What the hub prints when it answers.
const READY: &str = "shopfloor is up: ";

/// A hub in a process of its own; killed when it is dropped.
#[derive(Debug)]
pub struct HubProcess {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    log: PathBuf,
}

impl HubProcess {
    /// Starts a hub on loopback; its log goes to `hub.log` in `data_dir`.
    pub fn spawn(data_dir: &Path, database: &str, port: u16) -> Self {
        Self::spawn_with(data_dir, database, port, &[])
    }

    /// The same with further arguments.
    pub fn spawn_with(data_dir: &Path, database: &str, port: u16, more: &[String]) -> Self {
        Self::spawn_armed(data_dir, database, port, more, None)
    }

    /// The same; it dies at a failpoint, as `store.begun:3`.
    pub fn spawn_armed(data_dir: &Path, database: &str, port: u16, more: &[String], failpoint: Option<&str>) -> Self {
        let (log, file) = log_file(data_dir, "hub.log");
        let mut command = Command::new(binary());
        command.arg("serve").arg("--data-dir").arg(data_dir).args(["--database", database]);
        command.args(["--listen", &format!("127.0.0.1:{port}")]).args(more);
        command.envs(failpoint.map(|place| ("SHOPFLOOR_FAILPOINT", place)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(file).kill_on_drop(true);
        let mut child = command.spawn().expect("the hub's binary can be run");
        let stdout = child.stdout.take().expect("its output is piped");
        Self { child, lines: BufReader::new(stdout).lines(), log }
    }

    /// Waits until the hub answers; its address.
    pub async fn ready(&mut self) -> String {
        match self.up().await {
            Some(url) => url,
            None => panic!("the hub ended before it was up:\n{}", self.log_text()),
        }
    }

    /// Waits until the hub answers; `None` if it ends before.
    pub async fn up(&mut self) -> Option<String> {
        while let Some(line) = self.lines.next_line().await.expect("the hub prints text") {
            if let Some(url) = line.strip_prefix(READY) {
                return Some(url.to_owned());
            }
        }
        None
    }

    /// Whether the hub has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child can be asked").is_some()
    }

    /// Kills the hub without warning, and waits until it is gone.
    pub async fn kill(mut self) {
        // It may have ended by itself.
        let _ = self.child.start_kill();
        self.child.wait().await.expect("a child can be waited for");
    }

    /// The process's id.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// What the hub has logged so far.
    pub fn log_text(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

/// A runner in a process of its own; killed when it is dropped. Its sessions live on: end them first.
#[derive(Debug)]
pub struct RunnerProcess {
    child: Child,
    log: PathBuf,
}

impl RunnerProcess {
    /// Starts a runner of the hub at `url`; its log goes to `runner.log` in `data_dir`.
    pub fn spawn(data_dir: &Path, url: &str, token: &str, name: &str) -> Self {
        Self::spawn_with(data_dir, url, token, name, &[])
    }

    /// The same with further environment, as its owner's shell would have.
    pub fn spawn_with(data_dir: &Path, url: &str, token: &str, name: &str, env: &[(String, String)]) -> Self {
        let (log, file) = log_file(data_dir, "runner.log");
        let secret = data_dir.join("runner-token");
        std::fs::write(&secret, token).expect("a token can be written");
        let mut command = Command::new(binary());
        command.args(["runner", "--hub", url, "--name", name]).envs(env.iter().map(|(name, value)| (name, value)));
        command.arg("--token-file").arg(secret).arg("--data-dir").arg(data_dir);
        let output = file.try_clone().expect("a file can be used twice");
        command.stdin(Stdio::null()).stdout(output).stderr(file).kill_on_drop(true);
        Self { child: command.spawn().expect("the runner's binary can be run"), log }
    }

    /// The process's id.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Whether the runner has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child can be asked").is_some()
    }

    /// Kills the runner without warning, and waits until it is gone.
    pub async fn kill(mut self) {
        // It may have ended by itself.
        let _ = self.child.start_kill();
        self.child.wait().await.expect("a child can be waited for");
    }

    /// What the runner has logged so far.
    pub fn log_text(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

fn log_file(data_dir: &Path, name: &str) -> (PathBuf, std::fs::File) {
    std::fs::create_dir_all(data_dir).expect("the data directory can be made");
    let log = data_dir.join(name);
    let file = std::fs::File::options().create(true).append(true).open(&log).expect("a log can be written");
    (log, file)
}

/// Runs a CLI command with the given token; its output, if it succeeded.
pub async fn shopfloor(url: &str, token: &str, args: &[&str]) -> anyhow::Result<String> {
    let mut command = Command::new(binary());
    command.args(args).env("SHOPFLOOR_HUB", url).env("SHOPFLOOR_TOKEN", token).kill_on_drop(true);
    let output = command.stdin(Stdio::null()).output().await?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    anyhow::ensure!(output.status.success(), "shopfloor {args:?}: {}", text(&output.stderr));
    Ok(text(&output.stdout))
}

/// The hub's binary: beside the test's own executable, unless `SHOPFLOOR_TEST_BINARY` names another.
pub fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("SHOPFLOOR_TEST_BINARY") {
        return path.into();
    }
    let test = std::env::current_exe().expect("a test knows where it is");
    let found = test.ancestors().skip(1).take(2).map(|folder| folder.join("shopfloor")).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("there is no shopfloor beside {}: cargo build -p shopfloor", test.display()))
}
