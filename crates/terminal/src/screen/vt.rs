//! The emulator with what we add to it: it answers queries from a list, keeps state that a snapshot needs, and bounds
//! what a hostile program can make it store.

use std::collections::BTreeMap;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::{Cursor, Dimensions, Grid};
use alacritty_terminal::index::{Column, Line, Point};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::{Config, Osc52, Term, TermMode};
use alacritty_terminal::vte::ansi::{
    Attr, CharsetIndex, ClearMode, CursorShape, CursorStyle, Handler, Hyperlink, KeyboardModes,
    KeyboardModesApplyBehavior, LineClearMode, Mode, ModifyOtherKeys, NamedColor, NamedPrivateMode, PrivateMode, Rgb,
    StandardCharset, TabulationClearMode,
};
use unicode_width::UnicodeWidthChar;

use super::answers::Answers;

/// The emulator has no flag for blinking text; this bit of its flags is free.
pub(crate) const BLINK: Flags = Flags::from_bits_retain(1 << 15);

const LONGEST_TITLE: usize = 512;
const MOST_TITLES: usize = 16;
const MOST_KEYBOARD_MODES: usize = 32;
const MOST_OTHER_MODES: usize = 32;
const MOST_COMBINING: usize = 16;
const LONGEST_LINK: usize = 2048;
const MOST_LINK_BYTES: usize = 256 << 10;
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
    titles: Vec<String>,
    pub(crate) bells: u64,
    pub(crate) notifications: u64,
    /// First and last line of the scroll region, from 0.
    pub(crate) region: (usize, usize),
    /// That of the primary screen while the other is shown.
    pub(crate) region_of_primary: (usize, usize),
    /// The cursor that the primary screen has saved, if the other was entered without saving it.
    pub(crate) saved_of_primary: Option<Cursor<Cell>>,
    pub(crate) tabs: Vec<bool>,
    pub(crate) tabs_touched: bool,
    pub(crate) charset: CharsetIndex,
    pub(crate) cursor_style: Option<CursorStyle>,
    pub(crate) keyboard: Vec<KeyboardModes>,
    pub(crate) keyboard_of_other_screen: Vec<KeyboardModes>,
    pub(crate) modify_other_keys: u8,
    pub(crate) synchronized: bool,
    /// Modes that the emulator does not know, whether they are set. One that was once set must be unset elsewhere too.
    pub(crate) other_modes: BTreeMap<u16, bool>,
    pub(crate) colours_touched: bool,
    /// The character that was printed last, if nothing else has happened since.
    pub(crate) printed: Option<char>,
    link_bytes: usize,
    scrollback: usize,
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
            saved_of_primary: None,
            tabs: default_tabs(size.cols),
            tabs_touched: false,
            charset: CharsetIndex::G0,
            cursor_style: None,
            keyboard: Vec::new(),
            keyboard_of_other_screen: Vec::new(),
            modify_other_keys: 0,
            synchronized: false,
            other_modes: BTreeMap::new(),
            colours_touched: false,
            printed: None,
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
            self.tabs.truncate(size.cols);
            self.tabs.extend_from_slice(&fresh[self.tabs.len()..]);
        }
        self.printed = None;
    }

    /// `CSI ! p`, which the emulator does not know.
    pub(crate) fn soft_reset(&mut self) {
        self.printed = None;
        self.keyboard.clear();
        for mode in [NamedPrivateMode::CursorKeys, NamedPrivateMode::Origin, NamedPrivateMode::BracketedPaste] {
            self.term.unset_private_mode(PrivateMode::Named(mode));
        }
        for mode in [NamedPrivateMode::LineWrap, NamedPrivateMode::ShowCursor] {
            self.term.set_private_mode(PrivateMode::Named(mode));
        }
        self.term.unset_mode(Mode::Named(alacritty_terminal::vte::ansi::NamedMode::Insert));
        self.term.unset_keypad_application_mode();
        let cursor = self.term.grid().cursor.point;
        self.term.set_scrolling_region(1, None);
        self.region = (0, self.size().rows - 1);
        self.term.terminal_attribute(Attr::Reset);
        self.charset = CharsetIndex::G0;
        self.term.set_active_charset(CharsetIndex::G0);
        let grid = self.term.grid_mut();
        grid.cursor.point = cursor;
        grid.cursor.charsets = Default::default();
        grid.cursor.template = Default::default();
        grid.saved_cursor = Default::default();
    }

    fn forget(&mut self) {
        self.printed = None;
    }

    fn swap_screen(&mut self, alternate: bool) {
        if self.alternate() != alternate {
            self.term.swap_alt();
            self.no_wrap();
            if let Some(saved) = self.saved_of_primary.take() {
                self.term.grid_mut().saved_cursor = saved;
            }
            std::mem::swap(&mut self.keyboard, &mut self.keyboard_of_other_screen);
            // Each screen has its own scroll region; that of the alternate one is always new.
            let whole = (0, self.size().rows - 1);
            let region = if alternate { whole } else { self.region_of_primary };
            self.region_of_primary = if alternate { self.region } else { whole };
            let cursor = self.term.grid().cursor.point;
            self.term.set_scrolling_region(region.0 + 1, Some(region.1 + 1));
            self.term.grid_mut().cursor.point = cursor;
            self.region = region;
        }
    }

    /// The same without saving or restoring the cursor, which stays where it is.
    fn swap_screen_only(&mut self, alternate: bool) {
        if self.alternate() != alternate {
            let Grid { cursor, saved_cursor, .. } = self.term.grid();
            let (cursor, saved) = (cursor.clone(), saved_cursor.clone());
            self.swap_screen(alternate);
            self.term.grid_mut().cursor = cursor;
            self.no_wrap();
            self.saved_of_primary = alternate.then_some(saved);
        }
    }

    fn other_mode(&mut self, number: u16, set: bool) {
        if self.other_modes.len() < MOST_OTHER_MODES || self.other_modes.contains_key(&number) {
            self.other_modes.insert(number, set);
        }
    }

    fn line(&self) -> usize {
        self.term.grid().cursor.point.line.0 as usize
    }

    fn to_line(&mut self, line: usize) {
        self.term.grid_mut().cursor.point.line = Line(line as i32);
        self.no_wrap();
    }

    fn no_wrap(&mut self) {
        self.term.grid_mut().cursor.input_needs_wrap = false;
    }

    fn after_edit(&mut self) {
        self.mend_wide();
        self.no_wrap();
    }

    /// What inserting and deleting lines does to the cursor.
    fn to_line_start(&mut self) {
        if (self.region.0..=self.region.1).contains(&self.line()) {
            self.term.carriage_return();
        }
        self.no_wrap();
    }

    /// Gives a character without width a cell.
    fn input_alone(&mut self, character: char) {
        self.term.input(' ');
        let grid = self.term.grid_mut();
        if !grid.cursor.input_needs_wrap {
            grid.cursor.point.column -= 1;
        }
        grid.cursor_cell().c = character;
        if !grid.cursor.input_needs_wrap {
            grid.cursor.point.column += 1;
        }
        self.printed = Some(character);
    }

    /// How many combining characters the cell before the cursor has already.
    fn combining_before_cursor(&self) -> usize {
        let grid = self.term.grid();
        let point = grid.cursor.point;
        let column = if grid.cursor.input_needs_wrap { point.column.0 } else { point.column.0.saturating_sub(1) };
        let row = &grid[point.line];
        let column = if row[Column(column)].flags.contains(Flags::WIDE_CHAR_SPACER) { column - 1 } else { column };
        row[Column(column)].zerowidth().map_or(0, <[char]>::len)
    }

    /// Halves of wide characters in the cursor's line whose other half is gone become blank.
    fn mend_wide(&mut self) {
        let grid = self.term.grid_mut();
        let blank = Cell { bg: grid.cursor.template.bg, ..Cell::default() };
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
                row[column] = Cell { flags: wraps, ..blank.clone() };
            }
        }
    }

    /// Which cells beside the one that is written next are halves of what it destroys.
    #[inline]
    fn halves_under_cursor(&self, character: char) -> [Option<Point>; 2] {
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
    fn blank(&mut self, cells: [Option<Point>; 2]) {
        for point in cells.into_iter().flatten() {
            let grid = self.term.grid_mut();
            let template = grid.cursor.template.clone();
            let wraps = grid[point].flags & Flags::WRAPLINE;
            grid[point] = Cell { flags: template.flags | wraps, ..template };
        }
    }

    /// Links of lines that nobody sees are forgotten when there are too many.
    fn make_room_for_links(&mut self) {
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

fn default_tabs(cols: usize) -> Vec<bool> {
    (0..cols).map(|column| column % 8 == 0).collect()
}

fn clean_title(title: &str) -> String {
    title.chars().filter(|character| !character.is_control()).take(LONGEST_TITLE).collect()
}

macro_rules! pass_on {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        $(#[inline] fn $name(&mut self, $($argument: $type),*) {
            self.forget();
            self.term.$name($($argument),*);
        })*
    };
}

