//! How much of a terminal's stream was forwarded: decides which part of a frame is new.

/// The position in a stream of bytes; `None` before the first screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Position(Option<u64>);

/// What to do with output.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Everything from this index is new.
    New(usize),
    /// All of it was forwarded before.
    Old,
    /// Output between the position and this piece is missing.
    Gap,
}

impl Position {
    /// The position to continue from.
    pub(super) fn resume_from(self) -> Option<u64> {
        self.0
    }

    /// The screen at `offset` was forwarded.
    pub(super) fn screen(&mut self, offset: u64) {
        self.0 = Some(offset);
    }

    /// Accepts output of `length` bytes at `offset`.
    pub(super) fn output(&mut self, offset: u64, length: usize) -> Piece {
        let Some(known) = self.0 else {
            return Piece::Gap;
        };
        let end = offset.saturating_add(length as u64);
        if offset > known {
            return Piece::Gap;
        }
        if end <= known {
            return Piece::Old;
        }
        self.0 = Some(end);
        // Fits: it is less than the length.
        Piece::New(usize::try_from(known - offset).unwrap_or(length))
    }

    /// Forgets the position: the next event must be a screen.
    pub(super) fn forget(&mut self) {
        self.0 = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn output_is_accepted_once_and_in_order() {
        let mut position = Position::default();
        assert_eq!(position.output(0, 5), Piece::Gap, "there is no screen yet");
        position.screen(10);
        assert_eq!(position.output(10, 5), Piece::New(0));
        assert_eq!(position.output(10, 5), Piece::Old);
        assert_eq!(position.output(12, 5), Piece::New(3));
        assert_eq!(position.output(18, 1), Piece::Gap);
        assert_eq!(position.resume_from(), Some(17));
        position.forget();
        assert_eq!(position.resume_from(), None);
    }

    proptest! {
        #[test]
        fn accepted_output_is_the_stream(pieces in proptest::collection::vec((0_u64..60, 0_usize..20), 0..40)) {
            let stream: Vec<u8> = (0..80).collect();
            let (mut position, mut taken) = (Position::default(), Vec::<u8>::new());
            position.screen(0);
            for (offset, length) in pieces {
                let bytes = &stream[offset as usize..offset as usize + length];
                if let Piece::New(from) = position.output(offset, length) {
                    taken.extend(&bytes[from..]);
                }
            }
            prop_assert_eq!(&taken[..], &stream[..taken.len()]);
            prop_assert_eq!(position.resume_from(), Some(taken.len() as u64));
        }
    }
}
