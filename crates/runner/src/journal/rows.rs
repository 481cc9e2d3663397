//! Sessions and workspaces in the journal.

use std::path::PathBuf;

use domain::{ActivityId, ProjectId, SessionId, Timestamp, WorkspaceId};
use protocol::link::{DesiredSession, DesiredWorkspace};
use protocol::{GitStats, PortRange, Sandbox, SessionState, Usage};
use serde::{Deserialize, Serialize};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::open::parse;
use super::{Journal, JournalError};

/// A session's progress. Written before each step is taken, so that nothing is done twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// The hub wants it; none of its processes was ever started.
    Accepted,
    /// Its host may have been started.
    Starting,
    /// Its host was started.
    Running,
    /// It has exited, and its fact is queued.
    Ended,
}

impl Step {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Ended => "ended",
        }
    }
}

impl std::str::FromStr for Step {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Accepted, Self::Starting, Self::Running, Self::Ended];
        all.into_iter().find(|step| step.word() == text).ok_or_else(|| format!("`{text}` is not a step of a session"))
    }
}

/// A stored session.
#[derive(Debug, Clone)]
pub(crate) struct SessionRow {
    pub(crate) session: SessionId,
    pub(crate) step: Step,
    /// Whether its recording is kept forever.
    pub(crate) keep: bool,
    pub(crate) desired: DesiredSession,
    pub(crate) memory: Memory,
}

/// A session's state beside the hub's wish.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Memory {
    /// The last state sent to the hub.
    pub(crate) state: Option<SessionState>,
    pub(crate) usage: Option<Usage>,
    pub(crate) model: Option<String>,
    /// The conversation's id for resuming.
    pub(crate) conversation: Option<String>,
    /// The prompt was delivered, or was about to be: it is never delivered again.
    pub(crate) prompted: bool,
    /// Its recording was deleted to free space.
    pub(crate) forgotten: bool,
    /// How often it was held up, as reported.
    #[serde(alias = "limits")]
    pub(crate) hold_ups: u32,
    /// What holds it up, as reported, in the agent's words.
    pub(crate) held_up: Option<String>,
    /// Whether it was reported that its model answers.
    pub(crate) progressed: bool,
    /// The sandbox that it was started in.
    pub(crate) sandbox: Option<Sandbox>,
}

/// A stored workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WorkspaceRow {
    pub(crate) project: ProjectId,
    /// The activity that it was created for, if any.
    pub(crate) activity: Option<ActivityId>,
    pub(crate) desired: DesiredWorkspace,
    /// Whether it is ready.
    pub(crate) ready: bool,
    pub(crate) path: Option<PathBuf>,
    pub(crate) base: Option<String>,
    pub(crate) ports: Option<PortRange>,
    pub(crate) stats: Option<GitStats>,
    /// The last checked-out commit.
    pub(crate) head: Option<String>,
    pub(crate) disk_bytes: Option<u64>,
    pub(crate) saved_at: Option<Timestamp>,
    pub(crate) used_at: Timestamp,
    /// Whether it was deleted.
    pub(crate) cleaned: bool,
    /// The sandbox for everything in it, since a sandboxed process may have changed it.
    #[serde(default)]
    pub(crate) sandbox: Option<Sandbox>,
}

impl Journal {
    /// The running or the exited sessions; oldest first.
    pub(crate) async fn sessions(&self, ended: bool) -> Result<Vec<SessionRow>, JournalError> {
        let mut held = self.connection.hold().await?;
        let sql =
            "SELECT session, step, keep, desired, memory FROM sessions WHERE (step = 'ended') = $1 ORDER BY session";
        let rows = sqlx::query(sql).bind(ended).fetch_all(held.connection()?).await?;
        rows.iter().map(session_row).collect()
    }

    /// The known ones among these sessions.
    pub(crate) async fn known(&self, sessions: &[SessionId]) -> Result<Vec<SessionRow>, JournalError> {
        let mut held = self.connection.hold().await?;
        let sql = "SELECT session, step, keep, desired, memory FROM sessions \
                   WHERE session IN (SELECT value FROM json_each($1))";
        let names = serde_json::to_string(sessions).unwrap_or_default();
        let rows = sqlx::query(sql).bind(names).fetch_all(held.connection()?).await?;
        rows.iter().map(session_row).collect()
    }

    /// One session.
    pub(crate) async fn session(&self, session: SessionId) -> Result<Option<SessionRow>, JournalError> {
        Ok(self.known(&[session]).await?.pop())
    }

    /// The usage of earlier sessions with the same conversation.
    pub(crate) async fn used_before(&self, session: SessionId, conversation: &str) -> Result<Vec<Usage>, JournalError> {
        let mut held = self.connection.hold().await?;
        let sql = "SELECT memory FROM sessions WHERE memory ->> '$.conversation' = $1 AND session < $2";
        let query = sqlx::query(sql).bind(conversation).bind(session.to_string());
        let rows = query.fetch_all(held.connection()?).await?;
        let memories: Result<Vec<Memory>, _> = rows.iter().map(|row| json(row, "memory")).collect();
        Ok(memories?.into_iter().filter_map(|memory| memory.usage).collect())
    }

    /// One workspace.
    pub(crate) async fn workspace(&self, workspace: WorkspaceId) -> Result<Option<WorkspaceRow>, JournalError> {
        let mut held = self.connection.hold().await?;
        let sql = "SELECT workspace, body FROM workspaces WHERE workspace = $1";
        let row = sqlx::query(sql).bind(workspace.to_string()).fetch_optional(held.connection()?).await?;
        row.as_ref().map(workspace_row).transpose().map(|found| found.map(|(_, row)| row))
    }

    /// Every workspace, including deleted ones.
    pub(crate) async fn workspaces(&self) -> Result<Vec<(WorkspaceId, WorkspaceRow)>, JournalError> {
        let mut held = self.connection.hold().await?;
        let rows = sqlx::query("SELECT workspace, body FROM workspaces").fetch_all(held.connection()?).await?;
        rows.iter().map(workspace_row).collect()
    }
}

impl Journal {
    /// The wanted sandboxes of sessions, with their workspaces.
    pub(crate) async fn sandboxes(&self) -> Result<Vec<(WorkspaceId, Sandbox)>, JournalError> {
        let mut held = self.connection.hold().await?;
        let sql = "SELECT DISTINCT workspace, desired ->> '$.sandbox' AS sandbox FROM sessions \
                   WHERE desired ->> '$.sandbox' IS NOT NULL";
        let rows = sqlx::query(sql).fetch_all(held.connection()?).await?;
        let read = |row: &SqliteRow| Ok((parse(&row.try_get::<String, _>("workspace")?)?, json(row, "sandbox")?));
        rows.iter().map(read).collect()
    }
}

fn session_row(row: &SqliteRow) -> Result<SessionRow, JournalError> {
    Ok(SessionRow {
        session: parse(&row.try_get::<String, _>("session")?)?,
        step: parse(&row.try_get::<String, _>("step")?)?,
        keep: row.try_get("keep")?,
        desired: json(row, "desired")?,
        memory: json(row, "memory")?,
    })
}

fn workspace_row(row: &SqliteRow) -> Result<(WorkspaceId, WorkspaceRow), JournalError> {
    Ok((parse(&row.try_get::<String, _>("workspace")?)?, json(row, "body")?))
}

fn json<T: serde::de::DeserializeOwned>(row: &SqliteRow, column: &str) -> Result<T, JournalError> {
    let text: String = row.try_get(column)?;
    serde_json::from_str(&text).map_err(|error| JournalError::Damaged(format!("{column}: {error}")))
}
