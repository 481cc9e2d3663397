//! A workspace's changes as a patch for `git apply`.

use protocol::{DiffKind, FileDiff, Hunk, WorkspaceDiff};

use crate::Output;
use crate::output::clean;
use crate::table::Style;

/// Files that a patch only names: their lines are incomplete, or are not text.
pub(super) fn not_in_it(diff: &WorkspaceDiff) -> Vec<&FileDiff> {
    diff.files.iter().filter(|file| !whole(file)).collect()
}

/// All changes; with `stat`, only a summary of each file.
pub(super) fn changes(diff: &WorkspaceDiff, stat: bool, out: &Output) -> String {
    if diff.files.is_empty() {
        return Style::Dim.paint("no changes", out.color);
    }
    if stat {
        return diff.files.iter().map(|file| summary(file, out)).collect::<Vec<_>>().join("\n");
    }
    diff.files.iter().flat_map(|file| if whole(file) { patch(file, out) } else { vec![summary(file, out)] }).fold(
        String::new(),
        |mut all, line| {
            all.push_str(&line);
            all.push('\n');
            all
        },
    )
}

/// Whether all changes of a file are known.
fn whole(file: &FileDiff) -> bool {
    let same_content = file.insertions == 0 && file.deletions == 0 && file.hunks.is_empty();
    !file.binary && (file.exact || same_content) && (file.mode.is_some() || file.old_mode.is_some())
}

fn summary(file: &FileDiff, out: &Output) -> String {
    let renamed = file.old_path.as_ref().map(|old| format!("{old} → ")).unwrap_or_default();
    let kind = if file.binary { "  (binary)" } else { "" };
    let line = format!("{} {renamed}{}  +{} -{}{kind}", file.change, file.path, file.insertions, file.deletions);
    Style::Bold.paint(&clean(&line).replace('\n', " "), out.color)
}

fn patch(file: &FileDiff, out: &Output) -> Vec<String> {
    if file.change != "type_changed" {
        return section(file, &file.hunks, out);
    }
    // As in git: a change of kind is a deletion and an addition.
    let (gone, come): (Vec<Hunk>, Vec<Hunk>) = file.hunks.iter().cloned().partition(|hunk| hunk.new_start == 0);
    let before = FileDiff { change: "deleted".into(), mode: None, ..file.clone() };
    let now = FileDiff { change: "added".into(), old_mode: None, ..file.clone() };
    [section(&before, &gone, out), section(&now, &come, out)].concat()
}

fn section(file: &FileDiff, hunks: &[Hunk], out: &Output) -> Vec<String> {
    let old = file.old_path.as_ref().unwrap_or(&file.path);
    let mut head = vec![format!("diff --git {} {}", named("a/", old), named("b/", &file.path))];
    match (&file.old_mode, &file.mode) {
        (None, Some(mode)) => head.push(format!("new file mode {mode}")),
        (Some(mode), None) => head.push(format!("deleted file mode {mode}")),
        (Some(before), Some(now)) if before != now => {
            head.extend([format!("old mode {before}"), format!("new mode {now}")]);
        }
        _ => {}
    }
    if file.old_path.is_some() {
        head.extend([format!("rename from {}", named("", old)), format!("rename to {}", named("", &file.path))]);
    }
    if !hunks.is_empty() {
        let side = |mode: &Option<String>, prefix: &str, path: &str| match mode {
            Some(_) => ended(named(prefix, path)),
            None => "/dev/null".to_owned(),
        };
        head.push(format!("--- {}", side(&file.old_mode, "a/", old)));
        head.push(format!("+++ {}", side(&file.mode, "b/", &file.path)));
    }
    let mut lines: Vec<String> = head.iter().map(|line| Style::Bold.paint(&clean(line), out.color)).collect();
    lines.extend(hunks.iter().flat_map(|part| hunk(part, out)));
    lines
}

fn hunk(hunk: &Hunk, out: &Output) -> Vec<String> {
    let count = |not: DiffKind| hunk.lines.iter().filter(|line| line.kind != not).count();
    let (old, new) = (count(DiffKind::Added), count(DiffKind::Removed));
    let head = format!("@@ -{},{old} +{},{new} @@", hunk.old_start, hunk.new_start);
    let last = |not: DiffKind| hunk.lines.iter().rposition(|line| line.kind != not);
    let (old_end, new_end) = (last(DiffKind::Added), last(DiffKind::Removed));
    let mut lines = vec![Style::Dim.paint(&head, out.color)];
    for (at, line) in hunk.lines.iter().enumerate() {
        let (mark, style) = match line.kind {
            DiffKind::Same => (' ', Style::Plain),
            DiffKind::Added => ('+', Style::Green),
            DiffKind::Removed => ('-', Style::Red),
        };
        // A program gets every byte; a terminal must not interpret them.
        let text = if out.width.is_none() { line.text.clone() } else { clean(line.text.trim_end_matches('\r')) };
        lines.push(style.paint(&format!("{mark}{text}"), out.color));
        let open = (hunk.old_open && Some(at) == old_end && line.kind != DiffKind::Added)
            || (hunk.new_open && Some(at) == new_end && line.kind != DiffKind::Removed);
        lines.extend(open.then(|| "\\ No newline at end of file".to_owned()));
    }
    lines
}

