//! Turns the screen into bytes that paint it on any terminal of the same size, whatever that showed before.

use alacritty_terminal::grid::{Cursor, Grid};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{CharsetIndex, CursorShape, KeyboardModes, NamedColor, StandardCharset};

use unicode_width::UnicodeWidthChar;

use super::pen::{Pen, Style, blank, untouched};
use super::vt::Vt;

const DRAWING: StandardCharset = StandardCharset::SpecialCharacterAndLineDrawing;

/// Ends what the terminal was in the middle of, and puts it into its initial state without losing its scrollback.
const FRESH: &[u8] =
    b"\x18\x1b[?1049l\x1b[!p\x1b[?1;6;1000;1002;1003;1004;1005;1006;1015;1016;2004;2026l\x1b[?7;25;1007h\
\x1b[4;20l\x1b>\x1b(B\x1b)B\x1b*B\x1b+B\x0f\x1b[r\x1b[0 q\x1b[<99u\x1b[>4;0m\x1b]8;;\x1b\\\x1b[0m\x1b[H\x1b[2J\x1b7";

/// The bytes of a snapshot.
pub(crate) fn paint(vt: &mut Vt, tail: &[u8]) -> Vec<u8> {
    let mut pen = Pen::new();
    pen.raw(FRESH);
    if vt.synchronized {
        // First of all, so that nobody sees the half that has been painted.
        pen.raw(b"\x1b[?2026h");
    }
    colours(vt, &mut pen);
    if vt.alternate() {
        tabs(vt, &vt.tabs_of_other_screen, &mut pen);
        vt.look_at_primary(|vt| {
            grid(vt.term.grid(), &mut pen);
            if vt.region_of_primary != (0, vt.size().rows - 1) {
                pen.put(format_args!("\x1b[{};{}r", vt.region_of_primary.0 + 1, vt.region_of_primary.1 + 1));
            }
            cursor(&vt.term.grid().cursor, &mut pen);
        });
        keyboard(&vt.keyboard_of_other_screen, &mut pen);
        pen.raw(b"\x1b[?1049h");
        pen.style(Style::plain());
        pen.raw(b"\x1b[<99u\x1b(B\x1b[H\x1b[2J\x1b7");
    } else if vt.saved_in_alternate || vt.tabs_touched {
        pen.raw(b"\x1b[?47h");
        tabs(vt, &vt.tabs_of_other_screen, &mut pen);
        cursor(&vt.saved_by_alternate(), &mut pen);
        pen.raw(b"\x1b7\x1b(B\x1b[?47l\x1b[H");
        pen.style(Style::plain());
    }
    grid(vt.term.grid(), &mut pen);
    saved_cursor(&vt.term.grid().saved_cursor, &mut pen);
    tabs(vt, &vt.tabs, &mut pen);
    modes(vt, &mut pen);
    if vt.region != (0, vt.size().rows - 1) {
        pen.put(format_args!("\x1b[{};{}r", vt.region.0 + 1, vt.region.1 + 1));
    }
    if vt.term.mode().contains(TermMode::ORIGIN) {
        pen.raw(b"\x1b[?6h");
    }
    active_cursor(vt, &mut pen);
    pen.raw(tail);
    pen.out
}

