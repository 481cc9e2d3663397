//! `shopfloor worker`.

mod args;
mod show;
mod status;

use std::collections::HashMap;

use client::Client;
use domain::text::title;
use domain::{ProjectId, TaskId, WorkerId};
use protocol::{
    Call, Project, Runner, Sandbox, TaskDetail, WorkEntry, WorkLogPage, WorkSettings, Worker, WorkerDetail,
    WorkerFilter, WorkerStart, WorkerStop, WorkerUpdate,
};

pub(crate) use args::WorkerCommand;
use args::{LogArgs, StartArgs, UpdateArgs};

use super::{task, words};
use crate::confirm::sure;
use crate::output::clean;
use crate::pick::{pick, pick_exact, pick_if};
use crate::table::Table;
use crate::{Context, Failure, Output, when};

/// How many task titles to fetch; other tasks are shown by id.
const NAMED: usize = 50;

/// Runs the subcommand.
pub(crate) async fn run(command: WorkerCommand, context: &Context) -> Result<(), Failure> {
    if let WorkerCommand::Start(args) = &command
        && args.agent.is_none()
        && args.argv.is_empty()
    {
        let examples = "`shopfloor worker start --help` has examples";
        return Err(Failure::usage("give --agent or `-- COMMAND`").advise(examples));
    }
    let (client, out) = (&context.client()?, &context.out);
    match command {
        WorkerCommand::Start(args) => start(args, client, out).await,
        WorkerCommand::List(args) => {
            let project = pick_if::<Project>(client, args.project.as_deref()).await?;
            let workers: Vec<Worker> = client.ask(Call::WorkerList { filter: WorkerFilter { project } }).await?;
            out.show(&workers, |out| table(&workers, out))
        }
        WorkerCommand::Status(args) => status::run(args.project.as_deref(), client, out).await,
        WorkerCommand::Show { worker } => {
            let worker = id(client, &worker).await?;
            let detail: WorkerDetail = client.ask(Call::WorkerShow { worker }).await?;
            let project = detail.worker.project;
            let names = if out.json { Names::default() } else { Names::of(&detail.log, project, client).await? };
            out.show(&detail, |out| show::render(&detail, &names, out))
        }
        WorkerCommand::Update(args) => update(args, client, out).await,
        WorkerCommand::Stop { worker, force } => {
            let worker = id(client, &worker).await?;
            said(&client.ask(Call::WorkerStop { worker, input: WorkerStop { force } }).await?, out)
        }
        WorkerCommand::Restart { worker } => {
            let worker = id(client, &worker).await?;
            said(&client.ask(Call::WorkerRestart { worker }).await?, out)
        }
        WorkerCommand::Remove { worker, yes } => {
            let worker = pick_exact::<Worker>(client, &worker).await?;
            if !yes.yes {
                let WorkerDetail { worker: shown, .. } = client.ask(Call::WorkerShow { worker }).await?;
                let what = format!("worker `{}` ({worker}, {})", shown.name, shown.status);
                sure(false, "remove", &what, "What it did is kept.")?;
            }
            client.ask::<()>(Call::WorkerRemove { worker }).await?;
            out.did("removed", worker)
        }
        WorkerCommand::StopAll { project, force } => {
            let project = pick::<Project>(client, &project).await?;
            let call = Call::WorkerStopAll { project, input: WorkerStop { force } };
            let workers: Vec<Worker> = client.ask(call).await?;
            out.show(&workers, |out| table(&workers, out))
        }
        WorkerCommand::Log(args) => log(args, client, out).await,
    }
}

async fn start(args: StartArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let project = pick::<Project>(client, &args.project).await?;
    let sandbox = Sandbox { network: !args.no_network, home: args.home };
    let input = WorkerStart {
        agent: args.agent.unwrap_or_else(|| if args.profile.is_some() { String::new() } else { "command".to_owned() }),
        profile: args.profile,
        count: args.count,
        role: args.role,
        model: args.model,
        budget_micros: args.budget,
        handoff_after_micros: args.handoff_after_cost,
        abilities: args.abilities,
        runner: pick_if::<Runner>(client, args.runner.as_deref()).await?,
        argv: args.argv,
        sandbox: args.sandbox.then_some(sandbox),
    };
    let workers: Vec<Worker> = client.ask(Call::WorkerStart { project, input }).await?;
    let settings: WorkSettings = client.ask(Call::WorkSettings { project }).await?;
    out.show(&workers, |out| table(&workers, out))?;
    if let Some(worker) = workers.first()
        && settings.frozen_by.iter().any(|by| by.id == worker.owner.id)
    {
        out.note("you stopped everything: these workers take no tasks until `shopfloor thaw`");
    }
    let limited = [(args.budget, "budget"), (args.handoff_after_cost, "handoff after a cost")];
    if let Some((_, limit)) = limited.iter().find(|(micros, _)| micros.is_some())
        && let Some(worker) = workers.first()
        && !tells_cost(worker, client).await?
    {
        out.note(&format!(
            "`{}` reports no cost: the {limit} has no effect until you set token prices in `prices.toml` on its runner",
            worker.agent
        ));
    }
    Ok(())
}

