//! A text that grows up to the limit of an evaluation.

use std::{fmt, io};

use crate::recipes::limits;

/// A writer that fails at the limit.
#[derive(Debug, Default)]
pub(super) struct Bounded {
    /// What was written.
    pub text: String,
    /// Whether a write failed because of the limit.
    pub full: bool,
    /// The first bytes of a letter whose others come with the next write.
    part: Vec<u8>,
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len() + text.len() > limits::RENDERED {
            self.full = true;
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.part.extend_from_slice(bytes);
        let part = std::mem::take(&mut self.part);
        let valid = match std::str::from_utf8(&part) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() => {
                self.part = part[error.valid_up_to()..].to_vec();
                std::str::from_utf8(&part[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        };
        fmt::Write::write_str(self, valid).map_err(|_| io::Error::other("the limit is reached"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
