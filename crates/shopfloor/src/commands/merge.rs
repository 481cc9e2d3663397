//! `shopfloor merge`: branches that are tested together and land.

mod show;

use clap::{Args, Subcommand};
use client::Client;
use client::watch::Event;
use domain::{CandidateId, MergeAdders, MergeMethod, ProjectId};
use protocol::{
    Call, Candidate, CandidateDetail, Change, FromHub, MergeAdd, MergeCommand, MergeConfigure, MergeForecast,
    MergeGateChange, MergePage, MergeQueue, MergeSettings, MergeWhatIf, Project,
};

use super::task;
use crate::pick::{pick, pick_if};
use crate::{Context, Failure, Output};

const EXAMPLES: &str = "\
Examples:
  shopfloor merge configure --project calc --check 'make test' --at-once 2
  shopfloor merge add --project calc feature/sum
  shopfloor merge add --project calc hotfix --fix      # moves while the queue is frozen
  shopfloor merge list --project calc
  shopfloor merge show feature/sum --project calc      # its runs and their logs
  shopfloor merge watch --project calc";

/// Subcommands for merge queues.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum MergeSubcommand {
    /// Add a branch of the project's repository to the queue
    Add(AddArgs),
    /// Show the queues: waiting branches, running tests and expected landings
    List(Of),
    /// Show the branches that have landed or left, newest first, with the cost of each
    History {
        #[command(flatten)]
        of: Of,
        /// How many branches, at most 500 [default: 100]
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
    /// Show a branch with its runs and the logs of its checks
    Show(One),
    /// Print a queue again whenever it moves
    Watch(Of),
    /// Take a branch out of the queue
    Remove(One),
    /// Let a branch land although the project has no checks
    Confirm(One),
    /// Stop a queue: nothing is tested and nothing lands
    Pause(GateArgs),
    /// Let only fixes through
    Freeze(GateArgs),
    /// Let a paused or frozen queue move again
    Thaw(GateArgs),
    /// Show what would be tested next and how long it takes, without doing it
    Simulate(SimulateArgs),
    /// Show how a project merges
    Settings(Of),
    /// Change how a project merges; everything that you do not name stays as it is
    Configure(ConfigureArgs),
}

/// The project.
#[derive(Debug, Args)]
pub(crate) struct Of {
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: String,
}

/// A branch in a queue.
#[derive(Debug, Args)]
pub(crate) struct One {
    /// The candidate's id, or its branch with --project
    candidate: String,
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
}

/// Arguments of `merge add`.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The branch at the repository's location
    branch: String,
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: String,
    /// The subject of its commit on the target branch [default: the branch]
    #[arg(long)]
    title: Option<String>,
    /// The branch to land on [default: the repository's base branch, else main]
    #[arg(long, value_name = "BRANCH")]
    target: Option<String>,
    /// 0 to 9, the highest goes first [default: 0]
    #[arg(long, value_name = "N")]
    priority: Option<u8>,
    /// A candidate that must land before it; repeatable
    #[arg(long, value_name = "CANDIDATE")]
    after: Vec<CandidateId>,
    /// Let it through while the queue is frozen
    #[arg(long)]
    fix: bool,
    /// The task whose work it is (id or title)
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
}

/// Arguments of `merge pause`, `freeze` and `thaw`.
#[derive(Debug, Args)]
pub(crate) struct GateArgs {
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: String,
    /// The target branch [default: the repository's base branch, else main]
    #[arg(long, value_name = "BRANCH")]
    target: Option<String>,
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

/// Arguments of `merge simulate`.
#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: String,
    /// The target branch [default: the repository's base branch, else main]
    #[arg(long, value_name = "BRANCH")]
    target: Option<String>,
    /// How many branches wait, at most 30 [default: those that do]
    #[arg(long, value_name = "N")]
    waiting: Option<u32>,
    /// How many of 100 branches fail [default: as in the past]
    #[arg(long, value_name = "PERCENT")]
    failure: Option<u32>,
    /// Maximum number of runs at once [default: the project's]
    #[arg(long, value_name = "N")]
    at_once: Option<u32>,
}