/// The same, for what can cut a wide character in half.
macro_rules! pass_on_and_mend {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        $(#[inline] fn $name(&mut self, $($argument: $type),*) {
            self.forget();
            self.term.$name($($argument),*);
            self.after_edit();
        })*
    };
}

impl Handler for Vt {
    pass_on_and_mend! {
        insert_blank(count: usize);
        erase_chars(count: usize);
        delete_chars(count: usize);
    }

    fn clear_line(&mut self, mode: LineClearMode) {
        self.forget();
        self.term.clear_line(mode);
        self.mend_wide();
    }

    pass_on! {
        goto(line: i32, column: usize);
        goto_line(line: i32);
        goto_col(column: usize);
        move_forward(columns: usize);
        move_backward(columns: usize);
        backspace();
        carriage_return();
        substitute();
        scroll_up(rows: usize);
        set_mode(mode: Mode);
        unset_mode(mode: Mode);
        set_keypad_application_mode();
        unset_keypad_application_mode();
        configure_charset(index: CharsetIndex, charset: StandardCharset);
    }

    #[inline]
    fn input(&mut self, character: char) {
        if !character.is_ascii() && character.width() == Some(0) && self.combining_before_cursor() >= MOST_COMBINING {
            return;
        }
        let halves = self.halves_under_cursor(character);
        self.term.input(character);
        self.blank(halves);
        if self.term.mode().contains(TermMode::INSERT) {
            self.mend_wide();
        }
        self.printed = Some(character);
    }

