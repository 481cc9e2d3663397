//! Paints lines of cells, with as few bytes as is simple: what is blank is passed or erased, what wraps is let wrap.

use alacritty_terminal::grid::{Dimensions, Grid};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};
use unicode_width::UnicodeWidthChar;

use crate::screen::pen::{Pen, Style, blank, untouched};

/// More blank cells than this are shorter erased and passed than written.
const LONG_RUN: usize = 10;

/// Paints the visible lines onto an empty screen with the cursor in its corner.
pub(super) fn grid(grid: &Grid<Cell>, pen: &mut Pen) {
    let (columns, rows) = (grid.columns(), grid.screen_lines());
    // Where the terminal's cursor is; a row is `None` after the last column was written.
    let mut at: Option<usize> = Some(0);
    let mut wraps = false;
    for y in 0..rows {
        let row = &grid[Line(y as i32)][..];
        let follows = wraps;
        let last = &row[columns - 1];
        let next = (y + 1 < rows).then(|| &grid[Line(y as i32 + 1)][Column(0)]);
        let split = last.flags.contains(Flags::LEADING_WIDE_CHAR_SPACER);
        // A wide character that did not fit has left a cell of its style.
        let left_by_next = |cell: &Cell| cell.flags.contains(Flags::WIDE_CHAR) && Style::of(cell) == Style::of(last);
        wraps = last.flags.contains(Flags::WRAPLINE) && next.is_some_and(|cell| !split || left_by_next(cell));
        let end = match wraps {
            true => columns,
            false => row.iter().rposition(|cell| !untouched(cell)).map_or(0, |column| column + 1),
        };
        if end == 0 && !follows {
            continue;
        }
        if !follows && at != Some(y) {
            match at == Some(y.wrapping_sub(1)) || at.is_none() && y > 0 && !untouched_row(grid, y - 1, columns) {
                true => pen.raw(b"\r\n"),
                false => pen.put(format_args!("\x1b[{}H", y + 1)),
            }
        }
        // What continues a line must be printed, or the line would not be continued.
        let end = end.max(usize::from(follows));
        let erased = if wraps { end } else { erasable(row, end).max(usize::from(follows)) };
        let mut x = 0;
        while x < erased {
            let skip = row[x..erased].iter().take_while(|cell| untouched(cell)).count();
            let written = (follows && x == 0) || (wraps && x + skip == columns && !split);
            if split && wraps && x == columns - 1 {
                // The wide character of the next line does not fit here: printing it wraps.
                break;
            }
            if skip > 4 && !written {
                let skip = if wraps && split { skip.min(columns - 1 - x) } else { skip };
                pen.put(format_args!("\x1b[{skip}C"));
                x += skip;
                continue;
            }
            let blanks = erasable_run(&row[x..erased]);
            if blanks > LONG_RUN && !(follows && x == 0) && !(wraps && x + blanks == columns) {
                pen.style(Style::of(&row[x]));
                pen.put(format_args!("\x1b[{blanks}X\x1b[{blanks}C"));
                x += blanks;
                continue;
            }
            x += cell(row, x, pen);
        }
        if erased < end {
            pen.style(Style::of(&row[erased]));
            pen.raw(b"\x1b[K");
        }
        at = if x >= columns { None } else { Some(y) };
        if at.is_none() && !wraps && y + 1 < rows {
            // Keeps the position known: a return ends the pending wrap.
            pen.raw(b"\r");
            at = Some(y);
        }
    }
    pen.style(Style::plain());
}

fn untouched_row(grid: &Grid<Cell>, y: usize, columns: usize) -> bool {
    grid[Line(y as i32)][..].iter().take(columns).all(untouched)
}

/// Where the cells up to the end of the line begin that can be made by erasing.
fn erasable(row: &[Cell], end: usize) -> usize {
    if end < row.len() {
        return end;
    }
    let start = end - erasable_run(row.iter().rev());
    if end - start < 4 { end } else { start }
}

/// How many of these cells look the same and can be made by erasing.
fn erasable_run<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> usize {
    let mut cells = cells.into_iter().peekable();
    let Some(style) = cells.peek().map(|first| Style::of(first)).filter(Style::only_background) else { return 0 };
    let wide = Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER;
    cells.take_while(|cell| blank(cell) && Style::of(cell) == style && !cell.flags.intersects(wide)).count()
}

/// Writes the cell at `x` after another; returns how many columns that took.
fn cell(row: &[Cell], x: usize, pen: &mut Pen) -> usize {
    // A character without width takes a cell only if nothing was printed right before it; this changes nothing.
    if row[x].c.width() == Some(0) {
        pen.raw(b"\x1b[4l");
    }
    first_cell(row, x, pen)
}

/// The same after anything that is not a character.
pub(super) fn first_cell(row: &[Cell], x: usize, pen: &mut Pen) -> usize {
    let cell = &row[x];
    pen.style(Style::of(cell));
    let wide = cell.flags.contains(Flags::WIDE_CHAR);
    let whole = row.get(x + 1).is_some_and(|next| next.flags.contains(Flags::WIDE_CHAR_SPACER));
    match cell.c {
        _ if wide && !whole => pen.raw(b" "),
        '\t' => pen.raw(b" "),
        character => pen.character(character),
    }
    for combining in cell.zerowidth().into_iter().flatten() {
        pen.character(*combining);
    }
    if wide && whole { 2 } else { 1 }
}
