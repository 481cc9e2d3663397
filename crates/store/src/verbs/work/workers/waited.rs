//! What follows when a workspace has, or cannot have, the works that it builds on.

use domain::{EscalationKind, RunnerId, SessionId, TaskId, WorkspaceId, WorkspaceStatus};
use engine::tasks::life::{Leaving, Why};
use protocol::{EscalationContext, Workspace};

use super::stop;
use crate::StoreError;
use crate::sql::text;
use crate::tx::Tx;
use crate::verbs::work::life;
use crate::verbs::work::review::ask::{self, Ask};
use crate::verbs::work::tasks::row::TaskRow;
use crate::verbs::workspaces;

/// The session that starts in a workspace, with its runner and its task if it still holds one.
struct Waits {
    session: SessionId,
    runner: RunnerId,
    task: Option<TaskRow>,
}

async fn waits(tx: &mut Tx<'_>, workspace: WorkspaceId) -> Result<Option<Waits>, StoreError> {
    let sql = "SELECT id, task, fence, runner FROM sessions WHERE workspace = $1 AND ended_at IS NULL AND \
               stop IS NULL AND task IS NOT NULL ORDER BY created_at DESC, id DESC LIMIT 1";
    let Some(row) = tx.read().first(sql, vec![text(workspace)]).await? else { return Ok(None) };
    let (session, fence): (SessionId, u64) = (row.parsed("id")?, row.integer("fence")?.cast_unsigned());
    let task: TaskId = row.parsed("task")?;
    let task = tx.task(task).await?.filter(|task| task.fence == fence && task.session() == Some(session));
    Ok(Some(Waits { session, runner: row.parsed("runner")?, task }))
}

/// The wait of a workspace for its works is over.
pub(super) async fn ended(tx: &mut Tx<'_>, workspace: WorkspaceId, failed: Option<&str>) -> Result<(), StoreError> {
    let Some(waits) = waits(tx, workspace).await? else { return abandon(tx, workspace).await };
    if let Some(why) = failed {
        stop::session(tx, waits.session, true).await?;
        if let Some(task) = &waits.task {
            life::let_go(tx, task.id, Leaving::Released, Why::open(Some(why.to_owned()))).await?;
        }
    }
    tx.desire(waits.runner).await
}

/// A workspace that was never made is no longer needed.
async fn abandon(tx: &mut Tx<'_>, workspace: WorkspaceId) -> Result<(), StoreError> {
    match workspaces::get(tx.read(), workspace).await? {
        Some(before) if before.status == WorkspaceStatus::Preparing => {
            workspaces::update(tx, Workspace { status: WorkspaceStatus::Cleaned, ..before }).await
        }
        _ => Ok(()),
    }
}

/// The works that a workspace builds on conflict: no agent starts, and a person decides.
pub(crate) async fn conflict(
    tx: &mut Tx<'_>,
    runner: RunnerId,
    workspace: WorkspaceId,
    works: [&str; 2],
    paths: &[String],
) -> Result<(), StoreError> {
    let Some(before) = workspaces::get(tx.read(), workspace).await?.filter(|found| found.runner == runner) else {
        return Ok(());
    };
    let paths: Vec<String> = paths.iter().take(100).map(|path| domain::text::plain(path, 1024)).collect();
    let files = match paths.as_slice() {
        [] => String::new(),
        [one] => format!(" in {one}"),
        [first, rest @ ..] => format!(" in {first} and {} more", rest.len()),
    };
    let [first, second] = works.map(|title| domain::text::plain(&title.replace(['\n', '`'], " "), 300));
    let what = format!("The accepted work that this task builds on conflicts: {first} and {second}{files}");
    let detail = Some(format!("{what}."));
    workspaces::update(tx, Workspace { status: WorkspaceStatus::Failed, detail, ..before }).await?;
    let Some(Waits { session, task: Some(task), .. }) = waits(tx, workspace).await? else { return Ok(()) };
    stop::session(tx, session, true).await?;
    let text =
        "No agent was started. Resolve the conflict, for example by landing one of them and merging the other by \
                hand, or by reopening one of them with that request; then retry this task."
            .to_owned();
    let context = EscalationContext { text, places: paths, ..Default::default() };
    let question = format!("{what}. Retry after it is resolved?");
    ask::escalate(tx, task.id, Ask::new(EscalationKind::GaveUp, question, context)).await.map(|_| ())
}
