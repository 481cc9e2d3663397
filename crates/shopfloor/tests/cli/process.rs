//! The real binary as a child process that never outlives its test.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long a state may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The binary in its own environment.
pub(crate) fn shopfloor(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shopfloor"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", home).stdin(Stdio::null());
    command
}

/// How a finished command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("it was not killed"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Waits until a condition holds.
pub(crate) fn wait_until(what: &str, mut is: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is() {
        assert!(start.elapsed() < PATIENCE, "timed out waiting until {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Sends a signal to a process that a test has started.
pub(crate) fn signal(pid: u32, name: &str) {
    // It may have exited meanwhile.
    let _ = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).stderr(Stdio::null()).status();
}

/// A running command whose lines are read as they come.
pub(crate) struct Running {
    child: Child,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Running {
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (stdout, stderr) = (lines(child.stdout.take().unwrap()), lines(child.stderr.take().unwrap()));
        Self { child, stdout, stderr }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line of standard output.
    pub(crate) fn line(&self) -> String {
        self.stdout.recv_timeout(PATIENCE).expect("a line of standard output")
    }

    /// Waits for a line of standard error that contains `text`.
    pub(crate) fn wait_for_note(&self, text: &str) -> String {
        let start = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(start.elapsed());
            let line = self.stderr.recv_timeout(left).unwrap_or_else(|_| panic!("no note says `{text}`"));
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Waits until it ends by itself; returns its exit code.
    pub(crate) fn wait(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Kills it without warning.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop; returns its exit code and what else it printed.
    pub(crate) fn terminate(mut self) -> (Option<i32>, Vec<String>) {
        let pid = self.pid().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let status = self.child.wait().unwrap();
        (status.code(), self.stdout.iter().collect())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have exited by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines(source: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(source).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    receive
}