    fn put_tab(&mut self, count: u16) {
        self.forget();
        // At the end of the line there is no next stop; the emulator would wrap.
        if !self.term.grid().cursor.input_needs_wrap {
            self.term.put_tab(count);
        }
    }

    fn move_forward_tabs(&mut self, count: u16) {
        self.forget();
        if !self.term.grid().cursor.input_needs_wrap {
            self.term.move_forward_tabs(count);
        }
    }

    fn move_backward_tabs(&mut self, count: u16) {
        self.forget();
        let cursor = &self.term.grid().cursor;
        if !cursor.input_needs_wrap {
            let mut column = cursor.point.column.0;
            for _ in 0..count {
                // Without a stop before it, to the beginning of the line; the emulator would stay.
                column = self.tabs[..column].iter().rposition(|stop| *stop).unwrap_or(0);
            }
            self.term.grid_mut().cursor.point.column = Column(column);
        }
    }

    fn move_up(&mut self, rows: usize) {
        self.forget();
        let line = self.line();
        let top = if line >= self.region.0 { self.region.0 } else { 0 };
        self.to_line(line.saturating_sub(rows).max(top));
    }

    fn move_down(&mut self, rows: usize) {
        self.forget();
        let line = self.line();
        let bottom = if line <= self.region.1 { self.region.1 } else { self.size().rows - 1 };
        self.to_line((line + rows).min(bottom));
    }

