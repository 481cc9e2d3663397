//! The asker: brings questions to the agents of ended sessions, and stores their answers.
//!
//! A question is stored first, so that any hub whose runner is connected continues after a restart. It may be asked
//! twice; its first answer counts.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::QuestionId;
use protocol::link::RunnerAnswer;
use store::{Caller, OpenQuestion, QuestionEnded};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::hub::Hub;

/// Wait between two looks, however many questions there are.
const LOOK: Duration = Duration::from_millis(100);
/// How often to look in any case: the runner may be connected to this hub, and the person to another.
const SWEEP: Duration = Duration::from_secs(5);
/// How much longer than the agent its runner and the way may take.
const WAY: Duration = Duration::from_secs(30);

/// Works until the hub stops.
pub(super) async fn run(hub: Arc<Hub>) {
    let mut asked: HashMap<QuestionId, JoinHandle<()>> = HashMap::new();
    loop {
        asked.retain(|_, task| !task.is_finished());
        match hub.store.open_questions().await {
            Ok(open) => {
                for question in open {
                    let shared = hub.clone();
                    asked.entry(question.id).or_insert_with(|| tokio::spawn(ask(shared, question)));
                }
            }
            Err(error) => tracing::warn!(%error, "could not read the open questions"),
        }
        sleep(LOOK).await;
        tokio::select! {
            () = hub.live.asked.notified() => {}
            () = sleep(SWEEP) => {}
        }
    }
}

/// Asks one question and stores its end.
async fn ask(hub: Arc<Hub>, open: OpenQuestion) {
    let patience = Duration::from_secs(open.seconds.into()) + WAY;
    let late = open.asked_at.plus_millis(i64::from(open.seconds) * 2_000) < hub.store.now();
    let answer = match open.ask {
        None => Err("its session is gone".to_owned()),
        Some(_) if late => Err("its runner did not come back: ask again when it is connected".to_owned()),
        // Another hub may have its runner.
        Some(_) if hub.links.reachable(open.runner).is_err() => return,
        Some(ask) => match hub.links.ask_for(open.runner, ask, patience).await {
            Ok(RunnerAnswer::Said(answer)) => Ok(answer),
            Ok(_) => Err("unexpected answer from a runner: update it".to_owned()),
            Err(error) => Err(error.into_problem().detail),
        },
    };
    let question = open.id;
    let ended = QuestionEnded { question, answer };
    if let Err(error) = hub.store.write(&Caller::hub("asker"), None, ended).await {
        tracing::warn!(%error, %question, "could not store the answer to a question");
    }
}
