//! The keys that detach from a session: a prefix, then `d`.

use std::fmt;
use std::str::FromStr;

/// The prefix: a key with Ctrl that agents do not use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Prefix(u8);

/// The default prefix.
pub(crate) const STANDARD: &str = "ctrl-\\";

impl FromStr for Prefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a key with Ctrl, such as ctrl-\\, ctrl-] or ctrl-a");
        let lower = text.trim().to_ascii_lowercase();
        let key = lower.strip_prefix("ctrl-").or_else(|| lower.strip_prefix('^')).ok_or_else(wrong)?;
        match key.as_bytes() {
            // Ctrl-C, Ctrl-D, Ctrl-M and similar keys have other meanings.
            [b'c' | b'd' | b'h' | b'i' | b'j' | b'm' | b'z' | b'['] => {
                Err(format!("`{text}` has another meaning: choose another key"))
            }
            [key @ (b'a'..=b'z' | b'\\' | b']' | b'^' | b'_')] => Ok(Self(key & 0x1f)),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ctrl-{}", char::from(self.letter()).to_ascii_uppercase())
    }
}

impl Prefix {
    fn letter(self) -> u8 {
        if self.0 <= 26 { self.0 | 0x60 } else { self.0 | 0x40 }
    }

    /// The encodings of the key in terminals: a byte, or one of two longer reports.
    fn spellings(self) -> [Vec<u8>; 4] {
        let letter = self.letter();
        [
            vec![self.0],
            format!("\x1b[{letter};5u").into_bytes(),
            format!("\x1b[{letter};5:1u").into_bytes(),
            format!("\x1b[27;5;{letter}~").into_bytes(),
        ]
    }
}

/// Finds the prefix in typed bytes.
#[derive(Debug)]
pub(crate) struct Keys {
    prefix: Prefix,
    /// The prefix was typed, in this encoding; the next key decides.
    pending: Option<Vec<u8>>,
}

/// The result of typed bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Typed {
    /// Bytes for the session.
    pub(crate) bytes: Vec<u8>,
    /// Whether to detach after that.
    pub(crate) leave: bool,
}

impl Keys {
    pub(crate) fn new(prefix: Prefix) -> Self {
        Self { prefix, pending: None }
    }

    /// Reads typed bytes; the prefix twice sends it once.
    pub(crate) fn read(&mut self, typed: &[u8]) -> Typed {
        let (mut bytes, mut rest) = (Vec::with_capacity(typed.len()), typed);
        while !rest.is_empty() {
            let prefix = self.prefix.spellings().into_iter().find(|spelling| rest.starts_with(spelling));
            match (self.pending.take(), prefix) {
                (None, Some(spelling)) => {
                    rest = &rest[spelling.len()..];
                    self.pending = Some(spelling);
                }
                (Some(_), Some(spelling)) => {
                    rest = &rest[spelling.len()..];
                    bytes.extend(spelling);
                }
                (Some(_), None) if is_d(rest) => return Typed { bytes, leave: true },
                (pending, None) => {
                    bytes.extend(pending.into_iter().flatten());
                    bytes.push(rest[0]);
                    rest = &rest[1..];
                }
            }
        }
        Typed { bytes, leave: false }
    }
}

/// Whether a key is `d`, with or without Ctrl, in any encoding.
fn is_d(typed: &[u8]) -> bool {
    let spellings: [&[u8]; 7] = [b"d", b"D", b"\x04", b"\x1b[100u", b"\x1b[100;1u", b"\x1b[100;5u", b"\x1b[27;5;100~"];
    spellings.iter().any(|spelling| typed.starts_with(spelling))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &[&str], expected: &str, leave: bool) {
        let (mut keys, mut sent, mut left) = (Keys::new(STANDARD.parse().unwrap()), Vec::new(), false);
        for piece in typed {
            let read = keys.read(piece.as_bytes());
            sent.extend(read.bytes);
            left |= read.leave;
        }
        assert_eq!((String::from_utf8(sent).unwrap().as_str(), left), (expected, leave), "{typed:?}");
    }

    #[test]
    fn the_prefix_and_d_leave() {
        check(&["ls\r"], "ls\r", false);
        check(&["a\x1cd"], "a", true);
        check(&["a\x1c", "d"], "a", true);
        check(&["a\x1c", "\x04"], "a", true);
        check(&["\x1b[92;5u", "d"], "", true);
        check(&["\x1b[27;5;92~", "\x1b[100u"], "", true);
    }

    #[test]
    fn every_key_can_still_be_sent() {
        check(&["\x1c\x1c"], "\x1c", false);
        check(&["\x1c", "x"], "\x1cx", false);
        check(&["\x1c\x1c", "d"], "\x1cd", false);
        check(&["\x1c\x1b[A"], "\x1c\x1b[A", false);
    }

    #[test]
    fn a_prefix_is_a_key_with_ctrl() {
        let shown = |text: &str| text.parse::<Prefix>().map(|prefix| prefix.to_string());
        assert_eq!(shown("ctrl-\\").as_deref(), Ok("Ctrl-\\"));
        assert_eq!(shown("Ctrl-]").as_deref(), Ok("Ctrl-]"));
        assert_eq!(shown("^a").as_deref(), Ok("Ctrl-A"));
        for bad in ["", "d", "ctrl-c", "ctrl-", "ctrl-dd", "alt-x", "ctrl-["] {
            assert!(shown(bad).is_err(), "{bad}");
        }
    }
}
