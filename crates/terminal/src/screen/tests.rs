//! A snapshot taken anywhere in any stream leaves a terminal in the same state, and it stays the same afterwards.

use alacritty_terminal::grid::{Cursor, Dimensions, Grid};
use alacritty_terminal::index::Line;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::CharsetIndex;
use proptest::prelude::*;

use super::Screen;
use super::pen::Style;

const COLS: u16 = 20;
const ROWS: u16 = 6;

fn cell(out: &mut Vec<String>, what: &str, cell: &Cell) {
    let character = if cell.c == '\t' { ' ' } else { cell.c };
    let wide = cell.flags & (Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER);
    let link = cell.hyperlink().map(|link| link.uri().to_owned());
    let style = Style { link: None, ..Style::of(cell) };
    out.push(format!("{what} {character:?}{:?} {wide:?} {style:?} {link:?}", cell.zerowidth().unwrap_or_default()));
}

fn cursor(out: &mut Vec<String>, what: &str, cursor: &Cursor<Cell>) {
    out.push(format!(
        "{what} {:?} wrap {} {:?} {:?}",
        cursor.point,
        cursor.input_needs_wrap,
        Style { link: None, ..Style::of(&cursor.template) },
        cursor.charsets[CharsetIndex::G0]
    ));
}

fn grid(out: &mut Vec<String>, which: &str, grid: &Grid<Cell>) {
    for line in 0..grid.screen_lines() {
        for (column, one) in grid[Line(line as i32)][..].iter().enumerate() {
            cell(out, &format!("{which} {line},{column}"), one);
        }
    }
    // A wrap that was pending when the screens changed is not when they change back.
    let input_needs_wrap = grid.cursor.input_needs_wrap && which == "active";
    cursor(out, &format!("{which} cursor"), &Cursor { input_needs_wrap, ..grid.cursor.clone() });
}

/// Everything that a program can tell from its terminal.
fn state(screen: &mut Screen) -> Vec<String> {
    let mut out = Vec::new();
    let vt = &mut screen.vt;
    grid(&mut out, "active", vt.term.grid());
    cursor(&mut out, "saved", &Cursor { input_needs_wrap: false, ..vt.term.grid().saved_cursor.clone() });
    match vt.alternate() {
        true => vt.look_at_primary(|vt| grid(&mut out, "primary", vt.term.grid())),
        false => cursor(&mut out, "saved by the alternate screen", &vt.saved_by_alternate()),
    }
    out.push(format!("{:?}", *vt.term.mode() - TermMode::URGENCY_HINTS));
    out.push(format!("region {:?} tabs {:?} {:?}", vt.region, vt.tabs, vt.tabs_of_other_screen));
    out.push(format!("charset {:?} {:?} style {:?} title {:?}", vt.charsets, vt.charset, vt.cursor_style, vt.title));
    out.push(format!(
        "keyboard {:?}, of the other screen {:?}, {} synchronized {} insert {}",
        vt.keyboard, vt.keyboard_of_other_screen, vt.modify_other_keys, vt.synchronized, vt.insert
    ));
    out.push(format!("other {:?}", vt.other_modes.iter().filter(|(_, set)| **set).collect::<Vec<_>>()));
    out.push(format!("colours {:?}", (0..259).map(|index| vt.term.colors()[index]).collect::<Vec<_>>()));
    out
}

/// The first things in which two terminals differ.
fn differences(left: &mut Screen, right: &mut Screen) -> String {
    let (left, right) = (state(left), state(right));
    assert_eq!(left.len(), right.len());
    let different = left.iter().zip(&right).filter(|(left, right)| left != right);
    different.take(3).map(|(left, right)| format!("{left}\n{right}\n")).collect()
}

fn number() -> impl Strategy<Value = u16> {
    prop_oneof![0..9u16, 0..30u16, Just(999)]
}

