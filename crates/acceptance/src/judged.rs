//! Runs a judge process with limits, and kills it when nobody waits for it.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

use crate::judge::{About, Question};
use crate::verdict::Verdict;

/// Maximum size of an answer: one verdict.
const LONGEST_ANSWER: u64 = 1 << 20;

/// The judge process and its limits.
#[derive(Debug, Clone)]
pub struct Judge {
    /// Our own program and its subcommand for the judge.
    pub program: Vec<String>,
    /// Time limit for all files of one check; after that, a person must look.
    pub patience: Duration,
    /// Memory limit for one file, in bytes.
    pub memory: u64,
}

impl Judge {
    /// A judge with the default limits: one minute per check, and 1 GiB of memory.
    pub fn new(program: Vec<String>) -> Self {
        Self { program, patience: Duration::from_secs(60), memory: 1 << 30 }
    }

    /// The verdict, by the deadline. The process ends with this future.
    pub(crate) async fn asked(&self, tree: &Path, about: About, deadline: Instant) -> Verdict {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return self.late();
        }
        let question = Question { seconds: left.as_secs() + 1, memory: self.memory, about };
        match tokio::time::timeout(left, self.answer(tree, &question)).await {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(why)) => Verdict::Unclear(format!("the check failed: {why}; a person must look")),
            Err(_) => self.late(),
        }
    }

    pub(crate) fn late(&self) -> Verdict {
        let seconds = self.patience.as_secs();
        Verdict::Unclear(format!("the check took longer than {seconds} s and was stopped; a person must look"))
    }

    async fn answer(&self, tree: &Path, question: &Question) -> Result<Verdict, String> {
        let (program, first) = self.program.split_first().ok_or("no judge program is configured")?;
        let mut text = serde_json::to_vec(question).map_err(|error| error.to_string())?;
        text.push(b'\n');
        let mut command = tokio::process::Command::new(program);
        command.args(first).env_clear().current_dir(tree).process_group(0).kill_on_drop(true);
        // The allocator of static binaries reserves 1 GiB of addresses, which would count against the memory limit.
        command.env("MIMALLOC_ARENA_RESERVE", "64MiB");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let (Some(mut asks), Some(tells)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("could not open its standard input".to_owned());
        };
        // A judge that exits early does not read the rest; its exit says more.
        let _ = asks.write_all(&text).await;
        let mut told = Vec::new();
        let read = tells.take(LONGEST_ANSWER).read_to_end(&mut told).await;
        let ended = child.wait().await.map_err(|error| error.to_string())?;
        // Its input stays open until here, which tells it that somebody waits.
        drop(asks);
        read.map_err(|error| error.to_string())?;
        serde_json::from_slice(&told).map_err(|_| self.why(ended))
    }

    /// What an exit without an answer means.
    fn why(&self, ended: ExitStatus) -> String {
        use std::os::unix::process::ExitStatusExt;
        match ended.signal() {
            Some(signal) => {
                let most = self.memory >> 20;
                format!("the check was killed (signal {signal}): it needs more than {most} MiB, or is nested too deep")
            }
            None => format!("the check exited without an answer ({ended})"),
        }
    }
}
