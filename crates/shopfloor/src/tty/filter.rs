//! Filters a session's bytes for the person's own terminal: only text, colours and cursor movements pass.
//!
//! An allow list: sequences that a terminal answers, that change the clipboard, the title, the printer, the desktop or
//! the window, are dropped. The session's host answers the program instead.

use std::mem::take;

/// Longer commands are dropped.
const LONGEST: usize = 4096;
/// Private modes that make the terminal resize itself or report unasked.
const UNWANTED_PRIVATE: [&str; 4] = ["3", "40", "2031", "2048"];
/// Modes that lock the keyboard or echo locally.
const UNWANTED_ANSI: [&str; 2] = ["2", "12"];

/// Filters a stream of bytes.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    state: State,
    held: Vec<u8>,
    /// The previous byte, inside a string.
    before: u8,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// Inside a character of several bytes; the number of missing bytes.
    Character(u8),
    Escape,
    /// ESC and at least one intermediate byte.
    Charset,
    Csi,
    Osc,
    /// A string that is dropped.
    Hidden,
    /// A string that was too long.
    Overlong,
}

impl Filter {
    /// The part of the next `bytes` that may be shown.
    pub(crate) fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len() + self.held.len());
        for &byte in bytes {
            self.take(byte, &mut out);
        }
        out
    }

    fn take(&mut self, byte: u8, out: &mut Vec<u8>) {
        match self.state {
            State::Text => self.text(byte, out),
            State::Character(missing) => self.character(missing, byte, out),
            State::Escape => self.escape(byte, out),
            State::Charset => self.charset(byte, out),
            State::Csi => self.csi(byte, out),
            State::Osc | State::Hidden | State::Overlong => self.string(byte, out),
        }
    }

    fn text(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            0x1b => self.begin(State::Escape),
            // ENQ asks for an answerback; a lone continuation byte may be a control character of an 8-bit terminal.
            0x05 | 0x80..=0xc1 | 0xf5..=0xff => {}
            0xc2..=0xdf => self.hold(State::Character(1), byte),
            0xe0..=0xef => self.hold(State::Character(2), byte),
            0xf0..=0xf4 => self.hold(State::Character(3), byte),
            _ => out.push(byte),
        }
    }

    fn character(&mut self, missing: u8, byte: u8, out: &mut Vec<u8>) {
        if !(0x80..=0xbf).contains(&byte) {
            // A truncated character is dropped, and the byte stands for itself.
            self.begin(State::Text);
            return self.text(byte, out);
        }
        self.held.push(byte);
        if missing > 1 {
            self.state = State::Character(missing - 1);
            return;
        }
        let character = take(&mut self.held);
        self.begin(State::Text);
        match character.as_slice() {
            // U+0080–U+009F are equivalent to ESC and another character.
            [0xc2, control @ 0x80..=0x9f] => {
                self.begin(State::Escape);
                self.escape(control - 0x40, out);
            }
            character => out.extend(character),
        }
    }

    fn escape(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            0x1b => self.begin(State::Escape),
            0x18 | 0x1a => self.begin(State::Text),
            0x05 => {}
            0x00..=0x1f => out.push(byte),
            0x20..=0x2f => self.hold(State::Charset, byte),
            b'[' => self.begin(State::Csi),
            b']' => self.begin(State::Osc),
            b'P' | b'X' | b'^' | b'_' => self.begin(State::Hidden),
            _ => {
                self.begin(State::Text);
                match byte {
                    // A reset would clear the scrollback and with it the person's earlier content.
                    b'c' => out.extend(super::begin_screen()),
                    // Save, restore, keypad, line feeds, tab stop, shifts.
                    b'7' | b'8' | b'=' | b'>' | b'D' | b'E' | b'H' | b'M' | b'N' | b'O' | b'n' | b'o' => {
                        out.extend([0x1b, byte]);
                    }
                    _ => {}
                }
            }
        }
    }

    fn charset(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            0x1b => self.begin(State::Escape),
            0x18 | 0x1a => self.begin(State::Text),
            0x05 => {}
            0x00..=0x1f => out.push(byte),
            0x20..=0x2f => self.hold(State::Charset, byte),
            _ => {
                let held = take(&mut self.held);
                self.begin(State::Text);
                // Character sets, and the size of lines.
                if matches!(held.as_slice(), b"(" | b")" | b"*" | b"+" | b"#") && (0x30..0x7f).contains(&byte) {
                    out.push(0x1b);
                    out.extend(held);
                    out.push(byte);
                }
            }
        }
    }

    fn csi(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            0x1b => self.begin(State::Escape),
            0x18 | 0x1a => self.begin(State::Text),
            0x05 => {}
            // A control character inside a command takes effect at once.
            0x00..=0x1f => out.push(byte),
            0x20..=0x3f if self.held.len() < LONGEST => self.held.push(byte),
            0x20..=0x3f => self.begin(State::Overlong),
            0x40..=0x7e => {
                let held = take(&mut self.held);
                self.begin(State::Text);
                command(&held, byte, out);
            }
            _ => self.begin(State::Text),
        }
    }

    fn string(&mut self, byte: u8, out: &mut Vec<u8>) {
        let command = self.state == State::Overlong && (0x40..=0x7e).contains(&byte);
        // U+009C ends a string, too.
        let ended = std::mem::replace(&mut self.before, byte) == 0xc2 && byte == 0x9c;
        match byte {
            _ if ended => {
                self.held.pop();
                link(&self.held, out);
                self.begin(State::Text);
            }
            0x07 if self.state == State::Osc => {
                link(&self.held, out);
                self.begin(State::Text);
            }
            0x1b => {
                // ESC and a backslash end it; anything else cancels it. In both cases the backslash shows nothing.
                if self.state == State::Osc {
                    link(&self.held, out);
                }
                self.begin(State::Escape);
            }
            0x07 | 0x18 | 0x1a => self.begin(State::Text),
            _ if command => self.begin(State::Text),
            _ if self.state == State::Osc && self.held.len() < LONGEST => self.held.push(byte),
            _ if self.state == State::Osc => self.begin(State::Hidden),
            _ => {}
        }
    }

    fn begin(&mut self, state: State) {
        self.held.clear();
        self.before = 0;
        self.state = state;
    }

    fn hold(&mut self, state: State, byte: u8) {
        self.held.push(byte);
        self.state = state;
    }
}

