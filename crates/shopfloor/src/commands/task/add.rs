//! `shopfloor task add` and `check`: from files and arguments to tasks in the queue.

use std::collections::HashMap;

use client::{Client, ClientError};
use domain::ProjectId;
use plan::{Fault, Plan};
use protocol::{Activity, AddedTasks, Call, FieldError, Problem, ProblemKind, Project, TaskAdd, TasksAdd};
use serde::Serialize;

use super::again::{self, Choice, Sorted};
use super::args::{AddArgs, CheckArgs};
use crate::commands::words;
use crate::output::clean;
use crate::pick::{pick, pick_if};
use crate::table::Table;
use crate::task_file;
use crate::{Context, Exit, Failure, Output};

/// How many errors to show.
const SHOWN: usize = 50;

/// A check's result, for programs.
#[derive(Serialize)]
struct Checked<'a> {
    file: &'a str,
    tasks: usize,
    errors: &'a [Fault],
    notes: &'a [String],
}

/// Reports everything that is wrong in a file.
pub(crate) fn check(args: &CheckArgs, out: &Output) -> Result<Exit, Failure> {
    let (name, bytes) = (task_file::name_of(&args.file), task_file::bytes_of(&args.file)?);
    let Plan { tasks, faults, mut notes, similar, .. } = task_file::read(&bytes, &name, args.format);
    notes.extend(similar);
    let checked = Checked { file: &name, tasks: tasks.len(), errors: &faults, notes: &notes };
    out.show(&checked, |_| verdict(&checked))?;
    Ok(if faults.is_empty() { Exit::Done } else { Exit::Usage })
}

fn verdict(checked: &Checked<'_>) -> String {
    let Checked { file, tasks, errors, notes } = checked;
    let fault = |fault: &Fault| {
        let line = fault.line.map(|line| format!(":{line}")).unwrap_or_default();
        let path = if fault.path.is_empty() { String::new() } else { format!(" {}:", fault.path) };
        format!("{file}{line}:{path} {}", fault.reason)
    };
    let mut lines: Vec<String> = errors.iter().map(fault).collect();
    lines.extend(notes.iter().map(|note| format!("{file}: note: {note}")));
    lines.push(match errors.len() {
        0 => format!("{file}: {}, no errors", words::counted(*tasks, "task", "tasks")),
        wrong => format!("{file}: {}", words::counted(wrong, "error", "errors")),
    });
    clean(&lines.join("\n"))
}

/// Adds the tasks of a file or of the arguments.
pub(crate) async fn run(args: AddArgs, context: &Context) -> Result<(), Failure> {
    let out = &context.out;
    let project_name = args.project.clone();
    // Report a wrong file before a hub is needed.
    let from_file = args.file.as_deref().map(|path| {
        let (name, bytes) = (task_file::name_of(path), task_file::bytes_of(path)?);
        let file = task_file::read(&bytes, &name, args.format);
        if file.faults.is_empty() { Ok(file) } else { Err(refused(&name, &file.faults)) }
    });
    let from_file = from_file.transpose()?;
    let client = context.client()?;
    let project = pick::<Project>(&client, &project_name).await?;
    let choice = match (args.update, args.again) {
        (true, _) => Choice::Update,
        (_, true) => Choice::Again,
        _ => Choice::Open,
    };
    let sorted = match from_file {
        Some(file) => {
            // The hub reports similar tasks: it also knows the existing ones.
            file.notes.iter().for_each(|note| out.note(&format!("note: {note}")));
            again::sort(file.tasks, project, choice, &client).await?
        }
        None => {
            let task = one(args, &client).await?;
            let open = usize::from(task.acceptance.is_empty());
            plan::no_acceptance(open).iter().for_each(|note| out.note(&format!("note: {note}")));
            Sorted { add: vec![task], update: Vec::new() }
        }
    };
    let Sorted { add: mut tasks, update } = sorted;
    // New tasks may wait for tasks of the plan that are already there.
    let there = update.iter().filter_map(|(task, wanted)| Some((wanted.id.clone()?, task.id.to_string())));
    let mut ids: HashMap<String, String> = there.collect();
    for dep in tasks.iter_mut().flat_map(|task| &mut task.deps) {
        if let Some(id) = ids.get(dep) {
            dep.clone_from(id);
        }
    }
    let added = match tasks.is_empty() {
        true => AddedTasks::default(),
        false => add_all(&client, project, tasks).await?,
    };
    ids.extend(added.names.iter().map(|named| (named.name.clone(), named.task.to_string())));
    out.show(&added, |out| table(&added, out))?;
    if !out.json {
        for similar in &added.similar {
            let note = format!("note: {} is similar to {}, which is open: {}", similar.task, similar.to, similar.title);
            out.note(&note.replace('\n', " "));
        }
    }
    match again::update(update, &ids, &client, out).await? {
        0 => Ok(()),
        failed => Err(Failure::conflict(format!("{} not updated", words::counted(failed, "task was", "tasks were")))),
    }
}

