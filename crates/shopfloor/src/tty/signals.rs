//! What the system tells a terminal program: another size, or to end.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::Failure;

/// What was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// The terminal has another size.
    Resized,
    /// End.
    End,
}

/// What the system tells a terminal program.
pub(crate) struct Signals {
    resize: Signal,
    ends: [Signal; 4],
}

impl Signals {
    /// Begins to listen; from now on no signal ends us unheard.
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

    /// What comes first.
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

    /// We are told to end.
    pub(crate) async fn told_to_end(&mut self) {
        while self.next().await != Told::End {}
    }
}
