//! Writes cells as bytes: the attributes that changed, then the characters.

use std::io::Write;

use alacritty_terminal::term::cell::{Cell, Flags, Hyperlink};
use alacritty_terminal::vte::ansi::{Color, NamedColor};

use super::vt::BLINK;

/// What decides how a cell looks, without its character.
const LOOK: Flags = Flags::INVERSE
    .union(Flags::BOLD)
    .union(Flags::ITALIC)
    .union(Flags::DIM)
    .union(Flags::HIDDEN)
    .union(Flags::STRIKEOUT)
    .union(Flags::ALL_UNDERLINES)
    .union(BLINK);

const DEFAULT_FOREGROUND: Color = Color::Named(NamedColor::Foreground);
const DEFAULT_BACKGROUND: Color = Color::Named(NamedColor::Background);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) foreground: Color,
    pub(crate) background: Color,
    pub(crate) underline: Option<Color>,
    pub(crate) flags: Flags,
    pub(crate) link: Option<Hyperlink>,
}

impl Style {
    pub(crate) fn of(cell: &Cell) -> Style {
        Style {
            foreground: cell.fg,
            background: cell.bg,
            underline: cell.underline_color(),
            flags: cell.flags & LOOK,
            link: cell.hyperlink(),
        }
    }

    pub(crate) fn plain() -> Style {
        Style {
            foreground: DEFAULT_FOREGROUND,
            background: DEFAULT_BACKGROUND,
            underline: None,
            flags: Flags::empty(),
            link: None,
        }
    }

    /// Whether a blank cell of this style can be made by erasing with its background.
    pub(crate) fn only_background(&self) -> bool {
        *self == Style { background: self.background, ..Style::plain() }
    }
}

/// Whether nothing of the cell is visible but, perhaps, its background.
pub(crate) fn blank(cell: &Cell) -> bool {
    matches!(cell.c, ' ' | '\t') && cell.zerowidth().is_none_or(<[char]>::is_empty)
}

/// Whether the cell is as if it had never been written.
pub(crate) fn untouched(cell: &Cell) -> bool {
    blank(cell) && cell.bg == DEFAULT_BACKGROUND && Style::of(cell) == Style::plain()
}

/// Bytes for a terminal, and the style that it has after them.
pub(crate) struct Pen {
    pub(crate) out: Vec<u8>,
    style: Style,
}

impl Pen {
    pub(crate) fn new() -> Pen {
        Pen { out: Vec::with_capacity(8 << 10), style: Style::plain() }
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Appends formatted text.
    pub(crate) fn put(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a vector does not fail.
        let _ = self.out.write_fmt(text);
    }

    pub(crate) fn character(&mut self, character: char) {
        self.out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }

    /// The terminal has this style now, by other means.
    pub(crate) fn assume(&mut self, style: Style) {
        self.style = style;
    }

    pub(crate) fn style(&mut self, style: Style) {
        if style == self.style {
            return;
        }
        if style.link != self.style.link {
            match &style.link {
                Some(link) => {
                    let uri: String = link.uri().chars().filter(|character| !character.is_control()).collect();
                    let id: String =
                        link.id().chars().filter(|character| !character.is_control() && *character != ';').collect();
                    match id.ends_with("_alacritty") {
                        true => self.put(format_args!("\x1b]8;;{uri}\x1b\\")),
                        false => self.put(format_args!("\x1b]8;id={id};{uri}\x1b\\")),
                    }
                }
                None => self.raw(b"\x1b]8;;\x1b\\"),
            }
        }
        let look = Style { link: None, ..style.clone() };
        let old = Style { link: None, ..self.style.clone() };
        if look != old {
            self.attributes(&look, &old);
        }
        self.style = style;
    }

    /// The shorter of two ways: from what was before, or from plain text.
    fn attributes(&mut self, new: &Style, old: &Style) {
        self.raw(b"\x1b[");
        let start = self.out.len();
        let plain = Style::plain();
        if *new != plain {
            self.change(new, old);
            let changed = self.out.split_off(start);
            self.raw(b"0;");
            self.change(new, &plain);
            if changed.len() <= self.out.len() - start {
                self.out.truncate(start);
                self.raw(&changed);
            }
            // The last semicolon.
            self.out.pop();
        }
        self.raw(b"m");
    }

    fn change(&mut self, new: &Style, old: &Style) {
        let mut kept = old.flags;
        for (flags, code) in ENDS {
            let ended = !new.flags.contains(kept & *flags);
            let replaced = *flags == Flags::ALL_UNDERLINES && new.flags.intersects(*flags);
            if ended && !replaced {
                self.raw(code);
                kept.remove(*flags);
            }
        }
        for (flag, code) in CODES {
            if new.flags.contains(*flag) && !kept.contains(*flag) {
                self.raw(code);
            }
        }
        if new.foreground != old.foreground {
            self.colour(new.foreground, 30);
        }
        if new.background != old.background {
            self.colour(new.background, 40);
        }
        if new.underline != old.underline {
            match new.underline {
                Some(Color::Indexed(index)) => self.put(format_args!("58:5:{index};")),
                Some(Color::Spec(rgb)) => self.put(format_args!("58:2::{}:{}:{};", rgb.r, rgb.g, rgb.b)),
                _ => self.raw(b"59;"),
            }
        }
    }

    fn colour(&mut self, colour: Color, base: u8) {
        match colour {
            Color::Named(name) if (name as usize) < 8 => self.put(format_args!("{};", base + name as u8)),
            Color::Named(name) if (name as usize) < 16 => self.put(format_args!("{};", base + 52 + name as u8)),
            Color::Named(_) => self.put(format_args!("{};", base + 9)),
            Color::Indexed(index) => self.put(format_args!("{};5;{index};", base + 8)),
            Color::Spec(rgb) => self.put(format_args!("{};2;{};{};{};", base + 8, rgb.r, rgb.g, rgb.b)),
        }
    }
}

const ENDS: &[(Flags, &[u8])] = &[
    (Flags::BOLD.union(Flags::DIM), b"22;"),
    (Flags::ITALIC, b"23;"),
    (Flags::ALL_UNDERLINES, b"24;"),
    (BLINK, b"25;"),
    (Flags::INVERSE, b"27;"),
    (Flags::HIDDEN, b"28;"),
    (Flags::STRIKEOUT, b"29;"),
];

const CODES: &[(Flags, &[u8])] = &[
    (Flags::BOLD, b"1;"),
    (Flags::DIM, b"2;"),
    (Flags::ITALIC, b"3;"),
    (Flags::UNDERLINE, b"4;"),
    (Flags::DOUBLE_UNDERLINE, b"4:2;"),
    (Flags::UNDERCURL, b"4:3;"),
    (Flags::DOTTED_UNDERLINE, b"4:4;"),
    (Flags::DASHED_UNDERLINE, b"4:5;"),
    (BLINK, b"5;"),
    (Flags::INVERSE, b"7;"),
    (Flags::HIDDEN, b"8;"),
    (Flags::STRIKEOUT, b"9;"),
];
