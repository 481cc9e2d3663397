//! Reads what the person types.

use std::io::Read;

use tokio::sync::mpsc;

/// Much more than a person types at once.
const KEYS: usize = 16 * 1024;

/// Reads keys on a detached thread: a blocking read cannot be cancelled.
pub(crate) fn read_keys() -> mpsc::UnboundedReceiver<Vec<u8>> {
    let (send, receive) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let mut buffer = vec![0; KEYS];
        let mut stdin = std::io::stdin().lock();
        while let Ok(count @ 1..) = stdin.read(&mut buffer) {
            if send.send(buffer[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    receive
}
