//! Writes tasks as plans that read back the same: Markdown where its grammar can say it, otherwise JSON.

use protocol::{Criterion, FileFormat, TaskAdd, TaskEdit};

use super::{Format, criterion, read, words};

/// One task as a plan, in a format that reads back the same.
pub fn render(task: &TaskAdd) -> (Format, String) {
    let written = markdown(task);
    let back = read(written.as_bytes(), "", Some(Format::Markdown));
    match back.tasks.as_slice() {
        [one] if back.faults.is_empty() && same(one, task) => (Format::Markdown, written),
        _ => (Format::Json, serde_json::to_string_pretty(task).unwrap_or_default() + "\n"),
    }
}

/// Whether two tasks say the same: Markdown puts an empty line below the title, and trims texts.
fn same(one: &TaskAdd, other: &TaskAdd) -> bool {
    let normal = |task: &TaskAdd| {
        let (title, rest) = task.description.trim().split_once('\n').unwrap_or((task.description.trim(), ""));
        let description = format!("{}\n{}", title.trim_end(), rest.trim_matches('\n').trim_end());
        TaskAdd { description, context: task.context.trim().to_owned(), ..task.clone() }
    };
    normal(one) == normal(other)
}

fn markdown(task: &TaskAdd) -> String {
    let (title, rest) = task.description.trim().split_once('\n').unwrap_or((task.description.trim(), ""));
    let name = task.id.as_ref().map(|name| format!(" {{#{name}}}")).unwrap_or_default();
    let mut lines = vec![format!("- [ ] {}{name}", title.trim_end())];
    let indented = |line: &str| if line.trim().is_empty() { String::new() } else { format!("  {line}") };
    lines.extend(rest.trim_matches('\n').lines().map(indented));
    let mut goes_on = false;
    for line in task.context.trim().lines() {
        lines.push(match goes_on && !line.trim().is_empty() {
            true => format!("    {line}"),
            false => format!("  - context: {line}").trim_end().to_owned(),
        });
        goes_on = !line.trim().is_empty();
    }
    for (name, list) in
        [("files", &task.files), ("after", &task.deps), ("needs", &task.needs), ("labels", &task.labels)]
    {
        if !list.is_empty() {
            lines.push(format!("  - {name}: {}", list.join(", ")));
        }
    }
    lines.extend(task.priority.map(|priority| format!("  - priority: {priority}")));
    lines.extend(task.acceptance.iter().map(|one| format!("  - accept: {}", criterion_line(one))));
    lines.join("\n") + "\n"
}

/// A criterion as a line that [`criterion::parse`] reads: words where they suffice, otherwise JSON.
fn criterion_line(criterion: &Criterion) -> String {
    let words = match criterion {
        Criterion::FileExists { path } => format!("file_exists: {path}"),
        Criterion::FileMatches { path, regex, not_regex, min_words, parses, .. } => {
            let mut parts = vec![path.clone()];
            parts.extend(regex.as_ref().map(|regex| format!("regex={regex}")));
            parts.extend(not_regex.as_ref().map(|regex| format!("not_regex={regex}")));
            parts.extend(min_words.map(|count| format!("min_words={count}")));
            parts.extend(parses.map(|format| format!("parses={}", word_of(format))));
            format!("file_matches: {}", words::join(&parts))
        }
        Criterion::Command { argv, .. } => format!("command: {}", words::join(argv)),
        Criterion::OnlyTouches { globs } => format!("only_touches: {}", words::join(globs)),
        Criterion::NoConflictWithBase {} => "no_conflict_with_base".to_owned(),
        Criterion::Committed {} => "committed".to_owned(),
        Criterion::Approved {} => "approved".to_owned(),
        Criterion::Merged {} => "merged".to_owned(),
        Criterion::Text { text } => text.clone(),
    };
    let reads_back = |line: &String| !line.contains('\n') && criterion::parse(line).as_ref() == Ok(criterion);
    let marked = format!("text: {words}");
    [words, marked].into_iter().find(reads_back).unwrap_or_else(|| serde_json::to_string(criterion).unwrap_or_default())
}

