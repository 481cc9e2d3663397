//! `shopfloor worker status`.

use std::collections::HashMap;

use client::Client;
use domain::{TaskId, TaskStatus, WorkerStatus};
use protocol::{Call, Project, TaskFilter, TaskLine, Worker, WorkerFilter};

use super::cost;
use crate::commands::{task, words};
use crate::pick::pick_if;
use crate::table::Table;
use crate::{Failure, Output, when};

/// Shows each worker's task.
pub(super) async fn run(project: Option<&str>, client: &Client, out: &Output) -> Result<(), Failure> {
    let project = pick_if::<Project>(client, project).await?;
    let workers: Vec<Worker> = client.ask(Call::WorkerList { filter: WorkerFilter { project } }).await?;
    if out.json {
        return out.show(&workers, |_| String::new());
    }
    let tasks = task::all(client, TaskFilter { project, ..TaskFilter::default() }).await?;
    out.show(&workers, |out| render(&workers, &tasks, out))
}

fn render(workers: &[Worker], tasks: &[TaskLine], out: &Output) -> String {
    let by_id: HashMap<TaskId, &TaskLine> = tasks.iter().map(|task| (task.id, task)).collect();
    let titles = &["NAME…", "STATUS…", "TASK…", "PROGRESS…", "DONE", "COST", "UNTIL"];
    let mut table = Table::new(titles, "no workers; start some with `shopfloor worker start`");
    for worker in workers {
        let task = worker.task.and_then(|task| by_id.get(&task));
        table.row([
            words::worker_name(worker),
            words::worker_cell(worker),
            task.map_or_else(|| "-".into(), |task| format!("{} {}", task.short, task.title).into()),
            task.and_then(|task| task.progress.as_deref()).unwrap_or("-").into(),
            worker.done.into(),
            cost(worker).into(),
            when::ahead_or(worker.until, out.now, "-").into(),
        ]);
    }
    format!("{}\n\n{}", table.render(out), summary(workers, tasks))
}

fn summary(workers: &[Worker], tasks: &[TaskLine]) -> String {
    let at = |status| workers.iter().filter(|worker| worker.status == status).count();
    let workers: Vec<String> = WorkerStatus::ALL
        .iter()
        .map(|status| (status, at(*status)))
        .filter(|(_, count)| *count > 0)
        .map(|(status, count)| format!("{count} {status}"))
        .collect();
    let ready = tasks.iter().filter(|task| task.status == TaskStatus::Ready).count();
    let asked = tasks.iter().filter(|task| task.status == TaskStatus::Escalated).count();
    let asked = if asked > 0 {
        format!(", {asked} waiting for an answer (`shopfloor escalation list`)")
    } else {
        String::new()
    };
    let workers = if workers.is_empty() { "none".to_owned() } else { workers.join(", ") };
    format!("workers: {workers}; tasks: {ready} ready{asked}")
}
