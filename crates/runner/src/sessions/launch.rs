//! Prepares a session: a workspace, a token, files, and the environment.

use std::fs::{DirBuilder, File};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use agents::{Adapter, Autonomy, Launch, Mode, Prompt, Request};
use domain::{SessionMode, SessionStatus};
use protocol::link::DesiredStep;
use terminal::Spec;

use super::state::At;
use super::{Supervisor, progress, sandbox, task, token, trust};
use crate::journal::SessionRow;
use crate::machine::Machine;
use crate::workspaces::{Place, Purpose};
use crate::{Secret, programs};

/// The variable that identifies a session's processes.
pub(super) const SESSION: &str = "SHOPFLOOR_SESSION";

/// A session that is ready to start.
pub(super) struct Ready {
    /// The host's configuration.
    pub(super) spec: Spec,
    /// The conversation's id, if it is chosen before the start.
    pub(super) conversation: Option<String>,
}

/// Prepares everything, or says why it cannot. Cancel-safe and repeatable.
pub(super) async fn prepare(supervisor: &Supervisor, row: &mut SessionRow) -> Result<Ready, String> {
    let Supervisor { machine, workspaces, journal, .. } = supervisor;
    let desired = row.desired.clone();
    let adapter =
        machine.adapters.get(&desired.agent).ok_or_else(|| format!("this runner has no agent `{}`", desired.agent))?;
    let program = program(machine, &adapter)?;
    trust::before_making(supervisor, row).await?;
    let (progress, steps) = progress::follow();
    let making = workspaces.make(Purpose::from(&desired), &progress);
    let place = progress::telling(journal, row, steps, making).await?;
    let trusted = trust::before_starting(supervisor, row).await?;
    let workspace = desired.workspace.workspace;
    row.memory.sandbox = workspaces.contained(workspace, desired.sandbox.as_ref()).await?;
    if desired.sandbox.is_none() && row.memory.sandbox.is_some() {
        tracing::info!(session = %row.session, %workspace, "the session runs in the sandbox of its workspace");
    }
    if workspaces.needs_setup(desired.workspace.workspace).await? {
        let detail = Some("the setup of its workspace runs".to_owned());
        progress::tell(journal, row, At { status: SessionStatus::Starting, detail }).await;
    }
    let place = workspaces.set_up(desired.workspace.workspace, place).await?;
    let secret = supervisor.tokens.ask(row.session).await;
    let secret = secret.ok_or("the hub gave no token for its agent: the session has exited there, or is unknown")?;
    let request = Request { program, trusted, ..request(machine, row, &place.path) };
    let mut launch = agents::launch(&adapter, &request).map_err(|error| error.to_string())?;
    launch.files.extend(desired.task.iter().flat_map(task::files));
    let dir = machine.folders.session(row.session);
    let written = write(&dir, &launch.files).and_then(|()| token::write(&dir, &secret));
    written.map_err(|error| format!("could not write its files: {error}"))?;
    let until = super::lease_of(&desired).and_then(|lease| supervisor.pulse.limit(lease));
    let spec = spec(machine, row, &adapter, &place, &launch, &secret)?;
    Ok(Ready { spec: Spec { until, ..spec }, conversation: launch.conversation })
}

/// Writes the agent's files into the session's folder.
fn write(dir: &Path, files: &[agents::File]) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    for file in files {
        let path = dir.join(&file.name);
        let mut out = File::options().create(true).truncate(true).write(true).mode(0o600).open(path)?;
        out.write_all(file.text.as_bytes())?;
    }
    Ok(())
}

pub(super) fn request(machine: &Machine, row: &SessionRow, workspace: &Path) -> Request {
    let desired = &row.desired;
    let mode = match desired.mode {
        SessionMode::Interactive => Mode::Interactive,
        SessionMode::Headless => Mode::Headless,
    };
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let dir = machine.folders.session(row.session);
    Request {
        prompt: some(task::prompt(desired)),
        mcp: task::servers(desired, &machine.options.exe),
        model: desired.model.clone(),
        system: some(&desired.context),
        conversation: desired.conversation.clone(),
        argv: desired.argv.clone(),
        autonomy: autonomy(row.desired.asks, sandbox::sandbox_of(row).is_some()),
        trusted: false,
        shell: machine.person.get("SHELL").cloned().unwrap_or_else(|| "/bin/sh".to_owned()),
        home: machine.person.get("HOME").map(PathBuf::from),
        // A link could point anywhere: only a real folder of the workspace counts.
        git_dir: Some(workspace.join(".git")).filter(|git| git.symlink_metadata().is_ok_and(|found| found.is_dir())),
        ..Request::new(mode, workspace, &dir, &machine.options.exe)
    }
}

