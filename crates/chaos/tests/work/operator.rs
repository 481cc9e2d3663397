//! The person at work: answers every question with a retry.

use std::time::Duration;

use client::Client;
use domain::{AnswerAct, ProjectId, TaskStatus};
use protocol::{Call, Escalation, EscalationAnswer, EscalationFilter, TaskFilter, TaskLine, TaskReason};
use tokio::task::JoinHandle;

/// Answers every escalation, and retries what failed, until it is aborted.
pub(crate) fn start(client: Client, project: ProjectId) -> JoinHandle<()> {
    tokio::spawn(async move {
        loop {
            // The hub may be away: then there is nothing to answer now.
            let filter = EscalationFilter { project: Some(project), answered: None };
            let open: Vec<Escalation> = client.ask(Call::EscalationList { filter }).await.unwrap_or_default();
            for escalation in open {
                let input = EscalationAnswer { option: None, act: Some(AnswerAct::Retry), text: Some("again".into()) };
                let answered: Result<Escalation, _> =
                    client.ask(Call::EscalationAnswer { escalation: escalation.id, input }).await;
                drop(answered);
            }
            let filter = TaskFilter { project: Some(project), status: Some(TaskStatus::Failed), ..Default::default() };
            let failed: Vec<TaskLine> = client.ask(Call::TaskList { filter }).await.unwrap_or_default();
            for task in failed {
                let retried: Result<protocol::Task, _> =
                    client.ask(Call::TaskRetry { task: task.id, input: TaskReason::default() }).await;
                drop(retried);
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    })
}
