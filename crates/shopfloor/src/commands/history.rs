//! Versions of a text, and the difference between two of them.

use clap::Args;
use domain::AuthorKind;
use protocol::{Diff, DiffKind, DiffLine, DiffRange, Version, VersionPage};

use crate::output::clean;
use crate::table::{Style, Table};
use crate::{Failure, Output, when};

/// The versions to compare.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct RangeArgs {
    /// The older version; 0 is the empty text [default: the one before --to]
    #[arg(long, value_name = "N")]
    from: Option<u32>,
    /// The newer version [default: the current one]
    #[arg(long, value_name = "N")]
    to: Option<u32>,
}

impl From<RangeArgs> for DiffRange {
    fn from(range: RangeArgs) -> Self {
        Self { from: range.from, to: range.to }
    }
}

/// The versions to list.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct PageArgs {
    /// Only versions older than this one
    #[arg(long, value_name = "N")]
    before: Option<u32>,
    /// How many versions, at most 100
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

impl From<PageArgs> for VersionPage {
    fn from(page: PageArgs) -> Self {
        Self { before: page.before, limit: page.limit }
    }
}

/// Shows a page of the versions of a text, newest first.
pub(crate) fn show_versions(out: &Output, versions: &[Version]) -> Result<(), Failure> {
    let last = versions.last().map_or(1, |version| version.version);
    out.show(versions, |out| {
        let mut table = Table::new(&["VERSION", "WHEN", "BY", "FIRST LINE…"], "no versions");
        for version in versions {
            table.row([
                version.version.into(),
                when::relative(version.at, out.now).into(),
                match version.author_kind {
                    AuthorKind::User => version.author.name.clone(),
                    kind => format!("{} ({})", version.author.name, kind.word().replace('_', " ")),
                }
                .into(),
                domain::text::title(&version.content).into(),
            ]);
        }
        table.render(out)
    })?;
    if last > 1 {
        out.note(&format!("older versions: add --before {last}"));
    }
    Ok(())
}

/// Shows what changed, line by line.
pub(crate) fn show_diff(out: &Output, diff: &Diff) -> Result<(), Failure> {
    out.show(diff, |out| {
        let mut lines = vec![Style::Bold.paint(&format!("version {} → {}", diff.from, diff.to), out.color)];
        lines.extend(diff.lines.iter().map(|line| diff_line(line, out)));
        lines.join("\n")
    })
}

/// One line of a difference.
pub(crate) fn diff_line(line: &DiffLine, out: &Output) -> String {
    let (mark, style) = match line.kind {
        DiffKind::Same => (' ', Style::Plain),
        DiffKind::Added => ('+', Style::Green),
        DiffKind::Removed => ('-', Style::Red),
    };
    style.paint(&format!("{mark} {}", clean(&line.text)), out.color)
}