/// Lets a control sequence pass if it only draws, moves, or configures keys.
fn command(held: &[u8], last: u8, out: &mut Vec<u8>) {
    let prefix = held.first().copied().filter(|byte| (0x3c..=0x3f).contains(byte));
    let start = usize::from(prefix.is_some());
    let middle = held[start..].iter().position(|byte| (0x20..=0x2f).contains(byte)).map_or(held.len(), |at| at + start);
    let (parameters, between) = (&held[start..middle], &held[middle..]);
    let wanted = match (prefix, between) {
        (None, b"") => b"@ABCDEFGHIJKLMPSTXZ`abdefghlmrsu".contains(&last),
        (Some(b'?'), b"") => b"hlJKrs".contains(&last),
        (Some(b'>'), b"") => b"mnu".contains(&last),
        (Some(b'<' | b'='), b"") => last == b'u',
        (None, b" ") => b"q@A".contains(&last),
        (None, b"!") => last == b'p',
        (None, b"\"") => last == b'q',
        (None, b"$") => b"rtvxz{".contains(&last),
        (None, b"*") => last == b'x',
        (None, b"'") => b"}~".contains(&last),
        (None, b"#") => b"{}".contains(&last),
        _ => false,
    };
    // Without parameters it restores the cursor; with them, terminals disagree.
    let bare = !matches!((prefix, between, last), (None, b"", b'u')) || parameters.is_empty();
    // The scrollback belongs to the person.
    let scrollback =
        matches!((between, last), (b"", b'J')) && without(parameters, &["3"]).as_deref() != Some(parameters);
    if !wanted || !bare || scrollback || !parameters.iter().all(|byte| (0x30..=0x3b).contains(byte)) {
        return;
    }
    let modes = matches!((prefix, between, last), (None | Some(b'?'), b"", b'h' | b'l' | b'r' | b's'));
    let kept = match (modes && !parameters.is_empty(), prefix) {
        (true, Some(_)) => without(parameters, &UNWANTED_PRIVATE),
        (true, None) if matches!(last, b'h' | b'l') => without(parameters, &UNWANTED_ANSI),
        _ => Some(parameters.to_vec()),
    };
    if let Some(kept) = kept {
        out.extend(b"\x1b[");
        out.extend(prefix);
        out.extend(kept);
        out.extend(between);
        out.push(last);
    }
}

/// The modes without the unwanted ones; `None` if none is left.
fn without(parameters: &[u8], unwanted: &[&str]) -> Option<Vec<u8>> {
    let modes = parameters.split(|byte| *byte == b';');
    let mode = |mode: &[u8]| String::from_utf8_lossy(mode).trim_start_matches('0').to_owned();
    let kept: Vec<&[u8]> = modes.filter(|text| !unwanted.contains(&mode(text).as_str())).collect();
    (!kept.is_empty()).then(|| kept.join(&b';'))
}

/// Lets a web link pass: it shows text, and the person decides whether to follow it.
fn link(content: &[u8], out: &mut Vec<u8>) {
    let Some(rest) = content.strip_prefix(b"8;") else {
        return;
    };
    let Some(at) = rest.iter().position(|byte| *byte == b';') else {
        return;
    };
    let target = &rest[at + 1..];
    let web = [&b"https://"[..], b"http://", b"mailto:"].iter().any(|scheme| target.starts_with(scheme));
    let harmless = rest.iter().all(|byte| (0x20..0x7f).contains(byte));
    if harmless && (web || target.is_empty()) {
        out.extend(b"\x1b]8;");
        out.extend(rest);
        out.extend(b"\x1b\\");
    }
}

#[cfg(test)]
mod tests;
