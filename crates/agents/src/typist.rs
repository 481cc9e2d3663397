//! Types a prompt into an agent's screen: once, when the agent is ready, and never into a question.

use crate::launch::Paste;
use crate::recogniser::Observation;
use crate::text;

/// What to type now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keys {
    /// Nothing yet.
    Wait,
    /// These bytes.
    Type(Vec<u8>),
    /// Nothing, forever.
    Done,
}

/// Follows one prompt from the agent's first screen until it is submitted. Each step is taken once: a caller that must
/// survive a crash stores that the prompt was typed before typing it, and creates no second typist.
#[derive(Debug, Clone)]
pub struct Typist {
    paste: Paste,
    step: Step,
}

#[derive(Debug, Clone)]
enum Step {
    Before,
    /// Pasted; the screen as it was before.
    Pasted(String),
    Sent,
}

/// How long the screen must not change before anything is typed: a screen that is being drawn is not ready.
const STILL_MS: u64 = 300;

const PASTE_START: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

impl Typist {
    /// For a session that has just been started.
    pub fn new(paste: Paste) -> Self {
        Self { paste, step: Step::Before }
    }

    /// What to type on this screen.
    pub fn observe(&mut self, screen: &Observation) -> Keys {
        if matches!(self.step, Step::Sent) {
            return Keys::Done;
        }
        if screen.quiet_ms < STILL_MS || self.paste.never.iter().any(|rule| rule.fits(screen)) {
            return Keys::Wait;
        }
        match &self.step {
            Step::Before if self.paste.ready.fits(screen) => {
                self.step = Step::Pasted(screen.text.clone());
                Keys::Type(self.pasted())
            }
            Step::Pasted(before) if *before != screen.text => {
                self.step = Step::Sent;
                Keys::Type(self.paste.submit.clone().into_bytes())
            }
            _ => Keys::Wait,
        }
    }

    /// The prompt as one bracketed paste, without control characters, so that it cannot end the paste itself.
    fn pasted(&self) -> Vec<u8> {
        let text = text::plain(&self.paste.text).trim_end().replace('\n', "\r");
        [PASTE_START, text.as_bytes(), PASTE_END].concat()
    }
}
