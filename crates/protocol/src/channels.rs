//! Binary frames of live channels: what a client sends on a channel of any kind.
//!
//! Every frame has the same head: kind (one byte), channel (four), offset (eight), big-endian. What a client sends is the
//! same for all kinds of channels; what they send to a client is their own ([`crate::terminal`]).

/// What a client sends on one of its channels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientFrame {
    /// What the person entered; the kind of channel says what it means.
    Input {
        /// The channel.
        channel: u32,
        /// The input.
        bytes: Vec<u8>,
    },
    /// Everything before `offset` was processed: more may be sent.
    Credit {
        /// The channel.
        channel: u32,
        /// How far.
        offset: u64,
    },
}

/// Bytes that are no frame of a channel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a frame of a channel: {0}")]
pub struct BadFrame(pub &'static str);

pub(crate) const INPUT: u8 = 4;
pub(crate) const CREDIT: u8 = 5;
const HEAD: usize = 13;

impl ClientFrame {
    /// Reads a frame.
    pub fn decode(frame: &[u8]) -> Result<Self, BadFrame> {
        let (kind, channel, offset, rest) = split(frame)?;
        match kind {
            INPUT => Ok(Self::Input { channel, bytes: rest.to_vec() }),
            CREDIT if rest.is_empty() => Ok(Self::Credit { channel, offset }),
            CREDIT => Err(BadFrame("a credit has no content")),
            _ => Err(BadFrame("a client sends input and credit only")),
        }
    }
}

/// A frame's kind, channel, offset and content.
pub(crate) fn split(frame: &[u8]) -> Result<(u8, u32, u64, &[u8]), BadFrame> {
    let (head, rest) = frame.split_at_checked(HEAD).ok_or(BadFrame("it is shorter than its head"))?;
    let channel = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
    let offset = u64::from_be_bytes([head[5], head[6], head[7], head[8], head[9], head[10], head[11], head[12]]);
    Ok((head[0], channel, offset, rest))
}

/// The head of a frame, with room for `more` bytes.
pub(crate) fn head(kind: u8, channel: u32, offset: u64, more: usize) -> Vec<u8> {
    let mut frame = Vec::with_capacity(HEAD + more);
    frame.push(kind);
    frame.extend(channel.to_be_bytes());
    frame.extend(offset.to_be_bytes());
    frame
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::TerminalFrame;

    #[test]
    fn a_client_sends_input_and_credit_only() {
        let input = TerminalFrame::Input { channel: 7, bytes: b"ls\r".to_vec() };
        let read = ClientFrame::decode(&input.encode());
        assert_eq!(read, Ok(ClientFrame::Input { channel: 7, bytes: b"ls\r".to_vec() }));
        let credit = TerminalFrame::Credit { channel: 7, offset: 1 << 40 };
        assert_eq!(ClientFrame::decode(&credit.encode()), Ok(ClientFrame::Credit { channel: 7, offset: 1 << 40 }));
        let data = TerminalFrame::Data { channel: 7, offset: 0, bytes: vec![1] };
        let more = [credit.encode(), vec![1]].concat();
        for bad in [data.encode(), more, Vec::new(), vec![INPUT; 12], vec![0; 13]] {
            assert!(ClientFrame::decode(&bad).is_err(), "{bad:?}");
        }
    }
}
