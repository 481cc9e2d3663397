//! A session's bytes as plain text, for output without a terminal.

use super::filter::Filter;

/// Turns terminal bytes into lines of text.
#[derive(Debug, Default)]
pub(crate) struct Plain {
    filter: Filter,
    /// Whether the current line has text.
    open: bool,
}

impl Plain {
    /// The text of the next `bytes`.
    pub(crate) fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        // The filter only passes complete commands of few kinds.
        let harmless = self.filter.pass(bytes);
        let (mut out, mut rest) = (Vec::with_capacity(harmless.len()), harmless.as_slice());
        while let [first, more @ ..] = rest {
            rest = match first {
                0x1b => self.command(more, &mut out),
                b'\n' | b'\r' => {
                    self.line(&mut out);
                    more
                }
                b'\t' | 0x20..=0x7e | 0x80.. => {
                    self.open = true;
                    out.push(*first);
                    more
                }
                _ => more,
            };
        }
        out
    }

    /// Ends the open line.
    pub(crate) fn line(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.open) {
            out.push(b'\n');
        }
    }

    /// Skips a command; a move to another line ends this one.
    fn command<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
        let end = match bytes.first() {
            Some(b'[') => bytes.iter().skip(1).position(|byte| (0x40..=0x7e).contains(byte)).map(|at| at + 2),
            Some(b']') => bytes.windows(2).position(|pair| pair == b"\x1b\\").map(|at| at + 2),
            Some(0x20..=0x2f) => Some(2),
            _ => Some(1),
        };
        let end = end.unwrap_or(bytes.len()).min(bytes.len());
        if bytes.first() == Some(&b'[') && bytes.get(end - 1).is_some_and(|last| b"ABEFHfdJ".contains(last)) {
            self.line(out);
        }
        &bytes[end..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_is_left() {
        let mut plain = Plain::default();
        let mut out = plain.pass(b"\x1b[?1049h\x1b[H\x1b[2J\x1b[31mred\x1b[0m\r\n\r\n\x1b]8;;https://x\x1b\\li");
        out.extend(plain.pass("nk\x1b]8;;\x1b\\\x1b[3;1Hünï\x1b(B\x1b]0;t\x07 end\x1b7".as_bytes()));
        plain.line(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "red\nlink\nünï end\n");
    }
}
