//! From what the hub wants to what starts a session: a workspace, a token, files, and the whole environment.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use agents::{Adapter, Autonomy, Launch, Mode, Prompt, Request, Typist};
use domain::SessionMode;
use terminal::Spec;

use super::trust;
use crate::Secret;
use crate::floor::Floor;
use crate::journal::SessionRow;
use crate::workspaces::Place;

/// A session that only needs to be started.
pub(super) struct Ready {
    spec: Spec,
    files: Vec<agents::File>,
    /// The conversation's id, where it is chosen before the start.
    pub(super) conversation: Option<String>,
}

/// How a running session is understood and spoken to.
pub(super) struct How {
    pub(super) adapter: Option<Arc<Adapter>>,
    pub(super) mode: Mode,
    /// Where the agent's structured lines appear.
    pub(super) events: Option<PathBuf>,
    /// Delivers the first prompt, if that is pasted.
    pub(super) typist: Option<Typist>,
    /// Whether texts are pasted in brackets.
    pub(super) pastes: bool,
    request: Request,
    environment: BTreeMap<String, String>,
    since: SystemTime,
}

/// Makes everything ready; why it cannot be, otherwise. May be dropped and called again.
pub(super) async fn prepare(floor: &Arc<Floor>, row: &mut SessionRow) -> Result<Ready, String> {
    let desired = row.desired.clone();
    let adapter = floor
        .adapters
        .get(&desired.agent)
        .ok_or_else(|| format!("this runner knows no agent called `{}`", desired.agent))?
        .clone();
    let program = program(floor, &adapter)?;
    let place = floor.workspaces.make(floor, &desired).await?;
    let trusted = trust::settle(floor, row).await?;
    let place = floor.workspaces.set_up(floor, &desired, place).await?;
    let token = floor.tokens.ask(row.session, floor.line.subscribe()).await;
    let token = token.ok_or("the hub gave no token for its agent: it is over there, or unknown")?;
    let request = Request { program, trusted, ..request(floor, row, &place.path) };
    let launch = agents::launch(&adapter, &request).map_err(|error| error.to_string())?;
    let spec = spec(floor, row, &adapter, &place, &launch, &token)?;
    Ok(Ready { spec, files: launch.files, conversation: launch.conversation })
}

impl Ready {
    /// Writes everything that the host and the agent read.
    pub(super) fn write(&self, dir: &Path) -> std::io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        for file in &self.files {
            let path = dir.join(&file.name);
            let mut out = File::options().create(true).truncate(true).write(true).mode(0o600).open(path)?;
            out.write_all(file.text.as_bytes())?;
        }
        self.spec.write(dir)
    }
}

/// How a session that was started is understood and spoken to.
pub(super) async fn how(floor: &Arc<Floor>, row: &SessionRow) -> How {
    let workspace = row.desired.workspace.workspace;
    let path = floor.workspaces.path(workspace).await.unwrap_or_default();
    let request = request(floor, row, &path);
    let adapter = floor.adapters.get(&row.desired.agent).cloned();
    let launch = adapter.as_ref().and_then(|adapter| agents::launch(adapter, &request).ok());
    let dir = floor.session_dir(row.session);
    let environment = adapter.as_ref().map(|adapter| agents::environment(adapter, &floor.person)).unwrap_or_default();
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
        adapter,
    };
    how.pastes = how.typist_for("text").is_some();
    how
}

impl How {
    /// Delivers a text once the agent is ready for it, if the agent takes pasted prompts.
    pub(super) fn typist_for(&self, text: &str) -> Option<Typist> {
        let request = Request { prompt: Some(text.to_owned()), system: None, ..self.request.clone() };
        typist(&agents::launch(self.adapter.as_ref()?, &request).ok()?.prompt)
    }

    /// The agent's own log, once it has begun one.
    pub(super) async fn find_log(&self) -> Option<PathBuf> {
        let adapter = self.adapter.clone()?;
        let (environment, workspace, since) = (self.environment.clone(), self.request.workspace.clone(), self.since);
        let find = move || agents::find_log(&adapter, &environment, &workspace, since);
        tokio::task::spawn_blocking(find).await.ok().flatten()
    }
}

/// The keys that say `text`: as one paste where the agent knows pastes, without what would be a key of its own.
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

fn request(floor: &Floor, row: &SessionRow, workspace: &Path) -> Request {
    let desired = &row.desired;
    let mode = match desired.mode {
        SessionMode::Interactive => Mode::Interactive,
        SessionMode::Headless => Mode::Headless,
    };
    let some = |text: &String| (!text.is_empty()).then(|| text.clone());
    let dir = floor.session_dir(row.session);
    Request {
        prompt: some(&desired.prompt),
        model: desired.model.clone(),
        system: some(&desired.context),
        conversation: desired.conversation.clone(),
        argv: desired.argv.clone(),
        // Asking for nothing is for where something else contains it.
        autonomy: if desired.sandbox.is_some() { Autonomy::Full } else { Autonomy::Edit },
        trusted: desired.workspace.trusted,
        shell: floor.person.get("SHELL").cloned().unwrap_or_else(|| "/bin/sh".to_owned()),
        home: floor.person.get("HOME").map(PathBuf::from),
        ..Request::new(mode, workspace, &dir, &floor.options.exe)
    }
}

