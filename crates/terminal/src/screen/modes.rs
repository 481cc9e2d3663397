//! Modes, character sets and keyboard protocols: what is passed on to the emulator, and what is kept here.

use alacritty_terminal::vte::ansi::{
    CharsetIndex, Handler, KeyboardModes, KeyboardModesApplyBehavior, Mode, ModifyOtherKeys, NamedMode,
    NamedPrivateMode, PrivateMode, StandardCharset,
};

use super::vt::Vt;

const MOST_KEYBOARD_MODES: usize = 32;
const MOST_OTHER_MODES: usize = 32;

const MOUSE: [NamedPrivateMode; 3] = [
    NamedPrivateMode::ReportMouseClicks,
    NamedPrivateMode::ReportCellMouseMotion,
    NamedPrivateMode::ReportAllMouseMotion,
];

impl Vt {
    pub(super) fn switch_on(&mut self, mode: Mode) {
        match mode {
            Mode::Named(NamedMode::Insert) => self.insert = true,
            _ => self.term.set_mode(mode),
        }
    }

    pub(super) fn switch_off(&mut self, mode: Mode) {
        match mode {
            Mode::Named(NamedMode::Insert) => self.insert = false,
            _ => self.term.unset_mode(mode),
        }
    }

    pub(super) fn switch_private_on(&mut self, mode: PrivateMode) {
        match mode {
            PrivateMode::Named(NamedPrivateMode::SwapScreenAndSetRestoreCursor) => {
                self.save_cursor();
                self.swap_screen(true);
            }
            PrivateMode::Unknown(47 | 1047) => self.swap_screen(true),
            PrivateMode::Unknown(1048) => self.save_cursor(),
            PrivateMode::Named(NamedPrivateMode::SyncUpdate) => self.synchronized = true,
            PrivateMode::Named(NamedPrivateMode::BlinkingCursor) => self.other_mode(12, true),
            // Programs ask for 132 columns; the size is the owner's.
            PrivateMode::Named(NamedPrivateMode::ColumnMode) => (),
            PrivateMode::Named(_) => self.term.set_private_mode(mode),
            PrivateMode::Unknown(number) => self.other_mode(number, true),
        }
    }

    pub(super) fn switch_private_off(&mut self, mode: PrivateMode) {
        match mode {
            PrivateMode::Named(NamedPrivateMode::SwapScreenAndSetRestoreCursor) => {
                self.swap_screen(false);
                self.restore_cursor();
            }
            PrivateMode::Unknown(47 | 1047) => self.swap_screen(false),
            PrivateMode::Unknown(1048) => self.restore_cursor(),
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

    fn other_mode(&mut self, number: u16, set: bool) {
        if self.other_modes.len() < MOST_OTHER_MODES || self.other_modes.contains_key(&number) {
            self.other_modes.insert(number, set);
        }
    }

    pub(super) fn shift_charset(&mut self, index: CharsetIndex) {
        self.charset = index;
        self.use_charset();
    }

    pub(super) fn designate_charset(&mut self, index: CharsetIndex, charset: StandardCharset) {
        self.charsets[index as usize] = charset;
        if index == self.charset {
            self.use_charset();
        }
    }

    pub(super) fn use_charset(&mut self) {
        self.term.grid_mut().cursor.charsets[CharsetIndex::G0] = self.charsets[self.charset as usize];
    }

    pub(super) fn push_keyboard(&mut self, mode: KeyboardModes) {
        if self.keyboard.len() >= MOST_KEYBOARD_MODES {
            self.keyboard.remove(0);
        }
        self.alternate_touched |= self.alternate();
        self.keyboard.push(mode);
    }

    pub(super) fn pop_keyboard(&mut self, count: u16) {
        let left = self.keyboard.len().saturating_sub(usize::from(count));
        self.keyboard.truncate(left);
    }

    pub(super) fn change_keyboard(&mut self, mode: KeyboardModes, behaviour: KeyboardModesApplyBehavior) {
        let active = self.keyboard.last().copied().unwrap_or(KeyboardModes::NO_MODE);
        let new = match behaviour {
            KeyboardModesApplyBehavior::Replace => mode,
            KeyboardModesApplyBehavior::Union => active | mode,
            KeyboardModesApplyBehavior::Difference => active - mode,
        };
        match self.keyboard.last_mut() {
            Some(last) => *last = new,
            None if new.is_empty() => (),
            None => self.push_keyboard(new),
        }
    }

    pub(super) fn modify_keys(&mut self, mode: ModifyOtherKeys) {
        self.modify_other_keys = match mode {
            ModifyOtherKeys::Reset => 0,
            ModifyOtherKeys::EnableExceptWellDefined => 1,
            ModifyOtherKeys::EnableAll => 2,
        };
    }
}
