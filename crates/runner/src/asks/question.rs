//! Asks the agent of an ended session: its conversation is resumed without a screen, in a sandbox that cannot write in
//! the workspace. The agent gets no tools of ours and no token.

use std::fs::{DirBuilder, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use agents::{Adapter, Autonomy, Home, Launch, Mode, Prompt, Recogniser, Request, SandboxSpec, Secrets};
use domain::{ProjectId, QuestionId, SessionId, WorkspaceId};
use protocol::{Problem, ProblemKind, Sandbox};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

use super::Asks;
use crate::hidden::hidden;
use crate::programs;
use crate::workspaces::problem;

/// Where an agent without structured lines leaves its answer.
const ANSWER: &str = "answer.txt";
/// How much of an answer to read, and to send.
const READ: u64 = 8 << 20;
const SENT: usize = 32 * 1024;

/// A question as it comes from the hub.
pub(super) struct Question {
    pub(super) question: QuestionId,
    pub(super) session: SessionId,
    pub(super) project: ProjectId,
    pub(super) workspace: WorkspaceId,
    pub(super) agent: String,
    pub(super) model: Option<String>,
    pub(super) conversation: String,
    pub(super) sandbox: Option<Sandbox>,
    pub(super) text: String,
    pub(super) seconds: u32,
}

impl Asks {
    /// What the agent answers.
    pub(super) async fn question(&self, asked: Question) -> Result<String, Problem> {
        let stopping = |_| Problem::new(ProblemKind::Unavailable, "the runner is stopping");
        let _turn = self.questions.acquire().await.map_err(stopping)?;
        let machine = &self.machine;
        let unknown = || conflict(format!("this runner has no agent `{}`", asked.agent));
        let adapter = machine.adapters.get(&asked.agent).ok_or_else(unknown)?;
        if !adapter.can_be_asked() {
            let label = &adapter.label;
            return Err(conflict(format!("{label} cannot be asked: its adapter has no way to resume and only read")));
        }
        let program = match adapter.program() {
            None => None,
            Some(name) => {
                let missing = || conflict(format!("{} is not installed on this machine", adapter.label));
                Some(programs::find(&name, &machine.person).ok_or_else(missing)?)
            }
        };
        let place = self.workspaces.worktrees.find(asked.workspace).await.map_err(problem)?;
        let borrows = self.workspaces.worktrees.borrows(&place);
        let dir = Folder::make(&machine.folders.session(asked.session).join(asked.question.to_string()))?;
        let request = Request {
            prompt: Some(asked.text.clone()),
            model: asked.model.clone(),
            conversation: Some(asked.conversation.clone()),
            autonomy: Autonomy::Read,
            program,
            shell: machine.person.get("SHELL").cloned().unwrap_or_else(|| "/bin/sh".to_owned()),
            home: machine.person.get("HOME").map(PathBuf::from),
            ..Request::new(Mode::Headless, &place.path, &dir.0, &machine.options.exe)
        };
        let launch = agents::launch(&adapter, &request).map_err(|error| conflict(error.to_string()))?;
        dir.write(&launch.files)?;
        let argv = self.contained(&adapter, &asked, &place.path, (borrows, &dir.0, &launch)).await?;
        let env = agents::merge(agents::environment(&adapter, &machine.person), launch.env.clone());
        let status = run(argv, env.clone(), (&place.path, &dir.0, &launch), asked.seconds).await?;
        let (folder, events) = (dir.0.clone(), launch.events);
        let read = move || answer(&folder, events, adapter, Secrets::of(env.into_iter()));
        let found = tokio::task::spawn_blocking(read).await.map_err(|error| conflict(error.to_string()))?;
        found.map_err(|why| conflict(format!("the agent answered nothing ({status}){why}")))
    }

    /// The arguments that run the agent where it cannot write, except its own state.
    async fn contained(
        &self,
        adapter: &Adapter,
        asked: &Question,
        workspace: &Path,
        (borrows, dir, launch): (Option<PathBuf>, &Path, &Launch),
    ) -> Result<Vec<String>, Problem> {
        let machine = &self.machine;
        let kept = self.workspaces.row(asked.workspace).await.map_err(conflict)?.and_then(|row| row.sandbox);
        let sandbox = Sandbox::both(kept.as_ref(), asked.sandbox.as_ref());
        let spec = SandboxSpec {
            workspace: workspace.to_owned(),
            state_dir: machine.folders.contained(asked.project),
            exe: machine.options.exe.clone(),
            home: match sandbox.as_ref().is_none_or(|sandbox| sandbox.home) {
                true => Home::ReadOnly,
                false => Home::Hidden,
            },
            network: sandbox.as_ref().is_none_or(|sandbox| sandbox.network),
            files: launch.files.iter().map(|file| dir.join(&file.name)).collect(),
            readable: borrows.into_iter().collect(),
            writable: Vec::new(),
            hidden: hidden(&machine.options, &machine.person),
            frozen: true,
            shares_state: sandbox.is_none(),
        };
        let works = agents::sandbox_works(&machine.person).await;
        let contained = works.and_then(|()| agents::sandbox(adapter, &launch.argv, &machine.person, &spec));
        contained.map_err(|error| conflict(format!("a question needs a sandbox, so that nothing is written: {error}")))
    }
}

/// Runs the agent to its end; kills it with everything that it started when its time is over.
async fn run(
    argv: Vec<String>,
    env: Vec<(String, String)>,
    (workspace, dir, launch): (&Path, &Path, &Launch),
    seconds: u32,
) -> Result<ExitStatus, Problem> {
    let failed = |error: std::io::Error| conflict(format!("could not start the agent: {error}"));
    let (program, args) = argv.split_first().ok_or_else(|| conflict("there is no command to run"))?;
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(env).current_dir(workspace).process_group(0).kill_on_drop(true);
    command.stdin(match &launch.prompt {
        Prompt::Stdin(file) => File::open(file).map_err(failed)?.into(),
        Prompt::None | Prompt::Paste(_) => Stdio::null(),
    });
    // With structured lines, the wrapper keeps everything in its file.
    command.stderr(Stdio::null()).stdout(match launch.events {
        true => Stdio::null(),
        false => private(&dir.join(ANSWER)).map_err(failed)?.into(),
    });
    let mut child = command.spawn().map_err(failed)?;
    let mut group = Group::of(&child);
    let ended = tokio::time::timeout(Duration::from_secs(seconds.into()), child.wait()).await;
    if ended.is_ok() {
        // What it left behind ends with its sandbox; its number may be another's now.
        group.0 = None;
    }
    let ended = ended.map_err(|_| conflict(format!("the agent did not answer within {seconds} seconds")))?;
    ended.map_err(failed)
}

/// The answer in what the agent left, or its last complaint.
fn answer(dir: &Path, events: bool, adapter: Arc<Adapter>, mut secrets: Secrets) -> Result<String, String> {
    let name = if events { agents::lines::EVENTS_FILE } else { ANSWER };
    let mut text = Vec::new();
    let opened = File::open(dir.join(name)).and_then(|file| file.take(READ).read_to_end(&mut text));
    opened.map_err(|error| format!(": {error}"))?;
    let text = secrets.masked_text(&String::from_utf8_lossy(&text));
    let (said, complaint) = match events {
        false => (Some(text), None),
        true => {
            let mut recogniser = Recogniser::new(adapter, Mode::Headless);
            let seen = text.lines().map(|line| recogniser.line(line)).last().unwrap_or_default();
            (seen.said, seen.hold_up.map(|hold_up| hold_up.message))
        }
    };
    let said = said.map(|said| domain::text::plain(said.trim(), SENT)).filter(|said| !said.is_empty());
    said.ok_or_else(|| complaint.map(|words| format!(": {words}")).unwrap_or_default())
}

/// A folder that is deleted at the end.
struct Folder(PathBuf);

impl Folder {
    fn make(path: &Path) -> Result<Self, Problem> {
        let failed = |error: std::io::Error| conflict(format!("could not make a folder for the question: {error}"));
        // A killed runner may have left it.
        let _ = std::fs::remove_dir_all(path);
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
        Ok(Self(path.to_owned()))
    }

    fn write(&self, files: &[agents::File]) -> Result<(), Problem> {
        for file in files {
            let written = private(&self.0.join(&file.name)).and_then(|mut out| out.write_all(file.text.as_bytes()));
            written.map_err(|error| conflict(format!("could not write the agent's files: {error}")))?;
        }
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn private(path: &Path) -> std::io::Result<File> {
    File::options().create(true).truncate(true).write(true).mode(0o600).open(path)
}

/// Kills the whole group at the end, however that comes.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| Pid::from_raw(id.cast_signed())))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

fn conflict(why: impl Into<String>) -> Problem {
    Problem::new(ProblemKind::Conflict, why)
}