/// Where the agent's program is; an error when it needs one that is not installed.
fn program(floor: &Floor, adapter: &Adapter) -> Result<Option<PathBuf>, String> {
    let Some(name) = adapter.program() else { return Ok(None) };
    match look_up(&name, floor.person.get("PATH").map_or("", String::as_str)) {
        Some(path) => Ok(Some(path)),
        None if adapter.install.is_empty() => Err(format!("{} is not installed on this machine", adapter.label)),
        None => Err(format!("{} is not installed on this machine: {}", adapter.label, adapter.install)),
    }
}

/// The program in the absolute folders of `path`: a relative one would let a workspace decide what we run.
fn look_up(program: &str, path: &str) -> Option<PathBuf> {
    let runs =
        |file: &PathBuf| file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    if program.contains('/') {
        Some(PathBuf::from(program)).filter(runs)
    } else {
        folders.map(|folder| folder.join(program)).find(runs)
    }
}

fn spec(
    floor: &Floor,
    row: &SessionRow,
    adapter: &Adapter,
    place: &Place,
    launch: &Launch,
    token: &Secret,
) -> Result<Spec, String> {
    let desired = &row.desired;
    let mut env = agents::merge(agents::environment(adapter, &floor.person), launch.env.clone());
    let mut masks: Vec<String> =
        env.iter().filter(|(name, value)| is_secret(name, value)).map(|(_, value)| value.clone()).collect();
    masks.extend([token.expose().to_owned(), floor.options.token.expose().to_owned()]);
    let ours = [
        ("SHOPFLOOR_HUB", floor.options.hub.clone()),
        ("SHOPFLOOR_TOKEN", token.expose().to_owned()),
        ("SHOPFLOOR_SESSION", row.session.to_string()),
        ("SHOPFLOOR_PROJECT", desired.project.to_string()),
        ("SHOPFLOOR_ACTIVITY", desired.activity.to_string()),
        ("SHOPFLOOR_WORKSPACE", desired.workspace.workspace.to_string()),
    ];
    env = agents::merge(env, ours.map(|(name, value)| (name.to_owned(), value)));
    env = agents::merge(env, place.port_variables());
    let mut argv = launch.argv.clone();
    if let Some(wanted) = &desired.sandbox {
        argv = super::sandbox::contain(floor, adapter, wanted, place, &floor.session_dir(row.session), argv)?;
    }
    Ok(Spec {
        env,
        cols: desired.cols,
        rows: desired.rows,
        masks,
        record_input: desired.record_input,
        stdin_file: match &launch.prompt {
            Prompt::Stdin(file) => Some(file.clone()),
            Prompt::None | Prompt::Paste(_) => None,
        },
        title: title(row, adapter),
        stop_grace_ms: floor.options.stop_grace.as_millis() as u64,
        ..Spec::new(argv, &place.path)
    })
}

/// Whether a variable's value must not be seen, going by its name; short ones would mask half the screen.
fn is_secret(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    value.len() >= 8 && ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"].iter().any(|sign| name.contains(sign))
}

fn title(row: &SessionRow, adapter: &Adapter) -> String {
    let first = row.desired.prompt.lines().next().unwrap_or_default().trim();
    let title = if !first.is_empty() {
        first.to_owned()
    } else if row.desired.argv.is_empty() {
        adapter.label.clone()
    } else {
        row.desired.argv.join(" ")
    };
    title.chars().filter(|c| !c.is_control()).take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_holds_no_keys_of_its_own() {
        let check = |text: &str, brackets, submit, keys: &str| {
            assert_eq!(String::from_utf8(pasted(text, brackets, submit)).unwrap(), keys);
        };
        check("ls -l", false, true, "ls -l\r");
        check("one\r\ntwo\n", true, true, "\x1b[200~one\rtwo\x1b[201~\r");
        check("a\x1b[201~\x03b", true, false, "\x1b[200~a[201~b\x1b[201~");
    }

    #[test]
    fn secrets_are_known_by_their_names() {
        assert!(is_secret("OPENAI_API_KEY", "sk-12345678"));
        assert!(is_secret("Github_Token", "12345678"));
        assert!(!is_secret("OPENAI_API_KEY", "none"));
        assert!(!is_secret("PATH", "/usr/bin:/bin"));
    }
}
