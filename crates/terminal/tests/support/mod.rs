//! Real hosts in temporary directories, and what is needed to talk to them.
#![allow(dead_code, clippy::unwrap_used)]

pub(crate) mod streams;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use terminal::{Event, Events, HostLink, Screen, Snapshot, Spec};

/// The session host that the tests start.
pub(crate) fn exe() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_terminal-host"))
}

/// A session in its own directory; its processes end with the test.
pub(crate) struct Session {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) link: HostLink,
    pub(crate) events: Events,
    stop_on_drop: bool,
}

/// What a shell needs to run.
pub(crate) fn shell(script: &str) -> Spec {
    let mut spec = Spec::new(vec!["/bin/sh".into(), "-c".into(), script.into()], "/");
    spec.env = vec![
        ("PATH".into(), std::env::var("PATH").unwrap()),
        ("TERM".into(), "xterm-256color".into()),
        ("LANG".into(), "C.UTF-8".into()),
    ];
    spec.stop_grace_ms = 500;
    spec
}

pub(crate) async fn start(spec: &Spec) -> Session {
    let dir = tempfile::tempdir().unwrap();
    spec.write(dir.path()).unwrap();
    let (link, events) = HostLink::start(dir.path(), &exe()).await.unwrap();
    Session { dir, link, events, stop_on_drop: true }
}

impl Session {
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn host_pid(&self) -> i32 {
        std::fs::read_to_string(self.path().join("host.pid")).unwrap().trim().parse().unwrap()
    }

    pub(crate) async fn next(&mut self) -> Option<Event> {
        next(&mut self.events).await
    }

    /// Follows the stream until the screen looks right.
    pub(crate) async fn until(&mut self, view: &mut View, what: &str, right: impl Fn(&View) -> bool) {
        until(&self.link, &mut self.events, view, what, right).await;
    }
}

impl Session {
    /// Breaks the connection without asking the session to stop.
    pub(crate) fn abandon(mut self) -> tempfile::TempDir {
        self.stop_on_drop = false;
        std::mem::replace(&mut self.dir, tempfile::tempdir().unwrap())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.stop_on_drop {
            // A request may not go out any more when the test's runtime ends with it.
            let dir = self.path().to_owned();
            let ending = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(HostLink::kill(&dir))
            });
            let _ = ending.join();
        }
    }
}

/// The next event, or a failure: nothing takes that long.
pub(crate) async fn next(events: &mut Events) -> Option<Event> {
    tokio::time::timeout(Duration::from_secs(60), events.next())
        .await
        .expect("the host tells something within a minute")
}

/// A watcher with an emulator of its own.
pub(crate) struct View {
    pub(crate) screen: Screen,
    pub(crate) offset: u64,
    pub(crate) snapshots: usize,
    pub(crate) bytes: Vec<u8>,
    pub(crate) exit: Option<(Option<i32>, Option<i32>)>,
    pub(crate) last_snapshot: Option<Snapshot>,
}

impl View {
    pub(crate) fn new() -> View {
        View {
            screen: Screen::new(120, 32, 0),
            offset: 0,
            snapshots: 0,
            bytes: Vec::new(),
            exit: None,
            last_snapshot: None,
        }
    }

    pub(crate) fn text(&self) -> String {
        self.screen.text()
    }

    /// Shows an event; fails if a byte is missing or came twice.
    pub(crate) fn take(&mut self, event: Event) {
        match event {
            Event::Snapshot(snapshot) => {
                self.screen.resize(snapshot.cols, snapshot.rows);
                self.screen.feed(&snapshot.bytes);
                self.offset = snapshot.offset;
                self.snapshots += 1;
                self.last_snapshot = Some(snapshot);
            }
            Event::Data { offset, bytes } => {
                assert_eq!(offset, self.offset, "no gap, nothing twice");
                self.screen.feed(&bytes);
                self.offset += bytes.len() as u64;
                self.bytes.extend_from_slice(&bytes);
            }
            Event::Exit { offset, code, signal } => {
                assert_eq!(offset, self.offset, "everything was sent before the end");
                self.exit = Some((code, signal));
            }
            Event::Observed(_) => (),
        }
    }
}

pub(crate) async fn until(
    link: &HostLink,
    events: &mut Events,
    view: &mut View,
    what: &str,
    right: impl Fn(&View) -> bool,
) {
    while !right(view) {
        match next(events).await {
            Some(event) => {
                view.take(event);
                let _ = link.credit(view.offset);
            }
            None => panic!("the host closed before: {what}\n{}", view.text()),
        }
    }
}

/// Waits for a state that nobody announces.
pub(crate) async fn eventually(what: &str, mut reached: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !reached() {
        assert!(Instant::now() < patience, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether a process exists and is not merely waiting to be forgotten.
pub(crate) fn runs(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat[stat.rfind(')').unwrap()..].starts_with(") Z"))
}
