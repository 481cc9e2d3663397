//! The life of a session: read, show, record, answer, until nothing is left; then store how it ended.

use std::cell::RefCell;
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::process::Pid;
use tokio::process::Child;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::spawn_local;

use super::breaks::Breaks;
use super::connection;
use super::core::Core;
use super::output::Output;
use super::own::Owned;
use super::processes;
use crate::pty::{self, Opened, Pty};
use crate::recording::{Header, Recorder};
use crate::spec::{Exit, Files, FinalScreen, Spec, replace_file};

/// How long the host waits for connections that have not received everything.
const LINGER: Duration = Duration::from_secs(10);
/// How soon to retry writing the end of a session when the disk was full.
const WRITE_AGAIN: Duration = Duration::from_secs(1);
/// How long it waits for the starter.
const LINGER_FOR_FIRST: Duration = Duration::from_secs(2);

pub(crate) async fn host(dir: &Path, owned: Owned) -> io::Result<()> {
    let Owned { spec, listener, lock } = owned;
    let core = Rc::new(RefCell::new(Core::new(&spec)));
    let listener = tokio::net::UnixListener::from_std(listener)?;
    let accepting = spawn_local(connection::accept(listener, Rc::clone(&core)));

    record(dir, &spec, &core);
    let status = live(&spec, &core).await?;
    let last = finish(&core, status);
    // Connections learn of the end before it is on the disk, which may be full.
    let written = last.write(dir);
    core.borrow_mut().wake_all();
    linger(&core).await;
    if let Err(error) = written {
        last.write_when_possible(dir, &core, error).await?;
    }
    accepting.abort();
    let _ = std::fs::remove_file(Files::new(dir).socket());
    drop(lock);
    Ok(())
}

fn record(dir: &Path, spec: &Spec, core: &Rc<RefCell<Core>>) {
    let mut core = core.borrow_mut();
    let recording = Files::new(dir).recording();
    // Of a host that was killed in the same directory.
    if recording.exists() {
        let _ = std::fs::rename(&recording, recording.with_extension(std::process::id().to_string()));
    }
    let (cols, rows) = core.screen.size();
    let (title, started_at) = (core.masks.masked(&spec.title), jiff::Timestamp::now().as_second());
    let header = Header { cols, rows, title, started_at };
    match Recorder::create(&recording, &header, spec.recording_limit, &mut core.screen) {
        Ok(recorder) => core.recorder = Some(recorder),
        Err(error) => drop(writeln!(io::stderr(), "this session is not recorded: {error}")),
    }
}

/// How the child ended: a code or a signal.
type Status = (Option<i32>, Option<i32>);

async fn live(spec: &Spec, core: &Rc<RefCell<Core>>) -> io::Result<Status> {
    let Opened { pty, child } = pty::open(spec)?;
    let child = match child {
        Ok(child) => child,
        Err(error) => {
            let program = spec.argv.first().map_or("nothing", String::as_str);
            core.borrow_mut().output(format!("cannot start {program}: {error}\r\n").as_bytes());
            let code = if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 };
            return Ok((Some(code), None));
        }
    };
    Session { pty, core: Rc::clone(core), pid: pty::pid(&child), grace: Duration::from_millis(spec.stop_grace_ms) }
        .run(child)
        .await
}

struct Session {
    pty: Pty,
    core: Rc<RefCell<Core>>,
    pid: Option<Pid>,
    grace: Duration,
}

impl Session {
    async fn run(self, mut child: Child) -> io::Result<Status> {
        let mut output = Output::new(self.pty.reader()?)?;
        let kick = Rc::clone(&self.core.borrow().kick);
        // Ignore hang-ups and interrupts of the starter.
        let (mut hangups, mut interrupts) = (signal(SignalKind::hangup())?, signal(SignalKind::interrupt())?);
        let mut terminations = signal(SignalKind::terminate())?;
        let mut children = signal(SignalKind::child())?;
        let (child_sender, mut child_ended) = oneshot::channel();
        spawn_local(async move {
            let _ = child_sender.send(child.wait().await);
        });
        let mut status: Option<ExitStatus> = None;
        let mut tree: Option<tokio::task::JoinHandle<()>> = None;

        loop {
            let typed = self.core.borrow().next_input();
            let next = self.clock();
            tokio::select! {
                biased;
                () = kick.notified() => {}
                _ = hangups.recv() => {}
                _ = interrupts.recv() => {}
                _ = terminations.recv() => self.stop(self.grace),
                _ = children.recv() => processes::reap_orphans(self.pid.filter(|_| status.is_none())),
                ended = &mut child_ended, if status.is_none() => {
                    status = Some(ended.map_err(io::Error::other)??);
                    let grace = self.grace;
                    tree = Some(spawn_local(async move { processes::stop_all(grace, None).await }));
                }
                () = finished(&mut tree), if tree.is_some() => {
                    self.drain(&mut output).await;
                    break;
                }
                () = at(next) => {}
                written = self.pty.write_soon(&typed), if !typed.is_empty() => self.core.borrow_mut().typed_in(written),
                () = output.ready() => {
                    let mut core = self.core.borrow_mut();
                    let mut breaks = Breaks::new(output.busy_since());
                    for piece in breaks.pieces(output.take()) {
                        core.output(piece);
                        breaks.rest();
                    }
                    core.wake_all();
                }
            }
            self.wishes()?;
            self.type_input();
            // Connections get their turn, however much output there is.
            tokio::task::yield_now().await;
        }
        Ok(status.map_or((None, None), |status| (status.code(), status.signal())))
    }

