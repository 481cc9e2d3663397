//! The two screens, and the cursor that each of them saves.

use alacritty_terminal::grid::Cursor;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::Cell;
use alacritty_terminal::vte::ansi::Handler;

use super::vt::Vt;

impl Vt {
    pub(super) fn save_cursor(&mut self) {
        self.term.save_cursor_position();
        self.term.grid_mut().saved_cursor.input_needs_wrap = false;
        self.alternate_touched |= self.alternate();
    }

    pub(super) fn restore_cursor(&mut self) {
        self.term.restore_cursor_position();
        self.no_wrap();
        if self.term.mode().contains(TermMode::ORIGIN) {
            self.set_line(self.line().clamp(self.region.0, self.region.1));
        }
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
}