    fn move_up_and_cr(&mut self, rows: usize) {
        self.move_up(rows);
        self.term.carriage_return();
    }

    fn move_down_and_cr(&mut self, rows: usize) {
        self.move_down(rows);
        self.term.carriage_return();
    }

    fn linefeed(&mut self) {
        self.forget();
        self.term.linefeed();
        self.no_wrap();
    }

    fn newline(&mut self) {
        self.forget();
        self.term.newline();
        self.no_wrap();
    }

    fn reverse_index(&mut self) {
        self.forget();
        self.term.reverse_index();
        self.no_wrap();
    }

    fn scroll_down(&mut self, rows: usize) {
        self.forget();
        // New lines are plain here, whatever the current background is.
        let template = std::mem::take(&mut self.term.grid_mut().cursor.template);
        self.term.scroll_down(rows);
        self.term.grid_mut().cursor.template = template;
    }

    fn insert_blank_lines(&mut self, rows: usize) {
        self.forget();
        self.term.insert_blank_lines(rows);
        self.to_line_start();
    }

    fn delete_lines(&mut self, rows: usize) {
        self.forget();
        self.term.delete_lines(rows);
        self.to_line_start();
    }

    fn save_cursor_position(&mut self) {
        self.forget();
        self.term.save_cursor_position();
        self.term.grid_mut().saved_cursor.input_needs_wrap = false;
    }

    fn restore_cursor_position(&mut self) {
        self.forget();
        self.term.restore_cursor_position();
        self.no_wrap();
    }

    fn decaln(&mut self) {
        self.forget();
        let size = self.size();
        let template = self.term.grid().cursor.template.clone();
        for line in 0..size.rows {
            for cell in &mut self.term.grid_mut()[Line(line as i32)][..] {
                *cell = Cell { c: 'E', ..template.clone() };
            }
        }
        self.term.goto(0, 0);
    }

    fn terminal_attribute(&mut self, attribute: Attr) {
        self.forget();
        let flags = &mut self.term.grid_mut().cursor.template.flags;
        match attribute {
            Attr::BlinkSlow => flags.insert(BLINK),
            Attr::BlinkFast => (),
            Attr::CancelBlink => flags.remove(BLINK),
            // Only 21 comes as this, and that underlines twice nowadays.
            Attr::CancelBold => self.term.terminal_attribute(Attr::DoubleUnderline),
            _ => self.term.terminal_attribute(attribute),
        }
    }

    fn clear_screen(&mut self, mode: ClearMode) {
        self.forget();
        // The emulator leaves the first line alone when the cursor is on the second.
        if matches!(mode, ClearMode::Above) && self.term.grid().cursor.point.line == 1 {
            self.term.grid_mut().reset_region(..Line(1));
        }
        let grid = self.term.grid_mut();
        let kept = (matches!(mode, ClearMode::Below) && grid.cursor.input_needs_wrap).then(|| grid.cursor_cell().clone());
        self.term.clear_screen(mode);
        if let Some(kept) = kept {
            // The cursor is behind the last cell, not on it.
            *self.term.grid_mut().cursor_cell() = kept;
        }
        self.mend_wide();
    }

    fn set_title(&mut self, title: Option<String>) {
        self.forget();
        self.title = clean_title(&title.unwrap_or_default());
    }

    fn push_title(&mut self) {
        self.forget();
        if self.titles.len() < MOST_TITLES {
            self.titles.push(self.title.clone());
        }
    }

    fn pop_title(&mut self) {
        self.forget();
        if let Some(title) = self.titles.pop() {
            self.title = title;
        }
    }

    fn bell(&mut self) {
        self.forget();
        self.bells += 1;
    }

    fn set_cursor_style(&mut self, style: Option<CursorStyle>) {
        self.forget();
        self.cursor_style = style;
    }

