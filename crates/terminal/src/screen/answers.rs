//! A terminal's answers to a program's queries: an allow list, without anything that the program sent.

use std::fmt::Write;

use alacritty_terminal::term::TermMode;
use alacritty_terminal::vte::ansi::{Mode, NamedColor, NamedMode, NamedPrivateMode, PrivateMode, Rgb};

/// More unread answers are dropped: a program that only asks must not fill our memory.
const MOST_BYTES: usize = 16 << 10;

/// Answers that wait to be written to the program.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    waiting: String,
}

impl Answers {
    /// Takes the answers since the last call.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.waiting).into_bytes()
    }

    fn say(&mut self, text: std::fmt::Arguments<'_>) {
        if self.waiting.len() < MOST_BYTES {
            // Writing to a string does not fail.
            let _ = self.waiting.write_fmt(text);
        }
    }

    /// DA1 and DA2: a VT220 with colours.
    pub(crate) fn identity(&mut self, intermediate: Option<char>) {
        match intermediate {
            None => self.say(format_args!("\x1b[?62;22c")),
            Some('>') => self.say(format_args!("\x1b[>1;10;0c")),
            Some(_) => (),
        }
    }

    /// XTVERSION.
    pub(crate) fn version(&mut self) {
        self.say(format_args!("\x1bP>|shopfloor\x1b\\"));
    }

    /// DSR and CPR.
    pub(crate) fn status(&mut self, what: usize, line: usize, column: usize) {
        match what {
            5 => self.say(format_args!("\x1b[0n")),
            6 => self.say(format_args!("\x1b[{line};{column}R")),
            _ => (),
        }
    }

    /// DECRQM for ANSI modes.
    pub(crate) fn mode(&mut self, mode: Mode, insert: bool, modes: &TermMode) {
        let state = match mode {
            Mode::Named(NamedMode::Insert) => on(insert),
            Mode::Named(NamedMode::LineFeedNewLine) => on(modes.contains(TermMode::LINE_FEED_NEW_LINE)),
            Mode::Unknown(_) => 0,
        };
        self.say(format_args!("\x1b[{};{state}$y", mode.raw()));
    }

    /// DECRQM for private modes.
    pub(crate) fn private_mode(&mut self, mode: PrivateMode, modes: &TermMode, synchronized: bool, blinking: bool) {
        let state = match mode {
            PrivateMode::Unknown(_) | PrivateMode::Named(NamedPrivateMode::ColumnMode) => 0,
            PrivateMode::Named(NamedPrivateMode::SyncUpdate) => on(synchronized),
            PrivateMode::Named(NamedPrivateMode::BlinkingCursor) => on(blinking),
            PrivateMode::Named(named) => on(modes.contains(flag(named))),
        };
        self.say(format_args!("\x1b[?{};{state}$y", mode.raw()));
    }

    /// OSC 10, 11 and 12: the colours of the page, unless the program has set its own.
    pub(crate) fn colour(&mut self, prefix: &str, index: usize, set: Option<Rgb>, terminator: &str) {
        const FOREGROUND: usize = NamedColor::Foreground as usize;
        const BACKGROUND: usize = NamedColor::Background as usize;
        const CURSOR: usize = NamedColor::Cursor as usize;
        let usual = match index {
            FOREGROUND | CURSOR => Rgb { r: 0xd4, g: 0xd4, b: 0xd4 },
            BACKGROUND => Rgb { r: 0x12, g: 0x14, b: 0x18 },
            _ => return,
        };
        let Rgb { r, g, b } = set.unwrap_or(usual);
        if !matches!(prefix, "10" | "11" | "12") {
            return;
        }
        self.say(format_args!("\x1b]{prefix};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}{terminator}"));
    }

    /// CSI 18 t.
    pub(crate) fn text_area(&mut self, rows: usize, cols: usize) {
        self.say(format_args!("\x1b[8;{rows};{cols}t"));
    }

    /// CSI ? u.
    pub(crate) fn keyboard(&mut self, flags: u8) {
        self.say(format_args!("\x1b[?{flags}u"));
    }
}

fn on(set: bool) -> u8 {
    if set { 1 } else { 2 }
}

fn flag(mode: NamedPrivateMode) -> TermMode {
    match mode {
        NamedPrivateMode::CursorKeys => TermMode::APP_CURSOR,
        NamedPrivateMode::Origin => TermMode::ORIGIN,
        NamedPrivateMode::LineWrap => TermMode::LINE_WRAP,
        NamedPrivateMode::ShowCursor => TermMode::SHOW_CURSOR,
        NamedPrivateMode::ReportMouseClicks => TermMode::MOUSE_REPORT_CLICK,
        NamedPrivateMode::ReportCellMouseMotion => TermMode::MOUSE_DRAG,
        NamedPrivateMode::ReportAllMouseMotion => TermMode::MOUSE_MOTION,
        NamedPrivateMode::ReportFocusInOut => TermMode::FOCUS_IN_OUT,
        NamedPrivateMode::Utf8Mouse => TermMode::UTF8_MOUSE,
        NamedPrivateMode::SgrMouse => TermMode::SGR_MOUSE,
        NamedPrivateMode::AlternateScroll => TermMode::ALTERNATE_SCROLL,
        NamedPrivateMode::UrgencyHints => TermMode::URGENCY_HINTS,
        NamedPrivateMode::SwapScreenAndSetRestoreCursor => TermMode::ALT_SCREEN,
        NamedPrivateMode::BracketedPaste => TermMode::BRACKETED_PASTE,
        NamedPrivateMode::BlinkingCursor | NamedPrivateMode::SyncUpdate | NamedPrivateMode::ColumnMode => {
            TermMode::empty()
        }
    }
}
