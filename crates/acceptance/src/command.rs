//! Runs a criterion's command, contained and with a time limit, and judges its result.

use std::fmt;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use crate::verdict::{Verdict, plain};
use crate::warden::{Ended, KEPT};

const USUAL_SECONDS: u32 = 300;
/// The longest time limit that a task may ask for.
const MOST_SECONDS: u32 = 24 * 3600;
/// How much of the output to report.
const TOLD: usize = 2000;
/// Extra time for the warden beyond the command's time limit.
const MARGIN: Duration = Duration::from_secs(30);

/// Whether commands may run here.
#[derive(Debug, Clone)]
pub enum Commands {
    /// Commands may run.
    Run(Runs),
    /// Commands may not run, for this reason, which names who can allow them.
    Refused(String),
}

/// Puts a command into its sandbox, or says why that is not possible.
pub type Contain = Arc<dyn Fn(Vec<String>) -> Result<Vec<String>, String> + Send + Sync>;

/// Removes secrets from a command's output.
pub type Mask = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// How to run commands.
#[derive(Clone)]
pub struct Runs {
    /// Our own program and its subcommand for the warden.
    pub warden: Vec<String>,
    /// The whole environment of commands.
    pub env: Vec<(String, String)>,
    /// Puts a command into its sandbox, if there is one.
    pub contain: Contain,
    /// Masks secrets in the command's output.
    pub mask: Mask,
}

impl fmt::Debug for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runs").field("warden", &self.warden).finish_non_exhaustive()
    }
}

/// Whether a command exits as expected.
pub(crate) async fn run(
    tree: &Path,
    commands: &Commands,
    argv: &[String],
    exit_code: Option<i32>,
    seconds: Option<u32>,
) -> Verdict {
    let shown = plain(&argv.join(" "), 200).replace('\n', " ");
    if argv.first().is_none_or(String::is_empty) || argv.iter().any(|word| word.contains('\0')) {
        return Verdict::Unclear(
            "the criterion's command is invalid: it has no program, or contains a NUL character".into(),
        );
    }
    let runs = match commands {
        Commands::Run(runs) => runs,
        Commands::Refused(why) => return Verdict::Unclear(format!("`{shown}` was not run: {why}")),
    };
    let seconds = seconds.unwrap_or(USUAL_SECONDS).clamp(1, MOST_SECONDS);
    let contained = match (runs.contain)(argv.to_vec()) {
        Ok(contained) => contained,
        Err(why) => return Verdict::Unclear(format!("`{shown}` was not run: {why}")),
    };
    match guarded(tree, runs, contained, seconds).await {
        Ok(mut ended) => {
            // Before cutting: half a secret would not be recognized.
            ended.tail = (runs.mask)(&ended.tail);
            judge(&shown, &ended, exit_code.unwrap_or(0), seconds)
        }
        Err(why) => Verdict::Not(format!("`{shown}` could not be started: {why}")),
    }
}

/// How a command ended that ran for something else than a criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// What became of it.
    pub end: End,
    /// The end of its output, as it was printed: with its secrets and control characters.
    pub tail: String,
    /// Whether the output has an earlier part.
    pub cut: bool,
}

/// What became of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It exited with this status.
    Exited(i32),
    /// It was killed by this signal.
    Killed(i32),
    /// It took too long and was killed, with everything that it started.
    Late,
    /// It could not be started, for this reason.
    NotStarted(String),
}

/// Runs a command, contained and with a time limit; everything that it started ends with it, or when this is dropped.
pub async fn run_command(tree: &Path, runs: &Runs, argv: &[String], seconds: u32) -> Ran {
    let not_started = |why: String| Ran { end: End::NotStarted(why), tail: String::new(), cut: false };
    if argv.first().is_none_or(String::is_empty) || argv.iter().any(|word| word.contains('\0')) {
        return not_started("the command has no program, or contains a NUL character".into());
    }
    let ended = match (runs.contain)(argv.to_vec()) {
        Ok(contained) => guarded(tree, runs, contained, seconds.clamp(1, MOST_SECONDS)).await,
        Err(why) => Err(why),
    };
    match ended {
        Ok(Ended { fault: Some(why), .. }) | Err(why) => not_started(plain(&why, 300)),
        Ok(Ended { code, signal, late, tail, .. }) => {
            let end = match (late, code, signal) {
                (true, ..) => End::Late,
                (_, Some(code), _) => End::Exited(code),
                (_, None, signal) => End::Killed(signal.unwrap_or(0)),
            };
            Ran { end, cut: tail.len() >= KEPT, tail }
        }
    }
}

async fn guarded(tree: &Path, runs: &Runs, argv: Vec<String>, seconds: u32) -> Result<Ended, String> {
    let (program, first) = runs.warden.split_first().ok_or("there is no warden")?;
    let mut command = tokio::process::Command::new(program);
    command.args(first).args(["--seconds", &seconds.to_string(), "--"]).args(argv);
    command.env_clear().envs(runs.env.iter().map(|(name, value)| (name, value))).current_dir(tree);
    // The warden's input stays open as long as we run; closing it tells the warden to stop.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let alive = child.stdin.take();
    let told = tokio::time::timeout(Duration::from_secs(u64::from(seconds)) + MARGIN, child.wait_with_output()).await;
    drop(alive);
    let told = told.map_err(|_| "its warden did not exit".to_owned())?.map_err(|error| error.to_string())?;
    // A command can reach its warden's output: what a killed warden said does not count.
    let said = if told.status.success() { told.stdout } else { Vec::new() };
    serde_json::from_slice(&said).map_err(|_| format!("its warden exited without a result ({})", told.status))
}

fn judge(shown: &str, ended: &Ended, wanted: i32, seconds: u32) -> Verdict {
    let tail = plain(&ended.tail, usize::MAX);
    let start = tail.ceil_char_boundary(tail.len().saturating_sub(TOLD));
    let tail = tail[start..].trim();
    let said = if tail.is_empty() { String::new() } else { format!("; the end of its output:\n{tail}") };
    if let Some(fault) = &ended.fault {
        return Verdict::Not(format!("`{shown}` could not be started: {}", plain(fault, 300)));
    }
    if ended.late {
        return Verdict::Not(format!("`{shown}` took longer than {seconds} s and was killed{said}"));
    }
    match (ended.code, ended.signal) {
        (Some(code), _) if code == wanted => Verdict::Met(format!("`{shown}` exited with {code}")),
        (Some(code), _) => Verdict::Not(format!("`{shown}` exited with {code} instead of {wanted}{said}")),
        (None, signal) => {
            let signal = signal.map_or_else(|| "something".to_owned(), |signal| format!("signal {signal}"));
            Verdict::Not(format!("`{shown}` was killed by {signal}{said}"))
        }
    }
}
