//! Follows the escape sequences of a stream: whether one is unfinished, and the few that the emulator does not know.

use memchr::memchr;

/// Longer commands (titles, links, clipboard) are cut off: a program that never ends one must not fill our memory.
const LONGEST_COMMAND: usize = 64 << 10;

/// So much of an unfinished sequence is kept otherwise; nothing that we understand is longer.
const LONGEST_SEQUENCE: usize = 4096;

/// The last byte of the character that ends a string, and of others.
const STRING_END: u8 = 0x9C;

/// Nothing is repeated more often; it fills any screen.
const MOST_TIMES: usize = u16::MAX as usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ground,
    Escape,
    EscapeIntermediate,
    Csi,
    Osc,
    /// An overlong command whose rest is thrown away.
    OscRest,
    DcsHead,
    DcsData,
    /// SOS, PM or APC.
    Text,
}

/// Something that the emulator does not handle and we do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Special {
    /// `CSI ! p`
    SoftReset,
    /// `CSI > q`
    Version,
    /// A desktop notification: OSC 9, 99 or 777.
    Notification,
    /// `CSI b`, how often.
    Repeat(usize),
    /// `CSI e`, how many lines.
    Below(usize),
    /// `ESC D`
    Index,
    /// A command that was cancelled; the emulator would do it.
    Abandoned,
    /// A command became too long: what follows of it is not for the emulator.
    Overlong,
}

impl Special {
    /// Whether its last byte is not for the emulator, which would do something else.
    pub(crate) fn ours_alone(&self) -> bool {
        matches!(self, Special::Repeat(_) | Special::Below(_) | Special::Index | Special::Abandoned)
    }
}

/// The state of the stream at its end.
#[derive(Debug)]
pub(crate) struct Tokens {
    state: State,
    /// The unfinished sequence, as a fresh terminal must see it to be in the same state.
    held: Vec<u8>,
    /// The byte before, in a device control string.
    before: u8,
    /// Where in what was scanned last the emulator would take a part of a character for the end of such a string.
    inner: Vec<usize>,
}

impl Tokens {
    pub(crate) fn new() -> Tokens {
        Tokens { state: State::Ground, held: Vec::new(), before: 0, inner: Vec::new() }
    }

    /// What must follow a snapshot so that the next byte of the stream is understood.
    pub(crate) fn tail(&self) -> &[u8] {
        match self.state {
            State::OscRest => b"\x1b]9999;",
            _ => &self.held,
        }
    }

    /// Throws away the rest of an overlong command; returns how many bytes belonged to it.
    pub(crate) fn skip(&mut self, bytes: &[u8]) -> usize {
        if self.state != State::OscRest {
            return 0;
        }
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                0x07 | 0x18 | 0x1A => {
                    self.state = State::Ground;
                    return at + 1;
                }
                0x1B => {
                    self.state = State::Ground;
                    return at;
                }
                _ => (),
            }
        }
        bytes.len()
    }

    /// How much text comes before the next sequence.
    pub(crate) fn text(&self, bytes: &[u8]) -> usize {
        match self.state {
            State::Ground => memchr(0x1B, bytes).unwrap_or(bytes.len()),
            _ => 0,
        }
    }

    /// Follows the stream up to the end of a sequence, or to something special; returns how many bytes that was.
    pub(crate) fn scan(&mut self, bytes: &[u8]) -> (usize, Option<Special>) {
        let mut at = 0;
        self.inner.clear();
        while at < bytes.len() {
            if self.state == State::Ground {
                match memchr(0x1B, &bytes[at..]) {
                    None => return (bytes.len(), None),
                    Some(plain) => {
                        at += plain + 1;
                        self.escape();
                        continue;
                    }
                }
            }
            let special = self.step(bytes[at]);
            if bytes[at] == STRING_END && self.state == State::DcsData {
                self.inner.push(at);
            }
            at += 1;
            if special.is_some() || self.state == State::Ground {
                return (at, special);
            }
        }
        (at, None)
    }

    /// What was scanned last as the emulator must get it, if not as it is.
    pub(crate) fn without_inner_ends(&self, scanned: &[u8]) -> Option<Vec<u8>> {
        if self.inner.is_empty() {
            return None;
        }
        let mut bytes = scanned.to_vec();
        for at in &self.inner {
            if let Some(byte) = bytes.get_mut(*at) {
                *byte = b'?';
            }
        }
        Some(bytes)
    }

    fn escape(&mut self) {
        self.state = State::Escape;
        self.held.clear();
        self.held.push(0x1B);
    }

    fn ground(&mut self) {
        self.state = State::Ground;
        self.held.clear();
    }

    fn hold(&mut self, byte: u8) {
        if self.held.len() < LONGEST_SEQUENCE || self.state == State::Osc {
            self.held.push(byte);
        }
    }

    fn step(&mut self, byte: u8) -> Option<Special> {
        match byte {
            0x1B => {
                let special = self.end_of_command();
                self.escape();
                return special;
            }
            0x18 | 0x1A => {
                let abandoned = self.state == State::Osc;
                self.ground();
                return abandoned.then_some(Special::Abandoned);
            }
            _ => (),
        }
        match self.state {
            State::Escape => match byte {
                0x20..=0x2F => self.enter(State::EscapeIntermediate, byte),
                b'P' => self.enter(State::DcsHead, byte),
                b'X' | b'^' | b'_' => self.enter(State::Text, byte),
                b'[' => self.enter(State::Csi, byte),
                b']' => self.enter(State::Osc, byte),
                b'D' => {
                    self.ground();
                    return Some(Special::Index);
                }
                0x30..=0x7E => self.ground(),
                _ => (),
            },
            State::EscapeIntermediate => match byte {
                0x20..=0x2F => self.hold(byte),
                0x30..=0x7E => self.ground(),
                _ => (),
            },
            State::Csi => match byte {
                0x20..=0x3F => self.hold(byte),
                0x40..=0x7E => return self.end_of_csi(byte),
                // Control characters inside a sequence act at once: they are not part of what is unfinished.
                _ => (),
            },
            State::Osc => match byte {
                0x07 => {
                    let special = self.end_of_command();
                    self.ground();
                    return special;
                }
                0x00..=0x1F => (),
                _ => {
                    self.hold(byte);
                    if self.held.len() >= LONGEST_COMMAND {
                        self.state = State::OscRest;
                        self.held.clear();
                        return Some(Special::Overlong);
                    }
                }
            },
            State::DcsHead => {
                self.hold(byte);
                if (0x40..=0x7E).contains(&byte) {
                    self.state = State::DcsData;
                    self.before = byte;
                }
            }
            State::DcsData => {
                self.hold(byte);
                // As a character of its own only: `“` ends with the same byte.
                if std::mem::replace(&mut self.before, byte) == 0xC2 && byte == STRING_END {
                    self.ground();
                }
            }
            State::Text => self.hold(byte),
            State::Ground | State::OscRest => (),
        }
        None
    }

    fn enter(&mut self, state: State, byte: u8) {
        self.state = state;
        self.held.push(byte);
    }

    fn end_of_csi(&mut self, last: u8) -> Option<Special> {
        let special = match (&self.held[2..], last) {
            (b"!", b'p') => Some(Special::SoftReset),
            (b">" | b">0", b'q') => Some(Special::Version),
            (count, b'b') if count.iter().all(u8::is_ascii_digit) => Some(Special::Repeat(times(count))),
            (count, b'e') if count.iter().all(u8::is_ascii_digit) => Some(Special::Below(times(count))),
            _ => None,
        };
        self.ground();
        special
    }

    fn end_of_command(&mut self) -> Option<Special> {
        if self.state != State::Osc {
            return None;
        }
        let command = &self.held[2..];
        let progress = command.starts_with(b"9;4;");
        let notification = command.starts_with(b"9;") && !progress
            || command.starts_with(b"99;")
            || command.starts_with(b"777;notify;");
        notification.then_some(Special::Notification)
    }
}

