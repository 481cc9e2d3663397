//! `shopfloor handoff compare`: the differences between two documents as text.

use client::Client;
use domain::HandoffWriter;
use protocol::{Call, DiffKind, DiffLine, Handoff, HandoffComparison, HandoffOther, HandoffSide};

use crate::commands::history::diff_line;
use crate::output::clean;
use crate::pick::{pick, pick_if};
use crate::table::Style;
use crate::{Failure, Output, when};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// Compares two documents, or one with what it was before a person edited it.
pub(super) async fn run(older: &str, newer: Option<&str>, client: &Client, out: &Output) -> Result<(), Failure> {
    let handoff = pick::<Handoff>(client, older).await?;
    let to = pick_if::<Handoff>(client, newer).await?;
    let found: HandoffComparison = client.ask(Call::HandoffCompare { handoff, with: HandoffOther { to } }).await?;
    out.show(&found, |out| text(&found, out))
}

fn text(found: &HandoffComparison, out: &Output) -> String {
    let bold = |text: String| Style::Bold.paint(&text, out.color);
    let mut all = vec![bold(format!("--- {}", side(&found.from, out))), bold(format!("+++ {}", side(&found.to, out)))];
    for fact in &found.facts {
        let sides = [('-', &fact.older, Style::Red), ('+', &fact.newer, Style::Green)];
        for (mark, value, style) in sides {
            let line = value.as_ref().map(|value| format!("{mark} {}: {}", clean(&fact.name), clean(value)));
            all.extend(line.map(|line| style.paint(&line, out.color)));
        }
    }
    for hunk in hunks(&found.lines) {
        all.push(hunk.head);
        all.extend(hunk.lines.iter().map(|line| diff_line(line, out)));
    }
    if all.len() == 2 {
        let edited = found.from.handoff != found.to.handoff || found.to.written_by == Some(HandoffWriter::Person);
        all.push(if edited { "no differences" } else { "nobody edited the document" }.to_owned());
    }
    all.join("\n")
}

fn side(side: &HandoffSide, out: &Output) -> String {
    let by = match side.written_by {
        Some(HandoffWriter::Agent) => "by its agent",
        Some(HandoffWriter::Recording) => "from the recording",
        Some(HandoffWriter::Person) => "edited by a person",
        None => "facts only",
    };
    format!("{} of `{}`, {by}, {}", side.handoff, clean(&side.title), when::relative(side.at, out.now))
}

/// Changed lines that are near each other, with their context.
struct Hunk<'a> {
    /// Where it is in both texts, as in a unified diff.
    head: String,
    lines: &'a [DiffLine],
}

fn hunks(lines: &[DiffLine]) -> Vec<Hunk<'_>> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (at, _) in lines.iter().enumerate().filter(|(_, line)| line.kind != DiffKind::Same) {
        let (from, to) = (at.saturating_sub(CONTEXT), (at + CONTEXT + 1).min(lines.len()));
        match ranges.last_mut() {
            Some(last) if from <= last.1 => last.1 = to,
            _ => ranges.push((from, to)),
        }
    }
    let count = |lines: &[DiffLine], without: DiffKind| lines.iter().filter(|line| line.kind != without).count();
    let place = |from: usize, to: usize, without: DiffKind| {
        let (before, within) = (count(&lines[..from], without), count(&lines[from..to], without));
        format!("{},{within}", before + usize::from(within > 0))
    };
    let hunk = |(from, to): (usize, usize)| {
        let (old, new) = (place(from, to, DiffKind::Added), place(from, to, DiffKind::Removed));
        Hunk { head: format!("@@ -{old} +{new} @@"), lines: &lines[from..to] }
    };
    ranges.into_iter().map(hunk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<DiffLine> {
        let kind = |mark| match mark {
            '+' => DiffKind::Added,
            '-' => DiffKind::Removed,
            _ => DiffKind::Same,
        };
        text.chars().map(|mark| DiffLine { kind: kind(mark), text: String::new() }).collect()
    }

    #[test]
    fn changes_are_shown_with_their_places() {
        let check = |text: &str, heads: &[&str]| {
            let lines = lines(text);
            let found: Vec<String> = hunks(&lines).into_iter().map(|hunk| hunk.head).collect();
            assert_eq!(found, heads, "{text}");
        };
        check("====", &[]);
        check("+", &["@@ -0,0 +1,1 @@"]);
        check("=====-+=====", &["@@ -3,7 +3,7 @@"]);
        check("-=======+", &["@@ -1,4 +1,3 @@", "@@ -6,3 +5,4 @@"]);
        check("-======+", &["@@ -1,7 +1,7 @@"]);
    }
}
