//! The lines that a comment is on.

use domain::DiffSide;
use protocol::{DiffKind, ReviewThread, WorkspaceDiff};

use crate::Failure;

/// Reads `PATH:LINE` or `PATH:LINE-LINE`.
pub(super) fn parse(text: &str) -> Result<(String, u32, u32), Failure> {
    let wrong = || {
        Failure::usage(format!("`{text}` does not name a line"))
            .advise("write PATH:LINE or PATH:FIRST-LAST, such as src/main.rs:12 or src/main.rs:12-15")
    };
    let (path, lines) = text.rsplit_once(':').filter(|(path, _)| !path.is_empty()).ok_or_else(wrong)?;
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let (first, last): (u32, u32) = (first.parse().map_err(|_| wrong())?, last.parse().map_err(|_| wrong())?);
    if first == 0 || last < first {
        return Err(wrong());
    }
    Ok((path.to_owned(), first, last))
}

/// The text of these lines in a diff; refuses a file that was not changed.
pub(super) fn quote(
    diff: &WorkspaceDiff,
    path: &str,
    side: DiffSide,
    (first, last): (u32, u32),
) -> Result<String, Failure> {
    let Some(file) = diff.files.iter().find(|file| file.path == path || file.old_path.as_deref() == Some(path)) else {
        let known: Vec<&str> = diff.files.iter().take(20).map(|file| file.path.as_str()).collect();
        let known =
            if known.is_empty() { "nothing was changed".into() } else { format!("changed: {}", known.join(", ")) };
        return Err(Failure::usage(format!("`{path}` was not changed")).advise(known));
    };
    let not = if side == DiffSide::Old { DiffKind::Added } else { DiffKind::Removed };
    let mut lines = Vec::new();
    for hunk in &file.hunks {
        let start = if side == DiffSide::Old { hunk.old_start } else { hunk.new_start };
        let own = hunk.lines.iter().filter(|line| line.kind != not);
        lines.extend(
            (start..).zip(own).filter(|(at, _)| (first..=last).contains(at)).map(|(_, line)| line.text.as_str()),
        );
    }
    Ok(lines.join("\n"))
}

/// The lines of a thread.
pub(super) fn shown(thread: &ReviewThread) -> String {
    let end = if thread.end_line > thread.line { format!("-{}", thread.end_line) } else { String::new() };
    let side = if thread.side == DiffSide::Old { " (before)" } else { "" };
    format!("{}:{}{end}{side}", thread.path, thread.line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{DiffLine, FileDiff, Hunk};

    #[test]
    fn places_are_read() {
        assert_eq!(parse("a:b.rs:3").unwrap(), ("a:b.rs".to_owned(), 3, 3));
        assert_eq!(parse("src/a.rs:3-5").unwrap(), ("src/a.rs".to_owned(), 3, 5));
        for bad in ["a.rs", "a.rs:", "a.rs:0", "a.rs:5-3", ":3", "a.rs:x"] {
            assert!(parse(bad).unwrap_err().render(false).contains("PATH:LINE"), "{bad}");
        }
    }

    #[test]
    fn lines_are_quoted_from_their_side() {
        let line = |kind, text: &str| DiffLine { kind, text: text.into() };
        let lines = vec![
            line(DiffKind::Same, "one"),
            line(DiffKind::Removed, "two"),
            line(DiffKind::Added, "zwei"),
            line(DiffKind::Added, "drei"),
        ];
        let hunk = Hunk { old_start: 1, new_start: 1, lines, old_open: false, new_open: false };
        let file = FileDiff {
            path: "a.txt".into(),
            old_path: None,
            change: "modified".into(),
            old_mode: None,
            mode: None,
            binary: false,
            insertions: 2,
            deletions: 1,
            hunks: vec![hunk],
            exact: true,
        };
        let diff = WorkspaceDiff { files: vec![file], tree: None, truncated: false };
        assert_eq!(quote(&diff, "a.txt", DiffSide::New, (2, 3)).unwrap(), "zwei\ndrei");
        assert_eq!(quote(&diff, "a.txt", DiffSide::Old, (2, 2)).unwrap(), "two");
        assert_eq!(quote(&diff, "a.txt", DiffSide::New, (9, 9)).unwrap(), "");
        assert!(quote(&diff, "b.txt", DiffSide::New, (1, 1)).unwrap_err().render(false).contains("changed: a.txt"));
    }
}
