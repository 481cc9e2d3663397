//! A line at the bottom of the terminal that says what the session itself cannot.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use unicode_width::UnicodeWidthStr;

use crate::output::clean;
use crate::table::shorten;

/// How long a banner stays that need not.
const SHOWN: Duration = Duration::from_secs(4);

/// What is said at the moment.
#[derive(Debug, Default)]
pub(super) struct Banner {
    text: Option<String>,
    until: Option<Instant>,
}

impl Banner {
    /// Says something for a while.
    pub(super) fn say(&mut self, text: String) {
        self.text = Some(text);
        self.until = Some(Instant::now() + SHOWN);
    }

    /// Says something until something else is said.
    pub(super) fn insist(&mut self, text: String) {
        self.text = Some(text);
        self.until = None;
    }

    /// Waits until what is said has been there long enough, and takes it away.
    pub(super) async fn faded(&mut self) {
        match self.until {
            Some(until) => sleep_until(until).await,
            None => std::future::pending().await,
        }
        *self = Self::default();
    }

    /// What draws it on the last line and leaves the cursor where it was.
    pub(super) fn draw(&self, (cols, rows): (u16, u16)) -> Option<Vec<u8>> {
        let width = usize::from(cols).saturating_sub(1);
        let text = shorten(&clean(self.text.as_deref()?).replace('\n', " "), width);
        let padding = " ".repeat(width.saturating_sub(text.width()));
        Some(format!("\x1b7\x1b[{rows};1H\x1b[0;7m{text}{padding}\x1b[0m\x1b8").into_bytes())
    }

    /// What takes it away, if it is there.
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
