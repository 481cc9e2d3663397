//! A status line at the bottom of the terminal.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use unicode_width::UnicodeWidthStr;

use crate::output::clean;
use crate::table::shorten;

/// How long a temporary banner stays.
const SHOWN: Duration = Duration::from_secs(4);

/// The current banner.
#[derive(Debug, Default)]
pub(super) struct Banner {
    text: Option<String>,
    until: Option<Instant>,
}

impl Banner {
    /// Shows a text for a while.
    pub(super) fn say(&mut self, text: String) {
        self.text = Some(text);
        self.until = Some(Instant::now() + SHOWN);
    }

    /// Shows a text until the next one.
    pub(super) fn insist(&mut self, text: String) {
        self.text = Some(text);
        self.until = None;
    }

    /// Waits until a temporary text expires, and removes it.
    pub(super) async fn faded(&mut self) {
        match self.until {
            Some(until) => sleep_until(until).await,
            None => std::future::pending().await,
        }
        *self = Self::default();
    }

    /// Bytes that draw the banner on the last line and restore the cursor.
    pub(super) fn draw(&self, (cols, rows): (u16, u16)) -> Option<Vec<u8>> {
        let width = usize::from(cols).saturating_sub(1);
        let text = shorten(&clean(self.text.as_deref()?).replace('\n', " "), width);
        let padding = " ".repeat(width.saturating_sub(text.width()));
        Some(format!("\x1b7\x1b[{rows};1H\x1b[0;7m{text}{padding}\x1b[0m\x1b8").into_bytes())
    }

    /// Bytes that erase the banner, if it is shown.
    pub(super) fn erase(&self, (_, rows): (u16, u16)) -> Option<Vec<u8>> {
        let erase = || format!("\x1b7\x1b[{rows};1H\x1b[0m\x1b[2K\x1b8").into_bytes();
        self.text.is_some().then(erase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banner_fits_and_is_harmless() {
        let mut banner = Banner::default();
        assert_eq!(banner.draw((20, 5)), None);
        banner.insist("attached\x1b[2J to a long name".to_owned());
        let drawn = String::from_utf8(banner.draw((20, 5)).unwrap()).unwrap();
        assert_eq!(drawn, "\x1b7\x1b[5;1H\x1b[0;7mattached\u{FFFD}[2J to a… \x1b[0m\x1b8");
    }
}
