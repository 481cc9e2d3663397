//! One step of a queue: the engine decides, the effects become rows, until there is nothing to do.

use protocol::Change;

use super::rows::{self, Key};
use super::{load, perform, settings, view};
use crate::StoreError;
use crate::tx::Tx;
use crate::verbs::work::workers::rows::tell;

/// The most steps in one transaction; the rest follows with the next event.
const STEPS: usize = 50;

/// Decides and performs, then announces the queue.
pub(crate) async fn advance(tx: &mut Tx<'_>, key: &Key) -> Result<(), StoreError> {
    step(tx, key).await?;
    announce(tx, key).await
}

/// Decides and performs; returns whether anything was done.
pub(super) async fn step(tx: &mut Tx<'_>, key: &Key) -> Result<bool, StoreError> {
    let rules = settings::rules(tx.read(), key.project).await?;
    let mut done = false;
    for _ in 0..STEPS {
        let Some(queue) = rows::find_queue(tx.read(), key).await? else { break };
        if queue.retry_at > tx.now {
            break;
        }
        let facts = load::facts(tx.read(), &queue, &rules).await?;
        let effects = engine::merge::decide(&facts);
        let mut went = !effects.is_empty();
        for effect in effects {
            let performed = perform::perform(tx, key, &rules, effect).await?;
            done |= performed;
            went &= performed;
        }
        if !went {
            break;
        }
    }
    Ok(done)
}

/// Announces a queue to those who see the project.
pub(super) async fn announce(tx: &mut Tx<'_>, key: &Key) -> Result<(), StoreError> {
    let now = tx.now;
    if let Some(queue) = view::queue(tx.read(), key, now).await? {
        tell(tx, key.project, Change::MergeQueue { queue });
    }
    Ok(())
}
