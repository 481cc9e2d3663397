//! Writes to the person's terminal from its own thread, so that a slow terminal does not delay keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use tokio::sync::mpsc;

use crate::{Failure, tty};

/// Something to write.
struct Piece {
    bytes: Vec<u8>,
    /// The stream position after the bytes.
    end: Option<u64>,
    /// Whether the bytes draw over the whole screen.
    fresh: bool,
}

/// The thread's handle.
pub(super) struct Writer {
    pieces: Option<mpsc::UnboundedSender<Piece>>,
    written: mpsc::UnboundedReceiver<u64>,
    abandoned: Arc<AtomicBool>,
    waiting: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread for a terminal with this many rows.
    pub(super) fn start(mut rows: u16) -> Self {
        let (pieces, mut queue) = mpsc::unbounded_channel::<Piece>();
        let (tell, written) = mpsc::unbounded_channel();
        let abandoned = Arc::new(AtomicBool::new(false));
        let waiting = Arc::new(AtomicUsize::new(0));
        let (given_up, left) = (abandoned.clone(), waiting.clone());
        let thread = std::thread::spawn(move || {
            while let Some(mut piece) = queue.blocking_recv() {
                // Ask here and not when the piece is queued: the terminal can grow while the piece waits.
                if let Some((_, now)) = tty::size().filter(|_| piece.fresh) {
                    piece.bytes.splice(0..0, tty::give_back(now, now.saturating_sub(rows)));
                    rows = now;
                }
                if given_up.load(Ordering::Relaxed) || tty::write(&piece.bytes).is_err() {
                    return;
                }
                left.fetch_sub(1, Ordering::Relaxed);
                if let Some(end) = piece.end
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
        self.send(Piece { bytes, end, fresh: false })
    }

    /// Writes a fresh screen; a terminal that has grown shows lines from its scrollback, which are moved back first.
    pub(super) fn write_screen(&self, bytes: Vec<u8>, end: Option<u64>) -> Result<(), Failure> {
        self.send(Piece { bytes, end, fresh: true })
    }

    fn send(&self, piece: Piece) -> Result<(), Failure> {
        let gone = || Failure::other("the terminal is gone");
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.pieces.as_ref().ok_or_else(gone)?.send(piece).map_err(|_| gone())
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
