//! The courier: carries handoffs from step to step.
//!
//! What is to be done is stored in the database, so that any hub continues after a restart. Each step may be done
//! twice; the database counts it once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::{HandoffId, HandoffStep, RunnerId};
use protocol::ProblemKind;
use protocol::link::{PublishWork, RunnerAnswer, RunnerAsk};
use store::{Caller, HandoffResult, HandoffTold, HandoffWork, StoreError, TendHandoff};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::mover::bring;
use crate::AppError;
use crate::hub::Hub;

/// Wait between two looks, however many changes there are.
const LOOK: Duration = Duration::from_millis(100);
/// How often to look while a handoff is open.
const AGAIN: Duration = Duration::from_secs(1);
/// How often to look in any case.
const SWEEP: Duration = Duration::from_secs(30);
/// How many lines of a recording to ask for.
const LINES: u32 = 200;

/// Works until the hub stops.
pub(super) async fn run(hub: Arc<Hub>) {
    let mut carried: HashMap<HandoffId, JoinHandle<()>> = HashMap::new();
    loop {
        carried.retain(|_, task| !task.is_finished());
        let open = match hub.store.open_handoffs().await {
            Ok(open) => open,
            Err(error) => {
                tracing::warn!(%error, "could not read the open handoffs");
                Vec::new()
            }
        };
        for handoff in &open {
            let shared = hub.clone();
            carried.entry(*handoff).or_insert_with(|| tokio::spawn(carry(shared, *handoff)));
        }
        sleep(LOOK).await;
        let again = if open.is_empty() { SWEEP } else { AGAIN };
        tokio::select! {
            () = hub.live.handoffs.changed() => {}
            () = sleep(again) => {}
        }
    }
}

/// Moves one handoff as far as possible now.
async fn carry(hub: Arc<Hub>, handoff: HandoffId) {
    loop {
        let work = match tend(&hub, handoff).await {
            Ok(work) => work,
            Err(error) => return tracing::warn!(%error, %handoff, "could not continue a handoff"),
        };
        failpoint::pass("courier.tended");
        match work {
            HandoffWork::Again => {}
            HandoffWork::Nothing | HandoffWork::Over => return,
            work => {
                let Some(result) = perform(&hub, handoff, work).await else { return };
                failpoint::pass("courier.performed");
                let waits = matches!(result, HandoffResult::Waits { .. } | HandoffResult::Tried { .. });
                if let Err(error) = tell(&hub, handoff, result).await {
                    return tracing::warn!(%error, %handoff, "could not store what came of a handoff's step");
                }
                failpoint::pass("courier.told");
                if waits {
                    return;
                }
            }
        }
    }
}

/// The next thing to do. A step that the database refuses has failed.
async fn tend(hub: &Hub, handoff: HandoffId) -> Result<HandoffWork, StoreError> {
    let connected = hub.store.runners(&Caller::hub("courier")).await?;
    let connected = connected.into_iter().filter(|runner| hub.live.is_there(runner)).map(|runner| runner.id).collect();
    let caller = Caller::hub("courier");
    match hub.store.write(&caller, None, TendHandoff { handoff, connected }).await {
        Ok(done) => Ok(done.value),
        Err(error @ (StoreError::Conflict(_) | StoreError::Forbidden(_) | StoreError::NotFound(_))) => {
            let why = error.to_string();
            for at in [HandoffStep::Stop, HandoffStep::Start] {
                tell(hub, handoff, HandoffResult::Failed { at, why: why.clone() }).await?;
            }
            Ok(HandoffWork::Over)
        }
        Err(error) => Err(error),
    }
}

async fn tell(hub: &Hub, handoff: HandoffId, result: HandoffResult) -> Result<(), StoreError> {
    hub.store.write(&Caller::hub("courier"), None, HandoffTold { handoff, result }).await.map(|_| ())
}

/// Does one thing at a runner; `None` if nothing is to be stored.
async fn perform(hub: &Hub, handoff: HandoffId, work: HandoffWork) -> Option<HandoffResult> {
    match work {
        HandoffWork::Ask { runner, session, text } => {
            // If the message does not arrive, the recording is used when the time is over.
            let ask = RunnerAsk::Send { session, text, submit: true };
            if let Err(error) = hub.links.ask(runner, ask).await {
                tracing::info!(%handoff, why = error.into_problem().detail, "could not ask the agent for its handoff");
            }
            None
        }
        HandoffWork::Record { runner, session, why } => {
            let ask = RunnerAsk::Log { session, lines: LINES, setup: false };
            let answer = match runner {
                Some(runner) => hub.links.ask(runner, ask).await.ok(),
                None => None,
            };
            let log = match answer {
                Some(RunnerAnswer::Log(log)) => log.text,
                // The document says at least why; the work itself is saved in the next step.
                _ => String::new(),
            };
            Some(HandoffResult::Recorded { log, why })
        }
        HandoffWork::Keep { runner, workspace, note } => {
            let answer = hub.links.ask(runner, RunnerAsk::KeepAll { workspace, handoff, note }).await;
            Some(result(hub, (HandoffStep::Save, &[runner]), answer, |answer| match answer {
                RunnerAnswer::KeptAll(kept) => Some(HandoffResult::Kept { kept }),
                _ => None,
            }))
        }
        HandoffWork::Publish { runner, location, commit, branch } => {
            let work = PublishWork::Handoff { handoff, commit };
            let ask = RunnerAsk::Publish { location, work, branch: branch.clone(), replaces: None };
            let answer = hub.links.ask(runner, ask).await;
            Some(result(hub, (HandoffStep::Publish, &[runner]), answer, |answer| match answer {
                RunnerAnswer::Published(_) => Some(HandoffResult::Pushed { branch }),
                _ => None,
            }))
        }
        HandoffWork::Bring { from, to, workspace } => Some(match hub.links.reachable(to) {
            Err(error) => failed(hub, (HandoffStep::Start, &[from, to]), error),
            Ok(()) => match bring(hub, from, to, RunnerAsk::Bundle { workspace }).await {
                Ok(bundle) => HandoffResult::Brought { bundle },
                Err(error) => failed(hub, (HandoffStep::Start, &[from, to]), error),
            },
        }),
        HandoffWork::Nothing | HandoffWork::Again | HandoffWork::Over => None,
    }
}

fn result(
    hub: &Hub,
    (at, runners): (HandoffStep, &[RunnerId]),
    answer: Result<RunnerAnswer, AppError>,
    read: impl FnOnce(RunnerAnswer) -> Option<HandoffResult>,
) -> HandoffResult {
    match answer {
        Ok(answer) => read(answer).unwrap_or_else(|| {
            let why = "unexpected answer from a runner: update it".to_owned();
            HandoffResult::Failed { at, why }
        }),
        Err(error) => failed(hub, (at, runners), error),
    }
}

/// A runner that is away comes back. What a runner that is there could not do may work the next time; everything else
/// is for a person.
fn failed(hub: &Hub, (at, runners): (HandoffStep, &[RunnerId]), error: AppError) -> HandoffResult {
    let problem = error.into_problem();
    let there = runners.iter().all(|runner| hub.links.reachable(*runner).is_ok());
    match problem.kind {
        ProblemKind::Unavailable if there => HandoffResult::Tried { at, why: problem.detail },
        ProblemKind::Unavailable => HandoffResult::Waits { why: format!("waits: {}", problem.detail) },
        _ => HandoffResult::Failed { at, why: problem.detail },
    }
}
