//! The frames between a session host and its connections: a length, a kind, and the rest.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::limit::Limit;
use crate::screen::Snapshot;

/// Longer frames are refused; the longest that we send is a snapshot.
const LONGEST: usize = 16 << 20;

/// A request to a session host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Start the stream: at this position if it is available, otherwise with a snapshot.
    Watch {
        /// The next byte that is wanted.
        from: Option<u64>,
    },
    /// Stop the stream.
    Unwatch,
    /// Everything before this position has been consumed.
    Credit {
        /// The next byte that is wanted.
        offset: u64,
    },
    /// Send a snapshot now, as part of the stream.
    Snapshot,
    /// Type this.
    Input {
        /// What is typed.
        bytes: Vec<u8>,
    },
    /// Change the size of the screen.
    Resize {
        /// The new width.
        cols: u16,
        /// The new height.
        rows: u16,
        /// Only if it was never changed before.
        if_fresh: bool,
    },
    /// Put a marker into the recording.
    Mark {
        /// What kind of marker, one word.
        kind: String,
        /// What it says.
        text: String,
    },
    /// Send observations: at rest, and at most this often otherwise.
    Observe {
        /// Milliseconds between two observations while there is output.
        every_ms: u32,
    },
    /// End the session with all its processes.
    Stop {
        /// Milliseconds before they are killed; `None`: as the specification says.
        grace_ms: Option<u64>,
    },
    /// End the session at a time, unless another one is set before; `None`: never.
    Until {
        /// When, and how.
        limit: Option<Limit>,
    },
    /// Never drop anything of this recording.
    Keep,
    /// Mask this value from now on.
    Mask {
        /// The secret.
        value: String,
    },
}

/// An event of a session host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The current screen; the stream continues after it.
    Snapshot(Snapshot),
    /// Output.
    Data {
        /// The position of its first byte.
        offset: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The session has ended; nothing follows.
    Exit {
        /// How many bytes of output there were.
        offset: u64,
        /// Exit code of the child, unless a signal ended it.
        code: Option<i32>,
        /// The signal that ended the child.
        signal: Option<i32>,
    },
    /// An observation.
    Observed(Observed),
}

/// What is visible of a session, without its output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observed {
    /// How many bytes of output there were.
    pub offset: u64,
    /// The visible lines.
    pub text: String,
    /// The title that the program has set.
    pub title: String,
    /// How often the bell rang.
    pub bell: u64,
    /// How many desktop notifications the program has sent.
    pub notifications: u64,
    /// Whether the cursor is shown.
    pub cursor_visible: bool,
    /// Milliseconds since the last output.
    pub quiet_ms: u64,
}

struct Frame(Vec<u8>);

impl Frame {
    fn new(kind: u8) -> Frame {
        Frame(vec![0, 0, 0, 0, kind])
    }

    fn number(mut self, number: u64) -> Frame {
        self.0.extend_from_slice(&number.to_be_bytes());
        self
    }

    fn short(mut self, number: u16) -> Frame {
        self.0.extend_from_slice(&number.to_be_bytes());
        self
    }

    fn maybe(self, number: Option<i64>) -> Frame {
        self.number(number.unwrap_or(i64::MIN) as u64)
    }

    fn text(mut self, text: &str) -> Frame {
        self.0.extend_from_slice(&(text.len() as u32).to_be_bytes());
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    fn rest(mut self, bytes: &[u8]) -> Vec<u8> {
        self.0.extend_from_slice(bytes);
        self.done()
    }

    fn done(mut self) -> Vec<u8> {
        let length = (self.0.len() - 4) as u32;
        self.0[..4].copy_from_slice(&length.to_be_bytes());
        self.0
    }
}

struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> io::Result<&'a [u8]> {
        let (field, rest) = self.0.split_at_checked(count).ok_or_else(|| invalid("a frame is too short"))?;
        self.0 = rest;
        Ok(field)
    }

    fn number(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.take(8)?);
        Ok(u64::from_be_bytes(bytes))
    }

    fn short(&mut self) -> io::Result<u16> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    fn maybe(&mut self) -> io::Result<Option<i64>> {
        Ok(Some(self.number()? as i64).filter(|number| *number != i64::MIN))
    }

    fn text(&mut self) -> io::Result<String> {
        let length = self.take(4)?;
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize;
        String::from_utf8(self.take(length)?.to_vec()).map_err(|_| invalid("text in a frame is not UTF-8"))
    }

    fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0).to_vec()
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Reads the next frame without its length; `None` at the end of the stream.
pub(crate) async fn read_frame(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let length = match stream.read_u32().await {
        Ok(length) => length as usize,
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    };
    if length == 0 || length > LONGEST {
        return Err(invalid("a frame has an impossible length"));
    }
    let mut frame = vec![0; length];
    stream.read_exact(&mut frame).await?;
    Ok(Some(frame))
}

