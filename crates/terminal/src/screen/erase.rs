//! Erasing, deleting and filling; halves of wide characters do not stay behind.

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::Line;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{ClearMode, Handler, LineClearMode};

use super::vt::Vt;

impl Vt {
    pub(super) fn delete(&mut self, count: usize) {
        // The emulator would blank that many cells at the end of the line, even some before the cursor.
        let left = self.term.columns() - self.term.grid().cursor.point.column.0;
        self.term.delete_chars(count.min(left));
        self.after_edit();
    }

    pub(super) fn erase_in_line(&mut self, mode: LineClearMode) {
        self.term.clear_line(mode);
        self.mend_wide();
    }

    pub(super) fn erase_in_screen(&mut self, mode: ClearMode) {
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

    pub(super) fn fill(&mut self) {
        let size = self.size();
        let template = self.term.grid().cursor.template.clone();
        for line in 0..size.rows {
            for cell in &mut self.term.grid_mut()[Line(line as i32)][..] {
                *cell = Cell { c: 'E', ..template.clone() };
            }
        }
        self.term.goto(0, 0);
    }

    pub(super) fn after_edit(&mut self) {
        self.mend_wide();
        self.no_wrap();
    }

    /// Halves of wide characters in the cursor's line whose other half is gone become blank.
    pub(super) fn mend_wide(&mut self) {
        let blank = Cell { bg: self.term.grid().cursor.template.bg, ..Cell::default() };
        self.mend_wide_with(&blank);
    }

    pub(super) fn mend_wide_with(&mut self, blank: &Cell) {
        let wide = Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER;
        let line = self.term.grid().cursor.point.line;
        // Most lines have none. Only to look leaves the line as short as it is for the emulator.
        if !self.term.grid()[line][..].iter().fold(false, |any, cell| any | cell.flags.intersects(wide)) {
            return;
        }
        let row = &mut self.term.grid_mut()[line][..];
        for column in 0..row.len() {
            let flags = row[column].flags;
            if !flags.intersects(wide) {
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
}