/// A count as sequences have it: nothing and zero are one, and it has an end.
fn times(digits: &[u8]) -> usize {
    let count = digits.iter().fold(0, |count: usize, digit| (count * 10 + usize::from(digit - b'0')).min(MOST_TIMES));
    count.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(bytes: &[u8]) -> Vec<u8> {
        let mut tokens = Tokens::new();
        for piece in bytes.chunks(1) {
            let mut rest = piece;
            while !rest.is_empty() {
                let skipped = tokens.skip(rest);
                let (read, _) = tokens.scan(&rest[skipped..]);
                rest = &rest[skipped + read..];
            }
        }
        let mut whole = Tokens::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let skipped = whole.skip(rest);
            let (read, _) = whole.scan(&rest[skipped..]);
            rest = &rest[skipped + read..];
        }
        assert_eq!(tokens.tail(), whole.tail(), "in one piece and in single bytes");
        tokens.tail().to_vec()
    }

    #[test]
    fn a_device_control_string_ends_between_characters() {
        assert_eq!(tail("\u{1b}Pq“".as_bytes()), "\u{1b}Pq“".as_bytes());
        assert_eq!(tail("\u{1b}Pq“a”\u{9c}".as_bytes()), b"");
        assert_eq!(tail("\u{1b}Pq“\u{1b}\\".as_bytes()), b"");
    }

    #[test]
    fn the_unfinished_sequence_at_the_end_is_found() {
        assert_eq!(tail(b"abc"), b"");
        assert_eq!(tail(b"abc\x1b"), b"\x1b");
        assert_eq!(tail(b"abc\x1b[3"), b"\x1b[3");
        assert_eq!(tail(b"abc\x1b[3\n;4"), b"\x1b[3;4");
        assert_eq!(tail(b"abc\x1b[3m"), b"");
        assert_eq!(tail(b"\x1b]0;ti"), b"\x1b]0;ti");
        assert_eq!(tail(b"\x1b]0;ti\x07"), b"");
        assert_eq!(tail(b"\x1b]0;ti\x1b"), b"\x1b");
        assert_eq!(tail(b"\x1bPq#0"), b"\x1bPq#0");
        assert_eq!(tail(b"\x1bPq#0\x1b\\"), b"");
        assert_eq!(tail(b"\x1b(0"), b"");
        assert_eq!(tail(b"\x1b("), b"\x1b(");
    }

    #[test]
    fn an_endless_command_is_cut_off() {
        let mut endless = b"\x1b]52;c;".to_vec();
        endless.resize(200_000, b'A');
        assert_eq!(tail(&endless), b"\x1b]9999;");
        endless.extend_from_slice(b"\x07x");
        assert_eq!(tail(&endless), b"");
    }
}