fn word_of(format: FileFormat) -> String {
    serde_json::to_value(format).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// What an edit changes, in words for the worker that has the task; empty if the worker need not know.
pub fn say_edit(edit: &TaskEdit) -> String {
    let list = |lines: Vec<String>| match lines.is_empty() {
        true => "(none)".to_owned(),
        false => lines.into_iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n"),
    };
    let acceptance = edit.acceptance.as_ref().map(|all| list(all.iter().map(criterion::say).collect()));
    let parts = [
        ("Description", edit.description.clone()),
        ("Context", edit.context.clone()),
        ("Accepted when", acceptance),
        ("Files to change", edit.files.as_ref().map(|files| list(files.clone()))),
    ];
    let parts = parts.into_iter().filter_map(|(name, text)| Some(format!("## {name}\n\n{}", text?.trim())));
    parts.collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn task(description: &str) -> TaskAdd {
        TaskAdd { description: description.to_owned(), priority: Some(5), ..TaskAdd::default() }
    }

    fn back(task: &TaskAdd) -> (Format, TaskAdd) {
        let (format, text) = render(task);
        let plan = read(text.as_bytes(), "", Some(format));
        assert!(plan.faults.is_empty(), "{text}\n{:?}", plan.faults);
        (format, plan.tasks.into_iter().next().expect("one task"))
    }

    #[test]
    fn a_task_is_written_as_people_write_it() {
        let acceptance = ["command: cargo test 'a b'", "committed", "file_exists: a b.rs", "It reads well"];
        let all = TaskAdd {
            context: "The old one\nis in git.\n\nUnder v1.".to_owned(),
            acceptance: acceptance.iter().map(|line| criterion::parse(line).expect("a criterion")).collect(),
            files: vec!["src/lexer.rs".to_owned(), "src/*.rs".to_owned()],
            deps: vec!["CALC-3".to_owned()],
            needs: vec!["rust".to_owned()],
            labels: vec!["ui".to_owned(), "area/web".to_owned()],
            ..task("Write the lexer\n\nKeep comments.\n\n- one\n- two")
        };
        let (format, text) = render(&all);
        assert_eq!(format, Format::Markdown);
        assert_eq!(
            text,
            "- [ ] Write the lexer\n  Keep comments.\n\n  - one\n  - two\n  - context: The old one\n    is in git.\n  \
             - context:\n  - context: Under v1.\n  - files: src/lexer.rs, src/*.rs\n  - after: CALC-3\n  - needs: rust\n  \
             - labels: ui, area/web\n  - priority: 5\n  - accept: command: cargo test 'a b'\n  - accept: committed\n  - accept: file_exists: a b.rs\n  \
             - accept: It reads well\n"
        );
        assert!(same(&back(&all).1, &all));
    }

    #[test]
    fn what_markdown_cannot_say_is_json() {
        for description in ["Do it\n\n- [ ] and this", "Do it\n\nfiles: none", "Do it {#name}"] {
            let (format, read) = back(&task(description));
            assert_eq!((format, read.description.as_str()), (Format::Json, description));
        }
        let schema = Criterion::FileMatches {
            path: "a.json".to_owned(),
            regex: None,
            not_regex: None,
            min_words: None,
            json_schema: Some(serde_json::json!({ "type": "object" })),
            parses: None,
        };
        let texts = ["committed", "two\nlines", "comand: x"].map(|text| Criterion::Text { text: text.to_owned() });
        let hard = TaskAdd { acceptance: [vec![schema], texts.to_vec()].concat(), ..task("Do it") };
        assert_eq!(back(&hard), (Format::Markdown, hard), "single criteria are JSON within Markdown");
    }

    proptest! {
        #[test]
        fn every_task_reads_back(
            description in "[a-z{}#:\\-\\[\\] \n]{0,40}x",
            context in "[a-z:\\- \n]{0,30}",
            files in proptest::collection::vec("[a-z/,`]{1,8}", 0..3),
            text in "[a-z:`{ ]{0,12}x",
        ) {
            let files = files.into_iter().filter(|file| !file.starts_with('/')).collect();
            let acceptance = vec![Criterion::Text { text }];
            let task = TaskAdd { context, files, acceptance, ..task(&description) };
            let (_, read) = back(&task);
            prop_assert!(same(&read, &task), "{:?}", read);
        }
    }
}
