//! Signals for a terminal program: a new size, or the end.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::Failure;

/// A signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// The terminal has a new size.
    Resized,
    /// End.
    End,
}

/// Listens for signals.
pub(crate) struct Signals {
    resize: Signal,
    ends: [Signal; 4],
}

impl Signals {
    /// Starts listening; from now on no signal kills the process.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let on = |kind| signal(kind).map_err(|error| Failure::other(format!("could not listen for signals: {error}")));
        let ends = [
            on(SignalKind::terminate())?,
            on(SignalKind::hangup())?,
            on(SignalKind::interrupt())?,
            on(SignalKind::quit())?,
        ];
        Ok(Self { resize: on(SignalKind::window_change())?, ends })
    }

    /// The next signal.
    pub(crate) async fn next(&mut self) -> Told {
        let [terminate, hangup, interrupt, quit] = &mut self.ends;
        tokio::select! {
            _ = self.resize.recv() => Told::Resized,
            _ = terminate.recv() => Told::End,
            _ = hangup.recv() => Told::End,
            _ = interrupt.recv() => Told::End,
            _ = quit.recv() => Told::End,
        }
    }

    /// Waits for a signal to end.
    pub(crate) async fn told_to_end(&mut self) {
        while self.next().await != Told::End {}
    }
}
