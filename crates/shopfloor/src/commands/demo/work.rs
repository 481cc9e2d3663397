//! The example's tasks: a Markdown list, and what two workers have done so far.

use client::Client;
use domain::{ProjectId, TaskId};
use plan::{Format, Plan};
use protocol::{AddedTasks, Call, Deliverables, Escalation, Report, Taken, TaskAsk, TaskReport, TaskTake, TasksAdd};

use crate::Failure;

/// What a worker did with a task.
enum Act {
    /// Reported it: summary, files, context score.
    Done(&'static str, &'static [&'static str], u8),
    /// Escalated it: question and options.
    Asked(&'static str, &'static [&'static str]),
}

/// Tasks by name, with their workers.
const STORY: &[(&str, &str, Act)] = &[
    (
        "expiry",
        "codex 1",
        Act::Done("`POST /quote` returns `expires_at`, ten minutes ahead. Two tests.", &["server/quote.rs"], 5),
    ),
    (
        "postal",
        "claude 1",
        Act::Done("Patterns for 38 countries; unknown ones accept anything.", &["web/checkout/postal.ts"], 4),
    ),
    (
        "country",
        "claude 1",
        Act::Asked(
            "Which fields survive when the country changes? Name and street are clear; the postal code is not.",
            &["Keep the postal code and mark it", "Clear the postal code"],
        ),
    ),
];

/// Adds the tasks of a list and plays their history.
pub(super) async fn tell(client: &Client, project: ProjectId, list: &str) -> Result<(), Failure> {
    if list.is_empty() {
        return Ok(());
    }
    let tasks = read(list).tasks;
    let added: AddedTasks = client.ask(Call::TaskAdd { project, input: TasksAdd { tasks } }).await?;
    for (name, worker, act) in STORY {
        let named = added.names.iter().find(|named| named.name == *name);
        if let Some(named) = named {
            play(client, project, named.task, worker, act).await?;
        }
    }
    Ok(())
}

async fn play(client: &Client, project: ProjectId, task: TaskId, worker: &str, act: &Act) -> Result<(), Failure> {
    let input = TaskTake { task: Some(task), worker: Some(worker.to_owned()), ..TaskTake::default() };
    let taken: Taken = client.ask(Call::TaskTake { project, input }).await?;
    // A real worker may have been faster.
    let Some(taken) = taken.taken else { return Ok(()) };
    let fence = taken.lease.fence;
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<String>>();
    match act {
        Act::Done(summary, files, score) => {
            let deliverables = Some(Deliverables { files: owned(files), ..Deliverables::default() });
            let summary = (*summary).to_owned();
            let input =
                TaskReport { fence, summary, deliverables, context_score: Some(*score), ..TaskReport::default() };
            client.ask::<Report>(Call::TaskReport { task, input }).await?;
        }
        Act::Asked(question, options) => {
            let question = (*question).to_owned();
            let input = TaskAsk { fence, question, options: owned(options), give_up: true, ..TaskAsk::default() };
            client.ask::<Escalation>(Call::TaskAsk { task, input }).await?;
        }
    }
    Ok(())
}

fn read(list: &str) -> Plan {
    plan::read(list.as_bytes(), "example", Some(Format::Markdown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_valid_and_the_history_names_its_tasks() {
        for plan in super::super::floor::PROJECTS.iter().filter(|plan| !plan.tasks.is_empty()) {
            let file = read(plan.tasks);
            assert_eq!((file.faults.as_slice(), file.similar.as_slice()), (&[][..], &[][..]));
            assert!(file.notes.iter().all(|note| note.contains("no acceptance")), "{:?}", file.notes);
            for (name, ..) in STORY {
                assert!(file.tasks.iter().any(|task| task.id.as_deref() == Some(name)), "{name}");
            }
            for (name, _, act) in STORY.iter().filter(|(_, _, act)| matches!(act, Act::Done(..))) {
                let task = file.tasks.iter().find(|task| task.id.as_deref() == Some(name)).unwrap();
                assert!(task.acceptance.is_empty(), "no runner could check {name}");
                let Act::Done(_, files, _) = act else { continue };
                assert_eq!(task.files, *files);
            }
        }
    }
}