    /// Does what is due; returns the next due time.
    fn clock(&self) -> Option<Instant> {
        let mut core = self.core.borrow_mut();
        let now = Instant::now();
        let held = core.let_through(now);
        let limit = earliest(core.limit(now), core.meter(now));
        earliest(earliest(held, limit), earliest(core.observers(now), core.record(now)))
    }

    fn stop(&self, grace: Duration) {
        let child = self.pid;
        spawn_local(async move { processes::stop_all(grace, child).await });
    }

    fn wishes(&self) -> io::Result<()> {
        let wishes = std::mem::take(&mut self.core.borrow_mut().wishes);
        if let Some((cols, rows)) = wishes.resize {
            let mut core = self.core.borrow_mut();
            core.resized(cols, rows);
            let (cols, rows) = core.screen.size();
            self.pty.resize(cols, rows)?;
        }
        if let Some(grace) = wishes.stop {
            self.stop(grace);
        }
        Ok(())
    }

    /// Types what the terminal accepts. If the program does not read, a key that stands for a signal does not wait: the
    /// signal is sent, and earlier input is dropped, as a terminal does.
    fn type_input(&self) {
        let mut core = self.core.borrow_mut();
        let fresh = std::mem::take(&mut core.fresh_input);
        while !core.input.is_empty() {
            let (first, _) = core.input.as_slices();
            match self.pty.write(first) {
                Ok(0) => break,
                Ok(count) => drop(core.input.drain(..count)),
                Err(_) => core.input.clear(),
            }
        }
        if core.input.is_empty() {
            return;
        }
        if let Some((at, signal)) =
            fresh.iter().enumerate().rev().find_map(|(at, byte)| Some((at, self.pty.signal_of(*byte)?)))
        {
            core.input.clear();
            core.input.extend(&fresh[at + 1..]);
            self.pty.signal_foreground(signal);
        }
    }

    async fn drain(&self, output: &mut Output) {
        loop {
            match output.rest().await {
                [] => return,
                bytes => self.core.borrow_mut().output(bytes),
            }
        }
    }
}

fn earliest(first: Option<Instant>, second: Option<Instant>) -> Option<Instant> {
    [first, second].into_iter().flatten().min()
}

async fn at(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant.into()).await,
        None => std::future::pending().await,
    }
}

async fn finished(task: &mut Option<tokio::task::JoinHandle<()>>) {
    if let Some(task) = task {
        let _ = task.await;
    }
}

/// The final state of a session on the disk.
struct Last {
    screen: Vec<u8>,
    exit: Vec<u8>,
}

impl Last {
    /// How it ended is written last: when it exists, the rest is complete.
    fn write(&self, dir: &Path) -> io::Result<()> {
        let files = Files::new(dir);
        let screen = replace_file(&files.screen(), &self.screen);
        replace_file(&files.exit(), &self.exit)?;
        screen
    }

    /// Waits while the disk is full: nobody else knows how the session ended.
    async fn write_when_possible(&self, dir: &Path, core: &Rc<RefCell<Core>>, first: io::Error) -> io::Result<()> {
        let mut failed = first;
        loop {
            if !matches!(failed.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
                return Err(failed);
            }
            tokio::time::sleep(WRITE_AGAIN).await;
            if let Some(recorder) = &mut core.borrow_mut().recorder {
                recorder.flush();
            }
            match self.write(dir) {
                Ok(()) => return Ok(()),
                Err(error) => failed = error,
            }
        }
    }
}

fn finish(core: &Rc<RefCell<Core>>, (code, signal): Status) -> Last {
    let mut core = core.borrow_mut();
    let at = jiff::Timestamp::now().to_string();
    let (overdue, limit) = (core.overdue, core.exceeded.clone());
    core.ended(|offset| Exit { code, signal, offset, at, overdue, limit });
    if let Some(recorder) = &mut core.recorder {
        let code = code.or(signal.map(|signal| 128 + signal)).unwrap_or(1);
        if let Err(error) = recorder.finish(code) {
            let _ = writeln!(io::stderr(), "the end of the recording is not on disk: {error}");
        }
    }
    let text = core.screen.text();
    let snapshot = core.screen.snapshot();
    let screen = FinalScreen {
        offset: snapshot.offset,
        cols: snapshot.cols,
        rows: snapshot.rows,
        title: snapshot.title,
        bytes: String::from_utf8_lossy(&snapshot.bytes).into_owned(),
        text,
    };
    let json = |value: serde_json::Result<Vec<u8>>| value.expect("texts and numbers are JSON");
    Last { screen: json(serde_json::to_vec(&screen)), exit: json(serde_json::to_vec(&core.exit)) }
}

/// Waits until every connection has received everything, but not forever.
async fn linger(core: &Rc<RefCell<Core>>) {
    let kick = Rc::clone(&core.borrow().kick);
    let ended = tokio::time::Instant::now();
    loop {
        let (ever, drained) = (core.borrow().ever_connected, core.borrow().drained());
        if ever && drained {
            return;
        }
        let until = ended + if ever { LINGER } else { LINGER_FOR_FIRST };
        tokio::select! {
            () = kick.notified() => {}
            () = tokio::time::sleep_until(until) => return,
        }
    }
}