    fn set_cursor_shape(&mut self, shape: CursorShape) {
        self.forget();
        self.cursor_style.get_or_insert_default().shape = shape;
    }

    fn set_horizontal_tabstop(&mut self) {
        self.forget();
        self.term.set_horizontal_tabstop();
        let column = self.term.grid().cursor.point.column.0;
        self.tabs[column] = true;
        self.tabs_touched = true;
    }

    fn clear_tabs(&mut self, mode: TabulationClearMode) {
        self.forget();
        let column = self.term.grid().cursor.point.column.0;
        match mode {
            TabulationClearMode::Current => self.tabs[column] = false,
            TabulationClearMode::All => self.tabs.fill(false),
        }
        self.tabs_touched = true;
        self.term.clear_tabs(mode);
    }

    fn set_tabs(&mut self, interval: u16) {
        self.forget();
        self.tabs = default_tabs(self.tabs.len());
        self.tabs_touched = true;
        self.term.set_tabs(interval);
    }

    fn reset_state(&mut self) {
        self.forget();
        self.term.reset_state();
        let size = self.size();
        let (bells, notifications) = (self.bells, self.notifications);
        self.region = (0, size.rows - 1);
        self.region_of_primary = self.region;
        self.saved_of_primary = None;
        self.tabs = default_tabs(size.cols);
        self.charset = CharsetIndex::G0;
        self.cursor_style = None;
        self.keyboard.clear();
        self.keyboard_of_other_screen.clear();
        self.modify_other_keys = 0;
        self.synchronized = false;
        self.other_modes.values_mut().for_each(|set| *set = false);
        self.titles.clear();
        self.title.clear();
        (self.bells, self.notifications) = (bells, notifications);
    }

    fn set_scrolling_region(&mut self, top: usize, bottom: Option<usize>) {
        self.forget();
        self.term.set_scrolling_region(top, bottom);
        let rows = self.size().rows;
        let bottom = bottom.unwrap_or(rows);
        if top < bottom {
            self.region = ((top - 1).min(rows), bottom.min(rows) - 1);
        }
    }

    fn set_active_charset(&mut self, index: CharsetIndex) {
        self.forget();
        self.charset = index;
        self.term.set_active_charset(index);
    }

    fn set_private_mode(&mut self, mode: PrivateMode) {
        self.forget();
        match mode {
            PrivateMode::Named(NamedPrivateMode::SwapScreenAndSetRestoreCursor) => {
                self.save_cursor_position();
                self.swap_screen(true);
            }
            PrivateMode::Unknown(47 | 1047) => self.swap_screen_only(true),
            PrivateMode::Unknown(1048) => self.save_cursor_position(),
            PrivateMode::Named(NamedPrivateMode::SyncUpdate) => self.synchronized = true,
            PrivateMode::Named(NamedPrivateMode::BlinkingCursor) => self.other_mode(12, true),
            // Programs ask for 132 columns; the size is the owner's.
            PrivateMode::Named(NamedPrivateMode::ColumnMode) => (),
            PrivateMode::Named(_) => self.term.set_private_mode(mode),
            PrivateMode::Unknown(number) => self.other_mode(number, true),
        }
    }

    fn unset_private_mode(&mut self, mode: PrivateMode) {
        self.forget();
        match mode {
            PrivateMode::Named(NamedPrivateMode::SwapScreenAndSetRestoreCursor) => {
                self.swap_screen(false);
                self.restore_cursor_position();
            }
            PrivateMode::Unknown(47 | 1047) => self.swap_screen_only(false),
            PrivateMode::Unknown(1048) => self.restore_cursor_position(),
            PrivateMode::Named(NamedPrivateMode::Origin) => {
                self.term.unset_private_mode(mode);
                self.term.goto(0, 0);
            }
            PrivateMode::Named(NamedPrivateMode::SyncUpdate) => self.synchronized = false,
            PrivateMode::Named(NamedPrivateMode::BlinkingCursor) => self.other_mode(12, false),
            PrivateMode::Named(NamedPrivateMode::ColumnMode) => (),
            PrivateMode::Named(_) => self.term.unset_private_mode(mode),
            PrivateMode::Unknown(number) => self.other_mode(number, false),
        }
    }

