//! Runs a command of a criterion, contained and with an end, and judges how it ended.

use std::fmt;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use crate::verdict::{Verdict, plain};
use crate::warden::Ended;

const USUAL_SECONDS: u32 = 300;
/// What a task may ask for: whoever adds one is refused more than this.
const MOST_SECONDS: u32 = 24 * 3600;
/// How much of the output is told.
const TOLD: usize = 2000;
/// What the warden may take beyond the command's own time.
const MARGIN: Duration = Duration::from_secs(30);

/// Whether commands may run here.
#[derive(Debug, Clone)]
pub enum Commands {
    /// They may.
    Run(Runs),
    /// They may not, for this reason, which also says who can allow it.
    Refused(String),
}

/// Puts a command into its sandbox, or says why it cannot be.
pub type Contain = Arc<dyn Fn(Vec<String>) -> Result<Vec<String>, String> + Send + Sync>;

/// Takes secrets out of what a command printed.
pub type Mask = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// How commands run.
#[derive(Clone)]
pub struct Runs {
    /// Our own program and the word that makes it the warden of a command.
    pub warden: Vec<String>,
    /// The whole environment of commands.
    pub env: Vec<(String, String)>,
    /// Puts a command into its sandbox, where there is one.
    pub contain: Contain,
    /// Masks secrets in what the command printed.
    pub mask: Mask,
}

impl fmt::Debug for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runs").field("warden", &self.warden).finish_non_exhaustive()
    }
}

/// Whether a command ends as it should.
pub(crate) async fn run(
    tree: &Path,
    commands: &Commands,
    argv: &[String],
    exit_code: Option<i32>,
    seconds: Option<u32>,
) -> Verdict {
    let shown = plain(&argv.join(" "), 200).replace('\n', " ");
    if argv.first().is_none_or(String::is_empty) || argv.iter().any(|word| word.contains('\0')) {
        return Verdict::Unclear("the criterion's command cannot be run: it has no program, or a NUL character".into());
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
            // Before anything is cut: half a secret would not be known.
            ended.tail = (runs.mask)(&ended.tail);
            judge(&shown, &ended, exit_code.unwrap_or(0), seconds)
        }
        Err(why) => Verdict::Not(format!("`{shown}` could not be run: {why}")),
    }
}

async fn guarded(tree: &Path, runs: &Runs, argv: Vec<String>, seconds: u32) -> Result<Ended, String> {
    let (program, first) = runs.warden.split_first().ok_or("there is no warden")?;
    let mut command = tokio::process::Command::new(program);
    command.args(first).args(["--seconds", &seconds.to_string(), "--"]).args(argv);
    command.env_clear().envs(runs.env.iter().map(|(name, value)| (name, value))).current_dir(tree);
    // Its input stays open as long as we are here: that is how it knows.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let alive = child.stdin.take();
    let told = tokio::time::timeout(Duration::from_secs(u64::from(seconds)) + MARGIN, child.wait_with_output()).await;
    drop(alive);
    let told = told.map_err(|_| "its warden did not end".to_owned())?.map_err(|error| error.to_string())?;
    serde_json::from_slice(&told.stdout).map_err(|_| format!("its warden ended without a word ({})", told.status))
}

fn judge(shown: &str, ended: &Ended, wanted: i32, seconds: u32) -> Verdict {
    let tail = plain(&ended.tail, usize::MAX);
    let start = tail.ceil_char_boundary(tail.len().saturating_sub(TOLD));
    let tail = tail[start..].trim();
    let said = if tail.is_empty() { String::new() } else { format!("; the end of what it printed:\n{tail}") };
    if let Some(fault) = &ended.fault {
        return Verdict::Not(format!("`{shown}` could not be run: {}", plain(fault, 300)));
    }
    if ended.late {
        return Verdict::Not(format!("`{shown}` took longer than {seconds} s and was ended{said}"));
    }
    match (ended.code, ended.signal) {
        (Some(code), _) if code == wanted => Verdict::Met(format!("`{shown}` ended with {code}")),
        (Some(code), _) => Verdict::Not(format!("`{shown}` ended with {code} instead of {wanted}{said}")),
        (None, signal) => {
            let signal = signal.map_or_else(|| "something".to_owned(), |signal| format!("signal {signal}"));
            Verdict::Not(format!("`{shown}` was ended by {signal}{said}"))
        }
    }
}
