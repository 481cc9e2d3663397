//! A handoff of a task's session: the task goes to a next session of the same person, which waits until the old one
//! has ended.

use domain::{RunnerId, TaskId};
use engine::tasks::life::{Leaving, Why};
use protocol::{Session, TaskTakeOver, verbs};

use super::launch::{self, How};
use super::rows::get;
use super::settings::lease_end;
use super::{freeze, stop};
use crate::tx::Tx;
use crate::verbs::sessions;
use crate::verbs::work::life;
use crate::{Command, Placed, StoreError};

/// Where the task goes.
pub(crate) struct To<'a> {
    pub(crate) runner: RunnerId,
    pub(crate) agent: String,
    pub(crate) connected: &'a [RunnerId],
}

/// Gives a held task to a next session: of the same worker if it stays where it is, else of another one.
pub(crate) async fn hand_on(tx: &mut Tx<'_>, task: TaskId, to: To<'_>) -> Result<Session, StoreError> {
    let row = tx.known_task(task).await?;
    let slot = match row.worker() {
        Some(worker) => get(tx, worker).await?,
        None => None,
    };
    match slot.filter(|slot| slot.runner == Some(to.runner) && slot.agent == to.agent) {
        Some(slot) => {
            let me = tx.caller.person()?;
            if freeze::frozen(tx.read(), me.id, row.project).await? {
                return Err(StoreError::Conflict(freeze::REASON.into()));
            }
            let why = Why::open(Some(format!("{} handed it off to a fresh session", me.name)));
            life::let_go(tx, task, Leaving::TakenOver, why).await?;
            if let Some(session) = row.session() {
                stop::session(tx, session, false).await?;
            }
            let settings = tx.work_settings(row.project).await?;
            let until = lease_end(&settings, tx.now, Some(tx.now));
            let fence = life::take(tx, task, slot.id, until).await?;
            let slot = get(tx, slot.id).await?.unwrap_or(slot);
            launch::launch(tx, &slot, task, fence, How::default()).await
        }
        None => {
            let input = TaskTakeOver { runner: Some(to.runner), agent: Some(to.agent), ..Default::default() };
            let verb = verbs::TaskTakeOver { task, input };
            Placed { verb, connected: to.connected.to_vec() }.run(tx).await?;
            let session = tx.known_task(task).await?.session().ok_or(StoreError::NotFound("session"))?;
            sessions::get(tx.read(), session).await?.map(|(found, _)| found).ok_or(StoreError::NotFound("session"))
        }
    }
}
