//! How to understand and control a running session.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use agents::{Adapter, Mode, Prompt, Request, Typist};

use super::launch::request;
use super::sandbox::sandbox_of;
use crate::journal::SessionRow;
use crate::machine::Machine;
use crate::workspaces::Workspaces;

/// How to understand and control a running session.
pub(super) struct How {
    pub(super) adapter: Option<Arc<Adapter>>,
    pub(super) mode: Mode,
    /// The file of the agent's structured lines.
    pub(super) events: Option<PathBuf>,
    /// Delivers the first prompt, if it is pasted.
    pub(super) typist: Option<Typist>,
    /// Whether to use bracketed paste.
    pub(super) pastes: bool,
    request: Request,
    environment: BTreeMap<String, String>,
    since: SystemTime,
    /// Where a sandboxed agent keeps its state.
    state: Option<PathBuf>,
}

/// How to understand and control a session that was started.
pub(super) async fn how(machine: &Machine, workspaces: &Workspaces, row: &SessionRow) -> How {
    let workspace = row.desired.workspace.workspace;
    let path = workspaces.path(workspace).await.unwrap_or_default();
    let request = request(machine, row, &path);
    let adapter = machine.adapters.get(&row.desired.agent);
    let launch = adapter.as_ref().and_then(|adapter| agents::launch(adapter, &request).ok());
    let dir = machine.folders.session(row.session);
    let environment = adapter.as_ref().map(|adapter| agents::environment(adapter, &machine.person)).unwrap_or_default();
    let typist = launch.as_ref().and_then(|launch| typist(&launch.prompt));
    let mut how = How {
        mode: request.mode,
        events: launch.filter(|launch| launch.events).map(|_| dir.join(agents::lines::EVENTS_FILE)),
        typist,
        pastes: false,
        request,
        environment: environment.into_iter().collect(),
        since: std::fs::metadata(terminal::Files::new(&dir).pid())
            .and_then(|file| file.created().or_else(|_| file.modified()))
            .unwrap_or_else(|_| SystemTime::now()),
        state: sandbox_of(row).map(|_| machine.folders.contained(row.desired.project)),
        adapter,
    };
    how.pastes = how.typist_for("text").is_some();
    how
}

impl How {
    /// Whether the prompt can be delivered at all.
    pub(super) fn takes_prompt(&self) -> bool {
        self.adapter.as_ref().is_none_or(|adapter| adapter.takes_prompt(self.mode))
    }

    /// Whether the agent's conversation can be resumed in any way.
    pub(super) fn resumes(&self) -> bool {
        let modes = [Mode::Interactive, Mode::Headless];
        self.adapter.as_ref().is_some_and(|adapter| modes.into_iter().any(|mode| adapter.resumes(mode)))
    }

    /// Delivers a text once the agent is ready, if the agent accepts pasted prompts.
    pub(super) fn typist_for(&self, text: &str) -> Option<Typist> {
        let request = Request { prompt: Some(text.to_owned()), system: None, ..self.request.clone() };
        typist(&agents::launch(self.adapter.as_ref()?, &request).ok()?.prompt)
    }

    /// What to mask in the agent's lines: its own log has everything.
    pub(super) fn secrets(&self) -> agents::Secrets {
        agents::Secrets::of(self.environment.clone().into_iter())
    }

    /// The agent's own log, once it exists.
    pub(super) async fn find_log(&self) -> Option<PathBuf> {
        let adapter = self.adapter.clone()?;
        let (environment, workspace, since) = (self.environment.clone(), self.request.workspace.clone(), self.since);
        let state = self.state.clone();
        let find = move || match state {
            None => agents::find_log(&adapter, &environment, &workspace, since),
            Some(state) => agents::find_log_in_sandbox(&adapter, &environment, &state, &workspace, since),
        };
        tokio::task::spawn_blocking(find).await.ok().flatten()
    }
}

/// The keys that enter `text`: as one bracketed paste if the agent supports it, without control keys.
pub(super) fn pasted(text: &str, brackets: bool, submit: bool) -> Vec<u8> {
    let plain: String = text.replace("\r\n", "\n").chars().filter(|c| !c.is_control() || "\n\t".contains(*c)).collect();
    let plain = plain.trim_end_matches('\n').replace('\n', "\r");
    let (open, close) = if brackets { ("\x1b[200~", "\x1b[201~") } else { ("", "") };
    let send = if submit { "\r" } else { "" };
    format!("{open}{plain}{close}{send}").into_bytes()
}

fn typist(prompt: &Prompt) -> Option<Typist> {
    match prompt {
        Prompt::Paste(paste) => Some(Typist::new(paste.clone())),
        Prompt::None | Prompt::Stdin(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_contains_no_control_keys() {
        let check = |text: &str, brackets, submit, keys: &str| {
            assert_eq!(String::from_utf8(pasted(text, brackets, submit)).unwrap(), keys);
        };
        check("ls -l", false, true, "ls -l\r");
        check("one\r\ntwo\n", true, true, "\x1b[200~one\rtwo\x1b[201~\r");
        check("a\x1b[201~\x03b", true, false, "\x1b[200~a[201~b\x1b[201~");
    }
}
