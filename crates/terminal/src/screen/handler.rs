//! What the emulator is told, one call for each escape sequence: passed on, corrected, or answered.
//!
//! Where emulators differ, this one does as xterm.js does, so that a page that joins sees what one sees that was there.

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::Cell;
use alacritty_terminal::vte::ansi::{
    Attr, CharsetIndex, ClearMode, CursorShape, CursorStyle, Handler, Hyperlink, KeyboardModes,
    KeyboardModesApplyBehavior, LineClearMode, Mode, ModifyOtherKeys, NamedColor, NamedMode, NamedPrivateMode,
    PrivateMode, Rgb, StandardCharset, TabulationClearMode,
};
use unicode_width::UnicodeWidthChar;

use super::vt::{BLINK, Vt, default_tabs};

const LONGEST_TITLE: usize = 512;
const MOST_TITLES: usize = 16;
const MOST_KEYBOARD_MODES: usize = 32;
const MOST_COMBINING: usize = 16;
const LONGEST_LINK: usize = 2048;
const MOST_LINK_BYTES: usize = 256 << 10;

const MOUSE: [NamedPrivateMode; 3] = [
    NamedPrivateMode::ReportMouseClicks,
    NamedPrivateMode::ReportCellMouseMotion,
    NamedPrivateMode::ReportAllMouseMotion,
];

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
    }

    fn delete_chars(&mut self, count: usize) {
        self.forget();
        // The emulator would blank so many cells at the end of the line, even some before the cursor.
        let left = self.term.columns() - self.term.grid().cursor.point.column.0;
        self.term.delete_chars(count.min(left));
        self.after_edit();
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
        set_keypad_application_mode();
        unset_keypad_application_mode();
    }

    #[inline]
    fn input(&mut self, character: char) {
        let combines = !character.is_ascii() && character.width() == Some(0);
        if combines {
            match self.printed {
                // The page's decoder drops byte order marks.
                _ if character == '\u{feff}' => return,
                // There is nothing to combine with: it takes a cell of its own.
                false => return self.input_alone(character),
                true if self.combining_before_cursor() >= MOST_COMBINING => return,
                true => (),
            }
        }
        if self.does_not_fit(character) {
            self.forget();
            return self.no_wrap();
        }
        if self.insert && !combines {
            self.make_room(character.width().unwrap_or(1));
        }
        let halves = self.halves_under_cursor(character);
        self.term.input(character);
        self.blank(halves);
        self.printed = true;
    }

    fn put_tab(&mut self, count: u16) {
        self.move_forward_tabs(count);
    }

    fn move_forward_tabs(&mut self, count: u16) {
        self.forget();
        let cursor = &self.term.grid().cursor;
        // At the end of the line there is no next stop.
        if !cursor.input_needs_wrap {
            let last = self.tabs.len() - 1;
            let mut column = cursor.point.column.0;
            for _ in 0..count {
                column = (column + 1..last).find(|column| self.tabs[*column]).unwrap_or(last);
            }
            self.term.grid_mut().cursor.point.column = Column(column);
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
        self.set_line(line.saturating_sub(rows).max(top));
    }

    fn move_down(&mut self, rows: usize) {
        self.forget();
        let line = self.line();
        let bottom = if line <= self.region.1 { self.region.1 } else { self.size().rows - 1 };
        self.set_line((line + rows).min(bottom));
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
        self.term.newline();
        self.no_wrap();
    }

    fn newline(&mut self) {
        self.linefeed();
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
        self.return_after_lines();
    }

    fn delete_lines(&mut self, rows: usize) {
        self.forget();
        self.term.delete_lines(rows);
        self.return_after_lines();
    }

    fn save_cursor_position(&mut self) {
        self.forget();
        self.term.save_cursor_position();
        self.term.grid_mut().saved_cursor.input_needs_wrap = false;
        self.saved_in_alternate |= self.alternate();
    }

    fn restore_cursor_position(&mut self) {
        self.forget();
        self.term.restore_cursor_position();
        self.no_wrap();
        if self.term.mode().contains(TermMode::ORIGIN) {
            self.set_line(self.line().clamp(self.region.0, self.region.1));
        }
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
        let kept =
            (matches!(mode, ClearMode::Below) && grid.cursor.input_needs_wrap).then(|| grid.cursor_cell().clone());
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
    }

    fn set_tabs(&mut self, _: u16) {
        self.forget();
        self.tabs = default_tabs(self.tabs.len());
        self.tabs_touched = true;
    }

    fn reset_state(&mut self) {
        self.forget();
        self.term.reset_state();
        let size = self.size();
        let (bells, notifications) = (self.bells, self.notifications);
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
        (self.bells, self.notifications) = (bells, notifications);
    }

    fn set_scrolling_region(&mut self, top: usize, bottom: Option<usize>) {
        self.forget();
        let rows = self.size().rows;
        let bottom = bottom.filter(|bottom| (1..rows).contains(bottom)).unwrap_or(rows);
        // The emulator takes a region of one line; others do not.
        if top < bottom {
            self.term.set_scrolling_region(top, Some(bottom));
            self.region = (top - 1, bottom - 1);
        }
    }

    fn set_active_charset(&mut self, index: CharsetIndex) {
        self.forget();
        self.charset = index;
        self.use_charset();
    }

    fn configure_charset(&mut self, index: CharsetIndex, charset: StandardCharset) {
        self.forget();
        self.charsets[index as usize] = charset;
        if index == self.charset {
            self.use_charset();
        }
    }

    fn set_mode(&mut self, mode: Mode) {
        self.forget();
        match mode {
            Mode::Named(NamedMode::Insert) => self.insert = true,
            _ => self.term.set_mode(mode),
        }
    }

    fn unset_mode(&mut self, mode: Mode) {
        self.forget();
        match mode {
            Mode::Named(NamedMode::Insert) => self.insert = false,
            _ => self.term.unset_mode(mode),
        }
    }

    fn set_private_mode(&mut self, mode: PrivateMode) {
        self.forget();
        match mode {
            PrivateMode::Named(NamedPrivateMode::SwapScreenAndSetRestoreCursor) => {
                self.save_cursor_position();
                self.swap_screen(true);
            }
            PrivateMode::Unknown(47 | 1047) => self.swap_screen(true),
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
            PrivateMode::Unknown(47 | 1047) => self.swap_screen(false),
            PrivateMode::Unknown(1048) => self.restore_cursor_position(),
            PrivateMode::Named(NamedPrivateMode::Origin) => {
                self.term.unset_private_mode(mode);
                self.term.goto(0, 0);
            }
            PrivateMode::Named(NamedPrivateMode::SyncUpdate) => self.synchronized = false,
            PrivateMode::Named(NamedPrivateMode::BlinkingCursor) => self.other_mode(12, false),
            PrivateMode::Named(NamedPrivateMode::ColumnMode) => (),
            // Switching one kind of mouse reports off switches all off.
            PrivateMode::Named(named) if MOUSE.contains(&named) => {
                MOUSE.iter().for_each(|mode| self.term.unset_private_mode(PrivateMode::Named(*mode)));
            }
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
        self.answers.mode(mode, self.insert, self.term.mode());
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
