//! Binary frames: a terminal's bytes between runner, hub and watcher.
//!
//! The head is that of every channel ([`crate::channels`]). An offset counts the bytes that the terminal has shown since it
//! began, so that a returning watcher can name its position.

use crate::channels::{BadFrame, CREDIT, INPUT, head, split};

/// A terminal's screen, its output, or what a watcher says about them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalFrame {
    /// The screen as of `offset`: reset the emulator to this size, then write the bytes. Comes first, after a resize, and
    /// instead of a backlog.
    Snapshot {
        /// The channel.
        channel: u32,
        /// Everything before it is on the screen.
        offset: u64,
        /// The terminal's width.
        cols: u16,
        /// The terminal's height.
        rows: u16,
        /// The terminal's title.
        title: String,
        /// What makes a fresh emulator show the screen.
        bytes: Vec<u8>,
    },
    /// Output, from `offset` on.
    Data {
        /// The channel.
        channel: u32,
        /// The first byte's position.
        offset: u64,
        /// The output.
        bytes: Vec<u8>,
    },
    /// The process ended after `offset`; nothing follows.
    Exit {
        /// The channel.
        channel: u32,
        /// How many bytes there are in all.
        offset: u64,
        /// The exit code.
        code: Option<i32>,
        /// The signal that killed it.
        signal: Option<i32>,
    },
    /// What the owner typed. Watcher → hub → runner.
    Input {
        /// The channel.
        channel: u32,
        /// The keys.
        bytes: Vec<u8>,
    },
    /// Everything before `offset` was processed: more may be sent. Watcher → hub, hub → runner.
    Credit {
        /// The channel.
        channel: u32,
        /// How far.
        offset: u64,
    },
}

const SNAPSHOT: u8 = 1;
const DATA: u8 = 2;
const EXIT: u8 = 3;

/// How far a watcher may be ahead of its credit.
pub const WATCH_WINDOW: u64 = 256 * 1024;

impl TerminalFrame {
    /// The frame as bytes.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Snapshot { channel, offset, cols, rows, title, bytes } => {
                let title = cut(title);
                let mut frame = head(SNAPSHOT, *channel, *offset, 6 + title.len() + bytes.len());
                frame.extend(cols.to_be_bytes());
                frame.extend(rows.to_be_bytes());
                frame.extend(u16::try_from(title.len()).unwrap_or(0).to_be_bytes());
                frame.extend(title.as_bytes());
                frame.extend(bytes);
                frame
            }
            Self::Data { channel, offset, bytes } => data(*channel, *offset, bytes),
            Self::Exit { channel, offset, code, signal } => {
                let mut frame = head(EXIT, *channel, *offset, 10);
                for part in [code, signal] {
                    frame.push(u8::from(part.is_some()));
                    frame.extend(part.unwrap_or(0).to_be_bytes());
                }
                frame
            }
            Self::Input { channel, bytes } => {
                let mut frame = head(INPUT, *channel, 0, bytes.len());
                frame.extend(bytes);
                frame
            }
            Self::Credit { channel, offset } => head(CREDIT, *channel, *offset, 0),
        }
    }

    /// Reads a frame.
    pub fn decode(frame: &[u8]) -> Result<Self, BadFrame> {
        let (kind, channel, offset, rest) = split(frame)?;
        match kind {
            SNAPSHOT => {
                let (sizes, rest) = rest.split_at_checked(6).ok_or(BadFrame("a snapshot has no size"))?;
                let half = |at: usize| u16::from_be_bytes([sizes[at], sizes[at + 1]]);
                let (title, bytes) =
                    rest.split_at_checked(half(4).into()).ok_or(BadFrame("a snapshot's title is cut off"))?;
                let title = std::str::from_utf8(title).map_err(|_| BadFrame("a title is not UTF-8"))?;
                let (cols, rows, title) = (half(0), half(2), title.to_owned());
                Ok(Self::Snapshot { channel, offset, cols, rows, title, bytes: bytes.to_vec() })
            }
            DATA => Ok(Self::Data { channel, offset, bytes: rest.to_vec() }),
            EXIT => {
                let rest: &[u8; 10] = rest.try_into().map_err(|_| BadFrame("an exit has another length"))?;
                let part = |at: usize| {
                    let value = i32::from_be_bytes([rest[at + 1], rest[at + 2], rest[at + 3], rest[at + 4]]);
                    (rest[at] != 0).then_some(value)
                };
                Ok(Self::Exit { channel, offset, code: part(0), signal: part(5) })
            }
            INPUT => Ok(Self::Input { channel, bytes: rest.to_vec() }),
            CREDIT if rest.is_empty() => Ok(Self::Credit { channel, offset }),
            CREDIT => Err(BadFrame("a credit has no content")),
            _ => Err(BadFrame("its kind is unknown")),
        }
    }
}

/// An output frame, without a copy of the bytes in between.
pub fn data(channel: u32, offset: u64, bytes: &[u8]) -> Vec<u8> {
    let mut frame = head(DATA, channel, offset, bytes.len());
    frame.extend(bytes);
    frame
}

/// As much of a title as anybody reads.
fn cut(title: &str) -> &str {
    let end = title.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= 1024).last();
    &title[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frames() -> impl Strategy<Value = TerminalFrame> {
        let bytes = || proptest::collection::vec(any::<u8>(), 0..200);
        prop_oneof![
            (any::<u32>(), any::<u64>(), any::<u16>(), any::<u16>(), ".{0,40}", bytes()).prop_map(
                |(channel, offset, cols, rows, title, bytes)| {
                    TerminalFrame::Snapshot { channel, offset, cols, rows, title, bytes }
                }
            ),
            (any::<u32>(), any::<u64>(), bytes()).prop_map(|(channel, offset, bytes)| TerminalFrame::Data {
                channel,
                offset,
                bytes
            }),
            (any::<u32>(), any::<u64>(), any::<Option<i32>>(), any::<Option<i32>>())
                .prop_map(|(channel, offset, code, signal)| TerminalFrame::Exit { channel, offset, code, signal }),
            (any::<u32>(), bytes()).prop_map(|(channel, bytes)| TerminalFrame::Input { channel, bytes }),
            (any::<u32>(), any::<u64>()).prop_map(|(channel, offset)| TerminalFrame::Credit { channel, offset }),
        ]
    }

    proptest! {
        #[test]
        fn a_frame_survives_its_bytes(frame in frames()) {
            prop_assert_eq!(TerminalFrame::decode(&frame.encode()), Ok(frame));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(frame) = TerminalFrame::decode(&bytes) {
                prop_assert_eq!(TerminalFrame::decode(&frame.encode()), Ok(frame));
            }
        }
    }
}