impl Request {
    /// The frame of this request.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Request::Watch { from } => Frame::new(1).maybe(from.map(|from| from as i64)).done(),
            Request::Unwatch => Frame::new(2).done(),
            Request::Credit { offset } => Frame::new(3).number(*offset).done(),
            Request::Snapshot => Frame::new(4).done(),
            Request::Input { bytes } => Frame::new(5).rest(bytes),
            Request::Resize { cols, rows, if_fresh } => {
                Frame::new(if *if_fresh { 13 } else { 6 }).short(*cols).short(*rows).done()
            }
            Request::Mark { kind, text } => Frame::new(7).text(kind).rest(text.as_bytes()),
            Request::Observe { every_ms } => Frame::new(8).number((*every_ms).into()).done(),
            Request::Stop { grace_ms } => Frame::new(9).maybe(grace_ms.map(|grace| grace as i64)).done(),
            Request::Keep => Frame::new(10).done(),
            Request::Mask { value } => Frame::new(11).text(value).done(),
            Request::Until { limit } => match limit {
                Some(limit) => Frame::new(12).number(limit.at_ms).number(limit.grace_ms).done(),
                None => Frame::new(12).done(),
            },
        }
    }

    /// Reads a frame without its length.
    pub fn decode(frame: &[u8]) -> io::Result<Request> {
        let (kind, fields) = frame.split_first().ok_or_else(|| invalid("an empty frame"))?;
        let mut fields = Fields(fields);
        let request = match kind {
            1 => Request::Watch { from: fields.maybe()?.map(|from| from as u64) },
            2 => Request::Unwatch,
            3 => Request::Credit { offset: fields.number()? },
            4 => Request::Snapshot,
            5 => Request::Input { bytes: fields.rest() },
            6 => Request::Resize { cols: fields.short()?, rows: fields.short()?, if_fresh: false },
            13 => Request::Resize { cols: fields.short()?, rows: fields.short()?, if_fresh: true },
            7 => {
                let kind = fields.text()?;
                let text = String::from_utf8(fields.rest()).map_err(|_| invalid("a marker is not UTF-8"))?;
                Request::Mark { kind, text }
            }
            8 => Request::Observe { every_ms: u32::try_from(fields.number()?).unwrap_or(u32::MAX) },
            9 => Request::Stop { grace_ms: fields.maybe()?.map(|grace| grace as u64) },
            10 => Request::Keep,
            11 => Request::Mask { value: fields.text()? },
            12 if fields.0.is_empty() => Request::Until { limit: None },
            12 => Request::Until { limit: Some(Limit { at_ms: fields.number()?, grace_ms: fields.number()? }) },
            _ => return Err(invalid("a frame of an unknown kind")),
        };
        Ok(request)
    }
}

