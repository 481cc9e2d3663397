//! The process that reads and matches one file for a check. Other people write the files, patterns and schemas, and
//! some take an unpredictable amount of time or memory: limits apply to this process alone.
//!
//! Runs as `shopfloor check-file`, in the workspace. Its standard input is a pipe from the runner: the first line is
//! the question, and a closed pipe means that the runner no longer waits. It prints one line of JSON.

use std::io::{BufRead, Read, Write};
use std::path::Path;

use protocol::FileFormat;
use rustix::process::{Resource, Rlimit};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use worktree::Root;

use crate::verdict::Verdict;
use crate::{matches, touches};

/// The subcommand of this process.
pub const COMMAND: &str = "check-file";

/// Larger than any question; the names of changed files are its longest part.
const LONGEST_QUESTION: u64 = 256 << 20;

/// A question.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Question {
    /// Processor time limit, in seconds.
    pub(crate) seconds: u64,
    /// Memory limit, in bytes.
    pub(crate) memory: u64,
    pub(crate) about: About,
}

/// What to check.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum About {
    /// The content of a file.
    File { path: String, wanted: Wanted },
    /// The names of the changed files.
    Names { globs: Vec<String>, names: Vec<String> },
}

/// The conditions for one file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Wanted {
    pub(crate) regex: Option<String>,
    pub(crate) not_regex: Option<String>,
    pub(crate) min_words: Option<u32>,
    pub(crate) json_schema: Option<Value>,
    pub(crate) parses: Option<FileFormat>,
}

/// Answers the question on standard input; returns an exit code.
pub fn main() -> i32 {
    let mut line = Vec::new();
    let read = std::io::stdin().lock().take(LONGEST_QUESTION).read_until(b'\n', &mut line);
    let Some(question) = read.ok().and_then(|_| serde_json::from_slice::<Question>(&line).ok()) else { return 2 };
    drop(line);
    // Lower priority than hub, runner and session hosts, like commands. Optional.
    let _ = rustix::process::nice(worktree::NICE);
    bound(&question);
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(1);
    });
    let verdict = match question.about {
        About::File { path, wanted } => match Root::open(Path::new(".")) {
            Ok(root) => matches::matches(&root, &path, &wanted),
            Err(error) => Verdict::Not(format!("could not open the workspace: {error}")),
        },
        About::Names { globs, names } => touches::only(&globs, &names),
    };
    let told = serde_json::to_string(&verdict.short()).unwrap_or_default();
    i32::from(std::io::stdout().write_all(told.as_bytes()).is_err())
}

/// The kernel kills a process above these limits. If a limit cannot be set, the runner's own deadline remains.
fn bound(question: &Question) {
    let limits =
        [(Resource::As, question.memory), (Resource::Cpu, question.seconds), (Resource::Core, 0), (Resource::Fsize, 0)];
    for (resource, most) in limits {
        let _ = rustix::process::setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
}
