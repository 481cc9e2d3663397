//! Review comments as a text for the agent.

use domain::text::{counted, plain};
use domain::{AuthorKind, DiffSide};
use protocol::ReviewThread;

/// The longest text, in characters; the first comments count.
const LONGEST: usize = 48 * 1024;
/// The comments of one thread that are told; the newest count.
const NEWEST: usize = 20;

/// What follows the answers.
const REPORT: &str = " Then report again.";

/// A person's message and comments on a task's changes.
pub(super) fn written(by: &str, words: &str, threads: &[ReviewThread]) -> String {
    letter(&format!("{by} reviewed your changes and sends them back."), words, threads, REPORT)
}

/// A person's message and comments on the changes in a workspace.
pub(super) fn on_workspace(by: &str, words: &str, threads: &[ReviewThread]) -> String {
    letter(&format!("{by} reviewed your changes."), words, threads, "")
}

fn letter(head: &str, words: &str, threads: &[ReviewThread], then: &str) -> String {
    let mut text = head.to_owned();
    if !words.is_empty() {
        text.push_str(&format!("\n\n{words}"));
    }
    if !threads.is_empty() {
        text.push_str(&format!("\n\n{}", listed(threads, then)));
    }
    plain(&text, LONGEST)
}

/// The comments on a task's changes, for its brief.
pub(super) fn comments(threads: &[ReviewThread]) -> String {
    listed(threads, REPORT)
}

/// The comments, in order of files and lines, and how to answer them.
fn listed(threads: &[ReviewThread], then: &str) -> String {
    let mut sorted: Vec<&ReviewThread> = threads.iter().collect();
    sorted.sort_by_key(|thread| (&thread.path, thread.line));
    let mut text = format!("{}:\n", counted(sorted.len(), "comment", "comments"));
    for thread in sorted {
        text.push_str(&format!("\n{} (thread {})\n", place(thread), thread.id));
        for line in thread.quote.as_deref().unwrap_or_default().lines().take(20) {
            text.push_str(&format!("> {line}\n"));
        }
        let skipped = thread.comments.len().saturating_sub(NEWEST);
        for comment in &thread.comments[skipped..] {
            let agent = if comment.author_kind == AuthorKind::Agent { " (agent)" } else { "" };
            text.push_str(&format!("{}{agent}: {}\n", comment.author.name, comment.text.trim()));
        }
    }
    text.push_str(
        "\nChange what they ask for, and answer each thread with the tool `review_reply` (thread and text): what you did, \
         or why not.",
    );
    text.push_str(then);
    plain(&text, LONGEST)
}

/// The lines of a thread: `src/a.rs:3-5`.
fn place(thread: &ReviewThread) -> String {
    let end = if thread.end_line > thread.line { format!("-{}", thread.end_line) } else { String::new() };
    let side = if thread.side == DiffSide::Old { ", before the change" } else { "" };
    format!("{}:{}{end}{side}", thread.path, thread.line)
}
