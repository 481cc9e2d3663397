//! Facts from runners, each stored once and in order.

use domain::text::plain;
use domain::{HoldUp, JournalId, RunnerId, SessionId, Timestamp, WorkspaceId, WorkspaceStatus};
use protocol::link::{Fact, FactBody};
use protocol::{GitStats, Session, SessionState, Workspace};
use serde::{Deserialize, Serialize};

use super::{announce, get};
use crate::sql::{args, text, to_json};
use crate::tx::{AuditScope, Tx};
use crate::verbs::work::review::checks;
use crate::verbs::work::workers::facts::Under;
use crate::verbs::work::workers::outage::Held;
use crate::verbs::work::workers::{self as work, Say};
use crate::verbs::{approvals, executions, merge, overlaps, workspaces};
use crate::{Command, StoreError};

/// Stores facts from a runner. Facts that are stored already are skipped.
#[derive(Debug, Serialize)]
pub struct TakeFacts {
    /// The runner.
    pub runner: RunnerId,
    /// The journal that numbers the facts.
    pub journal: JournalId,
    /// The facts, in order.
    pub facts: Vec<Fact>,
}

/// Result of storing facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenFacts {
    /// Facts up to this number are stored; the runner may delete them.
    pub acknowledged: u64,
    /// Messages for live sessions, to be sent once.
    pub say: Vec<Say>,
}

impl Command for TakeFacts {
    type Output = SeenFacts;
    const VERB: &'static str = "runner.facts";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<SeenFacts, StoreError> {
        let sql = "SELECT journal, facts FROM runners WHERE id = $1";
        let row = tx.read().first(sql, vec![text(self.runner)]).await?.ok_or(StoreError::NotFound("runner"))?;
        let same = row.text_or_none("journal")?.as_deref() == Some(self.journal.to_string().as_str());
        // A new journal means that the runner lost its data and counts from 1 again.
        let before = if same { row.integer("facts")?.cast_unsigned() } else { 0 };
        let (mut seen, mut say) = (before, Vec::new());
        for fact in &self.facts {
            if fact.number != seen + 1 {
                continue;
            }
            say.extend(take(tx, self.runner, fact).await?);
            seen = fact.number;
        }
        if seen != before || !same {
            let sql = "UPDATE runners SET journal = $1, facts = $2 WHERE id = $3";
            tx.run(sql, args![self.journal.to_string(), seen, self.runner.to_string()]).await?;
        }
        say.extend(tx.take_said());
        Ok(SeenFacts { acknowledged: seen, say })
    }
}

/// Stores a fact and its consequences; returns a message for a live session, if any.
async fn take(tx: &mut Tx<'_>, runner: RunnerId, fact: &Fact) -> Result<Option<Say>, StoreError> {
    match &fact.body {
        FactBody::Checking { report } => checks::began(tx, runner, *report).await?,
        FactBody::Checked { report, results, changes } => {
            let say = checks::checked(tx, runner, *report, results, changes.as_ref()).await?;
            approvals::over(tx, report).await?;
            return Ok(say);
        }
        FactBody::CheckFailed { report, detail, cause } => {
            let say = checks::check_failed(tx, runner, *report, detail, *cause).await?;
            approvals::over(tx, report).await?;
            return Ok(say);
        }
        FactBody::SessionSaid { session, text } => match own_and_task(tx, runner, *session).await? {
            Some((_, Some(under))) => work::facts::spoke(tx, under, text).await?,
            Some((_, None)) => executions::said(tx, *session, text).await?,
            None => {}
        },
        FactBody::SessionPrinted { session, text } => {
            if let Some((_, None)) = own_and_task(tx, runner, *session).await? {
                executions::printed(tx, *session, text).await?;
            }
        }
        FactBody::SessionLimited { session, retry_after_seconds, cause, message, login } => {
            if let Some((_, Some(under))) = own_and_task(tx, runner, *session).await? {
                let held = Held {
                    cause: cause.unwrap_or(HoldUp::RateLimit),
                    message: message.as_deref().map(reason),
                    login: login.as_deref().map(name),
                    retry_after_seconds: *retry_after_seconds,
                    since: tx.now,
                    until: None,
                    followed: cause.is_some(),
                };
                work::facts::held_up(tx, *session, under, held).await?;
            }
        }
        FactBody::SessionProgress { session } => {
            if let Some((_, Some(under))) = own_and_task(tx, runner, *session).await? {
                work::facts::progressed(tx, *session, under).await?;
            }
        }
        body => seen(tx, runner, body).await?,
    }
    Ok(None)
}