/// Whether a worker's cost is known, as far as its runner says.
async fn tells_cost(worker: &Worker, client: &Client) -> Result<bool, Failure> {
    let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await?;
    let about = runners.into_iter().find(|runner| Some(runner.id) == worker.runner).and_then(|runner| runner.about);
    let modes = about.and_then(|about| about.agents.into_iter().find(|agent| agent.name == worker.agent)?.modes);
    // Your own program may report its cost.
    let silent = modes.is_some_and(|modes| !modes.is_empty() && modes.iter().all(|mode| mode.costs == Some(false)));
    Ok(worker.agent == "command" || !silent)
}

async fn update(args: UpdateArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let abilities = Some(args.abilities).filter(|abilities| !abilities.is_empty());
    let (budget_micros, handoff_after_micros) = (args.budget, args.handoff_after_cost);
    let input = WorkerUpdate { budget_micros, handoff_after_micros, name: args.name, abilities };
    if input == WorkerUpdate::default() {
        return Err(
            Failure::usage("nothing to change").advise("pass --name, --budget, --handoff-after-cost or --ability")
        );
    }
    let worker = id(client, &args.worker).await?;
    said(&client.ask(Call::WorkerUpdate { worker, input }).await?, out)
}

async fn log(args: LogArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let project = pick::<Project>(client, &args.project).await?;
    let task = match &args.task {
        Some(text) => Some(task::id(client, text).await?),
        None => None,
    };
    let worker = pick_if::<Worker>(client, args.worker.as_deref()).await?;
    let page = WorkLogPage { worker, task, before: args.before, limit: args.limit };
    let entries: Vec<WorkEntry> = client.ask(Call::WorkLog { project, page }).await?;
    let names = if out.json { Names::default() } else { Names::of(&entries, project, client).await? };
    out.show(&entries, |out| log_table(&entries, &names, out))
}

/// The worker that a person means.
async fn id(client: &Client, text: &str) -> Result<WorkerId, Failure> {
    pick::<Worker>(client, text).await
}

fn said(worker: &Worker, out: &Output) -> Result<(), Failure> {
    let why = worker.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    out.show(worker, |_| clean(&format!("{}  {}  {}{why}", worker.id, worker.name, worker.status)).replace('\n', " "))
}

/// A table of workers.
pub(crate) fn table(workers: &[Worker], out: &Output) -> String {
    let titles = &["ID", "NAME…", "STATUS…", "AGENT", "DONE", "FAILED", "COST", "OWNER…", "SEEN"];
    let mut table = Table::new(titles, "no workers; start some with `shopfloor worker start`");
    for worker in workers {
        table.row([
            worker.id.into(),
            words::worker_name(worker),
            words::worker_cell(worker),
            (&worker.agent).into(),
            worker.done.into(),
            worker.failed.into(),
            cost(worker).into(),
            (&worker.owner.name).into(),
            when::relative_or(worker.seen_at, out.now, "-").into(),
        ]);
    }
    table.render(out)
}

/// A worker's cost and budget.
fn cost(worker: &Worker) -> String {
    match (worker.usage.cost_micros, worker.budget_micros) {
        (None, None) => "-".to_owned(),
        (spent, None) => words::money(spent.unwrap_or(0)),
        (spent, Some(budget)) => format!("{} of {}", words::money(spent.unwrap_or(0)), words::money(budget)),
    }
}

/// Names of workers and tasks.
#[derive(Debug, Default)]
struct Names {
    workers: HashMap<WorkerId, String>,
    tasks: HashMap<TaskId, String>,
}

impl Names {
    async fn of(entries: &[WorkEntry], project: ProjectId, client: &Client) -> Result<Self, Failure> {
        let filter = WorkerFilter { project: Some(project) };
        let workers: Vec<Worker> = client.ask(Call::WorkerList { filter }).await?;
        let mut names = Self {
            workers: workers.into_iter().map(|worker| (worker.id, worker.name)).collect(),
            tasks: HashMap::new(),
        };
        for id in entries.iter().filter_map(|entry| entry.task) {
            if names.tasks.len() < NAMED && !names.tasks.contains_key(&id) {
                // A task that cannot be read is shown by id.
                let detail = client.ask::<TaskDetail>(Call::TaskShow { task: id }).await.ok();
                let name = detail.map_or_else(|| id.to_string(), |detail| title(&detail.task.description));
                names.tasks.insert(id, name);
            }
        }
        Ok(names)
    }
}

fn log_table(entries: &[WorkEntry], names: &Names, out: &Output) -> String {
    let mut table = Table::new(&["NUMBER", "WHEN", "WHAT", "WHY…", "WORKER…", "TASK…"], "no decisions yet");
    for entry in entries {
        table.row([
            entry.number.into(),
            when::relative(entry.at, out.now).into(),
            entry.what.word().into(),
            (&entry.reason).into(),
            entry.worker.map_or_else(|| "-".into(), |id| names.workers.get(&id).map_or_else(|| id.into(), Into::into)),
            entry.task.map_or_else(|| "-".into(), |id| names.tasks.get(&id).map_or_else(|| id.into(), Into::into)),
        ]);
    }
    table.render(out)
}
