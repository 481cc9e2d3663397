//! `shopfloor files`: synchronizes a folder with the queue, for workers that only read and write files.

mod arrivals;
mod door;
mod hands;
mod intake;
mod news;
mod paper;
mod readme;
mod reports;
mod settle;
mod shown;
mod state;
mod tree;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use client::{Client, ClientError};
use domain::{ProjectId, TaskId};
use protocol::{ProblemKind, Project};
use sha2::{Digest, Sha256};
use tokio::signal::unix::{SignalKind, signal};

use self::news::News;
use self::paper::Paper;
use self::settle::{Looks, Settling};
use self::shown::Showing;
use self::state::State;
use self::tree::{Folder, Tree};
use crate::pick::pick;
use crate::{Context, Failure, Output};

/// Polling interval of the folders.
const TICK: Duration = Duration::from_millis(300);

/// Arguments of `files`.
#[derive(Debug, Args)]
pub(crate) struct FilesArgs {
    /// The folder; Shopfloor creates `pending`, `assigned`, `reports`, `completed` and `failed` in it
    #[arg(long, value_name = "DIR", default_value = "tasks")]
    dir: PathBuf,
    /// The project's id or name; optional if you see only one project
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// The name of the folder's worker; the same name is the same worker [default: files, the folder's name and a hash
    /// of its path]
    #[arg(long, value_name = "NAME")]
    worker: Option<String>,
    /// How many tasks may be in `assigned` at once; 0 takes none: the folder then only adds and shows tasks
    #[arg(long, value_name = "N", default_value_t = 1)]
    assign: u16,
    /// Seconds that an unreadable file may stay unfinished before `NAME.error.txt` explains what is wrong
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    patience: u64,
    /// Minutes without a report or a change of its file after which a task is returned
    #[arg(long, value_name = "MINUTES", default_value_t = 60)]
    give_back: u64,
    /// How many tasks that others added to show in `pending`, at most
    #[arg(long, value_name = "N", default_value_t = 1000)]
    show: usize,
    /// Exit when no task is open and no file is waiting
    #[arg(long)]
    until_done: bool,
}

/// The name of a folder's worker: each folder is another worker, across restarts.
fn worker_of(dir: &Path) -> String {
    let whole = std::fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    let name = whole.file_name().map(|name| domain::text::plain(&name.to_string_lossy(), 40)).unwrap_or_default();
    let mark = hex::encode(Sha256::digest(whole.as_os_str().as_encoded_bytes()));
    format!("files {name} {}", &mark[..6])
}

/// One synchronized folder.
struct Desk<'a> {
    client: Client,
    project: ProjectId,
    args: FilesArgs,
    /// Its worker's name.
    worker: String,
    tree: Tree,
    state: State,
    /// Every known task by the name of its file; tasks in `completed` by name only.
    papers: HashMap<String, (Folder, Paper)>,
    /// The signatures of files in `pending` that are known to be ours.
    ours: HashMap<String, Looks>,
    showing: Showing,
    settling: Settling,
    news: News,
    hands: hands::Hands,
    out: &'a Output,
    /// Whether the last request reached the hub.
    reached: bool,
}

/// Synchronizes the folder until a signal ends the process.
pub(crate) async fn run(args: FilesArgs, context: &Context) -> Result<(), Failure> {
    // An agent may write into the folder: its requests are not the person's.
    let client = context.client()?.for_agent();
    let project = project(&client, args.project.as_deref()).await?;
    let tree = Tree::open(&args.dir)?;
    let state = State::open(&tree, project)?;
    let mut desk = Desk {
        news: News::start(&client, project),
        papers: tree.papers()?,
        ours: HashMap::new(),
        showing: Showing::default(),
        settling: Settling::new(Duration::from_secs(args.patience)),
        hands: hands::Hands::default(),
        out: &context.out,
        reached: true,
        client,
        project,
        worker: args.worker.clone().unwrap_or_else(|| worker_of(&args.dir)),
        args,
        tree,
        state,
    };
    context.out.note(&format!("synchronizing {} with project {project}; Ctrl-C stops it", desk.tree.shown()));
    desk.serve().await
}

