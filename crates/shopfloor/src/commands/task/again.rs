//! A plan that is added again: its tasks that are already there are updated instead of doubled.

use std::collections::HashMap;

use client::Client;
use domain::text::title;
use domain::{ProjectId, TaskStatus};
use protocol::{Call, Task, TaskAdd, TaskEdit, TaskFilter};

use super::export;
use crate::commands::words;
use crate::confirm::{answer, can_ask};
use crate::output::{clean, say};
use crate::{Failure, Output};

/// How many tasks a question lists.
const SHOWN: usize = 5;

/// What to do with the tasks of a plan.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// The tasks to add.
    pub(super) add: Vec<TaskAdd>,
    /// The open and done tasks that are there, with what the plan says about each.
    pub(super) update: Vec<(Task, TaskAdd)>,
}

/// Which of the two was chosen on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// Update what is there.
    Update,
    /// Add everything.
    Again,
    /// Ask.
    Open,
}

/// Finds the tasks of a plan that are open or done in the project, by title, and decides what to do with them.
pub(super) async fn sort(
    tasks: Vec<TaskAdd>,
    project: ProjectId,
    choice: Choice,
    client: &Client,
) -> Result<Sorted, Failure> {
    if choice == Choice::Again {
        return Ok(Sorted { add: tasks, ..Sorted::default() });
    }
    let filter = TaskFilter { project: Some(project), ..TaskFilter::default() };
    let mut there = export::whole(client, filter).await?;
    there.retain(|task| !matches!(task.status, TaskStatus::Failed | TaskStatus::Cancelled));
    // An open task is what the plan means, even if an older one with its title is done.
    there.sort_by_key(|task| task.status == TaskStatus::Done);
    let sorted = pair(tasks, there);
    if sorted.update.is_empty() || choice == Choice::Update {
        return Ok(sorted);
    }
    ask(sorted)
}

fn pair(tasks: Vec<TaskAdd>, there: Vec<Task>) -> Sorted {
    let key = |description: &str| title(description).to_lowercase();
    let mut known: HashMap<String, Task> = HashMap::new();
    for task in there {
        // Of several with the same title, the oldest is the one that the plan added first.
        known.entry(key(&task.description)).or_insert(task);
    }
    let mut sorted = Sorted::default();
    for task in tasks {
        match known.remove(&key(&task.description)) {
            Some(there) => sorted.update.push((there, task)),
            None => sorted.add.push(task),
        }
    }
    sorted
}

/// Asks a person; without one, says which options there are.
fn ask(sorted: Sorted) -> Result<Sorted, Failure> {
    let count = words::counted(sorted.update.len(), "task", "tasks");
    let shown: Vec<String> = sorted.update.iter().take(SHOWN).map(|(there, _)| there.short.clone()).collect();
    let more = if sorted.update.len() > SHOWN { ", …" } else { "" };
    let found = format!("already in the project, by title: {count} of this file ({}{more})", shown.join(", "));
    if !can_ask() {
        let advice = "nothing was added; pass --update to update them, or --again to add them again";
        return Err(Failure::conflict(found).advise(advice));
    }
    say(&found);
    match answer("[u]pdate them, [a]dd them again, or [q]uit? ")?.to_ascii_lowercase().as_str() {
        "u" | "update" => Ok(sorted),
        "a" | "add" | "again" => {
            let again = sorted.update.into_iter().map(|(_, task)| task);
            Ok(Sorted { add: sorted.add.into_iter().chain(again).collect(), update: Vec::new() })
        }
        _ => Err(Failure::usage("nothing was added")),
    }
}

/// Updates the tasks that are there. `ids` are the tasks that were just added, by their names in the plan.
pub(super) async fn update(
    pairs: Vec<(Task, TaskAdd)>,
    ids: &HashMap<String, String>,
    client: &Client,
    out: &Output,
) -> Result<usize, Failure> {
    let mut failed = 0;
    for (there, wanted) in pairs {
        let input = difference(&there, wanted, ids);
        if input == TaskEdit::default() {
            continue;
        }
        if there.status == TaskStatus::Done {
            let reopen = format!("shopfloor task reopen {} WORDS", there.short);
            out.note(&format!("{} is done and stays as it is; `{reopen}` asks for more", there.short));
            continue;
        }
        match client.ask::<Task>(Call::TaskEdit { task: there.id, input }).await {
            Ok(task) => out.note(&clean(&format!("updated {} {}", task.short, title(&task.description)))),
            Err(error) => {
                failed += 1;
                let why = Failure::from(error).render(false);
                out.note(&format!("{}: {}", there.short, why.trim_start_matches("error: ")));
            }
        }
    }
    Ok(failed)
}

/// What a plan changes in a task. What the plan does not mention stays; answers of people stay in the context.
fn difference(there: &Task, wanted: TaskAdd, ids: &HashMap<String, String>) -> TaskEdit {
    fn changed<T: PartialEq>(before: &T, after: T) -> Option<T> {
        (*before != after).then_some(after)
    }
    let deps: Vec<String> = wanted.deps.into_iter().map(|dep| ids.get(&dep).cloned().unwrap_or(dep)).collect();
    let before: Vec<String> = there.deps.iter().map(ToString::to_string).collect();
    let same = |before: &str, after: &str| before.trim() == after.trim();
    let description = Some(wanted.description).filter(|text| !same(&there.description, text));
    let context = Some(wanted.context).filter(|text| !there.context.starts_with(text.trim()));
    TaskEdit {
        description,
        context,
        acceptance: changed(&there.acceptance, wanted.acceptance),
        files: changed(&there.files, wanted.files),
        deps: changed(&before, deps),
        priority: wanted.priority.filter(|priority| *priority != there.priority),
        needs: changed(&there.needs, wanted.needs),
        labels: Some(wanted.labels).filter(|labels| !labels.is_empty() && *labels != there.labels),
        expected_edits: None,
    }
}
