//! Tables and field lists that fit the terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::output::clean;
use crate::{Output, colours};

const GAP: usize = 2;
/// Preferred minimum width of a flexible column.
const NARROW: usize = 8;
/// Absolute minimum width of a flexible column.
const NARROWEST: usize = 5;
/// Prefixes of ids that commands recognize by their last digits; full ids take half a line.
const SHORT_IDS: [&str; 15] =
    ["act", "art", "esc", "exe", "inv", "prj", "rcp", "run", "sch", "ses", "tok", "tsk", "usr", "wrk", "wsp"];
/// How many of the last digits of an id to show if the full id does not fit.
const DIGITS: usize = 8;

/// A cell's style with colours on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Bold,
    Dim,
    Green,
    Yellow,
    Red,
    /// The colour of the worker with this number.
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

/// One cell: a line of clean text.
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

/// Rows below a header. If the terminal is too narrow, empty columns are dropped, ids are shortened to their last
/// digits, and columns whose title ends with `…` shrink.
pub(crate) struct Table {
    titles: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
    empty: &'static str,
    /// Minimum widths of columns.
    least: Vec<(&'static str, usize)>,
}

impl Table {
    /// A table with these columns, which prints `empty` if it has no rows.
    pub(crate) fn new(titles: &[&'static str], empty: &'static str) -> Self {
        Self { titles: titles.to_vec(), rows: Vec::new(), empty, least: Vec::new() }
    }

    /// Sets the minimum width of a column.
    pub(crate) fn at_least(mut self, title: &'static str, width: usize) -> Self {
        self.least.push((title, width));
        self
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub(crate) fn render(&self, out: &Output) -> String {
        if self.rows.is_empty() {
            return Style::Dim.paint(self.empty, out.color);
        }
        let fits = |table: &Self| out.width.is_none_or(|terminal| total(&table.widest()) <= terminal);
        let narrow = if fits(self) { None } else { Some(self.said()) };
        let narrow = narrow.map(|table| if fits(&table) { table } else { table.with_short_ids() });
        narrow.as_ref().unwrap_or(self).lines(out)
    }

    fn lines(&self, out: &Output) -> String {
        let widths = self.widths(out.width);
        let header = self.titles.iter().map(|title| Cell::styled(title.trim_end_matches('…'), Style::Bold)).collect();
        let lines = std::iter::once(&header).chain(&self.rows).map(|row| line(row, &widths, out.color));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The same without empty columns.
    fn said(&self) -> Self {
        let says = |row: &Vec<Cell>, index: usize| row.get(index).is_some_and(|cell| !matches!(&*cell.text, "" | "-"));
        let kept: Vec<usize> =
            (0..self.titles.len()).filter(|&index| self.rows.iter().any(|row| says(row, index))).collect();
        let cells = |row: &Vec<Cell>| kept.iter().filter_map(|&index| row.get(index).cloned()).collect();
        Self {
            titles: kept.iter().map(|&index| self.titles[index]).collect(),
            rows: self.rows.iter().map(cells).collect(),
            empty: self.empty,
            least: self.least.clone(),
        }
    }

    fn with_short_ids(mut self) -> Self {
        for cell in self.rows.iter_mut().flatten() {
            if let Some(short) = short_id(&cell.text) {
                cell.text = short;
            }
        }
        self
    }

    /// The preferred width of each column.
    fn widest(&self) -> Vec<usize> {
        let widest = |(index, title): (usize, &&str)| {
            let cells = self.rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.text.width());
            cells.chain([title.trim_end_matches('…').width()]).max().unwrap_or(0)
        };
        self.titles.iter().enumerate().map(widest).collect()
    }

    fn widths(&self, terminal: Option<usize>) -> Vec<usize> {
        let mut widths = self.widest();
        let Some(terminal) = terminal else {
            return widths;
        };
        for narrow in [NARROW, NARROWEST] {
            while total(&widths) > terminal {
                let flexible = (0..widths.len()).filter(|&index| self.titles[index].ends_with('…'));
                let gives = flexible.filter(|&index| widths[index] > self.least(index).unwrap_or(narrow));
                match gives.max_by_key(|&index| widths[index]) {
                    Some(index) => widths[index] -= 1,
                    None => break,
                }
            }
        }
        widths
    }

    fn least(&self, index: usize) -> Option<usize> {
        let title = self.titles[index].trim_end_matches('…');
        self.least.iter().find(|(of, _)| *of == title).map(|(_, width)| *width)
    }
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// The last digits of a recognized id; `None` for other text.
fn short_id(text: &str) -> Option<String> {
    let (kind, digits) = text.split_once('_')?;
    let id = SHORT_IDS.contains(&kind) && digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    id.then(|| digits[digits.len() - DIGITS..].to_owned())
}

/// Names and values in lines, values aligned.
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

/// `text` in at most `width` columns, with an ellipsis if it was cut.
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
    fn a_narrow_terminal_gets_short_ids_and_no_empty_columns() {
        let render = |width| {
            let out = Output { json: false, color: false, width, now: Timestamp::from_millis(0) };
            let mut table = Table::new(&["ID", "STATE…", "TITLE…", "WORKER…", "BY"], "nothing").at_least("STATE", 13);
            let id = "ses_019b00000000700080000000deadbeef";
            table.row([id.into(), "exited with 3".into(), "make every test".into(), "-".into(), "ann".into()]);
            table.render(&out)
        };
        assert!(render(None).contains("ses_019b00000000700080000000deadbeef  exited with 3  make every test  -"));
        assert_eq!(
            render(Some(78)),
            "ID                                    STATE          TITLE            BY\n\
             ses_019b00000000700080000000deadbeef  exited with 3  make every test  ann",
            "empty columns are dropped first"
        );
        assert_eq!(
            render(Some(40)),
            "ID        STATE          TITLE       BY\n\
             deadbeef  exited with 3  make ever…  ann"
        );
    }

    #[test]
    fn tasks_fit_a_common_terminal() {
        let out = Output { json: false, color: false, width: Some(80), now: Timestamp::from_millis(0) };
        let mut table = Table::new(&["ID", "STATUS", "TITLE…", "WORKER…", "WHY…", "UPDATED"], "nothing");
        let why = "nobody takes it: `codex 1` is offline: 3 failures in a row; the last: its session exited with 1";
        let row =
            ["tsk_019b00000000700080000000deadbeef", "◕ validating", "Write the lexer", "codex 1", why, "12 min ago"];
        table.row(row.map(Cell::from));
        let shown = table.render(&out);
        assert!(shown.lines().all(|line| line.width() <= 80), "{shown}");
        assert!(shown.contains("deadbeef") && shown.contains('…'), "{shown}");
        assert!(table.render(&Output { width: None, ..out }).contains(why), "a program gets everything");
    }

    #[test]
    fn colour_is_only_added_when_asked_for() {
        assert_eq!(Style::Red.paint("x", true), "\x1b[31mx\x1b[0m");
        assert_eq!(Style::Red.paint("x", false), "x");
    }
}