async fn project(client: &Client, named: Option<&str>) -> Result<ProjectId, Failure> {
    if let Some(named) = named {
        return pick::<Project>(client, named).await;
    }
    let all: Vec<Project> = client.ask(protocol::Call::ProjectList {}).await?;
    match all.as_slice() {
        [only] => Ok(only.id),
        [] => Err(Failure::usage("you have no project").advise("create one with `shopfloor project create NAME`")),
        several => {
            let names: Vec<&str> = several.iter().take(8).map(|project| project.name.as_str()).collect();
            Err(Failure::usage("choose a project")
                .advise(format!("pass --project NAME; you can see {}", names.join(", "))))
        }
    }
}

impl Desk<'_> {
    async fn serve(&mut self) -> Result<(), Failure> {
        let stop =
            |kind| signal(kind).map_err(|error| Failure::other(format!("could not listen for signals: {error}")));
        let (mut interrupt, mut end) = (stop(SignalKind::interrupt())?, stop(SignalKind::terminate())?);
        loop {
            match self.round().await {
                Ok(()) => self.reach(None),
                Err(Trouble::Hub(error)) if passes(&error) => self.reach(Some(&error)),
                Err(Trouble::Hub(error)) => return Err(error.into()),
                Err(Trouble::Disk(failure)) => return Err(failure),
            }
            if self.args.until_done && self.reached && self.is_done() {
                return Ok(());
            }
            tokio::select! {
                () = self.news.come() => {}
                () = tokio::time::sleep(TICK) => {}
                _ = interrupt.recv() => return Ok(()),
                _ = end.recv() => return Ok(()),
            }
        }
    }

    /// One round; the order of its steps loses nothing if it is interrupted.
    async fn round(&mut self) -> Result<(), Trouble> {
        self.straighten()?;
        self.look_over()?;
        self.take_in().await?;
        self.renew().await?;
        self.collect().await?;
        self.hear().await?;
        self.take().await?;
        Ok(())
    }

    /// Notes once when the hub stops answering, and once when it answers again.
    fn reach(&mut self, error: Option<&ClientError>) {
        match (self.reached, error) {
            (true, Some(error)) => self.out.note(&format!("the hub does not answer; retrying: {error}")),
            (false, None) => self.out.note("the hub answers again"),
            _ => {}
        }
        self.reached = error.is_none();
    }

    fn is_done(&self) -> bool {
        let open = |(folder, paper): &(Folder, Paper)| match folder {
            Folder::Pending => !paper.mark.status.is_over(),
            Folder::Assigned => true,
            Folder::Completed | Folder::Failed => false,
        };
        !self.papers.values().any(open) && !self.showing.leaves_out() && !self.settling.waits() && self.news.is_quiet()
    }

    /// The name of a task's file.
    fn name_of(&self, task: TaskId) -> Option<String> {
        self.papers.iter().find(|(_, (_, paper))| paper.mark.task == task).map(|(name, _)| name.clone())
    }
}

/// Why a round was interrupted.
enum Trouble {
    Hub(ClientError),
    Disk(Failure),
}

impl From<ClientError> for Trouble {
    fn from(error: ClientError) -> Self {
        Self::Hub(error)
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Disk(failure)
    }
}

/// Whether a retry may succeed.
fn passes(error: &ClientError) -> bool {
    match error {
        ClientError::Unreachable { .. } => true,
        ClientError::Protocol(_) => false,
        ClientError::Problem(problem) => !matches!(
            problem.kind,
            ProblemKind::Unauthenticated | ProblemKind::Forbidden | ProblemKind::NotFound | ProblemKind::Protocol
        ),
    }
}
