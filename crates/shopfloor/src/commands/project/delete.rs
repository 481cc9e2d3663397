//! `shopfloor project delete`: names what goes, asks, and deletes.

use client::{Client, View};
use domain::ProjectId;
use domain::text::counted;
use protocol::{
    Activity, ActivityFilter, Call, ExecutionFilter, Message, MessagePage, Observer, Project, Session, TaskFilter,
    TaskLine, Worker, WorkerFilter,
};

use crate::confirm::sure;
use crate::pick::pick_exact;
use crate::{Failure, Output};

/// Deletes the project with exactly this id or name.
pub(super) async fn run(name: &str, yes: bool, client: &Client, out: &Output) -> Result<(), Failure> {
    let project = pick_exact::<Project>(client, name).await?;
    let shown: Project = client.ask(Call::ProjectShow { project }).await?;
    if !yes {
        let what = format!("project `{}` ({project}) with {}", shown.name, contents(project, client).await?);
        sure(yes, "delete", &what, "This cannot be undone.")?;
    }
    client.ask::<()>(Call::ProjectDelete { project }).await?;
    out.note(&format!("deleted {project} ({})", shown.name));
    Ok(())
}

/// The contents of a project, counted.
async fn contents(project: ProjectId, client: &Client) -> Result<String, Failure> {
    let id = Some(project);
    let all = ExecutionFilter { project: id, activity: None, ended: Some(true) };
    let page = MessagePage { before: None, limit: Some(1) };
    let newest: Vec<Message> = client.ask(Call::ChatHistory { project, page }).await?;
    let messages = newest.last().map_or(0, |message| message.number as usize);
    let tasks = TaskFilter { project: id, ..TaskFilter::default() };
    let parts = [
        (
            number::<Activity>(client, Call::ActivityList { filter: ActivityFilter { project: id } }).await?,
            "activity",
            "activities",
        ),
        (number::<TaskLine>(client, Call::TaskList { filter: tasks }).await?, "task", "tasks"),
        (number::<Session>(client, Call::SessionList { filter: all }).await?, "session", "sessions"),
        (messages, "message", "messages"),
        (
            number::<Worker>(client, Call::WorkerList { filter: WorkerFilter { project: id } }).await?,
            "worker",
            "workers",
        ),
        // Only the owner may list them; the hub refuses the deletion of anybody else.
        (
            number::<Observer>(client, Call::ObserverList { project }).await.unwrap_or(0),
            "observer link",
            "observer links",
        ),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| counted(count, one, many))
        .collect();
    Ok(if parts.is_empty() { "nothing in it".to_owned() } else { parts.join(", ") })
}

async fn number<T>(client: &Client, call: Call) -> Result<usize, Failure>
where
    Vec<T>: View,
{
    Ok(client.ask::<Vec<T>>(call).await?.len())
}
