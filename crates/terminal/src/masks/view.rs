//! What a terminal shows of bytes: their letters, without colours, moves and ends of lines.

/// More than this between two letters, and they do not belong together.
const GAP: usize = 64;
/// Stands where letters do not belong together; no secret has it.
const APART: u8 = 0;

const ESCAPE: u8 = 0x1b;

/// The letters of some bytes, and where each is.
pub(super) struct View {
    pub(super) bytes: Vec<u8>,
    /// Where stretches of letters begin: here, and in the bytes.
    runs: Vec<(usize, usize)>,
    /// How many bytes there are.
    length: usize,
}

impl View {
    pub(super) fn of(raw: &[u8]) -> Self {
        let mut view = Self { bytes: Vec::with_capacity(raw.len()), runs: Vec::new(), length: raw.len() };
        let (mut at, mut gap) = (0, 0);
        while at < raw.len() {
            let until = memchr::memchr3(ESCAPE, b'\r', b'\n', &raw[at..]).map_or(raw.len(), |found| at + found);
            if until > at {
                view.runs.push((view.bytes.len(), at));
                view.bytes.extend_from_slice(&raw[at..until]);
                gap = until;
            }
            if until == raw.len() {
                break;
            }
            at = until + hidden(&raw[until..]);
            if at - gap > GAP && view.bytes.last() != Some(&APART) {
                view.runs.push((view.bytes.len(), until));
                view.bytes.push(APART);
            }
        }
        view
    }

    /// Where a letter is in the bytes.
    pub(super) fn raw(&self, letter: usize) -> usize {
        let run = self.runs.partition_point(|(start, _)| *start <= letter);
        run.checked_sub(1).map_or(self.length, |run| self.runs[run].1 + (letter - self.runs[run].0))
    }

    /// How many letters come before a place in the bytes.
    pub(super) fn visible(&self, raw: usize) -> usize {
        let run = self.runs.partition_point(|(_, start)| *start < raw);
        let Some(run) = run.checked_sub(1) else { return 0 };
        let end = self.runs.get(run + 1).map_or(self.bytes.len(), |(start, _)| *start);
        (self.runs[run].0 + (raw - self.runs[run].1)).min(end)
    }

    /// Appends a stretch of the bytes with a `•` for each letter; what is between them stays.
    pub(super) fn hide(&self, raw: &[u8], start: usize, end: usize, out: &mut Vec<u8>) {
        let mut at = start;
        while at < end {
            let letters = self.visible(at + 1) > self.visible(at);
            if !letters {
                out.push(raw[at]);
            } else if (raw[at] & 0xC0) != 0x80 {
                out.extend_from_slice("•".as_bytes());
            }
            at += 1;
        }
    }
}

/// How many bytes at the beginning are no letters: an end of a line, or a sequence that colours or moves, as far as it is
/// there. Titles and links are text that somebody may read: only the escape that begins them is hidden.
fn hidden(bytes: &[u8]) -> usize {
    let up_to_last = |inner: std::ops::RangeInclusive<u8>| {
        let last = bytes.iter().skip(2).position(|byte| !inner.contains(byte));
        last.map_or(bytes.len(), |found| found + 3)
    };
    match bytes {
        [ESCAPE, b'[', ..] => up_to_last(0x20..=0x3f),
        [ESCAPE, 0x20..=0x2f, ..] => up_to_last(0x20..=0x2f),
        _ => 1,
    }
}
