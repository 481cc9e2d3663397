//! `shopfloor task export`: tasks as JSONL that `task add --file` accepts.

use std::collections::{HashMap, HashSet};

use client::Client;
use domain::{TaskId, TaskStatus};
use protocol::{Call, Task, TaskAdd, TaskFilter};

use super::args::ExportArgs;
use crate::commands::words;
use crate::output::harmless;
use crate::{Context, Failure};

/// How many full tasks a hub returns at once.
const PAGE: u32 = 200;

/// Prints one task on each line.
pub(crate) async fn run(args: ExportArgs, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    let filter = args.scope.filter(client).await?;
    let mut tasks = whole(client, filter).await?;
    let over = |status| matches!(status, TaskStatus::Done | TaskStatus::Cancelled);
    let (mut gone, mut cancelled) = (HashSet::new(), HashSet::new());
    if args.open {
        gone.extend(tasks.iter().filter(|task| over(task.status)).map(|task| task.id));
        cancelled.extend(tasks.iter().filter(|task| task.status == TaskStatus::Cancelled).map(|task| task.id));
        tasks.retain(|task| !over(task.status));
    }
    let omitted = tasks.iter().flat_map(|task| &task.deps).filter(|dep| cancelled.contains(dep)).count();
    let names: HashMap<TaskId, String> =
        tasks.iter().enumerate().map(|(at, task)| (task.id, format!("t{}", at + 1))).collect();
    let count = tasks.len();
    for task in tasks {
        let task = written(task, &names, &gone);
        let text =
            serde_json::to_string(&task).map_err(|error| Failure::other(format!("could not write a task: {error}")))?;
        out.raw(&harmless(&text))?;
    }
    out.note(&format!("{} exported", words::counted(count, "task", "tasks")));
    if omitted > 0 {
        let left =
            words::counted(omitted, "dependency on a cancelled task was", "dependencies on cancelled tasks were");
        out.note(&format!("{left} left out: a task that depends on them could never start"));
    }
    Ok(())
}

/// All tasks that match a filter with all their fields, page by page.
pub(super) async fn whole(client: &Client, filter: TaskFilter) -> Result<Vec<Task>, Failure> {
    let mut tasks: Vec<Task> = Vec::new();
    loop {
        let filter = TaskFilter { after: tasks.last().map(|task| task.id), limit: Some(PAGE), ..filter.clone() };
        let page: Vec<Task> = client.ask(Call::TaskExport { filter }).await?;
        let last = page.len() < PAGE as usize;
        tasks.extend(page);
        if last {
            return Ok(tasks);
        }
    }
}

/// A task as input for `add`: dependencies on exported tasks by name, on others by id; finished ones are left out.
fn written(task: Task, names: &HashMap<TaskId, String>, gone: &HashSet<TaskId>) -> TaskAdd {
    let deps = task.deps.iter().filter(|dep| !gone.contains(dep));
    TaskAdd {
        id: names.get(&task.id).cloned(),
        deps: deps.map(|dep| names.get(dep).cloned().unwrap_or_else(|| dep.to_string())).collect(),
        description: task.description,
        context: task.context,
        acceptance: task.acceptance,
        files: task.files,
        priority: Some(task.priority),
        needs: task.needs,
        labels: task.labels,
        // An activity belongs to one project, and the tasks may go to another.
        activity: None,
    }
}