    fn set_color(&mut self, index: usize, colour: Rgb) {
        self.forget();
        self.colours_touched = true;
        self.term.set_color(index, colour);
    }

    fn reset_color(&mut self, index: usize) {
        self.forget();
        self.term.reset_color(index);
    }

    fn set_hyperlink(&mut self, link: Option<Hyperlink>) {
        self.forget();
        let fitting = link.filter(|link| link.uri.len() <= LONGEST_LINK);
        if let Some(link) = &fitting {
            self.link_bytes += link.uri.len();
            if self.link_bytes > MOST_LINK_BYTES {
                self.make_room_for_links();
            }
        }
        let fitting = fitting.filter(|_| self.link_bytes <= MOST_LINK_BYTES);
        self.term.set_hyperlink(fitting);
    }

    fn push_keyboard_mode(&mut self, mode: KeyboardModes) {
        self.forget();
        if self.keyboard.len() >= MOST_KEYBOARD_MODES {
            self.keyboard.remove(0);
        }
        self.keyboard.push(mode);
    }

    fn pop_keyboard_modes(&mut self, count: u16) {
        self.forget();
        let left = self.keyboard.len().saturating_sub(usize::from(count));
        self.keyboard.truncate(left);
    }

    fn set_keyboard_mode(&mut self, mode: KeyboardModes, behaviour: KeyboardModesApplyBehavior) {
        self.forget();
        let active = self.keyboard.last().copied().unwrap_or(KeyboardModes::NO_MODE);
        let new = match behaviour {
            KeyboardModesApplyBehavior::Replace => mode,
            KeyboardModesApplyBehavior::Union => active | mode,
            KeyboardModesApplyBehavior::Difference => active - mode,
        };
        match self.keyboard.last_mut() {
            Some(last) => *last = new,
            None if new.is_empty() => (),
            None => self.keyboard.push(new),
        }
    }

    fn set_modify_other_keys(&mut self, mode: ModifyOtherKeys) {
        self.forget();
        self.modify_other_keys = match mode {
            ModifyOtherKeys::Reset => 0,
            ModifyOtherKeys::EnableExceptWellDefined => 1,
            ModifyOtherKeys::EnableAll => 2,
        };
    }

    fn identify_terminal(&mut self, intermediate: Option<char>) {
        self.forget();
        self.answers.identity(intermediate);
    }

    fn device_status(&mut self, what: usize) {
        self.forget();
        let point = self.term.grid().cursor.point;
        let top = if self.term.mode().contains(TermMode::ORIGIN) { self.region.0 } else { 0 };
        self.answers.status(what, (point.line.0 as usize).saturating_sub(top) + 1, point.column.0 + 1);
    }

    fn report_mode(&mut self, mode: Mode) {
        self.forget();
        self.answers.mode(mode, self.term.mode());
    }

    fn report_private_mode(&mut self, mode: PrivateMode) {
        self.forget();
        let blinking = self.other_modes.get(&12).is_some_and(|set| *set);
        self.answers.private_mode(mode, self.term.mode(), self.synchronized, blinking);
    }

    fn dynamic_color_sequence(&mut self, prefix: String, index: usize, terminator: &str) {
        if index >= NamedColor::Foreground as usize {
            self.answers.colour(&prefix, index, self.term.colors()[index], terminator);
        }
    }

    fn text_area_size_chars(&mut self) {
        self.forget();
        let size = self.size();
        self.answers.text_area(size.rows, size.cols);
    }

    fn report_keyboard_mode(&mut self) {
        self.forget();
        let active = self.keyboard.last().copied().unwrap_or(KeyboardModes::NO_MODE);
        self.answers.keyboard(active.bits());
    }
}
