//! `shopfloor task edit` and `reopen`.

use client::Client;
use domain::TaskId;
use plan::Format;
use protocol::{Call, Task, TaskAdd, TaskDetail, TaskEdit, TaskReopen};

use super::args::EditArgs;
use super::editor;
use crate::confirm::{asked, can_ask};
use crate::output::say;
use crate::text_arg::TextArg;
use crate::{Context, Failure, tty};

/// Changes a task by options, or in an editor.
pub(crate) async fn run(args: EditArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let task = super::id(&client, &args.task).await?;
    let input = match args.is_empty() {
        false => by_options(args, &client).await?,
        true if can_ask() && tty::is_here() => match in_editor(task, &client).await? {
            Some(input) => input,
            None => {
                context.out.note("nothing changed");
                return Ok(());
            }
        },
        true => {
            return Err(Failure::usage("nothing to change")
                .advise("pass at least one option, or run it on a terminal to open your editor"));
        }
    };
    let edited: Task = client.ask(Call::TaskEdit { task, input }).await?;
    super::said(&edited, &context.out)
}

/// Reopens a done task.
pub(crate) async fn reopen(task: &str, text: &TextArg, context: &Context) -> Result<(), Failure> {
    let input = TaskReopen { text: text.required()? };
    let client = context.client()?;
    let task = super::id(&client, task).await?;
    super::said(&client.ask(Call::TaskReopen { task, input }).await?, &context.out)
}

async fn by_options(args: EditArgs, client: &Client) -> Result<TaskEdit, Failure> {
    let mut deps = Vec::with_capacity(args.deps.len());
    for dep in &args.deps {
        deps.push(super::id(client, dep).await?.to_string());
    }
    fn list<T>(given: Vec<T>, none: bool) -> Option<Vec<T>> {
        (none || !given.is_empty()).then_some(given)
    }
    let description = args.description.map(|text| TextArg::of(text).required()).transpose()?;
    Ok(TaskEdit {
        description,
        context: args.context,
        acceptance: list(args.acceptance, args.no_acceptance),
        files: list(args.files, args.no_files),
        deps: list(deps, args.no_deps),
        priority: args.priority,
        needs: list(args.needs, args.no_needs),
        labels: list(args.labels, args.no_labels),
        expected_edits: None,
    })
}

/// Opens the task as a plan in the person's editor; `None` if nothing was changed.
async fn in_editor(task: TaskId, client: &Client) -> Result<Option<TaskEdit>, Failure> {
    let detail: TaskDetail = client.ask(Call::TaskShow { task }).await?;
    let before = as_added(&detail);
    let (format, text) = plan::render(&before);
    let short = &detail.task.short;
    let head = match format {
        Format::Markdown => format!("# {short}: change the item, save it and close the editor.\n\n"),
        Format::Json | Format::Jsonl => String::new(),
    };
    let end = if format == Format::Markdown { "md" } else { "json" };
    let mut written = format!("{head}{text}");
    // The text as it reads back, so that only what the person changed is sent.
    let before = read(&written, format).unwrap_or(before);
    loop {
        written = editor::edit(&format!("{short}.{end}"), &written)?;
        match read(&written, format) {
            Ok(after) => return Ok(difference(&before, after, detail.task.edits)),
            Err(faults) => {
                say(&faults);
                if !asked("open the editor again? [y/N] ")? {
                    return Err(Failure::usage("nothing was changed"));
                }
            }
        }
    }
}

/// The one task of an edited plan, or what is wrong.
fn read(text: &str, format: Format) -> Result<TaskAdd, String> {
    let mut plan = plan::read(text.as_bytes(), "", Some(format));
    if !plan.faults.is_empty() {
        return Err(plan.faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    }
    match (plan.tasks.pop(), plan.tasks.is_empty()) {
        (Some(task), true) => Ok(task),
        _ => Err("keep exactly one open item; `task add` adds others".to_owned()),
    }
}

/// What a person changed; `None` if nothing.
fn difference(before: &TaskAdd, after: TaskAdd, edits: u32) -> Option<TaskEdit> {
    fn changed<T: PartialEq>(before: &T, after: T) -> Option<T> {
        (*before != after).then_some(after)
    }
    let input = TaskEdit {
        description: changed(&before.description, after.description),
        context: changed(&before.context, after.context),
        acceptance: changed(&before.acceptance, after.acceptance),
        files: changed(&before.files, after.files),
        deps: changed(&before.deps, after.deps),
        priority: changed(&before.priority, after.priority).map(|priority| priority.unwrap_or(5)),
        needs: changed(&before.needs, after.needs),
        labels: changed(&before.labels, after.labels),
        expected_edits: None,
    };
    (input != TaskEdit::default()).then_some(TaskEdit { expected_edits: Some(edits), ..input })
}

/// A task as it would be added, with its dependencies by name.
fn as_added(detail: &TaskDetail) -> TaskAdd {
    let task = &detail.task;
    let name = |id: &TaskId| {
        let known = detail.deps.iter().find(|dep| dep.id == *id);
        known.map_or_else(|| id.to_string(), |dep| dep.short.clone())
    };
    TaskAdd {
        id: None,
        description: task.description.clone(),
        context: task.context.clone(),
        acceptance: task.acceptance.clone(),
        files: task.files.clone(),
        deps: task.deps.iter().map(name).collect(),
        priority: Some(task.priority),
        needs: task.needs.clone(),
        labels: task.labels.clone(),
        activity: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_sent() {
        let text = "# CALC-1: change the item\n\n- [ ] Write it\n  Well.\n  - priority: 5\n";
        let before = read(text, Format::Markdown).unwrap();
        assert_eq!(difference(&before, before.clone(), 3), None);
        let after = read(&text.replace("priority: 5", "priority: 7\n  - after: CALC-9"), Format::Markdown).unwrap();
        let deps = Some(vec!["CALC-9".to_owned()]);
        let expected = TaskEdit { priority: Some(7), deps, expected_edits: Some(3), ..TaskEdit::default() };
        assert_eq!(difference(&before, after, 3), Some(expected));
        let gone = read("- [ ] Write it\n  Well.\n", Format::Markdown).unwrap();
        assert_eq!(difference(&before, gone, 0).unwrap().priority, Some(5), "the default again");
    }

    #[test]
    fn one_item_stays_one_item() {
        assert!(read("- [ ] a\n- [ ] b\n", Format::Markdown).unwrap_err().contains("exactly one"));
        assert!(read("- [ ] a\n  - priority: high\n", Format::Markdown).unwrap_err().contains("from 0 to 9"));
    }
}
