//! Puts the cursors where they are, with what cannot be seen of them.

use alacritty_terminal::grid::Cursor;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{CharsetIndex, StandardCharset};

use super::lines::first_cell;
use crate::screen::pen::{Pen, Style};
use crate::screen::vt::Vt;

const DRAWING: StandardCharset = StandardCharset::SpecialCharacterAndLineDrawing;

/// Saves a cursor on an empty screen, which has saved the one in its corner.
pub(super) fn saved_cursor(saved: &Cursor<Cell>, pen: &mut Pen) {
    if *saved != Cursor::default() {
        cursor(saved, pen);
        pen.raw(b"\x1b7\x1b(B");
    }
}

/// Puts a cursor where it is, with its style and the character set that it uses.
pub(super) fn cursor(cursor: &Cursor<Cell>, pen: &mut Pen) {
    pen.put(format_args!("\x1b[{};{}H", cursor.point.line.0 + 1, cursor.point.column.0 + 1));
    pen.style(Style::of(&cursor.template));
    if cursor.charsets[CharsetIndex::G0] == DRAWING {
        pen.raw(b"\x1b(0");
    }
}

/// The same for the one that is shown, with the modes that would be in the way before it. The cell before it is written
/// again if the terminal must know that it was: for a pending wrap, and for what may follow right after a character
/// (repeat it, or combine with it).
pub(super) fn active_cursor(vt: &Vt, pen: &mut Pen) {
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
