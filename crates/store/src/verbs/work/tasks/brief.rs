//! The brief: all that an agent needs to know about its task, as text.

use domain::AttemptOutcome;
use protocol::{Criterion, FileFormat, Handover, Task};

use super::before::{self, Before, Ground};

/// Where the next worker finds an earlier worker's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// In its own workspace, which the earlier worker used.
    Here,
    /// In its own workspace, copied from another runner.
    Brought,
    /// On a branch, if it was pushed.
    Elsewhere,
}

/// The brief of a task: description, results of dependencies, acceptance, earlier work, and how to report.
pub(crate) fn brief(
    task: &Task,
    (before, ground): (&[Before], Ground),
    handover: Option<&Handover>,
    work: Work,
    refused: Option<&str>,
    comments: &str,
) -> String {
    let mut text = format!("# Task {} ({})\n\n{}\n", task.short, task.id, task.description.trim());
    let mut section = |title: &str, body: &str| {
        if !body.trim().is_empty() {
            text.push_str(&format!("\n## {title}\n\n{}\n", body.trim()));
        }
    };
    if let Some(refused) = refused {
        section("The last report was refused: fix this first", refused);
    }
    section("Review comments on your changes", comments);
    if handover.is_some_and(|left| left.outcome == AttemptOutcome::Accepted) {
        section(
            "This task was done and is open again",
            "A person asks for more: the end of the context says what. The work that was accepted is where you begin.",
        );
    }
    section("Context", &task.context);
    if !before.is_empty() {
        section("What was done before", &before::words(before, task.deps.len(), ground));
    }
    let list = |lines: Vec<String>| lines.into_iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n");
    section("Accepted when", &list(task.acceptance.iter().map(words).collect()));
    section("Files to change", &list(task.files.iter().map(|file| format!("`{file}`")).collect()));
    if let Some(left) = handover {
        section("What an earlier worker left", &left_behind(work, left));
    }
    section(
        "When you are done",
        "Report with the tool `report`: what you did, the files, branch and commits, and a context score from 1 (had to \
         guess) to 5 (all was clear). If you cannot do it, report that with the reason. If a person must decide \
         something, use `ask`. Without these tools simply say at the end, in prose, what was done.",
    );
    text
}

fn left_behind(work: Work, left: &Handover) -> String {
    let mut lines = vec![format!("`{}` had this task; it ended: {}", left.worker_name, left.outcome.word())];
    if let Some(reason) = &left.reason {
        lines.push(format!("Why: {reason}"));
    }
    match (work, &left.branch) {
        (Work::Here, _) => lines.push("You are where it worked: what it wrote, committed or not, is here.".to_owned()),
        (Work::Brought, _) => lines.push(
            "What it wrote, committed or not, was brought to your workspace, onto your branch: look at it before you \
             begin."
                .to_owned(),
        ),
        (Work::Elsewhere, Some(branch)) => lines.push(format!(
            "Its work is on the branch `{branch}`: look there before you begin. If there is no such branch here, it was \
             not pushed from where `{}` worked.",
            left.worker_name
        )),
        (Work::Elsewhere, None) => {}
    }
    if let Some(session) = left.session {
        lines.push(format!("What it did was recorded: `shopfloor recording play {session}`."));
    }
    if let Some(report) = &left.report {
        lines.push(format!("It reported: {}", report.summary.trim()));
    }
    lines.join("\n")
}

/// A criterion as text.
pub(crate) fn words(criterion: &Criterion) -> String {
    match criterion {
        Criterion::FileExists { path } => format!("`{path}` exists and is not empty"),
        Criterion::FileMatches { path, regex, not_regex, min_words, json_schema, parses } => {
            let mut parts = Vec::new();
            parts.extend(regex.as_ref().map(|regex| format!("contains a match of /{regex}/")));
            parts.extend(not_regex.as_ref().map(|regex| format!("contains no match of /{regex}/")));
            parts.extend(min_words.map(|count| format!("has at least {count} words")));
            parts.extend(json_schema.as_ref().map(|schema| format!("is JSON that meets the schema {schema}")));
            parts.extend(parses.map(|format| format!("is whole and correct {}", format_name(format))));
            format!("`{path}` {}", parts.join(", "))
        }
        Criterion::Command { argv, exit_code, timeout_seconds } => {
            let within = timeout_seconds.unwrap_or(300);
            format!("`{}` exits with {} within {within} s", argv.join(" "), exit_code.unwrap_or(0))
        }
        Criterion::OnlyTouches { globs } => format!("nothing else was touched than {}", globs.join(", ")),
        Criterion::NoConflictWithBase {} => "the work merges into the base branch without conflict".to_owned(),
        Criterion::Committed {} => "everything is committed, in at least one new commit".to_owned(),
        Criterion::Approved {} => "a person approves your changes, after all other criteria are met".to_owned(),
        Criterion::Merged {} => {
            "your work is merged, by the merge queue and after all other criteria are met".to_owned()
        }
        Criterion::Text { text } => format!("{text} (a person judges this)"),
    }
}

fn format_name(format: FileFormat) -> &'static str {
    match format {
        FileFormat::Json => "JSON",
        FileFormat::Jsonl => "JSON, one value on each line",
        FileFormat::Toml => "TOML",
        FileFormat::Yaml => "YAML",
        FileFormat::Csv => "CSV",
        FileFormat::Xml => "XML",
        FileFormat::Text => "UTF-8 text",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_criterion_is_told_in_words() {
        let command =
            Criterion::Command { argv: vec!["make".into(), "test".into()], exit_code: None, timeout_seconds: Some(9) };
        assert_eq!(words(&command), "`make test` exits with 0 within 9 s");
        let file = Criterion::FileMatches {
            path: "a.md".into(),
            regex: None,
            not_regex: None,
            min_words: Some(3),
            json_schema: None,
            parses: Some(FileFormat::Text),
        };
        assert_eq!(words(&file), "`a.md` has at least 3 words, is whole and correct UTF-8 text");
    }
}
