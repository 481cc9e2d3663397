//! The real binary in a real pseudo-terminal, as a person uses it.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::process::Child;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};
use rustix::process::{Pid, Signal, kill_process_group};
use rustix::termios::{Termios, tcgetattr};

use crate::fixture::Fixture;
use crate::process::{PATIENCE, wait_until};

/// The terminal's output, and a notification for more.
#[derive(Default)]
struct Shown {
    bytes: Mutex<Vec<u8>>,
    more: Condvar,
}

pub(crate) struct PseudoTerminal {
    pty: Arc<Pty>,
    child: Child,
    shown: Arc<Shown>,
    before: Termios,
    reading: Option<std::thread::JoinHandle<()>>,
}

impl PseudoTerminal {
    /// Runs the binary in a terminal of this size.
    pub(crate) fn run(fixture: &Fixture, args: &[&str], cols: u16, rows: u16) -> Self {
        Self::run_program(fixture.command().get_program(), fixture, args, cols, rows)
    }

    /// The same with another program.
    pub(crate) fn run_program(program: &OsStr, fixture: &Fixture, args: &[&str], cols: u16, rows: u16) -> Self {
        let (pty, pts) = open().unwrap();
        pty.resize(Size::new(rows, cols)).unwrap();
        let before = tcgetattr(&pty).unwrap();
        let like = fixture.command();
        let mut command = Command::new(program).env_clear().env("TERM", "xterm-256color").args(args);
        for (name, value) in like.get_envs().filter_map(|(name, value)| Some((name, value?))) {
            command = command.env(name, value);
        }
        let child = command.spawn(pts).unwrap();
        let (pty, shown) = (Arc::new(pty), Arc::new(Shown::default()));
        let (reader, seen) = (pty.clone(), shown.clone());
        let reading = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = (&*reader).read(&mut buffer) {
                seen.bytes.lock().unwrap().extend(&buffer[..count]);
                seen.more.notify_all();
            }
        });
        Self { pty, child, shown, before, reading: Some(reading) }
    }

    pub(crate) fn type_keys(&self, keys: &str) {
        (&*self.pty).write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn resize(&self, cols: u16, rows: u16) {
        self.pty.resize(Size::new(rows, cols)).unwrap();
    }

    /// Changes the size while nothing is written; returns how much was shown before, to the byte.
    pub(crate) fn resize_at_rest(&self, cols: u16, rows: u16) -> usize {
        const REST: &str = "\x1b]777;at rest\x07";
        let group = Pid::from_child(&self.child);
        let programs = self.programs();
        kill_process_group(group, Signal::STOP).unwrap();
        wait_until("all are stopped", || programs.iter().all(|pid| stat(pid).contains(") T ")));
        let output = format!("/proc/{}/fd/1", self.pid());
        std::fs::OpenOptions::new().write(true).open(output).unwrap().write_all(REST.as_bytes()).unwrap();
        self.wait_for(REST);
        let mark = self.mark();
        self.resize(cols, rows);
        kill_process_group(group, Signal::CONT).unwrap();
        mark
    }

    /// The program and its children.
    fn programs(&self) -> Vec<String> {
        let pid = self.pid().to_string();
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        children.split_whitespace().map(str::to_owned).chain([pid]).collect()
    }

    pub(crate) fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.bytes.lock().unwrap()).into_owned()
    }

    pub(crate) fn wait_for(&self, text: &str) {
        self.wait_after(0, &[text]);
    }

    /// How much was shown until now.
    pub(crate) fn mark(&self) -> usize {
        self.shown.bytes.lock().unwrap().len()
    }

    /// Waits until one of these is shown after a mark; says which.
    pub(crate) fn wait_after<'a>(&self, mark: usize, any: &[&'a str]) -> &'a str {
        let start = Instant::now();
        let mut bytes = self.shown.bytes.lock().unwrap();
        loop {
            let text = String::from_utf8_lossy(&bytes[mark..]);
            if let Some(found) = any.iter().find(|one| text.contains(**one)) {
                return found;
            }
            let left = PATIENCE.saturating_sub(start.elapsed());
            assert!(!left.is_zero(), "none of {any:?} was shown: {text:?}");
            bytes = self.shown.more.wait_timeout(bytes, left).unwrap().0;
        }
    }

    /// Whether the line discipline is raw.
    pub(crate) fn is_raw(&self) -> bool {
        !tcgetattr(&*self.pty).unwrap().local_modes.contains(rustix::termios::LocalModes::ICANON)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end; the terminal must be restored.
    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
        let mut code = None;
        wait_until("it ends", || {
            code = self.child.try_wait().unwrap();
            code.is_some()
        });
        let after = tcgetattr(&*self.pty).unwrap();
        let modes = |modes: &Termios| (modes.input_modes, modes.output_modes, modes.control_modes, modes.local_modes);
        assert_eq!(modes(&after), modes(&self.before), "the terminal is as it was");
        // Its last output may still be in flight.
        self.reading.take().unwrap().join().unwrap();
        (code.unwrap().code(), self.shown())
    }
}

fn stat(pid: &str) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap()
}

impl Drop for PseudoTerminal {
    fn drop(&mut self) {
        // It may have exited by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
