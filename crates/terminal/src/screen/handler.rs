//! The calls to the emulator, one for each escape sequence: forwarded, corrected, or answered.
//!
//! Where emulators differ, this one behaves like xterm.js, so that a late page sees the same as an early one.

use alacritty_terminal::term::TermMode;
use alacritty_terminal::vte::ansi::{
    Attr, CharsetIndex, ClearMode, CursorShape, CursorStyle, Handler, Hyperlink, KeyboardModes,
    KeyboardModesApplyBehavior, LineClearMode, Mode, ModifyOtherKeys, NamedColor, PrivateMode, Rgb, StandardCharset,
    TabulationClearMode,
};

use super::vt::Vt;

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

/// What is done here, with the emulator's help or without.
macro_rules! correct {
    ($($name:ident($($argument:ident: $type:ty),*) => $own:ident;)*) => {
        $(#[inline] fn $name(&mut self, $($argument: $type),*) {
            self.forget();
            self.$own($($argument),*);
        })*
    };
}

impl Handler for Vt {
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

    pass_on_and_mend! {
        insert_blank(count: usize);
        erase_chars(count: usize);
    }

    correct! {
        clear_line(mode: LineClearMode) => erase_in_line;
        clear_screen(mode: ClearMode) => erase_in_screen;
        delete_chars(count: usize) => delete;
        decaln() => fill;
        terminal_attribute(attribute: Attr) => attribute;
        move_up(rows: usize) => up;
        move_down(rows: usize) => down;
        linefeed() => line_feed;
        reverse_index() => index_back;
        scroll_down(rows: usize) => scroll_lines_down;
        insert_blank_lines(rows: usize) => insert_lines;
        delete_lines(rows: usize) => remove_lines;
        set_scrolling_region(top: usize, bottom: Option<usize>) => set_region;
        move_forward_tabs(count: u16) => tab_forward;
        move_backward_tabs(count: u16) => tab_backward;
        set_horizontal_tabstop() => set_stop;
        clear_tabs(mode: TabulationClearMode) => clear_stops;
        set_tabs(interval: u16) => default_stops;
        save_cursor_position() => save_cursor;
        restore_cursor_position() => restore_cursor;
        set_mode(mode: Mode) => switch_on;
        unset_mode(mode: Mode) => switch_off;
        set_private_mode(mode: PrivateMode) => switch_private_on;
        unset_private_mode(mode: PrivateMode) => switch_private_off;
        set_active_charset(index: CharsetIndex) => shift_charset;
        configure_charset(index: CharsetIndex, charset: StandardCharset) => designate_charset;
        push_keyboard_mode(mode: KeyboardModes) => push_keyboard;
        pop_keyboard_modes(count: u16) => pop_keyboard;
        set_keyboard_mode(mode: KeyboardModes, behaviour: KeyboardModesApplyBehavior) => change_keyboard;
        set_modify_other_keys(mode: ModifyOtherKeys) => modify_keys;
        set_title(title: Option<String>) => entitle;
        push_title() => keep_title;
        pop_title() => bring_title_back;
        set_hyperlink(link: Option<Hyperlink>) => link;
        reset_state() => reset;
        put_tab(count: u16) => tab_forward;
        newline() => line_feed;
    }

    #[inline]
    fn input(&mut self, character: char) {
        self.print(character);
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

    fn set_color(&mut self, index: usize, colour: Rgb) {
        self.forget();
        self.colours_touched = true;
        self.term.set_color(index, colour);
    }

    fn reset_color(&mut self, index: usize) {
        self.forget();
        self.term.reset_color(index);
    }

    fn move_up_and_cr(&mut self, rows: usize) {
        self.move_up(rows);
        self.term.carriage_return();
    }

    fn move_down_and_cr(&mut self, rows: usize) {
        self.move_down(rows);
        self.term.carriage_return();
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
