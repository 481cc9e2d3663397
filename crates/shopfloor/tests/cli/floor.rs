//! A hub of the real binary on a folder of its own, and the CLI beside it.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::process::{Ended, Running, shopfloor};

pub(crate) struct Floor {
    hub: Option<Running>,
    pub(crate) url: String,
    pub(crate) login: String,
    // Declared last: the hub ends before its folder goes.
    folder: tempfile::TempDir,
}

impl Floor {
    /// A folder without a hub.
    pub(crate) fn empty() -> Self {
        Self { hub: None, url: String::new(), login: String::new(), folder: tempfile::tempdir().unwrap() }
    }

    /// A hub on a free port.
    pub(crate) fn up() -> Self {
        let mut floor = Self::empty();
        floor.start("127.0.0.1:0");
        floor
    }

    pub(crate) fn start(&mut self, listen: &str) {
        let hub = Running::spawn(self.command().args(["up", "--no-open", "--listen", listen]));
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

    /// The binary with this floor's data directory.
    pub(crate) fn command(&self) -> Command {
        let mut command = shopfloor(self.folder.path());
        command.env("SHOPFLOOR_DATA_DIR", self.data_dir());
        command
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

    /// Runs a command that works and returns what it printed for people.
    pub(crate) fn text(&self, args: &[&str]) -> String {
        let ended = self.run(args);
        assert_eq!(ended.code, 0, "{args:?}: {}", ended.stderr);
        ended.stdout
    }

    /// Runs a command that works and returns its JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let mut all = args.to_vec();
        all.push("--json");
        serde_json::from_str(&self.text(&all)).unwrap_or_else(|error| panic!("{args:?}: {error}"))
    }

    /// Runs a command that fails with `code` and returns what it said.
    pub(crate) fn fail(&self, code: i32, args: &[&str]) -> String {
        let ended = self.run(args);
        assert_eq!((ended.code, ended.stdout.as_str()), (code, ""), "{args:?}: {}", ended.stderr);
        ended.stderr
    }
}
