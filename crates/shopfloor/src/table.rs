//! Tables and field lists that fit the terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::output::clean;
use crate::{Output, colours};

const GAP: usize = 2;
/// A flexible column is never made narrower than this.
const NARROWEST: usize = 8;

/// How a cell looks when colours are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Bold,
    Dim,
    Green,
    Yellow,
    Red,
    /// The colour of the worker that has this place.
    Worker(u32),
}

impl Style {
    /// `text` in this style, when `color` is on.
    pub(crate) fn paint(self, text: &str, color: bool) -> String {
        let code = match self {
            Self::Plain => return text.to_owned(),
            Self::Bold => "1".to_owned(),
            Self::Dim => "2".to_owned(),
            Self::Green => "32".to_owned(),
            Self::Yellow => "33".to_owned(),
            Self::Red => "31".to_owned(),
            Self::Worker(place) => colours::worker(place),
        };
        if color && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// One cell: a line of harmless text.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub(crate) fn styled(text: impl AsRef<str>, style: Style) -> Self {
        let text = clean(text.as_ref()).replace(['\n', '\t'], " ");
        Self { text, style }
    }
}

impl<T: ToString> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::styled(text.to_string(), Style::Plain)
    }
}

/// Rows under a header; columns whose title ends with `…` give way when the terminal is narrow.
pub(crate) struct Table {
    titles: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
    empty: &'static str,
}

impl Table {
    /// A table with these columns, which says `empty` when it has no rows.
    pub(crate) fn new(titles: &[&'static str], empty: &'static str) -> Self {
        Self { titles: titles.to_vec(), rows: Vec::new(), empty }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub(crate) fn render(&self, out: &Output) -> String {
        if self.rows.is_empty() {
            return Style::Dim.paint(self.empty, out.color);
        }
        let widths = self.widths(out.width);
        let header = self.titles.iter().map(|title| Cell::styled(title.trim_end_matches('…'), Style::Bold)).collect();
        let lines = std::iter::once(&header).chain(&self.rows).map(|row| line(row, &widths, out.color));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn widths(&self, terminal: Option<usize>) -> Vec<usize> {
        let widest = |(index, title): (usize, &&str)| {
            let cells = self.rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.text.width());
            cells.chain([title.trim_end_matches('…').width()]).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = self.titles.iter().enumerate().map(widest).collect();
        let Some(terminal) = terminal else {
            return widths;
        };
        let total = |widths: &[usize]| widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        while total(&widths) > terminal {
            let flexible = (0..widths.len()).filter(|&index| self.titles[index].ends_with('…'));
            match flexible.filter(|&index| widths[index] > NARROWEST).max_by_key(|&index| widths[index]) {
                Some(index) => widths[index] -= 1,
                None => break,
            }
        }
        widths
    }
}

/// Names and values below each other, values aligned.
pub(crate) fn fields(out: &Output, pairs: &[(&str, Cell)]) -> String {
    let widest = pairs.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    let line = |(name, cell): &(&str, Cell)| {
        let gap = " ".repeat(widest - name.width() + GAP);
        format!("{}{gap}{}", Style::Dim.paint(name, out.color), cell.style.paint(&cell.text, out.color))
    };
    pairs.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn line(row: &[Cell], widths: &[usize], color: bool) -> String {
    let mut text = String::new();
    for (index, (cell, &width)) in row.iter().zip(widths).enumerate() {
        let shown = shorten(&cell.text, width);
        let padding = if index + 1 == row.len() { 0 } else { width - shown.width() + GAP };
        text.push_str(&cell.style.paint(&shown, color));
        text.push_str(&" ".repeat(padding));
    }
    text.trim_end().to_owned()
}

/// `text` in at most `width` columns, with an ellipsis when something is left out.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Timestamp;

    fn check(width: Option<usize>, expected: &str) {
        let out = Output { json: false, color: false, width, now: Timestamp::from_millis(0) };
        let mut table = Table::new(&["ID", "NAME…", "OWNER"], "nothing");
        table.row(["p1".into(), "A parser that reads everything".into(), "ann".into()]);
        table.row(["p22".into(), "日本語のプロジェクト".into(), "bo\u{1b}[2J".into()]);
        assert_eq!(table.render(&out), expected);
    }

    #[test]
    fn a_program_gets_everything() {
        check(
            None,
            "ID   NAME                            OWNER\n\
             p1   A parser that reads everything  ann\n\
             p22  日本語のプロジェクト            bo\u{FFFD}[2J",
        );
    }

    #[test]
    fn a_terminal_gets_what_fits() {
        check(
            Some(27),
            "ID   NAME            OWNER\n\
             p1   A parser that…  ann\n\
             p22  日本語のプロ…   bo\u{FFFD}[2J",
        );
    }

    #[test]
    fn ids_are_never_cut() {
        let out = Output { json: false, color: false, width: Some(5), now: Timestamp::from_millis(0) };
        let mut table = Table::new(&["ID", "NAME…"], "nothing");
        table.row(["prj_0123456789".into(), "name".into()]);
        assert!(table.render(&out).contains("prj_0123456789"));
        assert_eq!(Table::new(&["ID"], "nothing here").render(&out), "nothing here");
    }

    #[test]
    fn colour_is_only_added_when_asked_for() {
        assert_eq!(Style::Red.paint("x", true), "\x1b[31mx\x1b[0m");
        assert_eq!(Style::Red.paint("x", false), "x");
    }
}
