//! Removes from a stream what would make the terminal that shows it answer, ring, or touch the clipboard.

/// Longer strings are dropped; visible output does not need them.
const LONGEST: usize = 16 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Text,
    /// The first byte of U+0080 to U+00BF, of which the first half are what ESC and another character mean, too.
    Lead,
    Escape,
    Csi,
    /// OSC, DCS, SOS, PM or APC.
    String,
    /// The escape character that may end it.
    StringEscape,
}

/// A filter for output that is played or shown on another terminal: replays must not trigger answers.
#[derive(Debug, Default)]
pub struct Quiet {
    state: State,
    held: Vec<u8>,
}

impl Quiet {
    /// Processes output and appends what may be shown to `out`; an unfinished sequence waits for its end.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for byte in bytes {
            self.step(*byte, out);
        }
    }

    fn step(&mut self, byte: u8, out: &mut Vec<u8>) {
        match self.state {
            State::Text => match byte {
                0x1B => self.begin(),
                // ENQ asks for an answer.
                0x05 => (),
                0xC2 => self.state = State::Lead,
                _ => out.push(byte),
            },
            State::Lead => match byte {
                0x80..=0x9F => {
                    self.begin();
                    self.step(byte - 0x40, out);
                }
                _ => {
                    out.push(0xC2);
                    self.state = State::Text;
                    self.step(byte, out);
                }
            },
            State::Escape => match byte {
                0x1B => self.begin(),
                0x18 | 0x1A => self.drop_it(),
                0x05 | 0x7F => (),
                // A control character inside a command takes effect at once, and the command continues.
                0x00..=0x1F => out.push(byte),
                0x80.. => {
                    self.drop_it();
                    self.step(byte, out);
                }
                b'[' => self.hold(State::Csi, byte),
                b']' | b'P' | b'X' | b'^' | b'_' => self.hold(State::String, byte),
                0x20..=0x2F => self.hold(State::Escape, byte),
                // DECID.
                b'Z' if self.held.len() == 1 => self.drop_it(),
                _ => self.show(byte, out),
            },
            State::Csi => match byte {
                0x1B => self.begin(),
                0x40..=0x7E => match asks(&self.held[2..], byte) {
                    true => self.drop_it(),
                    false => self.show(byte, out),
                },
                0x18 | 0x1A => self.drop_it(),
                0x20..=0x3F if self.held.len() < LONGEST => self.held.push(byte),
                0x05 => (),
                0x00..=0x1F => out.push(byte),
                _ => (),
            },
            State::String => match byte {
                // U+009C ends a string, too.
                0x9C if self.held.ends_with(&[0xC2]) => {
                    self.held.pop();
                    self.end_of_string(b"\x1b\\", out);
                }
                0x07 if self.held[1] == b']' => self.end_of_string(&[0x07], out),
                0x18 | 0x1A => self.drop_it(),
                0x1B => self.state = State::StringEscape,
                _ if self.held.len() < LONGEST => self.held.push(byte),
                _ => (),
            },
            State::StringEscape => match byte {
                b'\\' => self.end_of_string(b"\x1b\\", out),
                _ => {
                    self.begin();
                    self.step(byte, out);
                }
            },
        }
    }

    fn begin(&mut self) {
        self.held.clear();
        self.hold(State::Escape, 0x1B);
    }

    fn hold(&mut self, state: State, byte: u8) {
        self.state = state;
        self.held.push(byte);
    }

    fn drop_it(&mut self) {
        self.state = State::Text;
        self.held.clear();
    }

    fn show(&mut self, byte: u8, out: &mut Vec<u8>) {
        out.append(&mut self.held);
        out.push(byte);
        self.state = State::Text;
    }

    fn end_of_string(&mut self, end: &[u8], out: &mut Vec<u8>) {
        if self.held.len() < LONGEST && harmless(&self.held[1..]) {
            out.append(&mut self.held);
            out.extend_from_slice(end);
        }
        self.drop_it();
    }
}

/// Whether a control sequence queries the terminal, or acts outside of its screen.
fn asks(parameters: &[u8], action: u8) -> bool {
    match action {
        b'c' | b'n' | b'x' | b't' | b'i' => true,
        b'p' => parameters.ends_with(b"$"),
        b'q' => parameters.starts_with(b">"),
        b'u' | b'm' => parameters.starts_with(b"?"),
        b'w' | b'y' | b'|' | b'z' | b'S' | b'R' => {
            parameters.iter().any(|byte| !byte.is_ascii_digit() && *byte != b';')
        }
        _ => false,
    }
}

/// Titles, links and colours are; questions, clipboard, notifications and everything unknown are not.
fn harmless(string: &[u8]) -> bool {
    let Some(command) = string.strip_prefix(b"]") else { return false };
    let number = command.split(|byte| *byte == b';').next().unwrap_or_default();
    let question = command.split(|byte| *byte == b';').any(|part| part == b"?");
    let controls = command.windows(2).any(|pair| matches!(pair, [0xC2, 0x80..=0x9F]));
    !question
        && !controls
        && matches!(
            number,
            b"0" | b"1" | b"2" | b"4" | b"8" | b"10" | b"11" | b"12" | b"104" | b"110" | b"111" | b"112"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet(text: &[u8]) -> String {
        let (mut whole, mut pieces) = (Vec::new(), Vec::new());
        Quiet::default().push(text, &mut whole);
        let mut filter = Quiet::default();
        text.iter().for_each(|byte| filter.push(&[*byte], &mut pieces));
        assert_eq!(whole, pieces);
        String::from_utf8(whole).unwrap()
    }

    #[test]
    fn queries_are_removed_and_the_rest_stays() {
        for asked in [
            "\x1b[c",
            "\x1b[>c",
            "\x1b[6n",
            "\x1b[?2026$p",
            "\x1b]11;?\x07",
            "\x1b]52;c;aGk=\x1b\\",
            "\x1bP$qm\x1b\\",
            "\x1b[21t",
            "\x1b[?u",
            "\x05",
            "\x1bZ",
            "\x1b[>q",
            "\x1b]9;hi\x07",
            "\x1b_Ga=q\x1b\\",
            "\u{9b}6n",
            "\u{9d}52;c;aGk=\u{9c}",
            "\x1b]0;x\u{9d}52;c;aGk=\x07",
            "\x1b\x7f]52;c;aGk=\x07",
            "\x1b\x05[6n",
        ] {
            assert_eq!(quiet(format!("a{asked}b").as_bytes()), "ab", "{asked:?}");
        }
        assert_eq!(quiet("a\x1b\n]52;c;aGk=\x07b".as_bytes()), "a\nb");
        assert_eq!(quiet("a\x1b\u{9d}52;c;aGk=\x07\u{9b}1mb".as_bytes()), "a\x1b[1mb");
        let shown = "\x1b[1;31mred\x1b[0m\x1b]2;title\x07\x1b]8;;https://example.org\x1b\\x\x1b]8;;\x1b\\\x1b[2J\x1b[?1049h\x1b(0ä§🦀\x1b7\x1b[2 q\x1b[4S";
        assert_eq!(quiet(shown.as_bytes()), shown);
    }
}