async fn add_all(client: &Client, project: ProjectId, tasks: Vec<TaskAdd>) -> Result<AddedTasks, Failure> {
    let added = client.ask::<AddedTasks>(Call::TaskAdd { project, input: TasksAdd { tasks } }).await;
    added.map_err(|error| match &error {
        ClientError::Problem(problem) if problem.kind == ProblemKind::TooLarge => Failure::from(error)
            .advise("nothing was added; split the file, and refer to tasks of earlier parts by their ids"),
        _ => error.into(),
    })
}

fn refused(name: &str, faults: &[Fault]) -> Failure {
    let more = faults.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" (the first {SHOWN} are shown)") } else { String::new() };
    let detail = format!("{name} has {}{more}; nothing was added", words::counted(faults.len(), "error", "errors"));
    let mut problem = Problem::new(ProblemKind::Invalid, detail);
    let place = |fault: &Fault| match (fault.line, fault.path.as_str()) {
        (Some(line), "") => format!("line {line}"),
        (Some(line), path) => format!("line {line}, {path}"),
        (None, "") => "file".to_owned(),
        (None, path) => path.to_owned(),
    };
    let errors = faults.iter().take(SHOWN);
    problem.errors = errors.map(|fault| FieldError::new(place(fault), fault.reason.clone())).collect();
    Failure::Problem { exit: Exit::Usage, problem, advice: None }
}

async fn one(args: AddArgs, client: &Client) -> Result<TaskAdd, Failure> {
    let description = match args.description.as_deref() {
        Some("-") => crate::text_arg::read_prompt(std::path::Path::new("-"))?,
        text => text.unwrap_or_default().to_owned(),
    };
    let mut deps = Vec::new();
    for dep in &args.deps {
        deps.push(super::id(client, dep).await?.to_string());
    }
    Ok(TaskAdd {
        id: None,
        description,
        context: args.context.unwrap_or_default(),
        acceptance: args.acceptance,
        files: args.files,
        deps,
        priority: args.priority,
        needs: args.needs,
        labels: args.labels,
        activity: pick_if::<Activity>(client, args.activity.as_deref()).await?,
    })
}

fn table(added: &AddedTasks, out: &Output) -> String {
    let mut table = Table::new(&["ID", "STATUS", "NAME…", "TITLE…"], "nothing was added");
    for task in &added.tasks {
        let name = added.names.iter().find(|named| named.task == task.id).map_or("-", |named| named.name.as_str());
        table.row([(&task.short).into(), words::task_cell(task.status), name.into(), (&task.title).into()]);
    }
    table.render(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_file_is_refused_with_lines_and_reasons() {
        let file = task_file::read(b"- [ ] x\n  - priority: high\n  - deps: y\n", "plan.md", None);
        let failure = refused("plan.md", &file.faults);
        assert_eq!(failure.exit(), Exit::Usage);
        let said = failure.render(false);
        let expected = "error: plan.md has 2 errors; nothing was added\n  line 2, tasks[0].priority: is `high`; expected a number from 0 to 9\n  line 3, tasks[0].deps[0]: ";
        assert!(said.starts_with(expected), "{said}");
        let checked = Checked { file: "plan.md", tasks: 1, errors: &file.faults, notes: &[] };
        let said = verdict(&checked);
        assert!(
            said.starts_with("plan.md:2: tasks[0].priority: is `high`") && said.ends_with("plan.md: 2 errors"),
            "{said}"
        );
    }
}
