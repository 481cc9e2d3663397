//! Titles and links, bounded: a program must not fill our memory with them.

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::vte::ansi::{Handler, Hyperlink};

use super::vt::Vt;

const LONGEST_TITLE: usize = 512;
const MOST_TITLES: usize = 16;
const LONGEST_LINK: usize = 2048;
const MOST_LINK_BYTES: usize = 256 << 10;

impl Vt {
    pub(super) fn entitle(&mut self, title: Option<String>) {
        self.title = clean_title(&title.unwrap_or_default());
    }

    pub(super) fn keep_title(&mut self) {
        if self.titles.len() < MOST_TITLES {
            self.titles.push(self.title.clone());
        }
    }

    pub(super) fn bring_title_back(&mut self) {
        if let Some(title) = self.titles.pop() {
            self.title = title;
        }
    }

    pub(super) fn link(&mut self, link: Option<Hyperlink>) {
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

fn clean_title(title: &str) -> String {
    title.chars().filter(|character| !character.is_control()).take(LONGEST_TITLE).collect()
}
