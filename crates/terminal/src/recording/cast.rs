//! Lines of asciicast v3. Bytes that are not UTF-8 are written as `\udc80` to `\udcff`, so that none is lost.

use std::io::{self, Write};

use serde::Deserialize;
use serde::de::{Deserializer, Visitor};

use super::Happening;

/// Appends the line of something that happened so long after what happened before.
pub(crate) fn write_line(out: &mut Vec<u8>, interval_us: u64, happening: &Happening) {
    match happening {
        Happening::Output(bytes) => write_output(out, interval_us, bytes),
        Happening::Input(bytes) => line(out, interval_us, 'i', |out| escape(out, bytes)),
        Happening::Resize(cols, rows) => line(out, interval_us, 'r', |out| drop(write!(out, "{cols}x{rows}"))),
        Happening::Marker(label) => line(out, interval_us, 'm', |out| escape(out, label.as_bytes())),
        Happening::Exit(code) => line(out, interval_us, 'x', |out| drop(write!(out, "{code}"))),
    }
}

/// The same for output, which there is most of.
pub(crate) fn write_output(out: &mut Vec<u8>, interval_us: u64, bytes: &[u8]) {
    line(out, interval_us, 'o', |out| escape(out, bytes));
}

fn line(out: &mut Vec<u8>, interval_us: u64, code: char, data: impl FnOnce(&mut Vec<u8>)) {
    let seconds = interval_us / 1_000_000;
    let micros = interval_us % 1_000_000;
    // Writing to a vector does not fail.
    let _ = write!(out, "[{seconds}.{micros:06}, \"{code}\", \"");
    data(out);
    out.extend_from_slice(b"\"]\n");
}

fn escape(out: &mut Vec<u8>, bytes: &[u8]) {
    out.reserve(bytes.len() + bytes.len() / 4);
    if std::str::from_utf8(bytes).is_ok() {
        return escape_text(out, bytes);
    }
    for chunk in bytes.utf8_chunks() {
        escape_text(out, chunk.valid().as_bytes());
        for byte in chunk.invalid() {
            let _ = write!(out, "\\udc{byte:02x}");
        }
    }
}

/// Looks at eight bytes at a time, because most need not be escaped.
fn escape_text(out: &mut Vec<u8>, text: &[u8]) {
    let mut plain = 0;
    let (blocks, rest) = text.as_chunks::<8>();
    for (number, block) in blocks.iter().enumerate() {
        let mut found = special(u64::from_le_bytes(*block));
        while found != 0 {
            let at = number * 8 + found.trailing_zeros() as usize / 8;
            found &= found - 1;
            out.extend_from_slice(&text[plain..at]);
            escape_byte(out, text[at]);
            plain = at + 1;
        }
    }
    for at in text.len() - rest.len()..text.len() {
        if text[at] < 0x20 || matches!(text[at], b'"' | b'\\') {
            out.extend_from_slice(&text[plain..at]);
            escape_byte(out, text[at]);
            plain = at + 1;
        }
    }
    out.extend_from_slice(&text[plain..]);
}

/// Has the highest bit of each byte that must be escaped. No byte's sum reaches into the next.
fn special(bytes: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let low = bytes & (0x7F * EACH);
    let visible = (low + 0x60 * EACH) | bytes;
    let is_not = |byte: u64| {
        let other = bytes ^ (byte * EACH);
        ((other & (0x7F * EACH)) + 0x7F * EACH) | other
    };
    !(visible & is_not(0x22) & is_not(0x5C)) & (0x80 * EACH)
}

fn escape_byte(out: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    match byte {
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        _ => {
            let (high, low) = (DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 0xF)]);
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        }
    }
}

struct Raw(Vec<u8>);

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Raw, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Raw;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Raw, E> {
                Ok(Raw(unescape(bytes)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
                Ok(Raw(text.as_bytes().to_vec()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

/// Turns the lone surrogates that stand for bytes back into them.
fn unescape(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(0xED, rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        match rest {
            [0xED, second @ 0xB2..=0xB3, third, ..] => {
                out.push(((second & 0x03) << 6) | (third & 0x3F));
                rest = &rest[3..];
            }
            _ => {
                out.push(0xED);
                rest = &rest[1..];
            }
        }
    }
    out.extend_from_slice(rest);
    out
}

/// Reads a line: how long after the line before, and what happened; `None` for what we do not know.
pub(crate) fn read_line(line: &[u8]) -> io::Result<(u64, Option<Happening>)> {
    let (interval, code, Raw(data)): (f64, String, Raw) = serde_json::from_slice(line)?;
    if !(0.0..1e12).contains(&interval) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "an impossible time in a recording"));
    }
    let text = || String::from_utf8_lossy(&data).into_owned();
    let happening = match code.as_str() {
        "o" => Some(Happening::Output(data)),
        "i" => Some(Happening::Input(data)),
        "m" => Some(Happening::Marker(text())),
        "r" => text()
            .split_once('x')
            .and_then(|(cols, rows)| Some(Happening::Resize(cols.parse().ok()?, rows.parse().ok()?))),
        "x" => text().parse().ok().map(Happening::Exit),
        _ => None,
    };
    Ok(((interval * 1e6).round() as u64, happening))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_asciicast_line_returns_all_bytes(bytes in any::<Vec<u8>>(), text in any::<String>(), interval in 0..1u64 << 45) {
            let mixed = [text.as_bytes(), &bytes, text.as_bytes(), b"\xed\xb2\x80\xff\"\\\x1b\n"].concat();
            let mut line = Vec::new();
            write_line(&mut line, interval, &Happening::Output(mixed.clone()));
            prop_assert!(std::str::from_utf8(&line).is_ok());
            prop_assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
            prop_assert_eq!(read_line(&line).unwrap(), (interval, Some(Happening::Output(mixed))));
        }

        #[test]
        fn damaged_lines_are_refused_without_a_panic(rubbish in any::<Vec<u8>>()) {
            let _ = read_line(&rubbish);
        }
    }

    #[test]
    fn recordings_are_written_as_asciicast_lines() {
        let mut lines = Vec::new();
        write_line(&mut lines, 1_500_000, &Happening::Output(b"a\x1b[1m\"".to_vec()));
        write_line(&mut lines, 0, &Happening::Resize(80, 24));
        write_line(&mut lines, 20, &Happening::Marker("state: waiting".into()));
        write_line(&mut lines, 1, &Happening::Exit(3));
        assert_eq!(
            String::from_utf8(lines).unwrap(),
            "[1.500000, \"o\", \"a\\u001b[1m\\\"\"]\n[0.000000, \"r\", \"80x24\"]\n\
             [0.000020, \"m\", \"state: waiting\"]\n[0.000001, \"x\", \"3\"]\n"
        );
    }
}