/// Paints the visible lines onto an empty screen with the cursor in its corner.
fn grid(grid: &Grid<Cell>, pen: &mut Pen) {
    let (columns, rows) = (alacritty_terminal::grid::Dimensions::columns(grid), grid_rows(grid));
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

fn grid_rows(grid: &Grid<Cell>) -> usize {
    alacritty_terminal::grid::Dimensions::screen_lines(grid)
}

fn untouched_row(grid: &Grid<Cell>, y: usize, columns: usize) -> bool {
    grid[Line(y as i32)][..].iter().take(columns).all(untouched)
}

/// Where the cells up to the end of the line begin that can be made by erasing.
fn erasable(row: &[Cell], end: usize) -> usize {
    if end < row.len() {
        return end;
    }
    let last = Style::of(&row[end - 1]);
    if !last.only_background() {
        return end;
    }
    let same = row.iter().rev().take_while(|cell| {
        blank(cell) && Style::of(cell) == last && !cell.flags.intersects(Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER)
    });
    let start = end - same.count();
    if end - start < 4 { end } else { start }
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
fn first_cell(row: &[Cell], x: usize, pen: &mut Pen) -> usize {
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

fn saved_cursor(saved: &Cursor<Cell>, pen: &mut Pen) {
    if *saved != Cursor::default() {
        cursor(saved, pen);
        pen.raw(b"\x1b7\x1b(B");
    }
}

/// Puts a cursor where it is, with its style and the character set that it uses.
fn cursor(cursor: &Cursor<Cell>, pen: &mut Pen) {
    pen.put(format_args!("\x1b[{};{}H", cursor.point.line.0 + 1, cursor.point.column.0 + 1));
    pen.style(Style::of(&cursor.template));
    if cursor.charsets[CharsetIndex::G0] == DRAWING {
        pen.raw(b"\x1b(0");
    }
}

/// The same for the one that is shown, with the modes that would be in the way before it. The cell before it is written
/// again if the terminal must know that it was: for a pending wrap, and for what may follow right after a character
/// (repeat it, or combine with it).
fn active_cursor(vt: &Vt, pen: &mut Pen) {
    let active = &vt.term.grid().cursor;
    let row = &vt.term.grid()[active.point.line][..];
    let column = active.point.column.0;
    let written = match (active.input_needs_wrap, vt.printed) {
        (true, _) => Some(column),
        (false, true) => column.checked_sub(1),
        (false, false) => None,
    };
    let first_half = |x: usize| if row[x].flags.contains(Flags::WIDE_CHAR_SPACER) && x > 0 { x - 1 } else { x };
    let at = written.map_or(column, first_half);
    // A character set that came with a restored cursor comes so again; it was in use when the cell was written.
    let restored = active.charsets[CharsetIndex::G0] != vt.charsets[vt.charset as usize];
    let before = written.is_none() || vt.printed || restored;
    if before {
        charsets(vt, restored, pen);
    }
    go_to(vt, at, pen);
    let rewritten = written.is_some() && !vt.printed;
    if rewritten {
        first_cell(row, at, pen);
    }
    pen.style(Style::of(&active.template));
    if !before {
        charsets(vt, restored, pen);
    }
    if vt.insert || rewritten {
        // In any case something that is not a character.
        pen.raw(if vt.insert { b"\x1b[4h" } else { b"\x1b[4l" });
    }
    if written.is_some() && vt.printed {
        // Nothing may come after it. It has the style and character set that the cursor still has; what inserting it
        // moves is moved back first.
        let width = if row[at].flags.contains(Flags::WIDE_CHAR) { 2 } else { 1 };
        if vt.insert && at + width < row.len() {
            pen.put(format_args!("\x1b[{width}P"));
        }
        first_cell(row, at, pen);
    }
}

/// Goes to a column of the cursor's line.
fn go_to(vt: &Vt, column: usize, pen: &mut Pen) {
    let (line, column) = (vt.line() + 1, column + 1);
    let (first, last) = (vt.region.0 + 1, vt.region.1 + 1);
    match vt.term.mode().contains(TermMode::ORIGIN) {
        false => pen.put(format_args!("\x1b[{line};{column}H")),
        true if (first..=last).contains(&line) => pen.put(format_args!("\x1b[{};{column}H", line - first + 1)),
        // It came from the other screen, which has another scroll region; there is no other way to get there.
        true => pen.put(format_args!("\x1b[?47h\x1b[{line};{column}H\x1b[?47l")),
    }
}

fn charsets(vt: &Vt, restored: bool, pen: &mut Pen) {
    for (charset, introducer) in vt.charsets.iter().zip(b"()*+") {
        if *charset == DRAWING {
            pen.raw(&[0x1B, *introducer, b'0']);
        }
    }
    if vt.charset == CharsetIndex::G1 {
        pen.raw(b"\x0e");
    }
    if restored {
        pen.raw(b"\x1b8");
        pen.assume(Style::of(&vt.term.grid().saved_cursor.template));
    }
}

fn tabs(vt: &Vt, stops: &[bool], pen: &mut Pen) {
    if vt.tabs_touched {
        pen.raw(b"\x1b[3g");
        for (column, _) in stops.iter().enumerate().filter(|(_, stop)| **stop) {
            pen.put(format_args!("\x1b[{}G\x1bH", column + 1));
        }
        pen.raw(b"\r");
    }
}

fn modes(vt: &Vt, pen: &mut Pen) {
    let modes = vt.term.mode();
    for (flag, number) in [
        (TermMode::APP_CURSOR, 1),
        (TermMode::MOUSE_REPORT_CLICK, 1000),
        (TermMode::MOUSE_DRAG, 1002),
        (TermMode::MOUSE_MOTION, 1003),
        (TermMode::FOCUS_IN_OUT, 1004),
        (TermMode::UTF8_MOUSE, 1005),
        (TermMode::SGR_MOUSE, 1006),
        (TermMode::BRACKETED_PASTE, 2004),
    ] {
        if modes.contains(flag) {
            pen.put(format_args!("\x1b[?{number}h"));
        }
    }
    for (flag, number) in [(TermMode::LINE_WRAP, 7), (TermMode::SHOW_CURSOR, 25), (TermMode::ALTERNATE_SCROLL, 1007)] {
        if !modes.contains(flag) {
            pen.put(format_args!("\x1b[?{number}l"));
        }
    }
    for (number, set) in &vt.other_modes {
        pen.put(format_args!("\x1b[?{number}{}", if *set { 'h' } else { 'l' }));
    }
    if modes.contains(TermMode::LINE_FEED_NEW_LINE) {
        pen.raw(b"\x1b[20h");
    }
    if modes.contains(TermMode::APP_KEYPAD) {
        pen.raw(b"\x1b=");
    }
    if let Some(style) = vt.cursor_style {
        let shape = match style.shape {
            CursorShape::Underline => 4,
            CursorShape::Beam => 6,
            _ => 2,
        };
        pen.put(format_args!("\x1b[{} q", shape - u8::from(style.blinking)));
    }
    keyboard(&vt.keyboard, pen);
    if vt.modify_other_keys > 0 {
        pen.put(format_args!("\x1b[>4;{}m", vt.modify_other_keys));
    }
    pen.put(format_args!("\x1b]2;{}\x1b\\", vt.title));
}

fn keyboard(modes: &[KeyboardModes], pen: &mut Pen) {
    for mode in modes {
        pen.put(format_args!("\x1b[>{}u", mode.bits()));
    }
}

fn colours(vt: &Vt, pen: &mut Pen) {
    if !vt.colours_touched {
        return;
    }
    pen.raw(b"\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\");
    for index in 0..=NamedColor::Cursor as usize {
        let Some(rgb) = vt.term.colors()[index] else { continue };
        let prefix = match index {
            0..256 => format!("4;{index}"),
            _ => (index - 256 + 10).to_string(),
        };
        pen.put(format_args!("\x1b]{prefix};rgb:{:02x}/{:02x}/{:02x}\x1b\\", rgb.r, rgb.g, rgb.b));
    }
}
