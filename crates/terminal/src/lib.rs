//! Pseudo-terminal, virtual screen, recording and session host; the only crate that opens a terminal.
