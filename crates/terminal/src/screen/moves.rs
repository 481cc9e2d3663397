//! Where the cursor goes: lines, tab stops and the scroll region.

use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::vte::ansi::{Handler, TabulationClearMode};

use super::vt::Vt;

impl Vt {
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

    pub(super) fn up(&mut self, rows: usize) {
        let line = self.line();
        let top = if line >= self.region.0 { self.region.0 } else { 0 };
        self.set_line(line.saturating_sub(rows).max(top));
    }

    pub(super) fn down(&mut self, rows: usize) {
        let line = self.line();
        let bottom = if line <= self.region.1 { self.region.1 } else { self.size().rows - 1 };
        self.set_line((line + rows).min(bottom));
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

    pub(super) fn line_feed(&mut self) {
        self.term.newline();
        self.no_wrap();
    }

    pub(super) fn index_back(&mut self) {
        self.term.reverse_index();
        self.no_wrap();
    }

    pub(super) fn scroll_lines_down(&mut self, rows: usize) {
        // New lines are plain here, whatever the current background is.
        let template = std::mem::take(&mut self.term.grid_mut().cursor.template);
        self.term.scroll_down(rows);
        self.term.grid_mut().cursor.template = template;
    }

    pub(super) fn insert_lines(&mut self, rows: usize) {
        self.term.insert_blank_lines(rows);
        self.return_after_lines();
    }

    pub(super) fn remove_lines(&mut self, rows: usize) {
        self.term.delete_lines(rows);
        self.return_after_lines();
    }

    /// What inserting and deleting lines does to the cursor.
    fn return_after_lines(&mut self) {
        if (self.region.0..=self.region.1).contains(&self.line()) {
            self.term.carriage_return();
        }
        self.no_wrap();
    }

    pub(super) fn set_region(&mut self, top: usize, bottom: Option<usize>) {
        let rows = self.size().rows;
        let bottom = bottom.filter(|bottom| (1..rows).contains(bottom)).unwrap_or(rows);
        // The emulator takes a region of one line; others do not.
        if top < bottom {
            self.term.set_scrolling_region(top, Some(bottom));
            self.region = (top - 1, bottom - 1);
        }
    }

    pub(super) fn tab_forward(&mut self, count: u16) {
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

    pub(super) fn tab_backward(&mut self, count: u16) {
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

    pub(super) fn set_stop(&mut self) {
        let column = self.term.grid().cursor.point.column.0;
        self.tabs[column] = true;
        self.tabs_touched = true;
    }

    pub(super) fn clear_stops(&mut self, mode: TabulationClearMode) {
        let column = self.term.grid().cursor.point.column.0;
        match mode {
            TabulationClearMode::Current => self.tabs[column] = false,
            TabulationClearMode::All => self.tabs.fill(false),
        }
        self.tabs_touched = true;
    }

    pub(super) fn default_stops(&mut self, _: u16) {
        self.tabs = default_tabs(self.tabs.len());
        self.tabs_touched = true;
    }
}

pub(super) fn default_tabs(cols: usize) -> Vec<bool> {
    (0..cols).map(|column| column % 8 == 0).collect()
}