/// Arguments of `merge configure`.
#[derive(Debug, Args)]
pub(crate) struct ConfigureArgs {
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: String,
    /// A command that must pass, such as 'make test'; repeatable, replaces all checks
    #[arg(long, value_name = "COMMAND", conflicts_with = "no_checks")]
    check: Vec<String>,
    /// Remove all checks: a person must confirm each branch
    #[arg(long)]
    no_checks: bool,
    /// Time limit of each of these checks in seconds [default: 1800]
    #[arg(long, value_name = "SECONDS", requires = "check")]
    seconds: Option<u32>,
    /// How branches are merged: merge, squash or rebase
    #[arg(long, value_name = "METHOD")]
    method: Option<MergeMethod>,
    /// Who may add branches: writers, people or owner
    #[arg(long, value_name = "WHO")]
    adders: Option<MergeAdders>,
    /// Maximum number of runs at once, 1 to 8
    #[arg(long, value_name = "N")]
    at_once: Option<u32>,
}

/// The default time limit of a check.
const SECONDS: u32 = 1800;

/// Runs the subcommand.
pub(crate) async fn run(command: MergeSubcommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        MergeSubcommand::Add(args) => add(args, client, out).await,
        MergeSubcommand::List(of) => {
            let queues = queues(client, pick::<Project>(client, &of.project).await?).await?;
            out.show(&queues, |out| show::queues(&queues, out))
        }
        MergeSubcommand::History { of, limit } => {
            let project = pick::<Project>(client, &of.project).await?;
            let page = MergePage { limit };
            let ended: Vec<Candidate> = client.ask(Call::MergeHistory { project, page }).await?;
            out.show(&ended, |out| show::history(&ended, out))
        }
        MergeSubcommand::Show(one) => {
            let candidate = one.id(client).await?;
            let detail: CandidateDetail = client.ask(Call::MergeShow { candidate }).await?;
            out.show(&detail, |out| show::detail(&detail, out))
        }
        MergeSubcommand::Watch(of) => watch(&of, client, out).await,
        MergeSubcommand::Remove(one) => {
            let candidate = one.id(client).await?;
            show::one(&client.ask(Call::MergeRemove { candidate }).await?, out)
        }
        MergeSubcommand::Confirm(one) => {
            let candidate = one.id(client).await?;
            show::one(&client.ask(Call::MergeConfirm { candidate }).await?, out)
        }
        MergeSubcommand::Pause(args) => {
            gate(args, client, out, |project, input| Call::MergePause { project, input }).await
        }
        MergeSubcommand::Freeze(args) => {
            gate(args, client, out, |project, input| Call::MergeFreeze { project, input }).await
        }
        MergeSubcommand::Thaw(args) => {
            gate(args, client, out, |project, input| Call::MergeThaw { project, input }).await
        }
        MergeSubcommand::Simulate(args) => simulate(args, client, out).await,
        MergeSubcommand::Settings(of) => {
            let project = pick::<Project>(client, &of.project).await?;
            show::settings(&client.ask(Call::MergeSettings { project }).await?, out)
        }
        MergeSubcommand::Configure(args) => configure(args, client, out).await,
    }
}

async fn queues(client: &Client, project: ProjectId) -> Result<Vec<MergeQueue>, Failure> {
    Ok(client.ask(Call::MergeList { project }).await?)
}