fn sgr() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("0".to_owned()),
        prop::sample::select(vec!["1", "2", "3", "4", "5", "7", "8", "9", "22", "23", "24", "25", "27", "28", "29"])
            .prop_map(str::to_owned),
        (0..5u8).prop_map(|style| format!("4:{style}")),
        (30..50u8).prop_filter("colour", |code| *code != 38 && *code != 48).prop_map(|code| code.to_string()),
        (90..98u8).prop_map(|code| code.to_string()),
        (100..108u8).prop_map(|code| code.to_string()),
        (prop::sample::select(vec![38, 48]), any::<u8>()).prop_map(|(base, index)| format!("{base};5;{index}")),
        (prop::sample::select(vec![38, 48]), any::<[u8; 3]>())
            .prop_map(|(base, [r, g, b])| format!("{base};2;{r};{g};{b}")),
        any::<[u8; 3]>().prop_map(|[r, g, b]| format!("58:2::{r}:{g}:{b}")),
        any::<u8>().prop_map(|index| format!("58:5:{index}")),
        Just("59".to_owned()),
    ]
}

/// Pieces of what programs write, plain and odd.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[a-zA-Z0-9 .]{1,30}",
        3 => prop::sample::select(vec!["漢字", "🦀", "한국", "e\u{301}", "✅", "ａ", "│", "─", "\u{301}", "a\u{200d}b", "é", "½"])
            .prop_map(str::to_owned),
        4 => prop::sample::select(vec!["\r\n", "\n", "\r", "\t", "\x08", "\x0b", "\x07", "\x0e", "\x0f"])
            .prop_map(str::to_owned),
        6 => prop::collection::vec(sgr(), 1..4).prop_map(|codes| format!("\x1b[{}m", codes.join(";"))),
        6 => (number(), number()).prop_map(|(line, column)| format!("\x1b[{line};{column}H")),
        6 => (prop::sample::select("ABCDEFGdILMPSTXZ@`aeJKg".chars().collect::<Vec<_>>()), number())
            .prop_map(|(action, count)| format!("\x1b[{count}{action}")),
        2 => (1..7u16, 1..7u16).prop_map(|(top, bottom)| format!("\x1b[{top};{bottom}r")),
        3 => (prop::sample::select(vec![1, 5, 6, 7, 12, 25, 47, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1047, 1048,
            1049, 2004, 2026, 2031]), prop::bool::ANY).prop_map(|(mode, on)| format!("\x1b[?{mode}{}", if on { 'h' } else { 'l' })),
        1 => (prop::sample::select(vec![4, 20]), prop::bool::ANY)
            .prop_map(|(mode, on)| format!("\x1b[{mode}{}", if on { 'h' } else { 'l' })),
        2 => prop::sample::select(vec!["\x1b7", "\x1b8", "\x1b[s", "\x1b[u", "\x1bM", "\x1bD", "\x1bE", "\x1bH", "\x1b=",
            "\x1b>", "\x1b(0", "\x1b(B", "\x1b)0", "\x1b)B", "\x1b#8", "\x1b[!p", "\x1b[3g", "\x1bc", "\x1b[2 q", "\x1b[5 q",
            "\x1b[0 q", "\x1b[>1u", "\x1b[>5u", "\x1b[<u", "\x1b[=3;1u", "\x1b[>4;2m", "\x1b[c", "\x1b[6n", "\x1b]2;title\x07",
            "\x1b]0;other \u{e4}\x1b\\", "\x1b]8;;https://example.org/x\x1b\\", "\x1b]8;;\x1b\\", "\x1b]4;1;rgb:11/22/33\x07",
            "\x1b]10;#445566\x07", "\x1b]104\x07", "\x1bP+q544e\x1b\\", "\x1b_Gi=1;AAAA\x1b\\", "\x1b]52;c;?\x07"])
            .prop_map(str::to_owned),
        1 => (prop::sample::select(vec!["x", "漢", "-", "e\u{301}", ""]), 0..30u8)
            .prop_map(|(character, count)| format!("{character}\x1b[{count}b")),
    ]
}

