//! The emulator with what we add to it: it answers queries from a list, keeps state that a snapshot needs, and bounds
//! what a hostile program can make it store.

use std::collections::BTreeMap;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::{Cursor, Dimensions};
use alacritty_terminal::index::{Column, Line, Point};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::{Config, Osc52, Term, TermMode};
use alacritty_terminal::vte::ansi::{
    CharsetIndex, CursorStyle, Handler, KeyboardModes, NamedPrivateMode, PrivateMode, StandardCharset,
};
use unicode_width::UnicodeWidthChar;

use super::answers::Answers;

/// The emulator has no flag for blinking text; this bit of its flags is free.
pub(crate) const BLINK: Flags = Flags::from_bits_retain(1 << 15);

const MOST_OTHER_MODES: usize = 32;
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
    /// Whether the alternate screen has ever saved a cursor, which outlives it.
    pub(crate) saved_in_alternate: bool,
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
            saved_in_alternate: false,
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

    pub(super) fn forget(&mut self) {
        self.printed = false;
    }

    /// Shows the other screen, with the cursor where it is. Each has a cursor that it has saved.
    pub(super) fn swap_screen(&mut self, alternate: bool) {
        if self.alternate() == alternate {
            return;
        }
        let grid = self.term.grid_mut();
        let cursor = grid.cursor.clone();
        if alternate {
            // The emulator takes the current one for the saved one of the screen that is left.
            grid.cursor = grid.saved_cursor.clone();
        }
        self.term.swap_alt();
        if !alternate {
            // It was kept at its place in the text when the size changed.
            let grid = self.term.grid_mut();
            grid.saved_cursor = grid.cursor.clone();
        }
        std::mem::swap(&mut self.keyboard, &mut self.keyboard_of_other_screen);
        std::mem::swap(&mut self.tabs, &mut self.tabs_of_other_screen);
        // Each screen has its own scroll region; that of the alternate one is always new.
        let whole = (0, self.size().rows - 1);
        let region = if alternate { whole } else { self.region_of_primary };
        self.region_of_primary = if alternate { self.region } else { whole };
        self.term.set_scrolling_region(region.0 + 1, Some(region.1 + 1));
        self.region = region;
        self.term.grid_mut().cursor = cursor;
        if alternate {
            self.term.grid_mut().reset_region(..);
        }
    }

    /// Lets somebody look at the primary screen while the other is shown; its cursor is the one that it has saved.
    pub(crate) fn look_at_primary(&mut self, look: impl FnOnce(&Vt)) {
        let alternate = self.term.grid().clone();
        // It can only be reached by making it the active one; the way back clears the other.
        self.term.swap_alt();
        look(self);
        self.term.swap_alt();
        *self.term.grid_mut() = alternate;
    }

    /// The cursor that the alternate screen has saved, while the primary is shown.
    pub(crate) fn saved_by_alternate(&mut self) -> Cursor<Cell> {
        let saved = self.term.grid().saved_cursor.clone();
        self.term.swap_alt();
        let wanted = self.term.grid().saved_cursor.clone();
        self.term.swap_alt();
        self.term.grid_mut().saved_cursor = saved;
        wanted
    }

    pub(super) fn use_charset(&mut self) {
        self.term.grid_mut().cursor.charsets[CharsetIndex::G0] = self.charsets[self.charset as usize];
    }

    pub(super) fn other_mode(&mut self, number: u16, set: bool) {
        if self.other_modes.len() < MOST_OTHER_MODES || self.other_modes.contains_key(&number) {
            self.other_modes.insert(number, set);
        }
    }

    pub(super) fn line(&self) -> usize {
        self.term.grid().cursor.point.line.0 as usize
    }

    pub(super) fn set_line(&mut self, line: usize) {
        self.term.grid_mut().cursor.point.line = Line(line as i32);
        self.no_wrap();
    }

    pub(super) fn no_wrap(&mut self) {
        self.term.grid_mut().cursor.input_needs_wrap = false;
    }

    pub(super) fn after_edit(&mut self) {
        self.mend_wide();
        self.no_wrap();
    }

    /// What inserting and deleting lines does to the cursor.
    pub(super) fn return_after_lines(&mut self) {
        if (self.region.0..=self.region.1).contains(&self.line()) {
            self.term.carriage_return();
        }
        self.no_wrap();
    }

    /// Gives a character without width a cell.
    pub(super) fn input_alone(&mut self, character: char) {
        if self.insert {
            self.make_room(1);
        }
        self.term.input(' ');
        let grid = self.term.grid_mut();
        if !grid.cursor.input_needs_wrap {
            grid.cursor.point.column -= 1;
        }
        grid.cursor_cell().c = character;
        if !grid.cursor.input_needs_wrap {
            grid.cursor.point.column += 1;
        }
        self.printed = true;
    }

    /// Moves the rest of the line for a character that is inserted, on the next line if it does not fit.
    pub(super) fn make_room(&mut self, width: usize) {
        let columns = self.term.columns();
        let grid = self.term.grid_mut();
        let template = grid.cursor.template.clone();
        let past_end = grid.cursor.input_needs_wrap;
        let split = !past_end && grid.cursor.point.column.0 + width > columns;
        if split {
            *grid.cursor_cell() = Cell { flags: template.flags | Flags::LEADING_WIDE_CHAR_SPACER, ..template.clone() };
            self.mend_wide_with(&template);
        }
        if (past_end || split) && self.term.mode().contains(TermMode::LINE_WRAP) {
            self.term.grid_mut().cursor_cell().flags.insert(Flags::WRAPLINE);
            self.term.linefeed();
            self.term.grid_mut().cursor.point.column = Column(0);
            self.no_wrap();
        }
        self.term.insert_blank(width);
        self.mend_wide_with(&template);
    }

    /// The cell of the character before the cursor.
    fn cell_before_cursor(&self) -> &Cell {
        let grid = self.term.grid();
        let point = grid.cursor.point;
        let column = if grid.cursor.input_needs_wrap { point.column.0 } else { point.column.0.saturating_sub(1) };
        let row = &grid[point.line];
        let column = if row[Column(column)].flags.contains(Flags::WIDE_CHAR_SPACER) { column - 1 } else { column };
        &row[Column(column)]
    }

    /// How many combining characters the cell before the cursor has already.
    pub(super) fn combining_before_cursor(&self) -> usize {
        self.cell_before_cursor().zerowidth().map_or(0, <[char]>::len)
    }

    /// `CSI e`: down, out of the scroll region too unless positions are counted from it.
    pub(crate) fn below(&mut self, lines: usize) {
        self.forget();
        let within = self.term.mode().contains(TermMode::ORIGIN);
        let last = if within { self.region.1 } else { self.size().rows - 1 };
        self.set_line((self.line() + lines).min(last));
    }

    /// `ESC D`: as a line feed, but never also a return.
    pub(crate) fn index(&mut self) {
        self.forget();
        self.term.linefeed();
        self.no_wrap();
    }

    /// `CSI b`, which the emulator does also when something else has happened since the character was printed, and
    /// without what it was combined with.
    pub(crate) fn repeat(&mut self, count: usize) {
        if !self.printed {
            return;
        }
        let cell = self.cell_before_cursor();
        let mut characters = vec![cell.c];
        characters.extend(cell.zerowidth().into_iter().flatten());
        for _ in 0..count {
            characters.iter().for_each(|character| self.input(*character));
        }
        self.forget();
    }

    /// Halves of wide characters in the cursor's line whose other half is gone become blank.
    pub(super) fn mend_wide(&mut self) {
        let blank = Cell { bg: self.term.grid().cursor.template.bg, ..Cell::default() };
        self.mend_wide_with(&blank);
    }

    fn mend_wide_with(&mut self, blank: &Cell) {
        let grid = self.term.grid_mut();
        let line = grid.cursor.point.line;
        let row = &mut grid[line][..];
        for column in 0..row.len() {
            let flags = row[column].flags;
            if !flags.intersects(Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER) {
                continue;
            }
            let is = |column: usize, flag: Flags| row.get(column).is_some_and(|cell| cell.flags.contains(flag));
            let lonely = match flags.contains(Flags::WIDE_CHAR) {
                true => !is(column + 1, Flags::WIDE_CHAR_SPACER),
                false => column == 0 || !is(column - 1, Flags::WIDE_CHAR),
            };
            if lonely {
                let wraps = flags & Flags::WRAPLINE;
                row[column] = Cell { flags: blank.flags | wraps, ..blank.clone() };
            }
        }
    }

    /// Whether it is a wide character in the last column of lines that do not wrap: it is dropped.
    #[inline]
    pub(super) fn does_not_fit(&self, character: char) -> bool {
        !self.term.mode().contains(TermMode::LINE_WRAP)
            && self.term.grid().cursor.point.column + 1 >= self.term.columns()
            && character.width() == Some(2)
    }

    /// Which cells beside the one that is written next are halves of what it destroys.
    #[inline]
    pub(super) fn halves_under_cursor(&self, character: char) -> [Option<Point>; 2] {
        let grid = self.term.grid();
        let point = grid.cursor.point;
        let row = &grid[point.line][..];
        let first = point.column.0;
        let wide = Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER;
        let touched = row[first].flags | row.get(first + 1).map_or(Flags::empty(), |cell| cell.flags);
        if grid.cursor.input_needs_wrap || !touched.intersects(wide) {
            return [None, None];
        }
        let width = character.width().unwrap_or(0);
        let last = first + width.max(1) - 1;
        let at = |column: usize| Some(Point::new(point.line, Column(column)));
        let left = row[first].flags.contains(Flags::WIDE_CHAR_SPACER) && first > 0 && width > 0;
        let right = row.get(last).is_some_and(|cell| cell.flags.contains(Flags::WIDE_CHAR)) && last + 1 < row.len();
        [left.then(|| at(first - 1)).flatten(), (right && width > 0).then(|| at(last + 1)).flatten()]
    }

    /// Makes cells blank in the current style.
    #[inline]
    pub(super) fn blank(&mut self, cells: [Option<Point>; 2]) {
        for point in cells.into_iter().flatten() {
            let grid = self.term.grid_mut();
            let template = grid.cursor.template.clone();
            let wraps = grid[point].flags & Flags::WRAPLINE;
            grid[point] = Cell { flags: template.flags | wraps, ..template };
        }
    }

    /// Links of lines that nobody sees are forgotten when there are too many.
    pub(super) fn make_room_for_links(&mut self) {
        let visible = self.term.screen_lines() as i32;
        let columns = self.term.columns();
        let mut bytes = 0;
        let top = self.term.topmost_line().0;
        let grid = self.term.grid_mut();
        for line in top..visible {
            for column in 0..columns {
                let cell = &mut grid[Line(line)][Column(column)];
                if let Some(link) = cell.hyperlink() {
                    match line < 0 {
                        true => cell.set_hyperlink(None),
                        false => bytes += link.uri().len(),
                    }
                }
            }
        }
        self.link_bytes = bytes;
    }
}

pub(super) fn default_tabs(cols: usize) -> Vec<bool> {
    (0..cols).map(|column| column % 8 == 0).collect()
}
