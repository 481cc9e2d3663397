//! The document of a handoff: facts from the runner as front matter, and below it the prose of the agent.

use std::fmt::Write as _;

use domain::text::plain;
use domain::{HandoffId, SessionId};

use super::template::STANDARD;

/// The maximum number of uncommitted paths in a document.
pub const MAX_DIRTY: usize = 200;
/// The maximum size of all its uncommitted paths, and of its prose, in bytes.
const DIRTY_BYTES: usize = 16 * 1024;
const BODY_BYTES: usize = 48 * 1024;
/// The maximum number of checks in a document, and the length of each, in characters.
const CHECKS: (usize, usize) = (30, 200);
/// How many lines of a terminal a document without prose quotes.
const LINES: usize = 60;

/// What is known about the work without asking its agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The handoff.
    pub handoff: HandoffId,
    /// The session that hands off.
    pub session: SessionId,
    /// Its agent.
    pub agent: String,
    /// Its task, by number and title.
    pub task: Option<String>,
    /// The goal of the person who hands off.
    pub goal: String,
    /// The branch of the work.
    pub branch: Option<String>,
    /// The commit that the work started from.
    pub fork: Option<String>,
    /// The commit that is checked out.
    pub head: Option<String>,
    /// The tree of everything, uncommitted work included.
    pub tree: Option<String>,
    /// The commit with everything, as the runner keeps it.
    pub saved: Option<String>,
    /// Paths with uncommitted changes, at most [`MAX_DIRTY`].
    pub dirty: Vec<String>,
    /// How many more there are.
    pub more_dirty: u64,
    /// The checks that ran for the task's last report.
    pub checks: Vec<Check>,
}

/// A check and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What was checked.
    pub what: String,
    /// Whether it passed; absent if nobody knows.
    pub passed: Option<bool>,
    /// The result in words, with the exit code of a command.
    pub result: String,
}

/// What the agent writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prose {
    /// What is done.
    pub done: String,
    /// What remains.
    pub remaining: String,
    /// What was tried and failed.
    pub tried: String,
    /// Open questions.
    pub questions: String,
    /// The next step.
    pub next: String,
}

impl Prose {
    /// The prose by the titles of its sections.
    pub fn parts(self) -> Vec<(String, String)> {
        let texts = [self.done, self.remaining, self.tried, self.questions, self.next];
        STANDARD.iter().map(|(_, title, _)| (*title).to_owned()).zip(texts).collect()
    }
}

/// A body without an agent: why it wrote nothing, and the last lines of its terminal.
pub fn from_recording(why: &str, log: &str) -> String {
    let lines: Vec<&str> = log.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LINES)..].iter();
    let shown: String = last.map(|line| format!("    {line}\n")).collect();
    match shown.is_empty() {
        true => format!("The agent wrote nothing: {why}.\n"),
        false => format!("The agent wrote nothing: {why}.\n\n## The last lines of its terminal\n\n{shown}"),
    }
}

/// The document without its hash: what the hash is made of.
pub fn text(facts: &Facts, body: &str) -> String {
    format!("---\n{}---\n\n{}\n", front(facts), bounded(body))
}

/// The document with its hash, as the last line of the front matter.
pub fn seal(facts: &Facts, body: &str, hash: &str) -> String {
    format!("---\n{}hash: {hash}\n---\n\n{}\n", front(facts), bounded(body))
}

/// The prose within its limit: a document that is longer than a prompt helps nobody.
fn bounded(body: &str) -> String {
    let body = body.trim();
    if body.len() <= BODY_BYTES {
        return body.to_owned();
    }
    let end = (0..=BODY_BYTES).rev().find(|at| body.is_char_boundary(*at)).unwrap_or_default();
    format!("{}\n\n(Cut: {} of {} bytes are shown.)", &body[..end], end, body.len())
}

/// The document as a file beside the work, written before the work is saved: without what is known only then.
pub fn note(facts: &Facts, body: &str) -> String {
    let mut front = head(facts);
    let _ = writeln!(front, "goal: {}", quoted(&facts.goal));
    let _ = writeln!(front, "task: {}", facts.task.as_deref().map_or("null".to_owned(), quoted));
    format!("---\n{front}---\n\n{}\n", body.trim())
}

fn head(facts: &Facts) -> String {
    format!("handoff: {}\nsession: {}\nagent: {}\n", facts.handoff, facts.session, quoted(&facts.agent))
}

fn front(facts: &Facts) -> String {
    let mut front = head(facts);
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(front, "{name}: {value}");
    };
    let texts = [
        ("task", &facts.task),
        ("branch", &facts.branch),
        ("fork", &facts.fork),
        ("head", &facts.head),
        ("tree", &facts.tree),
        ("saved", &facts.saved),
    ];
    line("goal", &quoted(&facts.goal));
    for (name, value) in texts {
        line(name, &value.as_deref().map_or("null".to_owned(), quoted));
    }
    let mut bytes = 0;
    let dirty = facts.dirty.iter().take(MAX_DIRTY).map(|path| quoted(path));
    let dirty: Vec<String> = dirty
        .take_while(|path| {
            bytes += path.len();
            bytes <= DIRTY_BYTES
        })
        .collect();
    line("uncommitted", &format!("[{}]", dirty.join(", ")));
    let more = facts.more_dirty.saturating_add((facts.dirty.len() - dirty.len()) as u64);
    if more > 0 {
        line("more_uncommitted", &more.to_string());
    }
    let checks = facts.checks.iter().take(CHECKS.0).map(|check| {
        let passed = check.passed.map_or("null".to_owned(), |passed| passed.to_string());
        let (what, result) = (plain(&check.what, CHECKS.1), plain(&check.result, CHECKS.1));
        format!("{{\"check\": {}, \"passed\": {passed}, \"result\": {}}}", quoted(&what), quoted(&result))
    });
    line("checks", &format!("[{}]", checks.collect::<Vec<_>>().join(", ")));
    front
}

/// A text on one line, as JSON and YAML read it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
