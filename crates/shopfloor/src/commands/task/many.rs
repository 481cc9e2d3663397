//! `shopfloor task cancel` and `retry`, for one task or many.

use client::Client;
use domain::{TaskId, TaskStatus};
use protocol::{Call, Task, TaskFilter, TaskLine, TaskReason};

use super::args::ManyArgs;
use crate::commands::words;
use crate::confirm::{asked, can_ask};
use crate::output::{clean, say};
use crate::{Context, Exit, Failure};

/// How many tasks a question lists.
const SHOWN: usize = 10;

/// What to do with the tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// Cancel them.
    Cancel,
    /// Put them back into the queue.
    Retry,
}

impl Act {
    fn word(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Retry => "retry",
        }
    }

    /// Whether it does anything to a task of this status.
    fn applies(self, status: TaskStatus) -> bool {
        match self {
            Self::Cancel => !matches!(status, TaskStatus::Done | TaskStatus::Cancelled),
            Self::Retry => matches!(status, TaskStatus::Failed | TaskStatus::Cancelled | TaskStatus::Escalated),
        }
    }

    fn call(self, task: TaskId, reason: Option<String>) -> Call {
        let input = TaskReason { reason };
        match self {
            Self::Cancel => Call::TaskCancel { task, input },
            Self::Retry => Call::TaskRetry { task, input },
        }
    }
}

/// Cancels or retries tasks by name or by filter.
pub(crate) async fn run(act: Act, args: ManyArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client()?;
    if let [one] = args.tasks.as_slice() {
        let task = super::id(&client, one).await?;
        super::said(&client.ask(act.call(task, args.reason)).await?, &context.out)?;
        return Ok(Exit::Done);
    }
    let tasks = match args.tasks.is_empty() {
        true => filtered(act, &args, &client).await?,
        false => named(&args.tasks, &client).await?,
    };
    if tasks.is_empty() {
        return Err(Failure::not_found(format!("no task to {}", act.word())));
    }
    if !args.yes && args.tasks.is_empty() {
        confirm(act, &tasks)?;
    }
    let mut done: Vec<Task> = Vec::with_capacity(tasks.len());
    let mut failed = 0;
    for task in &tasks {
        match client.ask::<Task>(act.call(task.id, args.reason.clone())).await {
            Ok(task) => done.push(task),
            Err(error) => {
                failed += 1;
                let why = Failure::from(error).render(false);
                context.out.note(&format!("{}: {}", task.short, why.trim_start_matches("error: ")));
            }
        }
    }
    context.out.show(&done, |_| done.iter().map(super::line).collect::<Vec<_>>().join("\n"))?;
    Ok(if failed == 0 { Exit::Done } else { Exit::Other })
}

async fn named(names: &[String], client: &Client) -> Result<Vec<TaskLine>, Failure> {
    let mut tasks: Vec<TaskLine> = Vec::with_capacity(names.len());
    let all = super::all(client, TaskFilter::default()).await?;
    for name in names {
        let id = super::id(client, name).await?;
        let line = all.iter().find(|task| task.id == id);
        let line = line.ok_or_else(|| Failure::not_found(format!("no task `{name}` found")))?;
        if !tasks.iter().any(|task| task.id == id) {
            tasks.push(line.clone());
        }
    }
    Ok(tasks)
}

async fn filtered(act: Act, args: &ManyArgs, client: &Client) -> Result<Vec<TaskLine>, Failure> {
    if args.status.is_empty() && args.scope.is_empty() && !args.all {
        return Err(Failure::usage(format!("which tasks to {}?", act.word()))
            .advise("name them, or pass --status, --activity, --project, --worker or --all"));
    }
    let mut tasks = super::all(client, args.scope.filter(client).await?).await?;
    tasks.retain(|task| act.applies(task.status) && (args.status.is_empty() || args.status.contains(&task.status)));
    Ok(tasks)
}

/// Lists the tasks and asks.
fn confirm(act: Act, tasks: &[TaskLine]) -> Result<(), Failure> {
    let count = words::counted(tasks.len(), "task", "tasks");
    if !can_ask() {
        let detail = format!("this would {} {count}", act.word());
        return Err(Failure::usage(detail).advise("pass --yes to do it without a question"));
    }
    for task in tasks.iter().take(SHOWN) {
        say(&clean(&format!("  {}  {}  {}", task.short, task.status, task.title)).replace('\n', " "));
    }
    if tasks.len() > SHOWN {
        say(&format!("  … and {} more", tasks.len() - SHOWN));
    }
    match asked(&format!("{} {count}? [y/N] ", act.word()))? {
        true => Ok(()),
        false => Err(Failure::usage("nothing was changed")),
    }
}
