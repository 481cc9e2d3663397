//! Answers what the hub asks while somebody waits; each beside everything else.

use std::sync::Arc;

use protocol::link::{FromRunner, RunnerAnswer, RunnerAsk};
use protocol::{Problem, ProblemKind};
use tokio::sync::oneshot;

use crate::floor::Floor;
use crate::link::Line;
use crate::sessions::Order;

/// Answers one ask, when it can.
pub(crate) fn answer(floor: &Arc<Floor>, line: &Line, id: u32, ask: RunnerAsk) {
    let (shared, line) = (floor.clone(), line.clone());
    floor.spawn(async move {
        let frame = match told(&shared, ask).await {
            Ok(answer) => FromRunner::Told { id, answer },
            Err(problem) => FromRunner::Refused { id, problem },
        };
        let _ = line.send(&frame).await;
    });
}

async fn told(floor: &Arc<Floor>, ask: RunnerAsk) -> Result<RunnerAnswer, Problem> {
    match ask {
        RunnerAsk::Send { session, text, submit } => {
            let (done, answer) = oneshot::channel();
            if !floor.sessions.order(session, Order::Say { text, submit, done }) {
                return Err(Problem::new(ProblemKind::Conflict, "the session is over"));
            }
            match answer.await {
                Ok(Ok(())) => Ok(RunnerAnswer::Done),
                Ok(Err(why)) => Err(Problem::new(ProblemKind::Conflict, why)),
                Err(_) => Err(Problem::new(ProblemKind::Conflict, "the session ended before it was told")),
            }
        }
        _ => Err(Problem::new(ProblemKind::Internal, "this runner cannot answer that yet")),
    }
}
