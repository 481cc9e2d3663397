//! What printing does to cells: characters that combine, are wide, are inserted or repeated.

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Point};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{Attr, Handler};
use unicode_width::UnicodeWidthChar;

use super::vt::{BLINK, Vt};

const MOST_COMBINING: usize = 16;

impl Vt {
    /// Prints a character.
    #[inline]
    pub(super) fn print(&mut self, character: char) {
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

    /// Gives a character without width a cell.
    fn input_alone(&mut self, character: char) {
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
    fn make_room(&mut self, width: usize) {
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
    fn combining_before_cursor(&self) -> usize {
        self.cell_before_cursor().zerowidth().map_or(0, <[char]>::len)
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
            characters.iter().for_each(|character| self.print(*character));
        }
        self.forget();
    }

    /// Whether it is a wide character in the last column of lines that do not wrap: it is dropped.
    #[inline]
    fn does_not_fit(&self, character: char) -> bool {
        !self.term.mode().contains(TermMode::LINE_WRAP)
            && self.term.grid().cursor.point.column + 1 >= self.term.columns()
            && character.width() == Some(2)
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

    pub(super) fn attribute(&mut self, attribute: Attr) {
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
}
