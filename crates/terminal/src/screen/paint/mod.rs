//! Turns the screen into bytes that paint it on any terminal of the same size, whatever that showed before.

mod cursor;
mod lines;

use alacritty_terminal::term::TermMode;
use alacritty_terminal::vte::ansi::{CursorShape, KeyboardModes, NamedColor};

use self::cursor::{active_cursor, cursor, saved_cursor};
use self::lines::grid;
use super::pen::{Pen, Style};
use super::vt::Vt;

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
    } else if vt.alternate_touched || vt.tabs_touched {
        pen.raw(b"\x1b[?47h\x1b[<99u");
        keyboard(&vt.keyboard_of_other_screen, &mut pen);
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
