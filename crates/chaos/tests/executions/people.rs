//! A person who approves, and runs again what was interrupted.

use std::time::Duration;

use client::Client;
use domain::{ExecutionId, ProjectId, StepStatus};
use protocol::{Call, Execution, ExecutionAnswer, ExecutionAt, ExecutionDetail, ExecutionStep, ExecutionsWanted};
use tokio::task::JoinHandle;

/// Starts answering; it lasts until it is aborted.
pub(crate) fn start(client: Client, project: ProjectId) -> JoinHandle<()> {
    tokio::spawn(async move {
        loop {
            for execution in waiting(&client, project).await {
                decide(&client, execution).await;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    })
}

/// The executions that wait for a person; none while a hub does not answer.
async fn waiting(client: &Client, project: ProjectId) -> Vec<ExecutionId> {
    let filter = ExecutionsWanted { open: Some(true), limit: Some(200), ..Default::default() };
    let found: Vec<Execution> = client.ask(Call::ExecutionList { project, filter }).await.unwrap_or_default();
    found.into_iter().filter(|one| one.needs_person).map(|one| one.id).collect()
}

/// Decides about each step that waits. What is refused was decided before, by a request whose answer was lost.
async fn decide(client: &Client, execution: ExecutionId) {
    let Ok(detail) = client.ask::<ExecutionDetail>(Call::ExecutionShow { execution }).await else { return };
    for ExecutionStep { path, status, question, .. } in detail.steps {
        let call = match (status, question) {
            (StepStatus::Interrupted, _) => {
                let input = ExecutionAt { path, reason: "it may run again".into() };
                Call::ExecutionRetry { execution, input }
            }
            (_, Some(_)) => {
                let input = ExecutionAnswer { path, approve: true, data: None, comment: String::new() };
                Call::ExecutionAnswer { execution, input }
            }
            _ => continue,
        };
        let _ = client.ask::<Execution>(call).await;
    }
}
