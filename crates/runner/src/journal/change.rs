//! Changes of the journal as data, so that related ones form one transaction.

use domain::{HubId, MergeRunId, ReportId, SessionId, WorkspaceId};
use protocol::link::{DesiredCheck, DesiredMerge, DesiredSession, FactBody};
use serde::Serialize;
use sqlx::SqliteConnection;

use super::facts::integer;
use super::{JournalError, Memory, Step, WorkspaceRow};

/// One change of the journal.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    /// The hub that this journal belongs to.
    Hub(HubId),
    /// The desired state was applied up to this generation.
    Generation(u64),
    /// The hub's wish for a session; a new session is at this step.
    Desired(Box<DesiredSession>, Step),
    /// The sessions whose recordings are kept forever; replaces the list.
    Keep(Vec<SessionId>),
    /// A session's step.
    Step(SessionId, Step),
    /// A session's state.
    Memory(SessionId, Box<Memory>),
    /// A workspace's state.
    Workspace(WorkspaceId, Box<WorkspaceRow>),
    /// The hub wants a report checked.
    Check(Box<DesiredCheck>),
    /// A check is finished, with this result for the hub.
    Checked(ReportId, Box<FactBody>),
    /// The wanted checks; others are deleted.
    OnlyChecks(Vec<ReportId>),
    /// The hub wants a merge run.
    Merge(Box<DesiredMerge>),
    /// A merge run is finished, with this result for the hub.
    Merged(MergeRunId, Box<FactBody>),
    /// The wanted merge runs; others are deleted.
    OnlyMerges(Vec<MergeRunId>),
}

impl Change {
    pub(super) async fn apply(&self, tx: &mut SqliteConnection) -> Result<(), JournalError> {
        let query = match self {
            Self::Hub(hub) => sqlx::query("UPDATE runner SET hub = $1 WHERE one = 1").bind(hub.to_string()),
            Self::Generation(generation) => {
                sqlx::query("UPDATE runner SET generation = $1 WHERE one = 1").bind(integer(*generation))
            }
            Self::Desired(desired, step) => sqlx::query(
                "INSERT INTO sessions (session, workspace, step, keep, desired, memory) VALUES ($1, $2, $3, 0, $4, '{}') \
                 ON CONFLICT (session) DO UPDATE SET desired = excluded.desired",
            )
            .bind(desired.session.to_string())
            .bind(desired.workspace.workspace.to_string())
            .bind(step.word())
            .bind(json(desired)?),
            Self::Keep(sessions) => {
                let keep: Vec<_> = sessions.iter().map(ToString::to_string).collect();
                sqlx::query("UPDATE sessions SET keep = session IN (SELECT value FROM json_each($1))").bind(json(&keep)?)
            }
            Self::Step(session, step) => {
                let sql = "UPDATE sessions SET step = $1 WHERE session = $2";
                sqlx::query(sql).bind(step.word()).bind(session.to_string())
            }
            Self::Memory(session, memory) => {
                let sql = "UPDATE sessions SET memory = $1 WHERE session = $2";
                sqlx::query(sql).bind(json(memory)?).bind(session.to_string())
            }
            Self::Workspace(workspace, row) => {
                let sql = "INSERT INTO workspaces (workspace, body) VALUES ($1, $2) \
                           ON CONFLICT (workspace) DO UPDATE SET body = excluded.body";
                sqlx::query(sql).bind(workspace.to_string()).bind(json(row)?)
            }
            Self::Check(desired) => {
                let sql = "INSERT INTO checks (report, desired) VALUES ($1, $2) ON CONFLICT (report) DO NOTHING";
                sqlx::query(sql).bind(desired.report.to_string()).bind(json(desired)?)
            }
            Self::Checked(report, result) => {
                let sql = "UPDATE checks SET result = $1 WHERE report = $2";
                sqlx::query(sql).bind(json(result)?).bind(report.to_string())
            }
            Self::OnlyChecks(reports) => {
                let sql = "DELETE FROM checks WHERE report NOT IN (SELECT value FROM json_each($1))";
                sqlx::query(sql).bind(json(reports)?)
            }
            Self::Merge(desired) => {
                let sql = "INSERT INTO merges (run, desired) VALUES ($1, $2) ON CONFLICT (run) DO NOTHING";
                sqlx::query(sql).bind(desired.run.to_string()).bind(json(desired)?)
            }
            Self::Merged(run, result) => {
                let sql = "UPDATE merges SET result = $1 WHERE run = $2";
                sqlx::query(sql).bind(json(result)?).bind(run.to_string())
            }
            Self::OnlyMerges(runs) => {
                let sql = "DELETE FROM merges WHERE run NOT IN (SELECT value FROM json_each($1))";
                sqlx::query(sql).bind(json(runs)?)
            }
        };
        query.execute(tx).await?;
        Ok(())
    }
}

fn json(value: &impl Serialize) -> Result<String, JournalError> {
    serde_json::to_string(value).map_err(|error| JournalError::Damaged(error.to_string()))
}