/// A path as in a git patch: unusual characters are quoted.
fn named(prefix: &str, path: &str) -> String {
    if !path.contains(|c: char| c.is_control() || c == '"' || c == '\\') {
        return format!("{prefix}{path}");
    }
    let mut quoted = format!("\"{prefix}");
    for c in path.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let mut bytes = [0; 4];
                let escaped = c.encode_utf8(&mut bytes).bytes().map(|byte| format!("\\{byte:03o}"));
                quoted.extend(escaped);
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A name with blanks ends with a tab, as git requires.
fn ended(name: String) -> String {
    if name.contains(' ') && !name.starts_with('"') { format!("{name}\t") } else { name }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use domain::Timestamp;
    use protocol::DiffLine;

    use super::*;

    fn out(width: Option<usize>) -> Output {
        Output { json: false, color: false, width, now: Timestamp::from_millis(0) }
    }

    fn line(text: &str) -> DiffLine {
        let kind = match text.as_bytes()[0] {
            b'+' => DiffKind::Added,
            b'-' => DiffKind::Removed,
            _ => DiffKind::Same,
        };
        DiffLine { kind, text: text[1..].to_owned() }
    }

    fn part(old_start: u32, new_start: u32, lines: &[&str], open: (bool, bool)) -> Hunk {
        let lines = lines.iter().map(|text| line(text)).collect();
        Hunk { old_start, new_start, lines, old_open: open.0, new_open: open.1 }
    }

    fn file(path: &str, change: &str, modes: [&str; 2], hunks: Vec<Hunk>) -> FileDiff {
        let mode = |mode: &str| (!mode.is_empty()).then(|| mode.to_owned());
        let (old_mode, mode) = (mode(modes[0]), mode(modes[1]));
        let (path, change) = (path.to_owned(), change.to_owned());
        let (insertions, deletions) = (u32::from(!hunks.is_empty()), 0);
        let exact = !hunks.is_empty();
        FileDiff { path, old_path: None, change, old_mode, mode, binary: false, insertions, deletions, hunks, exact }
    }

    #[test]
    fn git_applies_it() {
        let dir = tempfile::tempdir().unwrap();
        let git = |args: &[&str]| {
            let mut git = Command::new("git");
            git.current_dir(dir.path())
                .args(args)
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env("GIT_CONFIG_NOSYSTEM", "1");
            let done = git.output().unwrap();
            assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
        };
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).ok();
        git(&["init", "-q"]);
        write("middle.txt", "1\n2\n3\n4\n5\n");
        write("gone.txt", "x\n");
        write("was.txt", "same\n");
        write("open.txt", "a\nend");
        write("dos.txt", "a\r\nb\r\n");
        write("run.sh", "#!/bin/sh\n");
        write("kind", "text\n");
        write("picture", "not text");
        let mut renamed = file("is.txt", "renamed", ["100644", "100644"], vec![]);
        renamed.old_path = Some("was.txt".into());
        let binary = FileDiff { binary: true, ..file("picture", "modified", ["100644", "100644"], vec![]) };
        let long = FileDiff { insertions: 9000, ..file("long.txt", "modified", ["100644", "100644"], vec![]) };
        let kind = vec![part(1, 0, &["-text"], (false, false)), part(0, 1, &["+is.txt"], (false, true))];
        let diff = WorkspaceDiff {
            files: vec![
                file(
                    "middle.txt",
                    "modified",
                    ["100644"; 2],
                    vec![part(2, 2, &[" 2", "-3", "+three", "+", " 4"], (false, false))],
                ),
                file(
                    "new \"one\".txt",
                    "added",
                    ["", "100644"],
                    vec![part(0, 1, &["+new", "+\u{1b}[31mred"], (false, true))],
                ),
                file("a b/blank name.txt", "added", ["", "100644"], vec![part(0, 1, &["+x"], (false, false))]),
                binary,
                file("gone.txt", "deleted", ["100644", ""], vec![part(1, 0, &["-x"], (false, false))]),
                file("empty.txt", "added", ["", "100644"], vec![]),
                renamed,
                long,
                file("open.txt", "modified", ["100644"; 2], vec![part(1, 1, &[" a", "-end", "+END"], (true, true))]),
                file("dos.txt", "modified", ["100644"; 2], vec![part(1, 1, &[" a\r", "-b\r", "+c\r"], (false, false))]),
                file("run.sh", "modified", ["100644", "100755"], vec![]),
                file("kind", "type_changed", ["100644", "120000"], kind),
            ],
            tree: None,
            truncated: false,
        };
        let text = changes(&diff, false, &out(None));
        std::fs::write(dir.path().join("patch"), &text).unwrap();
        git(&["apply", "--whitespace=nowarn", "patch"]);
        assert_eq!(read("middle.txt").unwrap(), "1\n2\nthree\n\n4\n5\n");
        assert_eq!(read("new \"one\".txt").unwrap(), "new\n\u{1b}[31mred");
        assert_eq!(read("a b/blank name.txt").unwrap(), "x\n");
        assert_eq!((read("gone.txt"), read("was.txt")), (None, None));
        assert_eq!((read("empty.txt").unwrap(), read("is.txt").unwrap()), (String::new(), "same\n".to_owned()));
        assert_eq!(
            (read("open.txt").unwrap(), read("dos.txt").unwrap()),
            ("a\nEND".to_owned(), "a\r\nc\r\n".to_owned())
        );
        assert_eq!(std::fs::read_link(dir.path().join("kind")).unwrap().to_str(), Some("is.txt"));
        assert_eq!(read("picture").unwrap(), "not text");
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(dir.path().join("run.sh")).unwrap().permissions().mode() & 0o100, 0o100);
        let left: Vec<&str> = not_in_it(&diff).iter().map(|file| file.path.as_str()).collect();
        assert_eq!(left, ["picture", "long.txt"]);
        assert!(!changes(&diff, false, &out(Some(80))).contains('\u{1b}'), "a terminal gets no escape sequences");
        assert!(changes(&diff, true, &out(None)).contains("modified picture  +0 -0  (binary)"));
    }
}
