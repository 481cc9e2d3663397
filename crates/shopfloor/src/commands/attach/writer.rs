//! Writes to the person's terminal from its own thread, so that a slow terminal does not delay keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use tokio::sync::mpsc;

use crate::{Failure, tty};

/// Bytes for the terminal, and the stream position after them.
type Piece = (Vec<u8>, Option<u64>);

/// The thread's handle.
pub(super) struct Writer {
    pieces: Option<mpsc::UnboundedSender<Piece>>,
    written: mpsc::UnboundedReceiver<u64>,
    abandoned: Arc<AtomicBool>,
    waiting: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start() -> Self {
        let (pieces, mut queue) = mpsc::unbounded_channel::<Piece>();
        let (tell, written) = mpsc::unbounded_channel();
        let abandoned = Arc::new(AtomicBool::new(false));
        let waiting = Arc::new(AtomicUsize::new(0));
        let (given_up, left) = (abandoned.clone(), waiting.clone());
        let thread = std::thread::spawn(move || {
            while let Some((bytes, end)) = queue.blocking_recv() {
                if given_up.load(Ordering::Relaxed) || tty::write(&bytes).is_err() {
                    return;
                }
                left.fetch_sub(1, Ordering::Relaxed);
                if let Some(end) = end
                    && tell.send(end).is_err()
                {
                    return;
                }
            }
        });
        Self { pieces: Some(pieces), written, abandoned, waiting, thread: Some(thread) }
    }

    /// Writes in order; the credit that follows [`Writer::written`] bounds the queue.
    pub(super) fn write(&self, bytes: Vec<u8>, end: Option<u64>) -> Result<(), Failure> {
        let gone = || Failure::other("the terminal is gone");
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.pieces.as_ref().ok_or_else(gone)?.send((bytes, end)).map_err(|_| gone())
    }

    /// Whether everything was written.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) == 0
    }

    /// The next position that was written.
    pub(super) async fn written(&mut self) -> Result<u64, Failure> {
        self.written.recv().await.ok_or_else(|| Failure::other("the terminal is gone"))
    }

    /// Waits until everything was written.
    pub(super) fn finish(mut self) {
        self.pieces = None;
        if let Some(thread) = self.thread.take() {
            // The thread has already reported its panic.
            let _ = thread.join();
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }
}
