//! The emulator with what we add to it: it answers queries from a list, keeps state that a snapshot needs, and bounds
//! what a hostile program can make it store.

use std::collections::BTreeMap;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::{Cursor, Dimensions};
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::term::{Config, Osc52, Term, TermMode};
use alacritty_terminal::vte::ansi::{
    CharsetIndex, CursorStyle, Handler, KeyboardModes, NamedPrivateMode, PrivateMode, StandardCharset,
};

use super::answers::Answers;
use super::moves::default_tabs;

/// The emulator has no flag for blinking text; this bit of its flags is free.
pub(crate) const BLINK: Flags = Flags::from_bits_retain(1 << 15);

/// Cells above the visible ones; more would not fit into the memory that a host may take.
const MOST_HISTORY_CELLS: usize = 160_000;

/// The size of a screen.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) cols: usize,
    pub(crate) rows: usize,
}

impl Dimensions for Size {
    fn total_lines(&self) -> usize {
        self.rows
    }

    fn screen_lines(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.cols
    }
}

pub(crate) struct Vt {
    pub(crate) term: Term<VoidListener>,
    pub(crate) answers: Answers,
    pub(crate) title: String,
    pub(super) titles: Vec<String>,
    pub(crate) bells: u64,
    pub(crate) notifications: u64,
    /// First and last line of the scroll region, from 0.
    pub(crate) region: (usize, usize),
    /// That of the primary screen while the other is shown.
    pub(crate) region_of_primary: (usize, usize),
    /// Whether the alternate screen has ever got a saved cursor or a way of telling keys, which outlive it.
    pub(crate) alternate_touched: bool,
    /// Each screen has its own.
    pub(crate) tabs: Vec<bool>,
    pub(crate) tabs_of_other_screen: Vec<bool>,
    pub(crate) tabs_touched: bool,
    /// Character sets by their slot. The emulator gets the one that is in use in its first slot, because a restored cursor
    /// brings back what was in use and not the slots.
    pub(crate) charsets: [StandardCharset; 4],
    pub(crate) charset: CharsetIndex,
    pub(crate) cursor_style: Option<CursorStyle>,
    pub(crate) keyboard: Vec<KeyboardModes>,
    pub(crate) keyboard_of_other_screen: Vec<KeyboardModes>,
    pub(crate) modify_other_keys: u8,
    /// Whether what is printed moves the rest of the line; done here, because the emulator cuts wide characters in half.
    pub(crate) insert: bool,
    pub(crate) synchronized: bool,
    /// Modes that the emulator does not know, whether they are set. One that was once set must be unset elsewhere too.
    pub(crate) other_modes: BTreeMap<u16, bool>,
    pub(crate) colours_touched: bool,
    /// Whether the last that happened was that a character was printed: it can be repeated, or combined with.
    pub(crate) printed: bool,
    pub(super) link_bytes: usize,
    pub(super) scrollback: usize,
}

fn config(scrollback: usize, cols: usize) -> Config {
    let scrolling_history = scrollback.min(MOST_HISTORY_CELLS / cols.max(1));
    Config { scrolling_history, kitty_keyboard: false, osc52: Osc52::Disabled, ..Config::default() }
}

impl Vt {
    pub(crate) fn new(size: Size, scrollback: usize) -> Vt {
        Vt {
            term: Term::new(config(scrollback, size.cols), &size, VoidListener),
            answers: Answers::default(),
            title: String::new(),
            titles: Vec::new(),
            bells: 0,
            notifications: 0,
            region: (0, size.rows - 1),
            region_of_primary: (0, size.rows - 1),
            alternate_touched: false,
            tabs: default_tabs(size.cols),
            tabs_of_other_screen: default_tabs(size.cols),
            tabs_touched: false,
            charsets: Default::default(),
            charset: CharsetIndex::G0,
            cursor_style: None,
            keyboard: Vec::new(),
            keyboard_of_other_screen: Vec::new(),
            modify_other_keys: 0,
            insert: false,
            synchronized: false,
            other_modes: BTreeMap::new(),
            colours_touched: false,
            printed: false,
            link_bytes: 0,
            scrollback,
        }
    }

    pub(crate) fn size(&self) -> Size {
        Size { cols: self.term.columns(), rows: self.term.screen_lines() }
    }

    pub(crate) fn alternate(&self) -> bool {
        self.term.mode().contains(TermMode::ALT_SCREEN)
    }

    pub(crate) fn resize(&mut self, size: Size) {
        let old = self.size();
        self.term.set_options(config(self.scrollback, size.cols));
        self.term.resize(size);
        self.region = (0, size.rows - 1);
        self.region_of_primary = self.region;
        if size.cols != old.cols {
            let fresh = default_tabs(size.cols);
            for tabs in [&mut self.tabs, &mut self.tabs_of_other_screen] {
                tabs.truncate(size.cols);
                tabs.extend_from_slice(&fresh[tabs.len()..]);
            }
        }
        self.printed = false;
    }

    /// `CSI ! p`, which the emulator does not know.
    pub(crate) fn soft_reset(&mut self) {
        self.printed = false;
        self.keyboard.clear();
        for mode in [NamedPrivateMode::CursorKeys, NamedPrivateMode::Origin, NamedPrivateMode::BracketedPaste] {
            self.term.unset_private_mode(PrivateMode::Named(mode));
        }
        for mode in [NamedPrivateMode::LineWrap, NamedPrivateMode::ShowCursor] {
            self.term.set_private_mode(PrivateMode::Named(mode));
        }
        self.insert = false;
        self.term.unset_keypad_application_mode();
        let Cursor { point, input_needs_wrap, .. } = self.term.grid().cursor;
        self.term.set_scrolling_region(1, None);
        self.region = (0, self.size().rows - 1);
        self.charset = CharsetIndex::G0;
        self.charsets = Default::default();
        let grid = self.term.grid_mut();
        grid.cursor = Cursor { point, input_needs_wrap, ..Default::default() };
        grid.saved_cursor = Default::default();
    }

    /// `ESC c`
    pub(super) fn reset(&mut self) {
        self.term.reset_state();
        let size = self.size();
        self.region = (0, size.rows - 1);
        self.region_of_primary = self.region;
        self.tabs = default_tabs(size.cols);
        self.tabs_of_other_screen = default_tabs(size.cols);
        self.charset = CharsetIndex::G0;
        self.charsets = Default::default();
        self.cursor_style = None;
        self.keyboard.clear();
        self.keyboard_of_other_screen.clear();
        self.modify_other_keys = 0;
        self.insert = false;
        self.synchronized = false;
        self.other_modes.values_mut().for_each(|set| *set = false);
        self.titles.clear();
        self.title.clear();
    }

    pub(super) fn forget(&mut self) {
        self.printed = false;
    }
}
