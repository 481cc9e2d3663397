//! The wrapper around an agent that prints structured lines: stores each line, and shows it for people.
//!
//! Runs inside the session's terminal as `shopfloor session-lines --session-dir DIR --adapter NAME [--stdin FILE] -- child…`.
//! With `--foreground` alone it becomes the child, in the terminal's foreground: see [`crate::sandbox()`].

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

use crate::adapter::Adapter;
use crate::foreground;
use crate::render::Renderer;
use crate::sandbox::probe;
use crate::secrets::Secrets;
use crate::text;

/// The subcommand of this wrapper.
pub const COMMAND: &str = "session-lines";
/// Where the lines are stored without secrets, in the session's folder.
pub const EVENTS_FILE: &str = "events.jsonl";
/// The adapter as it was when the session began.
pub(crate) const ADAPTER_FILE: &str = "adapter.toml";

/// Becomes the child, in the terminal's foreground.
pub(crate) const FOREGROUND: &str = "--foreground";

/// Probes a sandbox from inside: see [`crate::sandbox_reach`].
pub(crate) const PROBE: &str = "--probe";

/// Longer lines are stored, but not shown.
const LINE_LIMIT: u64 = 16 << 20;
/// How much to store of a line outside the structured ones, and of all of those.
const ERROR_LIMIT: usize = 4 << 10;
const ERRORS_LIMIT: usize = 4 << 20;
/// How long a leftover process may hold the output after the agent has exited.
const DRAIN: Duration = Duration::from_millis(500);
const CANNOT_START: i32 = 127;

/// Runs the agent and returns its exit code; 128 plus the signal's number if a signal killed it.
pub fn main(args: impl IntoIterator<Item = String>) -> i32 {
    let mut args = args.into_iter().peekable();
    if args.next_if(|arg| arg == PROBE).is_some() {
        return probe::main(args.next());
    }
    let ended =
        parse(args).and_then(|args| if args.foreground { foreground::become_child(&args.child) } else { run(args) });
    match ended {
        Ok(code) => code,
        Err(message) => {
            // A person sees the terminal; if even that is gone, the exit code remains.
            let _ = writeln!(std::io::stderr(), "session-lines: {message}");
            CANNOT_START
        }
    }
}

#[derive(Default)]
struct Args {
    session_dir: PathBuf,
    stdin: Option<String>,
    foreground: bool,
    child: Vec<String>,
}

fn parse(args: impl IntoIterator<Item = String>) -> Result<Args, String> {
    let mut args = args.into_iter();
    let mut parsed = Args::default();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--session-dir" => parsed.session_dir = value()?.into(),
            // Only for readers of the process list: the rules are in the session's folder.
            "--adapter" => drop(value()?),
            FOREGROUND => parsed.foreground = true,
            "--stdin" => parsed.stdin = Some(value()?),
            "--" => {
                parsed.child = args.collect();
                break;
            }
            _ => return Err(format!("unknown argument {arg}")),
        }
    }
    if parsed.child.is_empty() { Err("there is no command after --".to_owned()) } else { Ok(parsed) }
}

fn run(args: Args) -> Result<i32, String> {
    let file = args.session_dir.join(ADAPTER_FILE);
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let adapter = Adapter::parse(&file, &text).map_err(|error| error.to_string())?;
    let events = events(&args.session_dir)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())?.block_on(follow(args, adapter, events))
}

fn events(session_dir: &Path) -> Result<File, String> {
    let file = session_dir.join(EVENTS_FILE);
    let open = File::options().create(true).append(true).mode(0o600).open(&file);
    open.map_err(|error| format!("{}: {error}", file.display()))
}

async fn follow(args: Args, adapter: Adapter, events: File) -> Result<i32, String> {
    // Installed before the start: the terminal's signals reach the agent directly and must not kill us before it.
    let on = |kind| signal(kind).map_err(|error| error.to_string());
    let (mut hangup, mut terminate) = (on(SignalKind::hangup())?, on(SignalKind::terminate())?);
    let (mut interrupt, mut quit) = (on(SignalKind::interrupt())?, on(SignalKind::quit())?);
    // Also before the start: a fast agent may exit before this exists.
    let (of_lines, of_errors) = (secrets(), secrets());
    let (mut child, output, errors) = start(&args)?;
    let (done, mut drained) = tokio::sync::oneshot::channel();
    let (events, beside) = (Arc::new(Mutex::new(events)), std::thread::Builder::new());
    let kept = Arc::clone(&events);
    let taken = Arc::new(AtomicU64::new(0));
    let (of_output, beside_it) = (Arc::clone(&taken), Arc::clone(&taken));
    let errors = beside.spawn(move || pass_through(errors, &kept, of_errors, &beside_it));
    let errors = errors.map_err(|error| error.to_string())?;
    std::thread::spawn(move || {
        copy(output, &events, &adapter, of_lines, &of_output);
        // Both hold the agent's last output.
        let _ = errors.join();
        let _ = done.send(());
    });
    let status = loop {
        tokio::select! {
            status = child.wait() => break status.map_err(|error| error.to_string())?,
            _ = hangup.recv() => pass_on(&child, rustix::process::Signal::HUP),
            _ = terminate.recv() => pass_on(&child, rustix::process::Signal::TERM),
            _ = interrupt.recv() => {}
            _ = quit.recv() => {}
        }
    };
    // While output arrives it is the agent's: a busy machine may take its time.
    let mut seen = None;
    while tokio::time::timeout(DRAIN, &mut drained).await.is_err() {
        let now = taken.load(Ordering::Relaxed);
        if seen.replace(now) == Some(now) {
            break;
        }
    }
    Ok(code(status))
}

