//! `shopfloor task list`

use std::collections::HashMap;

use domain::{TaskStatus, WorkerId};
use protocol::{Call, TaskFilter, TaskLine, Worker, WorkerFilter};

use super::args::ListArgs;
use crate::commands::words;
use crate::table::{Cell, Style, Table};
use crate::{Context, Failure, Output, when};

/// Lists tasks.
pub(crate) async fn run(args: ListArgs, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    let mut filter = args.scope.filter(client).await?;
    // A hub filters by one; more than one we do ourselves.
    if let [status] = args.status.as_slice() {
        filter.status = Some(*status);
    }
    let project = filter.project;
    let mut tasks = super::all(client, TaskFilter { ..filter }).await?;
    let hidden = tasks.len();
    tasks.retain(|task| wanted(task.status, &args));
    let hidden = hidden - tasks.len();
    if out.json {
        return out.show(&tasks, |_| String::new());
    }
    let workers: Vec<Worker> = client.ask(Call::WorkerList { filter: WorkerFilter { project } }).await?;
    let none = if hidden > 0 { "none of these is open" } else { "no tasks; add some with `shopfloor task add`" };
    out.show(&tasks, |out| table(&tasks, &workers, none, out))?;
    if hidden > 0 && args.status.is_empty() {
        out.note(&format!("{hidden} done or cancelled; --all shows them"));
    }
    Ok(())
}

fn wanted(status: TaskStatus, args: &ListArgs) -> bool {
    match args.status.as_slice() {
        [] => args.all || !matches!(status, TaskStatus::Done | TaskStatus::Cancelled),
        some => some.contains(&status),
    }
}

/// Tasks below each other, or that there are none.
fn table(tasks: &[TaskLine], workers: &[Worker], none: &'static str, out: &Output) -> String {
    let titles = &["ID", "STATUS", "TITLE…", "WORKER…", "WHY…", "UPDATED"];
    let mut table = Table::new(titles, none);
    let workers: HashMap<WorkerId, &Worker> = workers.iter().map(|worker| (worker.id, worker)).collect();
    for task in tasks {
        let worker =
            task.assigned_to.map(|id| workers.get(&id).map_or_else(|| id.into(), |worker| words::worker_name(worker)));
        let why = task.reason.as_ref().or(task.progress.as_ref());
        table.row([
            task.id.into(),
            words::task_cell(task.status),
            (&task.title).into(),
            worker.unwrap_or_else(|| "-".into()),
            why.map_or_else(|| waits(task), |why| why.into()),
            when::relative(task.updated_at, out.now).into(),
        ]);
    }
    table.render(out)
}

fn waits(task: &TaskLine) -> Cell {
    match (task.status, task.waits_for) {
        (TaskStatus::Blocked, waits) if waits > 0 => Cell::styled(format!("waits for {waits}"), Style::Dim),
        _ => "-".into(),
    }
}