impl Event {
    /// The frame of this event.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Event::Snapshot(snapshot) => Frame::new(1)
                .number(snapshot.offset)
                .short(snapshot.cols)
                .short(snapshot.rows)
                .text(&snapshot.title)
                .rest(&snapshot.bytes),
            Event::Data { offset, bytes } => Frame::new(2).number(*offset).rest(bytes),
            Event::Exit { offset, code, signal } => {
                Frame::new(3).number(*offset).maybe(code.map(i64::from)).maybe(signal.map(i64::from)).done()
            }
            Event::Observed(seen) => Frame::new(4)
                .number(seen.offset)
                .number(seen.bell)
                .number(seen.notifications)
                .number(seen.quiet_ms)
                .short(seen.cursor_visible.into())
                .text(&seen.title)
                .rest(seen.text.as_bytes()),
        }
    }

    /// Reads a frame without its length.
    pub fn decode(frame: &[u8]) -> io::Result<Event> {
        let (kind, fields) = frame.split_first().ok_or_else(|| invalid("an empty frame"))?;
        let mut fields = Fields(fields);
        let event = match kind {
            1 => Event::Snapshot(Snapshot {
                offset: fields.number()?,
                cols: fields.short()?,
                rows: fields.short()?,
                title: fields.text()?,
                bytes: fields.rest(),
            }),
            2 => Event::Data { offset: fields.number()?, bytes: fields.rest() },
            3 => Event::Exit {
                offset: fields.number()?,
                code: fields.maybe()?.map(|code| code as i32),
                signal: fields.maybe()?.map(|signal| signal as i32),
            },
            4 => Event::Observed(Observed {
                offset: fields.number()?,
                bell: fields.number()?,
                notifications: fields.number()?,
                quiet_ms: fields.number()?,
                cursor_visible: fields.short()? != 0,
                title: fields.text()?,
                text: String::from_utf8(fields.rest()).map_err(|_| invalid("a screen is not UTF-8"))?,
            }),
            _ => return Err(invalid("a frame of an unknown kind")),
        };
        Ok(event)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn requests() -> impl Strategy<Value = Request> {
        prop_oneof![
            proptest::option::of(0..u64::MAX / 2).prop_map(|from| Request::Watch { from }),
            Just(Request::Unwatch),
            any::<u64>().prop_map(|offset| Request::Credit { offset }),
            Just(Request::Snapshot),
            any::<Vec<u8>>().prop_map(|bytes| Request::Input { bytes }),
            any::<(u16, u16, bool)>().prop_map(|(cols, rows, if_fresh)| Request::Resize { cols, rows, if_fresh }),
            any::<(String, String)>().prop_map(|(kind, text)| Request::Mark { kind, text }),
            any::<u32>().prop_map(|every_ms| Request::Observe { every_ms }),
            proptest::option::of(0..u64::MAX / 2).prop_map(|grace_ms| Request::Stop { grace_ms }),
            Just(Request::Keep),
            any::<String>().prop_map(|value| Request::Mask { value }),
            any::<Option<(u64, u64)>>()
                .prop_map(|limit| Request::Until { limit: limit.map(|(at_ms, grace_ms)| Limit { at_ms, grace_ms }) }),
        ]
    }

    fn events() -> impl Strategy<Value = Event> {
        prop_oneof![
            any::<(u64, u16, u16, String, Vec<u8>)>().prop_map(|(offset, cols, rows, title, bytes)| {
                Event::Snapshot(Snapshot { offset, cols, rows, title, bytes })
            }),
            any::<(u64, Vec<u8>)>().prop_map(|(offset, bytes)| Event::Data { offset, bytes }),
            any::<(u64, Option<i32>, Option<i32>)>().prop_map(|(offset, code, signal)| Event::Exit {
                offset,
                code,
                signal
            }),
            any::<(u64, u64, u64, u64, bool, String, String)>().prop_map(
                |(offset, bell, notifications, quiet_ms, cursor_visible, title, text)| Event::Observed(Observed {
                    offset,
                    bell,
                    notifications,
                    quiet_ms,
                    cursor_visible,
                    title,
                    text
                })
            ),
        ]
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded(request in requests(), event in events()) {
            prop_assert_eq!(Request::decode(&request.encode()[4..]).unwrap(), request);
            prop_assert_eq!(Event::decode(&event.encode()[4..]).unwrap(), event);
        }

        #[test]
        fn damaged_frames_are_refused_without_a_panic(rubbish in any::<Vec<u8>>()) {
            let _ = Request::decode(&rubbish);
            let _ = Event::decode(&rubbish);
        }

        #[test]
        fn cut_frames_are_refused_or_shorter(request in requests(), cut in any::<prop::sample::Index>()) {
            let frame = request.encode();
            let frame = &frame[4..];
            let _ = Request::decode(&frame[..cut.index(frame.len())]);
        }
    }
}
