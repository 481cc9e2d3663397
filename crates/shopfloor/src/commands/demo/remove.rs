//! Removes the example: exactly what the record lists.

use std::time::{Duration, Instant};

use client::Client;
use domain::{ProjectId, WorkspaceStatus};
use protocol::{
    Call, ExecutionFilter, Me, Project, Session, SessionStop, User, Worker, WorkerFilter, WorkerStop, Workspace,
};

use super::build::{self, People};
use super::floor::Who;
use super::record::Record;
use super::repository;
use crate::{Context, Exit, Failure};

/// How long sessions and workspaces may take to end.
const PATIENCE: Duration = Duration::from_secs(30);
const PACE: Duration = Duration::from_millis(200);

/// Removes everything; may be repeated.
pub(super) async fn run(context: &Context, client: &Client, me: &Me, record: &mut Record) -> Result<(), Failure> {
    let other = record.token().map(|token| Client::new(client.url(), token)).transpose()?;
    let people = People { me: client, other };
    for (key, known) in record.projects().clone() {
        let Some(plan) = build::plan(&key) else {
            record.forget(&key)?;
            continue;
        };
        let project = match known {
            Some(project) => project,
            // The same request answers with the project that it created.
            None => build::project(&people, plan, Some(&record.folder().join("units")), record).await?.id,
        };
        if let Some(name) = delete(&people, plan.by, project).await? {
            context.out.note(&format!("deleted the project `{name}`"));
        }
        record.forget(&key)?;
    }
    if me.user.as_ref().is_some_and(|user| user.hub_owner)
        && let Some(invite) = build::invitation(client, record).await?
    {
        match invite.accepted_by {
            Some(person) => {
                gone(client.ask::<User>(Call::UserDisable { user: person.id }).await.map(|_| ()))?;
                gone(client.ask::<()>(Call::UserRemove { user: person.id }).await)?;
                context.out.note(&format!("removed {}", person.name));
            }
            None => gone(client.ask::<()>(Call::InviteRevoke { invite: invite.id }).await)?,
        }
    }
    repository::remove(&record.folder())?;
    record.delete()
}

/// Ends what runs in a project, deletes its workspaces, then the project; returns its name if it still existed.
async fn delete(people: &People<'_>, by: Who, project: ProjectId) -> Result<Option<String>, Failure> {
    let owner = match (by, &people.other) {
        (Who::Other, Some(other)) => other,
        _ => people.me,
    };
    let projects: Vec<Project> = owner.ask(Call::ProjectList {}).await?;
    let Some(found) = projects.into_iter().find(|found| found.id == project) else { return Ok(None) };
    let filter = WorkerFilter { project: Some(project) };
    for worker in people.me.ask::<Vec<Worker>>(Call::WorkerList { filter }).await? {
        gone(
            people
                .me
                .ask::<Worker>(Call::WorkerStop { worker: worker.id, input: WorkerStop { force: true } })
                .await
                .map(|_| ()),
        )?;
    }
    let began = Instant::now();
    loop {
        for client in [Some(people.me), people.other.as_ref()].into_iter().flatten() {
            // The other person does not see a private project.
            match clear(client, project).await {
                Err(failure) if failure.exit() != Exit::NotFound => return Err(failure),
                _ => {}
            }
        }
        match owner.ask::<()>(Call::ProjectDelete { project }).await.map_err(Failure::from) {
            Ok(()) => return Ok(Some(found.name)),
            Err(failure) if failure.exit() == Exit::NotFound => return Ok(None),
            // A session still ends, or a workspace is still deleted.
            Err(failure) if failure.exit() == Exit::Conflict && began.elapsed() < PATIENCE => {
                tokio::time::sleep(PACE).await;
            }
            Err(failure) => return Err(failure),
        }
    }
}

/// Stops the person's sessions in a project, and deletes the workspaces of those that ended.
async fn clear(client: &Client, project: ProjectId) -> Result<(), Failure> {
    let filter = ExecutionFilter { project: Some(project), ended: Some(true), ..ExecutionFilter::default() };
    let me: Me = client.ask(Call::Me {}).await?;
    let mine = |owner| me.user.as_ref().is_some_and(|user| user.id == owner);
    let sessions: Vec<Session> = client.ask(Call::SessionList { filter }).await?;
    let live: Vec<&Session> = sessions.iter().filter(|one| !one.state.ended()).collect();
    for session in live.iter().filter(|one| mine(one.owner.id) || asked_by(one, &me)) {
        let input = SessionStop { force: true };
        // Another person's session is theirs to stop.
        let _ = client.ask::<Session>(Call::SessionStop { session: session.id, input }).await;
    }
    let workspaces: Vec<Workspace> = client.ask(Call::WorkspaceList { filter }).await?;
    let over = |one: &&Workspace| live.iter().all(|session| session.workspace != one.id);
    for workspace in workspaces.iter().filter(|one| mine(one.owner.id)).filter(over) {
        if workspace.status == WorkspaceStatus::Ready {
            // Without its runner, the runner deletes it once it is back.
            let _ = client.ask::<()>(Call::WorkspaceDiscard { workspace: workspace.id }).await;
        }
    }
    Ok(())
}

fn asked_by(session: &Session, me: &Me) -> bool {
    let asked = session.asked_by.as_ref().map(|by| by.user.id);
    asked.is_some() && asked == me.user.as_ref().map(|user| user.id)
}

/// Something that is already gone is as good as removed.
fn gone(result: Result<(), client::ClientError>) -> Result<(), Failure> {
    match result.map_err(Failure::from) {
        Err(failure) if failure.exit() != Exit::NotFound => Err(failure),
        _ => Ok(()),
    }
}
