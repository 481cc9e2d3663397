//! An agent's last message: from its structured lines, its own log, or its terminal.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use agents::{Recogniser, Secrets};
use protocol::link::FactBody;

use super::how::how;
use crate::asks;
use crate::journal::SessionRow;
use crate::machine::Machine;
use crate::workspaces::Workspaces;

/// How much of the end of a file to read: it contains the last answer.
const END: u64 = 8 << 20;
/// How many lines of a terminal to report, and how much of them.
const LINES: usize = 40;
const TERMINAL: usize = 4000;
const LONGEST: usize = 32 * 1024;
/// How much of the output of a step's command to keep.
const PRINTED: usize = 1024 * 1024;

/// The last message of a session that worked on a task or a step; `None` if there is none.
pub(super) async fn said(machine: &Machine, workspaces: &Workspaces, row: &SessionRow) -> Option<FactBody> {
    if row.desired.task.is_none() && row.desired.step.is_none() {
        return None;
    }
    let how = how(machine, workspaces, row).await;
    let file = match &how.events {
        Some(events) => Some(events.clone()),
        None => how.find_log().await,
    };
    let recogniser = how.adapter.clone().map(|adapter| Recogniser::new(adapter, how.mode));
    let (session, dir) = (row.session, machine.folders.session(row.session));
    let secrets = how.secrets();
    let look = move || in_lines(file, recogniser, secrets).or_else(|| on_terminal(&dir));
    let text = tokio::task::spawn_blocking(look).await.ok().flatten()?;
    Some(FactBody::SessionSaid { session, text: cut(&text, LONGEST) })
}

/// All that the command of a step printed, if [`said`] reports only its end.
pub(super) async fn printed(machine: &Machine, row: &SessionRow) -> Option<FactBody> {
    if row.desired.step.is_none() || row.desired.agent != "command" {
        return None;
    }
    let (session, dir) = (row.session, machine.folders.session(row.session));
    let look = move || asks::printed(&dir, PRINTED).ok();
    let (text, before) = tokio::task::spawn_blocking(look).await.ok().flatten()?;
    let plain: String = text.chars().filter(|c| !c.is_control() || "\n\t".contains(*c)).collect();
    let plain = plain.trim_end();
    if before == 0 && plain.lines().count() <= LINES && plain.len() <= TERMINAL {
        return None;
    }
    let text = match before {
        0 => plain.to_owned(),
        cut => format!("[{cut} bytes before this were cut: at most 1 MiB of an output is kept]\n{plain}"),
    };
    Some(FactBody::SessionPrinted { session, text })
}

fn in_lines(file: Option<PathBuf>, recogniser: Option<Recogniser>, mut secrets: Secrets) -> Option<String> {
    let mut recogniser = recogniser?;
    let text = end_of(&file?).ok()?;
    text.lines().map(|line| recogniser.line(&secrets.masked_text(line))).last()?.said
}

/// The last complete lines of a file.
fn end_of(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let start = length.saturating_sub(END);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(END).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let whole = if start == 0 { &*text } else { text.split_once('\n').map_or("", |(_, rest)| rest) };
    Ok(whole.to_owned())
}

fn on_terminal(dir: &Path) -> Option<String> {
    let log = asks::log(dir, 400).ok()?;
    let lines: Vec<&str> = log.text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
    let text = lines[lines.len().saturating_sub(LINES)..].join("\n");
    let start = text.ceil_char_boundary(text.len().saturating_sub(TERMINAL));
    Some(text[start..].to_owned()).filter(|text| !text.is_empty())
}

/// The end of a text, without control characters except line breaks and tabs.
fn cut(text: &str, most: usize) -> String {
    let plain: String = text.chars().filter(|c| !c.is_control() || "\n\t".contains(*c)).collect();
    let plain = plain.trim();
    plain[plain.ceil_char_boundary(plain.len().saturating_sub(most))..].to_owned()
}