/// Other cases each time; `PROPTEST_CASES` runs more of them.
fn cases() -> ProptestConfig {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig::with_cases(500),
    }
}

/// How terminals that get a snapshot at the cut differ from one that saw everything: one that is empty, and one that has
/// shown some of the stream but has missed the rest.
fn joined_wrongly(stream: &[u8], cut: usize, seen: usize) -> String {
    let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for from in [0, seen] {
        let mut whole = Screen::new(COLS, ROWS, 50);
        whole.feed(&stream[..cut]);
        let snapshot = whole.snapshot().bytes;
        let mut joined = Screen::new(COLS, ROWS, 50);
        joined.feed(&stream[..from]);
        joined.feed(&snapshot);
        for (when, rest) in [("at the cut", &[][..]), ("afterwards", &stream[cut..])] {
            joined.feed(rest);
            whole.feed(rest);
            let different = differences(&mut joined, &mut whole);
            if !different.is_empty() {
                let (before, snapshot) = (show(&stream[..cut]), show(&snapshot));
                return format!("{when}, after {from}:\n{different}{before:?}\n{:?}\n{snapshot:?}", show(rest));
            }
        }
    }
    String::new()
}

#[test]
fn snapshot_keeps_keyboard_mode_of_hidden_screen() {
    for (before, after) in [
        ("\x1b[?1047h\x1b[>1u\x1b[?1047l", "\x1b[?1047h"),
        ("\x1b[?1047h\x1b[=3;1u\x1b[?1047l", "\x1b[?1047h"),
        ("\x1b[?1047h\x1b[>1u\x1b[>5u\x1b[<u\x1b[?1047l\x1b[>3u", "\x1b[?1047h\x1b[?1047l"),
    ] {
        for seen in [0, before.len()] {
            let wrong = joined_wrongly([before, after].concat().as_bytes(), before.len(), seen);
            assert!(wrong.is_empty(), "{wrong}");
        }
    }
}

#[test]
fn a_device_control_string_may_hold_any_character() {
    let mut screen = Screen::new(COLS, ROWS, 0);
    screen.feed("a\u{1b}Pq“b” 𑜀\u{1b}\\c\u{1b}Pq”\u{9c}d".as_bytes());
    assert_eq!(screen.text(), "acd");
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_snapshot_and_later_output_give_the_same_screen(
        before in prop::collection::vec(piece(), 0..40),
        after in prop::collection::vec(piece(), 0..20),
        cut in any::<prop::sample::Index>(),
        seen in any::<prop::sample::Index>(),
    ) {
        let stream = [before.concat(), after.concat()].concat().into_bytes();
        let cut = cut.index(stream.len() + 1);
        let wrong = joined_wrongly(&stream, cut, seen.index(cut + 1));
        prop_assert!(wrong.is_empty(), "{wrong}");
    }

    #[test]
    fn the_screen_does_not_depend_on_how_output_is_split(pieces in prop::collection::vec(piece(), 0..30), size in 1..7usize) {
        let stream = pieces.concat().into_bytes();
        let mut whole = Screen::new(COLS, ROWS, 50);
        whole.feed(&stream);
        let mut cut = Screen::new(COLS, ROWS, 50);
        stream.chunks(size).for_each(|piece| cut.feed(piece));
        let different = differences(&mut cut, &mut whole);
        prop_assert!(different.is_empty(), "{different}{:?}", String::from_utf8_lossy(&stream));
    }

    #[test]
    fn no_bytes_make_the_screen_panic(bytes in any::<Vec<u8>>(), pieces in prop::collection::vec(piece(), 0..20), cols in 0..40u16, rows in 0..20u16) {
        let mut screen = Screen::new(cols, rows, 10);
        for piece in &pieces {
            screen.feed(piece.as_bytes());
            screen.feed(&bytes);
            screen.resize(rows, cols);
            let _ = screen.snapshot();
            let _ = screen.text();
        }
    }
}
