//! People stop a queue and let it move again.

use domain::text::plain;
use domain::{Action, MergeGate, ProjectId};
use protocol::{MergeGateChange, MergeQueue, Verb, verbs};

use super::queue::target_of;
use super::rows::{self, Key};
use super::{advance, view};
use crate::sql::args;
use crate::tx::{AuditScope, Tx};
use crate::verbs::projects;
use crate::{Command, StoreError};

macro_rules! gates {
    ($($verb:ident => $gate:expr,)*) => {$(
        impl Command for verbs::$verb {
            type Output = MergeQueue;
            const VERB: &'static str = verbs::$verb::SPEC.name;

            async fn run(&self, tx: &mut Tx<'_>) -> Result<MergeQueue, StoreError> {
                change(tx, Self::VERB, self.project, &self.input, $gate).await
            }
        }
    )*};
}

gates! {
    MergePause => MergeGate::Paused,
    MergeFreeze => MergeGate::Frozen,
    MergeThaw => MergeGate::Open,
}

async fn change(
    tx: &mut Tx<'_>,
    verb: &'static str,
    project: ProjectId,
    input: &MergeGateChange,
    gate: MergeGate,
) -> Result<MergeQueue, StoreError> {
    let caller = tx.caller;
    let found = projects::find(tx.read(), caller, project, Action::Decide).await?;
    let name = caller.person()?.name;
    let key = Key { project, target: target_of(&found, input.target.as_deref())? };
    let why = input.reason.as_deref().map(|reason| plain(reason, 500)).filter(|reason| !reason.is_empty());
    let mut queue = rows::make_queue(tx, &key).await?;
    if gate == MergeGate::Open {
        // Who thaws a queue does not believe that the tip is red: it is tested again.
        let sql = "UPDATE merge_runs SET state = 'unproven' WHERE project = $1 AND target = $2 AND purpose = 'bare' AND \
                   state = 'red'";
        tx.run(sql, args![project.to_string(), &key.target]).await?;
        (queue.faults, queue.retry_at, queue.reason) = (0, domain::Timestamp::from_millis(0), None);
    } else {
        let by = if gate == MergeGate::Paused { "paused" } else { "frozen" };
        queue.reason = Some(why.as_ref().map_or(format!("{by} by {name}"), |why| format!("{by} by {name}: {why}")));
    }
    queue.gate = gate;
    rows::save_queue(tx, &queue).await?;
    let detail = why.map(|why| format!(": {why}")).unwrap_or_default();
    tx.audit(verb, project, AuditScope::Project(project), format!("merge queue of `{}` {gate}{detail}", key.target));
    advance::advance(tx, &key).await?;
    let now = tx.now;
    view::queue(tx.read(), &key, now).await?.ok_or(StoreError::NotFound("queue"))
}
