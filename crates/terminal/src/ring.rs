//! The last output of a session, by position.

use std::collections::VecDeque;

/// Keeps the last bytes of a stream.
pub(crate) struct Ring {
    bytes: VecDeque<u8>,
    capacity: usize,
    end: u64,
}

impl Ring {
    pub(crate) fn new(capacity: usize) -> Ring {
        Ring { bytes: VecDeque::with_capacity(capacity), capacity, end: 0 }
    }

    /// The position of the oldest available byte.
    pub(crate) fn start(&self) -> u64 {
        self.end - self.bytes.len() as u64
    }

    /// The position of the next byte.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.end += bytes.len() as u64;
        let kept = &bytes[bytes.len().saturating_sub(self.capacity)..];
        let excess = (self.bytes.len() + kept.len()).saturating_sub(self.capacity);
        self.bytes.drain(..excess);
        self.bytes.extend(kept);
    }

    /// Up to `most` bytes from a position that is in the ring.
    pub(crate) fn read(&self, from: u64, most: usize) -> Vec<u8> {
        let skip = (from - self.start()) as usize;
        let take = most.min(self.bytes.len() - skip);
        let (first, second) = self.bytes.as_slices();
        let mut out = Vec::with_capacity(take);
        if skip < first.len() {
            out.extend_from_slice(&first[skip..(skip + take).min(first.len())]);
        }
        if out.len() < take {
            let skip = skip.saturating_sub(first.len());
            out.extend_from_slice(&second[skip..skip + take - out.len()]);
        }
        out
    }
}

/// How many bytes there are before an unfinished UTF-8 character at the end.
pub(crate) fn whole_characters(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(3);
    let end = &bytes[from..];
    match end.iter().rposition(|byte| *byte >= 0xC0) {
        Some(start) => match std::str::from_utf8(&end[start..]) {
            Err(error) if error.error_len().is_none() => from + start,
            _ => bytes.len(),
        },
        None => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_stay_while_old_bytes_go() {
        let mut ring = Ring::new(8);
        ring.push(b"abcde");
        assert_eq!((ring.start(), ring.end()), (0, 5));
        assert_eq!(ring.read(1, 100), b"bcde");
        ring.push(b"fghij");
        assert_eq!((ring.start(), ring.end()), (2, 10));
        for from in 2..10 {
            for most in 0..9 {
                let whole = &b"abcdefghij"[from..];
                assert_eq!(ring.read(from as u64, most), &whole[..most.min(whole.len())]);
            }
        }
        ring.push(&[b'x'; 100]);
        assert_eq!((ring.start(), ring.end()), (102, 110));
    }

    #[test]
    fn characters_are_not_cut() {
        assert_eq!(whole_characters("aä".as_bytes()), 3);
        assert_eq!(whole_characters(&"aä".as_bytes()[..2]), 1);
        assert_eq!(whole_characters(&"a🦀".as_bytes()[..4]), 1);
        assert_eq!(whole_characters(b"a\xff\xff"), 3);
        assert_eq!(whole_characters(b""), 0);
    }
}
