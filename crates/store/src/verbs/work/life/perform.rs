//! Effects of a task's transitions: the only place where they reach workers, reports, questions and other tasks.

use std::pin::Pin;

use engine::tasks::life::{Effect, Trouble};
use protocol::EscalationContext;

use super::{attempt, dependants};
use crate::StoreError;
use crate::tx::Tx;
use crate::verbs::landing;
use crate::verbs::sessions;
use crate::verbs::work::review::ask::{self, Ask};
use crate::verbs::work::review::{conflicts, judge};
use crate::verbs::work::tasks::row::TaskRow;
use crate::verbs::work::workers::log::decided;
use crate::verbs::work::workers::{activity, holds};

/// Performs one effect; `row` is the task after the step.
pub(super) async fn perform(tx: &mut Tx<'_>, row: &TaskRow, effect: Effect) -> Result<(), StoreError> {
    match effect {
        Effect::BeginAttempt { worker } => {
            let worker = holds::took(tx, worker, row.id).await?;
            attempt::begin(tx, row, &worker);
            Ok(())
        }
        Effect::CloseAttempt { outcome, reason, silent_until } => {
            attempt::close(tx, row, outcome, reason, silent_until);
            Ok(())
        }
        Effect::FreeWorker { worker, ended } => holds::let_go(tx, worker, row.id, ended).await.map(|_| ()),
        Effect::RefusePending { reason } => judge::refuse_pending(tx, row.id, &reason).await,
        Effect::FreeDependants => dependants::free(tx, row.id).await,
        Effect::LandWork => landing::automatically(tx, row).await,
        Effect::HoldDependants => dependants::hold(tx, row.id).await,
        Effect::BlockDependants => dependants::block(tx, row).await,
        Effect::UnblockDependants => dependants::unblock(tx, row).await,
        Effect::SettleQuestions { why } => ask::settle_all(tx, row.id, &why).await,
        Effect::StopSession { session } => sessions::ask_to_stop(tx, session, false).await,
        Effect::LookAtActivity => match row.activity {
            Some(activity) => activity::look(tx, activity).await,
            None => Ok(()),
        },
        Effect::DropOutput { how } => drop_output(tx, row, how).await,
        Effect::AskPerson(trouble) => ask_person(tx, row, trouble).await,
        Effect::Log { worker, decision } => decided(tx, row.project, worker, Some(row.id), decision).await,
    }
}

/// Judges the outputs again that conflicted with this one. That can step their tasks, so the future is recursive and
/// boxed.
fn drop_output<'a>(
    tx: &'a mut Tx<'_>,
    row: &'a TaskRow,
    how: &'static str,
) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>> {
    Box::pin(conflicts::stands_no_more(tx, row, how))
}

async fn ask_person(tx: &mut Tx<'_>, row: &TaskRow, trouble: Trouble) -> Result<(), StoreError> {
    let question = trouble.question();
    let Trouble { kind, cause, text, hold } = trouble;
    let context = EscalationContext { text, ..Default::default() };
    let ask = Ask { cause: Some(cause), ..Ask::new(kind, question, context) };
    ask::write(tx, row, ask, Some(&hold)).await.map(|_| ())
}
