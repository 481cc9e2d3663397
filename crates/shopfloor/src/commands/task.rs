//! `shopfloor task`.

mod add;
mod again;
mod args;
mod diff;
mod edit;
pub(super) mod editor;
mod export;
mod graph;
mod list;
mod many;
mod nobody;
mod show;
mod take_over;
mod turn;
mod watch;
mod worker_args;
mod worker_verbs;

use client::Client;
use domain::{Short, TaskId};
use protocol::{Call, Project, Task, TaskFilter, TaskLine, Worker, task_schema};

use args::ScopeArgs;
pub(crate) use args::TaskCommand;

#[cfg(test)]
pub(crate) use watch::{sample, sample_worker};

use super::words;
use crate::output::clean;
use crate::pick::{choose, pick_if};
use crate::{Context, Exit, Failure, Output};

/// How many tasks a hub lists at once.
const PAGE: u32 = 1_000;

/// Runs the subcommand.
pub(crate) async fn run(command: TaskCommand, context: &Context) -> Result<Exit, Failure> {
    let out = &context.out;
    match command {
        TaskCommand::Schema => {
            let schema = task_schema();
            out.show(&schema, |_| format!("{schema:#}"))?;
        }
        TaskCommand::Check(args) => return add::check(&args, out),
        TaskCommand::Add(args) => add::run(*args, context).await?,
        TaskCommand::List(args) => list::run(args, context).await?,
        TaskCommand::Show { task } => show::run(&task, context).await?,
        TaskCommand::Diff { task, stat } => diff::run(&task, stat, context).await?,
        TaskCommand::Graph(args) => graph::run(args, context).await?,
        TaskCommand::Watch(args) => return watch::run(args, context).await,
        TaskCommand::Edit(args) => edit::run(*args, context).await?,
        TaskCommand::Reopen { task, text } => edit::reopen(&task, &text, context).await?,
        TaskCommand::Cancel(args) => return many::run(many::Act::Cancel, args, context).await,
        TaskCommand::Retry(args) => return many::run(many::Act::Retry, args, context).await,
        TaskCommand::TakeOver(args) => take_over::run(args, context).await?,
        TaskCommand::Export(args) => export::run(args, context).await?,
        TaskCommand::Take(args) => return worker_verbs::take(args, context).await,
        TaskCommand::Heartbeat(args) => worker_verbs::heartbeat(args, context).await?,
        TaskCommand::Report(args) => return worker_verbs::report(*args, context).await,
        TaskCommand::Turn(args) => turn::run(args, context).await?,
        TaskCommand::Release(args) => worker_verbs::release(args, context).await?,
        TaskCommand::Ask(args) => worker_verbs::ask(args, context).await?,
    }
    Ok(Exit::Done)
}

/// The task that a person means: by its id, its short name or its title.
pub(crate) async fn id(client: &Client, text: &str) -> Result<TaskId, Failure> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    match by_short(client, text).await? {
        Some(id) => Ok(id),
        None => choose(&all(client, TaskFilter::default()).await?, text),
    }
}

/// The task with this short name, such as `CALC-12`.
async fn by_short(client: &Client, text: &str) -> Result<Option<TaskId>, Failure> {
    let Ok(short) = text.parse::<Short>() else { return Ok(None) };
    let filter = TaskFilter { short: Some(short.to_string()), ..TaskFilter::default() };
    let found: Vec<TaskLine> = client.ask(Call::TaskList { filter }).await?;
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.id)),
        several => {
            let ids: Vec<String> = several.iter().map(|task| format!("{} ({})", task.id, task.title)).collect();
            let detail = format!("{short} is the name of several tasks: {}", clean(&ids.join(", ")));
            Err(Failure::usage(detail).advise("pass the id; `project update --key` gives a project another key"))
        }
    }
}

/// All tasks that match a filter, over all pages.
pub(crate) async fn all(client: &Client, filter: TaskFilter) -> Result<Vec<TaskLine>, Failure> {
    let mut tasks: Vec<TaskLine> = Vec::new();
    loop {
        let after = tasks.last().map(|task| task.id);
        let filter = TaskFilter { after, limit: Some(PAGE), ..filter.clone() };
        let page: Vec<TaskLine> = client.ask(Call::TaskList { filter }).await?;
        let last = page.len() < PAGE as usize;
        tasks.extend(page);
        if last {
            return Ok(tasks);
        }
    }
}

impl ScopeArgs {
    /// Whether nothing was named.
    fn is_empty(&self) -> bool {
        self.project.is_none() && self.activity.is_none() && self.worker.is_none()
    }

    /// The same with ids.
    async fn filter(&self, client: &Client) -> Result<TaskFilter, Failure> {
        Ok(TaskFilter {
            project: pick_if::<Project>(client, self.project.as_deref()).await?,
            activity: pick_if::<protocol::Activity>(client, self.activity.as_deref()).await?,
            worker: pick_if::<Worker>(client, self.worker.as_deref()).await?,
            ..TaskFilter::default()
        })
    }
}

fn said(task: &Task, out: &Output) -> Result<(), Failure> {
    out.show(task, |_| line(task))
}

/// A task in one line.
pub(crate) fn line(task: &Task) -> String {
    let why = task.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let title = task.description.lines().next().unwrap_or_default();
    clean(&format!("{}  {} {}{why}  {title}", task.short, words::sign(task.status), task.status)).replace('\n', " ")
}