/// The agent's program; an error if it is not installed.
fn program(machine: &Machine, adapter: &Adapter) -> Result<Option<PathBuf>, String> {
    let Some(name) = adapter.program() else { return Ok(None) };
    match programs::find(&name, &machine.person) {
        Some(path) => Ok(Some(path)),
        None if adapter.install.is_empty() => Err(format!("{} is not installed on this machine", adapter.label)),
        None => Err(format!("{} is not installed on this machine: {}", adapter.label, adapter.install)),
    }
}

fn spec(
    machine: &Machine,
    row: &SessionRow,
    adapter: &Adapter,
    place: &Place,
    launch: &Launch,
    secret: &Secret,
) -> Result<Spec, String> {
    let desired = &row.desired;
    let mut env = agents::merge(agents::environment(adapter, &machine.person), launch.env.clone());
    let mut masks: Vec<String> =
        env.iter().flat_map(|(name, value)| agents::secrets_in(name, value)).map(str::to_owned).collect();
    masks.extend([secret.expose().to_owned(), machine.options.token.expose().to_owned()]);
    let dir = machine.folders.session(row.session);
    let ours = [
        ("SHOPFLOOR_HUB", machine.options.hub.clone()),
        // Not the token itself: it is short-lived, and others who may inspect the process see its environment.
        ("SHOPFLOOR_TOKEN_FILE", token::file(&dir).to_string_lossy().into_owned()),
        (SESSION, row.session.to_string()),
        ("SHOPFLOOR_PROJECT", desired.project.to_string()),
        ("SHOPFLOOR_ACTIVITY", desired.activity.to_string()),
        ("SHOPFLOOR_WORKSPACE", desired.workspace.workspace.to_string()),
    ];
    env = agents::merge(env, ours.map(|(name, value)| (name.to_owned(), value)));
    env = agents::merge(env, place.port_variables());
    env = agents::merge(env, desired.task.iter().flat_map(|task| task::variables(task, &dir)));
    env = agents::merge(env, desired.step.iter().map(key));
    let files = launch.files.iter().map(|file| dir.join(&file.name)).chain([token::folder(&dir)]).collect();
    let argv = sandbox::contain(
        machine,
        adapter,
        (desired.project, sandbox::sandbox_of(row)),
        place,
        files,
        launch.argv.clone(),
    )?;
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
        stop_grace_ms: machine.options.stop_grace.as_millis() as u64,
        nice: machine.options.session_nice,
        limits: machine.options.session_limits,
        ..Spec::new(argv, &place.path)
    })
}

/// The idempotency key of an attempt of a step: what it does elsewhere can carry it.
fn key(step: &DesiredStep) -> (String, String) {
    ("SHOPFLOOR_KEY".to_owned(), format!("{}/{}/{}", step.execution, step.path, step.attempt))
}

fn title(row: &SessionRow, adapter: &Adapter) -> String {
    let first = task::prompt(&row.desired).lines().next().unwrap_or_default().trim();
    let title = if !first.is_empty() {
        first.to_owned()
    } else if row.desired.argv.is_empty() {
        adapter.label.clone()
    } else {
        row.desired.argv.join(" ")
    };
    title.chars().filter(|c| !c.is_control()).take(120).collect()
}

/// What an agent may do without asking. Skipping permission prompts is only for a contained one.
pub(crate) fn autonomy(asks: bool, contained: bool) -> Autonomy {
    match (asks, contained) {
        (true, _) => Autonomy::Ask,
        (false, true) => Autonomy::Full,
        (false, false) => Autonomy::Edit,
    }
}
