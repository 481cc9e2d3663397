//! `shopfloor task list`

use std::collections::HashMap;

use domain::{TaskId, TaskStatus, WorkerId};
use protocol::{Call, TaskFilter, TaskLine, Worker, WorkerFilter};

use super::args::ListArgs;
use super::nobody::Nobody;
use crate::commands::words;
use crate::table::{Cell, Style, Table};
use crate::{Context, Failure, Output, when};

/// Lists tasks.
pub(crate) async fn run(args: ListArgs, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    let mut filter = args.scope.filter(client).await?;
    // A hub filters by one status; several are filtered here. The list also needs the tasks that blocked ones wait for.
    if let [status] = args.status.as_slice()
        && *status != TaskStatus::Blocked
    {
        filter.status = Some(*status);
    }
    // The same for labels.
    filter.label = args.labels.first().cloned();
    let project = filter.project;
    let mut tasks = super::all(client, TaskFilter { ..filter }).await?;
    tasks.retain(|task| args.labels.iter().all(|label| task.labels.contains(label)));
    let known = tasks.clone();
    let hidden = tasks.len();
    tasks.retain(|task| wanted(task, &args));
    let hidden = hidden - tasks.len();
    let workers: Vec<Worker> = client.ask(Call::WorkerList { filter: WorkerFilter { project } }).await?;
    for task in tasks.iter_mut().filter(|task| task.status == TaskStatus::Ready && task.reason.is_none()) {
        task.reason = Nobody::of(task.project, &workers, out.now).map(|nobody| nobody.to_string());
    }
    if out.json {
        return out.show(&tasks, |_| String::new());
    }
    let none = if hidden > 0 { "no open tasks" } else { "no tasks; add some with `shopfloor task add`" };
    out.show(&tasks, |out| table(&tasks, &known, &workers, none, out))?;
    if hidden > 0 && args.status.is_empty() {
        out.note(&format!("{hidden} done or cancelled not shown; --all shows them"));
    }
    Ok(())
}

fn wanted(task: &TaskLine, args: &ListArgs) -> bool {
    match args.status.as_slice() {
        [] => args.all || !matches!(task.status, TaskStatus::Done | TaskStatus::Cancelled),
        some => some.contains(&task.status),
    }
}

/// A table of tasks.
fn table(tasks: &[TaskLine], known: &[TaskLine], workers: &[Worker], none: &'static str, out: &Output) -> String {
    let labelled = tasks.iter().any(|task| !task.labels.is_empty());
    let titles: &[&str] = match labelled {
        true => &["TASK", "STATUS", "TITLE…", "LABELS…", "WORKER…", "WHY…", "UPDATED"],
        false => &["TASK", "STATUS", "TITLE…", "WORKER…", "WHY…", "UPDATED"],
    };
    let mut table = Table::new(titles, none);
    let workers: HashMap<WorkerId, &Worker> = workers.iter().map(|worker| (worker.id, worker)).collect();
    let titles_of: HashMap<TaskId, &TaskLine> = known.iter().map(|task| (task.id, task)).collect();
    for task in tasks {
        let worker =
            task.assigned_to.map(|id| workers.get(&id).map_or_else(|| id.into(), |worker| words::worker_name(worker)));
        let labels = labelled.then(|| task.labels.join(", ").into());
        let mut row = vec![(&task.short).into(), words::task_cell(task.status), (&task.title).into()];
        row.extend(labels);
        row.extend([
            worker.unwrap_or_else(|| "-".into()),
            words::why(task).map_or_else(|| waits(task, &titles_of), Cell::from),
            when::relative(task.updated_at, out.now).into(),
        ]);
        table.row(row);
    }
    table.render(out)
}

/// What a blocked task waits for: the first dependency by name, the others by number.
fn waits(task: &TaskLine, known: &HashMap<TaskId, &TaskLine>) -> Cell {
    if task.status != TaskStatus::Blocked || task.waits_for == 0 {
        return "-".into();
    }
    let open = |dep: &&&TaskLine| dep.status != TaskStatus::Done;
    let first = task.deps.iter().filter_map(|dep| known.get(dep)).find(open);
    let more = task.waits_for.saturating_sub(1);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let text = match first {
        Some(dep) => format!("waits for {} `{}`{more}", dep.short, dep.title),
        None => format!("waits for {}", task.waits_for),
    };
    Cell::styled(text, Style::Dim)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn open_dependencies_are_named() {
        let done = sample("Set up", TaskStatus::Done, &[]);
        let first = sample("Write the lexer", TaskStatus::Running, &[]);
        let other = sample("Write the docs", TaskStatus::Ready, &[]);
        let waiting = |deps: &[&TaskLine], waits_for| {
            let deps: Vec<TaskId> = deps.iter().map(|dep| dep.id).collect();
            TaskLine { waits_for, ..sample("Write the parser", TaskStatus::Blocked, &deps) }
        };
        let known: HashMap<TaskId, &TaskLine> = [&done, &first, &other].map(|task| (task.id, task)).into();
        let said = |task: &TaskLine| {
            let mut table = Table::new(&["WHY…"], "none");
            table.row([waits(task, &known)]);
            table.render(&Output { json: false, color: false, width: None, now: done.created_at })
        };
        assert!(said(&waiting(&[&done, &first], 1)).ends_with("waits for CALC-1 `Write the lexer`"));
        assert!(said(&waiting(&[&done, &first, &other], 2)).contains("waits for CALC-1 `Write the lexer` and 1 more"));
        let unseen = sample("Elsewhere", TaskStatus::Ready, &[]);
        assert!(said(&waiting(&[&unseen], 1)).contains("waits for 1"));
    }
}