fn start(args: &Args) -> Result<(Child, std::io::PipeReader, std::io::PipeReader), String> {
    let stdin = match &args.stdin {
        None => Stdio::null(),
        Some(name) => {
            let file = args.session_dir.join(name);
            File::open(&file).map_err(|error| format!("{}: {error}", file.display()))?.into()
        }
    };
    let (output, pipe) = std::io::pipe().map_err(|error| error.to_string())?;
    let (errors, other) = std::io::pipe().map_err(|error| error.to_string())?;
    let mut command = Command::new(&args.child[0]);
    command.args(&args.child[1..]).stdin(stdin).stdout(pipe).stderr(other);
    let child = command.spawn().map_err(|error| format!("cannot start {}: {error}", args.child[0]))?;
    Ok((child, output, errors))
}

fn pass_on(child: &Child, signal: rustix::process::Signal) {
    let pid = child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
    if let Some(pid) = pid {
        // It may have just exited.
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Secrets of the agent's environment, which must not be stored.
fn secrets() -> Secrets {
    let variables = std::env::vars_os();
    let known = variables.filter_map(|(name, value)| name.into_string().ok().zip(value.into_string().ok()));
    let mut secrets = Secrets::of(known);
    // The token is read with the first line: preparing the search takes a while.
    secrets.masked(b"");
    secrets
}

/// Stores one complete line: two threads write.
fn keep(events: &Mutex<File>, line: &[u8]) -> std::io::Result<()> {
    events.lock().map_err(|_| std::io::Error::other("the other thread panicked"))?.write_all(line)
}

/// Shows the agent's other output as it arrives, and stores each line of it as `{"stderr": …}`.
fn pass_through(mut errors: impl Read, events: &Mutex<File>, mut secrets: Secrets, taken: &AtomicU64) {
    let (mut line, mut kept) = (Vec::new(), 0_usize);
    let mut buffer = vec![0; 16 << 10];
    loop {
        let read = match errors.read(&mut buffer) {
            Ok(0) | Err(_) => return keep_error(events, &mut secrets, &line),
            Ok(read) => &buffer[..read],
        };
        taken.fetch_add(1, Ordering::Relaxed);
        let shown = std::io::stderr().lock().write_all(read);
        for part in read.split_inclusive(|byte| *byte == b'\n') {
            let room = ERROR_LIMIT.saturating_sub(line.len());
            line.extend_from_slice(&part[..part.len().min(room)]);
            // A secret that continues in the next line is recognized only with it.
            if part.ends_with(b"\n") && !(room > 0 && secrets.may_go_on(&line)) {
                kept += line.len();
                if kept <= ERRORS_LIMIT {
                    keep_error(events, &mut secrets, &line);
                }
                line.clear();
            }
        }
        if shown.is_err() && kept > ERRORS_LIMIT {
            return;
        }
    }
}

fn keep_error(events: &Mutex<File>, secrets: &mut Secrets, line: &[u8]) {
    let printed = secrets.masked(line);
    for line in String::from_utf8_lossy(&printed).lines() {
        let plain = text::plain(line.trim());
        if !plain.is_empty() {
            // A full disk is noticed where the structured lines are stored.
            let _ = keep(events, format!("{}\n", serde_json::json!({ "stderr": plain })).as_bytes());
        }
    }
}

/// Until the output ends, or the terminal or the disk fails.
fn copy(output: impl Read, events: &Mutex<File>, adapter: &Adapter, mut secrets: Secrets, taken: &AtomicU64) {
    let mut output = BufReader::with_capacity(64 << 10, output);
    let mut renderer = Renderer::new(adapter);
    let mut begun = false;
    let mut line = Vec::new();
    loop {
        line.clear();
        match output.by_ref().take(LINE_LIMIT).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        taken.fetch_add(1, Ordering::Relaxed);
        let whole = !begun && (line.ends_with(b"\n") || (line.len() as u64) < LINE_LIMIT);
        begun = !line.ends_with(b"\n");
        let line = secrets.masked(&line);
        let rendered = whole.then(|| renderer.render(String::from_utf8_lossy(&line).trim_end()));
        let keeps = rendered.as_ref().is_none_or(|rendered| rendered.kept);
        let kept = if keeps { keep(events, &line) } else { Ok(()) };
        let shown = rendered.map_or(Ok(()), |rendered| show(&rendered.text));
        if kept.is_err() && shown.is_err() {
            return;
        }
    }
}

fn show(shown: &str) -> std::io::Result<()> {
    let mut terminal = std::io::stdout().lock();
    terminal.write_all(shown.as_bytes())?;
    terminal.flush()
}

fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
