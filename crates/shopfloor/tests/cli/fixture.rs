//! A hub of the real binary in its own folder, and the CLI beside it.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::process::{Ended, Running, shopfloor, signal, wait_until};

pub(crate) struct Fixture {
    hub: Option<Running>,
    pub(crate) url: String,
    pub(crate) login: String,
    runner: bool,
    // Declared last: the hub ends before its folder is deleted.
    folder: tempfile::TempDir,
}

impl Fixture {
    /// A folder without a hub.
    pub(crate) fn empty() -> Self {
        Self {
            hub: None,
            url: String::new(),
            login: String::new(),
            runner: false,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// A hub on a free port, without a runner.
    pub(crate) fn up() -> Self {
        let mut fixture = Self::empty();
        fixture.start("127.0.0.1:0");
        fixture
    }

    /// A hub with its runner, and an empty floor.
    pub(crate) fn with_runner() -> Self {
        let mut fixture = Self::empty();
        fixture.runner = true;
        fixture.start("127.0.0.1:0");
        fixture.wait_until_connected();
        fixture
    }

    /// A hub with its runner, a repository, and the project `Parser` that works on it.
    pub(crate) fn at_work() -> Self {
        Self::empty().works()
    }

    /// The same in a folder that is not below `/tmp`, which every sandbox hides; with these settings.
    pub(crate) fn at_work_elsewhere(settings: impl Fn(&std::path::Path) -> String) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        std::fs::create_dir_all(folder.path().join(".config/shopfloor")).unwrap();
        std::fs::write(folder.path().join(".config/shopfloor/config.toml"), settings(folder.path())).unwrap();
        let mut fixture = Self::empty();
        fixture.folder = folder;
        fixture.works()
    }

    fn works(self) -> Self {
        let mut fixture = self;
        fixture.runner = true;
        fixture.start("127.0.0.1:0");
        fixture.wait_until_connected();
        let repository = fixture.path("repository");
        std::fs::create_dir(&repository).unwrap();
        std::fs::write(repository.join("README"), "hello\n").unwrap();
        for args in [
            &["init", "--quiet", "--initial-branch", "main"][..],
            &["add", "README"],
            &["-c", "user.name=ann", "-c", "user.email=ann@example.org", "commit", "--quiet", "--message", "first"],
        ] {
            let mut git = Command::new("git");
            git.env("HOME", fixture.folder.path()).env("GIT_CONFIG_NOSYSTEM", "1").current_dir(&repository);
            assert!(git.args(args).status().unwrap().success(), "{args:?}");
        }
        fixture.text(&["project", "create", "Parser", "--repo", repository.to_str().unwrap()]);
        fixture
    }

    pub(crate) fn wait_until_connected(&self) {
        wait_until("the runner is connected", || {
            self.json(&["runner", "list"]).as_array().unwrap().iter().any(|runner| runner["connected"] == true)
        });
    }

    /// Spawns `sh -c script` in the project and returns the session.
    pub(crate) fn spawn(&self, script: &str) -> Value {
        self.json(&["session", "spawn", "--project", "Parser", "--json", "--", "sh", "-c", script])
    }

    /// Waits until the session has `status`, and returns it.
    pub(crate) fn wait_for(&self, session: &Value, status: &str) -> Value {
        let id = session["id"].as_str().unwrap();
        let mut last = Value::Null;
        wait_until(&format!("the session is {status}"), || {
            last = self.json(&["session", "show", id])["session"].clone();
            if last["state"]["status"] != status && matches!(last["state"]["status"].as_str(), Some("exited" | "lost"))
            {
                panic!("it is {} instead of {status}", last["state"]);
            }
            last["state"]["status"] == status
        });
        last
    }

    /// Waits until the session's terminal has shown `text`.
    pub(crate) fn wait_for_log(&self, session: &Value, text: &str) {
        let id = session["id"].as_str().unwrap();
        // There is no log before the session has started.
        wait_until(&format!("`{text}` is shown"), || self.run(&["session", "log", id]).stdout.contains(text));
    }

    /// The process of the runner beside the hub.
    pub(crate) fn runner_pid(&self) -> u32 {
        let note = std::fs::read(self.data_dir().join("runner/runner.json")).unwrap();
        let note: Value = serde_json::from_slice(&note).unwrap();
        u32::try_from(note["pid"].as_u64().unwrap()).unwrap()
    }

    pub(crate) fn start(&mut self, listen: &str) {
        let mut command = self.command();
        command.args(["up", "--no-open", "--listen", listen]);
        if !self.runner {
            command.arg("--no-runner");
        }
        let hub = Running::spawn(&mut command);
        self.login = hub.line().strip_prefix("log in once: ").expect("the login link comes first").to_owned();
        self.url = hub.line().strip_prefix("shopfloor is up: ").expect("then it is up").to_owned();
        self.hub = Some(hub);
    }

    pub(crate) fn hub(&mut self) -> Running {
        self.hub.take().expect("the hub runs")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.hub.as_ref().unwrap().pid()
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The binary with this fixture's data directory.
    pub(crate) fn command(&self) -> Command {
        let mut command = shopfloor(self.folder.path());
        command.env("SHOPFLOOR_DATA_DIR", self.data_dir());
        // Not after the account that runs the tests.
        command.env("SHOPFLOOR_OWNER_NAME", "owner");
        command
    }

    /// Accepts an invitation as a browser does, and returns a token of the new person.
    pub(crate) fn join(&self, secret: &str, name: &str) -> String {
        let joined = self.post("/api/invites/accept", &serde_json::json!({"secret": secret, "name": name}), "");
        let cookie = joined.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect(&joined);
        let cookie = cookie.split(';').next().unwrap();
        let made = self.post("/api/tokens", &serde_json::json!({"name": "cli"}), cookie);
        let body = made.split_once("\r\n\r\n").expect(&made).1;
        serde_json::from_str::<Value>(body).unwrap()["secret"].as_str().expect(&made).to_owned()
    }

    fn post(&self, path: &str, body: &Value, cookie: &str) -> String {
        let address = self.url.strip_prefix("http://").unwrap();
        let (mut stream, body) = (std::net::TcpStream::connect(address).unwrap(), body.to_string());
        let head = [
            format!("POST {path} HTTP/1.1"),
            format!("host: {address}"),
            format!("origin: {}", self.url),
            format!("cookie: {cookie}"),
            format!("content-length: {}", body.len()),
            "content-type: application/json".to_owned(),
            "connection: close".to_owned(),
        ];
        stream.write_all(format!("{}\r\n\r\n{body}", head.join("\r\n")).as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        self.command().args(args).output().unwrap().into()
    }

    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> Ended {
        let mut child = self
            .command()
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap().into()
    }

    /// Runs a command that succeeds and returns its output for people.
    pub(crate) fn text(&self, args: &[&str]) -> String {
        let ended = self.run(args);
        assert_eq!(ended.code, 0, "{args:?}: {}", ended.stderr);
        ended.stdout
    }

    /// Runs a command that succeeds and returns its JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let mut all = args.to_vec();
        all.push("--json");
        serde_json::from_str(&self.text(&all)).unwrap_or_else(|error| panic!("{args:?}: {error}"))
    }

    /// Runs a command that fails with `code` and returns its standard error.
    pub(crate) fn fail(&self, code: i32, args: &[&str]) -> String {
        let ended = self.run(args);
        assert_eq!((ended.code, ended.stdout.as_str()), (code, ""), "{args:?}: {}", ended.stderr);
        ended.stderr
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        // Sessions and their runner outlive the hub by design; here nothing may outlive its test.
        if let Some(hub) = self.hub.take() {
            drop(hub);
        }
        let runner = self.data_dir().join("runner");
        let note = std::fs::read(runner.join("runner.json")).unwrap_or_default();
        let pid = serde_json::from_slice::<Value>(&note).ok().and_then(|note| note["pid"].as_u64());
        let hosts = std::fs::read_dir(runner.join("sessions")).into_iter().flatten().flatten();
        let hosts = hosts.filter_map(|session| std::fs::read_to_string(session.path().join("host.pid")).ok());
        let pids = pid.map(|pid| pid.to_string()).into_iter().chain(hosts.map(|pid| pid.trim().to_owned()));
        for pid in pids.filter_map(|pid| pid.parse::<u32>().ok()) {
            // Only our own processes: an id may have been reused.
            if std::fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains("shopfloor")) {
                signal(pid, "TERM");
            }
        }
    }
}