impl One {
    /// The candidate: by id, or by its branch in the project.
    async fn id(&self, client: &Client) -> Result<CandidateId, Failure> {
        if let Ok(id) = self.candidate.parse() {
            return Ok(id);
        }
        let Some(project) = pick_if::<Project>(client, self.project.as_deref()).await? else {
            let message = format!("`{}` is not the id of a candidate", self.candidate);
            return Err(Failure::usage(&message).advise("name the project of a branch with --project"));
        };
        let waiting = queues(client, project).await?.into_iter().flat_map(|queue| queue.candidates);
        let ended: Vec<Candidate> = client.ask(Call::MergeHistory { project, page: MergePage { limit: None } }).await?;
        let found = waiting.chain(ended).find(|candidate| candidate.branch == self.candidate);
        let missing = || Failure::usage(format!("no branch `{}` is or was in the merge queue", self.candidate));
        found.map(|candidate| candidate.id).ok_or_else(missing)
    }
}

async fn add(args: AddArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let project = pick::<Project>(client, &args.project).await?;
    let task = match &args.task {
        Some(named) => Some(task::id(client, named).await?),
        None => None,
    };
    let input = MergeAdd {
        branch: args.branch,
        title: args.title,
        target: args.target,
        priority: args.priority,
        after: args.after,
        fix: args.fix,
        task,
    };
    show::one(&client.ask(Call::MergeAdd { project, input }).await?, out)
}

async fn gate(
    args: GateArgs,
    client: &Client,
    out: &Output,
    call: impl Fn(ProjectId, MergeGateChange) -> Call,
) -> Result<(), Failure> {
    let project = pick::<Project>(client, &args.project).await?;
    let input = MergeGateChange { target: args.target, reason: args.reason };
    let queue: MergeQueue = client.ask(call(project, input)).await?;
    out.show(&queue, |out| show::queues(std::slice::from_ref(&queue), out))
}

async fn simulate(args: SimulateArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let project = pick::<Project>(client, &args.project).await?;
    let SimulateArgs { target, waiting, failure, at_once, .. } = args;
    let what = MergeWhatIf { target, waiting, failure_percent: failure, at_once };
    let forecast: MergeForecast = client.ask(Call::MergeSimulate { project, what }).await?;
    out.show(&forecast, |_| show::forecast(&forecast))
}

async fn configure(args: ConfigureArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let seconds = args.seconds.unwrap_or(SECONDS);
    let command = |text: &String| match shlex::split(text).filter(|argv| !argv.is_empty()) {
        Some(argv) => Ok(MergeCommand { argv, seconds }),
        None => Err(Failure::usage(format!("`{text}` is not a command: check its quotes"))),
    };
    let checks = args.check.iter().map(command).collect::<Result<Vec<_>, _>>()?;
    let input = MergeConfigure {
        checks: (args.no_checks || !checks.is_empty()).then_some(checks),
        method: args.method,
        adders: args.adders,
        at_once: args.at_once,
    };
    if input == MergeConfigure::default() {
        return Err(Failure::usage("nothing to change").advise("pass at least one option; --help lists them"));
    }
    let project = pick::<Project>(client, &args.project).await?;
    let settings: MergeSettings = client.ask(Call::MergeConfigure { project, input }).await?;
    show::settings(&settings, out)
}

/// Prints the queues of a project now, and each again when it moves.
async fn watch(of: &Of, client: &Client, out: &Output) -> Result<(), Failure> {
    let project = pick::<Project>(client, &of.project).await?;
    let mut watch = client.watch().named("cli");
    let mut live = false;
    loop {
        match watch.next().await? {
            Event::Lost { why, .. } => {
                out.note(&format!("connection lost ({why}); reconnecting"));
                live = false;
            }
            Event::Frame(FromHub::Delta(delta)) => match &delta.change {
                Change::MergeQueue { queue } if queue.project == project => {
                    out.stream(queue, |out| show::queues(std::slice::from_ref(queue), out))?;
                }
                Change::Candidate { candidate } if candidate.project == project => {
                    out.stream(candidate, |_| show::left(candidate))?;
                }
                _ => {}
            },
            Event::Frame(_) if !live => {
                live = true;
                for queue in queues(client, project).await? {
                    out.stream(&queue, |out| show::queues(std::slice::from_ref(&queue), out))?;
                }
            }
            Event::Frame(_) => {}
        }
    }
}
