//! Runners as processes of their own, which a test may kill.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use domain::{ActivityId, ProjectId, SessionId, SessionMode, UserId, WorkspaceId};
use protocol::link::{DesiredSession, DesiredWorkspace};
use protocol::{Repository, UserRef, WrittenBy};
use tokio::process::{Child, Command};

use crate::hub::{FakeHub, TOKEN};

/// The program that is host, wrapper and runner.
pub(crate) fn exe() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows where it is");
    let folder = test.ancestors().nth(2).expect("tests are two folders deep");
    let helper = folder.join("examples").join("runner-helper");
    assert!(helper.is_file(), "there is no {}: cargo build -p runner --examples", helper.display());
    helper
}

/// A runner in a folder of its own. Its sessions end with the test.
pub(crate) struct TestRunner {
    pub(crate) folder: tempfile::TempDir,
    url: String,
    child: Option<Child>,
    variables: Vec<(String, String)>,
}

impl TestRunner {
    pub(crate) fn new(hub: &FakeHub) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), url: hub.url.clone(), child: None, variables: Vec::new() }
    }

    pub(crate) fn start(hub: &FakeHub) -> Self {
        let mut runner = Self::new(hub);
        runner.spawn();
        runner
    }

    /// A variable of its environment, from its next start on.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn spawn(&mut self) {
        let log = std::fs::File::options().create(true).append(true).open(self.folder.path().join("log")).unwrap();
        let mut command = Command::new(exe());
        command.arg("runner").arg(&self.url).arg(TOKEN).arg(self.data_dir());
        command.envs(self.variables.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).kill_on_drop(true);
        self.child = Some(command.spawn().unwrap());
    }

    /// Kills it without warning.
    pub(crate) async fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().await.unwrap();
        }
    }

    /// Asks it to end, and waits until it has.
    pub(crate) async fn end(&mut self) {
        if let Some(mut child) = self.child.take() {
            let pid = rustix::process::Pid::from_raw(child.id().unwrap() as i32).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
            assert!(child.wait().await.unwrap().success(), "{}", self.log());
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().and_then(Child::id).expect("it runs")
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn session_dir(&self, session: SessionId) -> PathBuf {
        self.data_dir().join("sessions").join(session.to_string())
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for TestRunner {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("the runner's log:\n{}", self.log());
        }
        // The hosts outlive their runner, which is the point; they must not outlive the test.
        for session in std::fs::read_dir(self.data_dir().join("sessions")).into_iter().flatten().flatten() {
            kill_host(&session.path());
        }
    }
}

/// Kills the host of a session if it lives; its child gets a hangup.
pub(crate) fn kill_host(session_dir: &Path) {
    if session_dir.join("exit.json").exists() {
        return;
    }
    let pid = std::fs::read_to_string(session_dir.join("host.pid")).ok();
    let pid = pid.and_then(|pid| pid.trim().parse().ok()).and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

/// A workspace with nothing in it.
pub(crate) fn empty_workspace() -> DesiredWorkspace {
    DesiredWorkspace {
        workspace: WorkspaceId::generate(),
        repository: None,
        base: None,
        branch: "work".to_owned(),
        repository_by: None,
        code_by: None,
        from: None,
    }
}

/// A session that runs a shell line in an empty workspace.
pub(crate) fn shell(line: &str) -> DesiredSession {
    DesiredSession {
        session: SessionId::generate(),
        project: ProjectId::generate(),
        activity: ActivityId::generate(),
        run: true,
        begun: false,
        force: false,
        agent: "command".to_owned(),
        mode: SessionMode::Interactive,
        model: None,
        prompt: String::new(),
        asked_by: None,
        asked_for: None,
        context: String::new(),
        argv: ["/bin/sh", "-c", line].map(str::to_owned).to_vec(),
        conversation: None,
        sandbox: None,
        record_input: false,
        cols: 120,
        rows: 32,
        workspace: empty_workspace(),
        task: None,
        step: None,
        asks: false,
    }
}

pub(crate) fn stopped(session: &DesiredSession) -> DesiredSession {
    DesiredSession { run: false, ..session.clone() }
}

/// A repository at a path, with nothing else said about it.
pub(crate) fn repository(location: &Path) -> Repository {
    Repository {
        location: location.to_string_lossy().into_owned(),
        base_branch: None,
        setup: None,
        teardown: None,
        copy: Vec::new(),
        ports: None,
    }
}

/// Everything that a session's terminal has shown, from its recording.
pub(crate) fn output(session_dir: &Path) -> Vec<u8> {
    let recording = terminal::recording::Recording::open(&session_dir.join("recording")).unwrap();
    let end = recording.verify().unwrap();
    recording.output(0..end).unwrap()
}

/// Runs git for a fixture.
pub(crate) fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = std::process::Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=ann", "-c", "user.email=ann@example.org"]).args(args);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let done = command.output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

/// A repository with one commit, in which `files` are.
pub(crate) fn fixture(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q", "-b", "main"]);
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-q", "--allow-empty", "-m", "first"]);
    folder
}

/// Somebody who does not own the runner.
pub(crate) fn bo() -> WrittenBy {
    WrittenBy { user: UserRef { id: UserId::generate(), name: "bo".to_owned() }, agent: None, by_agent: false }
}