async fn seen(tx: &mut Tx<'_>, runner: RunnerId, body: &FactBody) -> Result<(), StoreError> {
    match body {
        FactBody::ApprovalWanted { subject, wishes } => approvals::wanted(tx, runner, *subject, wishes).await,
        FactBody::SessionState { session, state } => state_changed(tx, runner, *session, state).await,
        FactBody::SessionUsage { session, usage, model, conversation } => {
            let Some((before, under)) = own_and_task(tx, runner, *session).await? else { return Ok(()) };
            let (model, conversation) = (model.as_deref().map(name), conversation.as_deref().map(name));
            let sql = "UPDATE sessions SET usage = $1, model = COALESCE($2, model), \
                       conversation = COALESCE($3, conversation) WHERE id = $4";
            let id = before.id.to_string();
            tx.run(sql, args![to_json(usage), model.clone(), conversation.clone(), id]).await?;
            let resumable = before.resumable || conversation.is_some();
            let model = model.clone().or(before.model.clone());
            announce(tx, Session { usage: usage.clone(), model, resumable, ..before.clone() });
            match under {
                Some(under) => work::facts::used(tx, &before, usage, under).await,
                None => executions::used(tx, &before, usage).await,
            }
        }
        FactBody::Recorded { session, output_bytes, disk_bytes, duration_ms } => {
            let Some(mut after) = own(tx, runner, *session).await? else { return Ok(()) };
            after.recording.output_bytes = *output_bytes;
            after.recording.disk_bytes = *disk_bytes;
            after.recording.duration_ms = *duration_ms;
            let sql = "UPDATE sessions SET output_bytes = $1, disk_bytes = $2, duration_ms = $3 WHERE id = $4";
            tx.run(sql, args![*output_bytes, *disk_bytes, *duration_ms, after.id.to_string()]).await?;
            announce(tx, after);
            Ok(())
        }
        FactBody::WorkspaceReady { workspace, path, branch: _, base, ports } => {
            let Some(before) = own_workspace(tx, runner, *workspace).await? else { return Ok(()) };
            let base = base.as_deref().map(name).or(before.base.clone());
            let after = Workspace {
                path: Some(plain(path, 4096)),
                base,
                ports: ports.clone(),
                status: WorkspaceStatus::Ready,
                detail: None,
                ..before
            };
            workspaces::update(tx, after).await
        }
        FactBody::WorkspaceFailed { workspace, detail } => {
            let Some(before) = own_workspace(tx, runner, *workspace).await? else { return Ok(()) };
            let detail = Some(reason(detail));
            workspaces::update(tx, Workspace { status: WorkspaceStatus::Failed, detail, ..before }).await
        }
        FactBody::WorksConflict { workspace, first, second, paths } => {
            work::waited::conflict(tx, runner, *workspace, [first, second], paths).await
        }
        FactBody::WorkspaceStats { workspace, stats, disk_bytes, saved_at } => {
            let Some(before) = own_workspace(tx, runner, *workspace).await? else { return Ok(()) };
            // Counted while the folder was deleted.
            if before.status == WorkspaceStatus::Cleaned {
                return Ok(());
            }
            let after = Workspace {
                stats: stats.clone().map(bounded).or(before.stats.clone()),
                disk_bytes: disk_bytes.or(before.disk_bytes),
                saved_at: saved_at.map(|at| honest(at, before.created_at, tx.now)).or(before.saved_at),
                ..before.clone()
            };
            let conflicts = |of: &Workspace| of.stats.as_ref().map_or(vec![], |stats| stats.conflicts.clone());
            let turned = conflicts(&after) != conflicts(&before);
            workspaces::update(tx, after).await?;
            if turned { overlaps::counted(tx, before.id).await } else { Ok(()) }
        }
        FactBody::WorkspaceWork { workspace, work } => {
            let known = own_workspace(tx, runner, *workspace).await?;
            // Described while the folder was deleted.
            match known.filter(|workspace| workspace.status != WorkspaceStatus::Cleaned) {
                Some(workspace) => overlaps::take(tx, &workspace, work).await,
                None => Ok(()),
            }
        }
        FactBody::SessionSaid { .. }
        | FactBody::SessionPrinted { .. }
        | FactBody::SessionLimited { .. }
        | FactBody::SessionProgress { .. }
        | FactBody::Checking { .. }
        | FactBody::Checked { .. }
        | FactBody::CheckFailed { .. } => Ok(()),
        FactBody::MergeBegan { run } => merge::began(tx, runner, *run).await,
        FactBody::MergeTested { run, test } => merge::tested(tx, runner, *run, test).await,
        FactBody::MergeLanded { run, land } => merge::landed(tx, runner, *run, land).await,
        FactBody::WorkspaceCleaned { workspace } => {
            let Some(before) = own_workspace(tx, runner, *workspace).await? else { return Ok(()) };
            tx.audit("workspace.clean", before.id, AuditScope::Project(before.project), "the workspace was deleted");
            overlaps::over(tx, before.id).await?;
            workspaces::update(tx, workspaces::cleaned(before)).await
        }
    }
}

