//! The process that reads and matches one file for a check. Files, expressions and schemas are written by others, and some
//! take far more time or memory than anybody can tell beforehand: here both end, and nothing else ends with them.
//!
//! Runs as `shopfloor check-file`, in the workspace. Its standard input is a pipe of the runner's: the first line is the
//! question, and when the pipe closes, the runner does not want the answer any more. It prints one line of JSON.

use std::io::{BufRead, Read, Write};
use std::path::Path;

use protocol::FileFormat;
use rustix::process::{Resource, Rlimit};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use worktree::Root;

use crate::verdict::Verdict;
use crate::{matches, touches};

/// The word after our program's name that stands for this process.
pub const COMMAND: &str = "check-file";

/// More than any question has: names of changed files are the longest part.
const LONGEST_QUESTION: u64 = 256 << 20;

/// What is to be judged.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Question {
    /// How many seconds of a processor it may take.
    pub(crate) seconds: u64,
    /// How many bytes of memory it may take.
    pub(crate) memory: u64,
    pub(crate) about: About,
}

/// What is looked at.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum About {
    /// The content of a file.
    File { path: String, wanted: Wanted },
    /// The names of what was changed.
    Names { globs: Vec<String>, names: Vec<String> },
}

/// All that must hold of one file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Wanted {
    pub(crate) regex: Option<String>,
    pub(crate) not_regex: Option<String>,
    pub(crate) min_words: Option<u32>,
    pub(crate) json_schema: Option<Value>,
    pub(crate) parses: Option<FileFormat>,
}

/// Answers the question on standard input, and returns an exit code.
pub fn main() -> i32 {
    let mut line = Vec::new();
    let read = std::io::stdin().lock().take(LONGEST_QUESTION).read_until(b'\n', &mut line);
    let Some(question) = read.ok().and_then(|_| serde_json::from_slice::<Question>(&line).ok()) else { return 2 };
    drop(line);
    // Below hub, runner and session hosts, as commands are. It is not needed for being right.
    let _ = rustix::process::nice(worktree::NICE);
    bound(&question);
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(1);
    });
    let verdict = match question.about {
        About::File { path, wanted } => match Root::open(Path::new(".")) {
            Ok(root) => matches::matches(&root, &path, &wanted),
            Err(error) => Verdict::Not(format!("the workspace cannot be opened: {error}")),
        },
        About::Names { globs, names } => touches::only(&globs, &names),
    };
    let told = serde_json::to_string(&verdict.short()).unwrap_or_default();
    i32::from(std::io::stdout().write_all(told.as_bytes()).is_err())
}

/// The kernel ends what takes more. A limit that cannot be set leaves the runner's own deadline.
fn bound(question: &Question) {
    let limits =
        [(Resource::As, question.memory), (Resource::Cpu, question.seconds), (Resource::Core, 0), (Resource::Fsize, 0)];
    for (resource, most) in limits {
        let _ = rustix::process::setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
}
