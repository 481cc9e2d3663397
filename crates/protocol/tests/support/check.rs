//! What must hold for any bytes that a client sends; shared with the fuzz target.

use protocol::{ToHub, decode_to_hub};

/// The longest explanation that a hub sends for a frame that it cannot read.
const LONGEST: usize = 2000;

/// Decodes, and panics unless what the decoder promises holds. Returns the frame, if it is one.
pub(crate) fn check(bytes: &[u8]) -> Option<ToHub> {
    match decode_to_hub(bytes) {
        Ok(frame) => {
            let text = serde_json::to_vec(&frame).expect("a frame can be written");
            let again = decode_to_hub(&text).expect("what was written can be read");
            assert_eq!(again, frame, "a frame survives its text");
            Some(frame)
        }
        Err((_, problem)) => {
            assert!(!problem.detail.trim().is_empty(), "a refusal says why");
            assert!(problem.detail.len() <= LONGEST, "a refusal of {} bytes", problem.detail.len());
            assert_eq!(problem.status, problem.kind.status());
            None
        }
    }
}