/// Stores a session's new state. An ended session stays ended, whatever a late fact says.
async fn state_changed(
    tx: &mut Tx<'_>,
    runner: RunnerId,
    session: SessionId,
    state: &SessionState,
) -> Result<(), StoreError> {
    let Some((before, under)) = own_and_task(tx, runner, session).await? else { return Ok(()) };
    if before.state.ended() {
        return Ok(());
    }
    let since = honest(state.since, before.created_at, tx.now);
    let state = SessionState { since, detail: state.detail.as_deref().map(reason), ..state.clone() };
    let ended: Option<Timestamp> = state.ended().then_some(tx.now);
    let sql = "UPDATE sessions SET status = $1, detail = $2, code = $3, signal = $4, since = $5, ended_at = $6 \
               WHERE id = $7";
    let values = args![
        state.status.word(),
        state.detail.clone(),
        state.code.map(i64::from),
        state.signal.map(i64::from),
        state.since,
        ended,
        before.id.to_string(),
    ];
    tx.run(sql, values).await?;
    if state.ended() {
        super::tokens::end(tx, before.id).await?;
        approvals::over(tx, before.id).await?;
        let how = state.code.map_or(state.status.to_string(), |code| format!("exited with {code}"));
        tx.audit("session.ended", before.id, AuditScope::Project(before.project), format!("`{}` {how}", before.title));
    }
    let mut after = Session { state, ..before };
    if after.state.ended() && after.keyboard != protocol::Keyboard::default() {
        after.keyboard = protocol::Keyboard::default();
        tx.run("UPDATE sessions SET keyboard = NULL WHERE id = $1", args![after.id.to_string()]).await?;
    }
    announce(tx, after.clone());
    if let Some(under) = under {
        work::facts::state(tx, &after, under).await?;
    }
    match after.state.ended() {
        true => {
            executions::ended_late(tx, after.id, &after.state).await?;
            work::activity::look(tx, after.activity).await
        }
        false => Ok(()),
    }
}

/// Limits a runner's time to the interval from the session's start to now, because its clock may be wrong.
fn honest(said: Timestamp, earliest: Timestamp, now: Timestamp) -> Timestamp {
    said.max(earliest).min(now)
}

/// A reason, cut to a useful length.
fn reason(detail: &str) -> String {
    plain(detail, 2000)
}

/// The name of a model, conversation or branch.
fn name(text: &str) -> String {
    plain(&text.replace('\n', " "), 255)
}

/// Limits statistics, which are sent to clients often.
fn bounded(stats: GitStats) -> GitStats {
    let conflicts = stats.conflicts.iter().take(100).map(|path| plain(path, 1024)).collect();
    let checked_out = stats.checked_out.map(workspaces::readable);
    let head = stats.head.filter(|head| head.len() <= 64 && head.bytes().all(|b| b.is_ascii_hexdigit()));
    GitStats { conflicts, checked_out, head, ..stats }
}

/// A session of this runner; facts about other sessions are ignored.
async fn own(tx: &mut Tx<'_>, runner: RunnerId, id: SessionId) -> Result<Option<Session>, StoreError> {
    Ok(get(tx.read(), id).await?.map(|(session, _)| session).filter(|session| session.runner == runner))
}

/// A session of this runner, with the hold on its task.
async fn own_and_task(
    tx: &mut Tx<'_>,
    runner: RunnerId,
    id: SessionId,
) -> Result<Option<(Session, Option<Under>)>, StoreError> {
    let Some((session, row)) = get(tx.read(), id).await? else { return Ok(None) };
    let under = Under::read(&row)?;
    Ok((session.runner == runner).then_some((session, under)))
}

async fn own_workspace(tx: &mut Tx<'_>, runner: RunnerId, id: WorkspaceId) -> Result<Option<Workspace>, StoreError> {
    Ok(workspaces::get(tx.read(), id).await?.filter(|workspace| workspace.runner == runner))
}
