//! Writes the index's rows, and drops the oldest.

use domain::{ProjectId, SessionId};
use sha2::{Digest, Sha256};
use sqlx::{Row as _, SqliteConnection};

use super::IndexError;

/// How many lines one transaction adds.
pub(super) const BATCH: usize = 500;
/// How many lines one transaction deletes.
const DROPPED: usize = 100;

/// One session has at most this part of the index.
const SHARE: u64 = 8;

/// Room for lines of the same millisecond.
const COUNTER: u32 = 20;

/// A line to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// When it was on the screen first, from the start of the recording.
    pub(super) at_ms: u64,
    /// The same since 1970.
    pub(super) time_ms: u64,
    pub(super) text: String,
}

/// How far a session's recording was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) next: u64,
    pub(super) done: bool,
}

/// The term of all lines of a project.
pub(super) fn of_project(project: ProjectId) -> String {
    let id = project.to_string();
    format!("@{}", id.split_once('_').map_or(id.as_str(), |(_, digits)| digits))
}

/// The time of a numbered line, since 1970.
pub(super) fn time_of(number: i64) -> i64 {
    number >> COUNTER
}

/// How far a session was read.
pub(super) async fn progress(c: &mut SqliteConnection, session: SessionId) -> Result<Progress, IndexError> {
    let sql = "SELECT next, done FROM sessions WHERE session = $1";
    let row = sqlx::query(sql).bind(session.to_string()).fetch_optional(c).await?;
    let Some(row) = row else { return Ok(Progress::default()) };
    Ok(Progress { next: row.try_get::<i64, _>("next")?.cast_unsigned(), done: row.try_get("done")? })
}

/// Every session in the index, and whether all of it was read.
pub(super) async fn sessions(c: &mut SqliteConnection) -> Result<Vec<(SessionId, bool)>, IndexError> {
    let rows = sqlx::query("SELECT session, done FROM sessions").fetch_all(c).await?;
    let read = |row: &sqlx::sqlite::SqliteRow| -> Result<Option<(SessionId, bool)>, IndexError> {
        let done = row.try_get("done")?;
        Ok(row.try_get::<String, _>("session")?.parse().ok().map(|session| (session, done)))
    };
    rows.iter().filter_map(|row| read(row).transpose()).collect()
}

/// Adds lines of a session, oldest first; a line that it has already is not added again.
pub(super) async fn add(
    c: &mut SqliteConnection,
    session: SessionId,
    project: ProjectId,
    lines: &[Line],
) -> Result<(), IndexError> {
    begin(c).await?;
    let number = number(c, session, project).await?;
    let mark = of_project(project);
    for line in lines {
        let mut terms: Vec<String> = engine::search::terms("", &[], &line.text).into_iter().collect();
        terms.push(mark.clone());
        let sql = "INSERT OR IGNORE INTO lines (number, session, at_ms, digest, line, terms) \
                   SELECT MAX($1, COALESCE((SELECT MAX(number) + 1 FROM lines WHERE number < $1 + (1 << 20)), 0)), \
                   $2, $3, $4, $5, $6";
        let query = sqlx::query(sql).bind((line.time_ms << COUNTER).cast_signed()).bind(number);
        let query = query.bind(line.at_ms.cast_signed()).bind(digest(&line.text)).bind(&line.text);
        query.bind(terms.join(" ")).execute(&mut *c).await?;
    }
    commit(c).await
}

/// Notes how far a session was read, and deletes its lines from before this time: that output was dropped.
pub(super) async fn advance(
    c: &mut SqliteConnection,
    session: SessionId,
    project: ProjectId,
    to: Progress,
    from_ms: u64,
) -> Result<(), IndexError> {
    begin(c).await?;
    let number = number(c, session, project).await?;
    let sql = "UPDATE sessions SET next = $1, done = $2 WHERE number = $3";
    sqlx::query(sql).bind(to.next.cast_signed()).bind(to.done).bind(number).execute(&mut *c).await?;
    if from_ms > 0 {
        let sql = "DELETE FROM lines WHERE session = $1 AND at_ms < $2";
        sqlx::query(sql).bind(number).bind(from_ms.cast_signed()).execute(&mut *c).await?;
    }
    commit(c).await
}

/// Deletes a session with its lines.
pub(super) async fn forget(c: &mut SqliteConnection, session: SessionId) -> Result<(), IndexError> {
    let of = "(SELECT number FROM sessions WHERE session = $1)";
    loop {
        let sql = format!(
            "DELETE FROM lines WHERE number IN (SELECT number FROM lines WHERE session = {of} LIMIT {DROPPED})"
        );
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(session.to_string());
        if query.execute(&mut *c).await?.rows_affected() == 0 {
            break;
        }
    }
    sqlx::query("DELETE FROM sessions WHERE session = $1").bind(session.to_string()).execute(c).await?;
    Ok(())
}

/// The size of all lines.
pub(super) async fn size(c: &mut SqliteConnection) -> Result<u64, IndexError> {
    let bytes: i64 = sqlx::query_scalar("SELECT COALESCE(SUM(bytes), 0) FROM sessions").fetch_one(c).await?;
    Ok(bytes.cast_unsigned())
}

/// Deletes a batch of the oldest lines of this session, or of all, while there are too many; whether there were.
pub(super) async fn make_room(c: &mut SqliteConnection, session: SessionId, limit: u64) -> Result<bool, IndexError> {
    let sql = "SELECT COALESCE(SUM(bytes), 0) FROM sessions WHERE session = $1";
    let own: i64 = sqlx::query_scalar(sql).bind(session.to_string()).fetch_one(&mut *c).await?;
    let among = if own.cast_unsigned() > limit / SHARE {
        "WHERE session = (SELECT number FROM sessions WHERE session = $1)"
    } else if size(c).await? > limit {
        "WHERE $1 <> ''"
    } else {
        return Ok(false);
    };
    let sql =
        format!("DELETE FROM lines WHERE number IN (SELECT number FROM lines {among} ORDER BY number LIMIT {DROPPED})");
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(session.to_string());
    Ok(query.execute(c).await?.rows_affected() > 0)
}

/// The number of a session, which gets one if it has none.
async fn number(c: &mut SqliteConnection, session: SessionId, project: ProjectId) -> Result<i64, IndexError> {
    let sql = "INSERT OR IGNORE INTO sessions (session, project) VALUES ($1, $2)";
    sqlx::query(sql).bind(session.to_string()).bind(project.to_string()).execute(&mut *c).await?;
    let sql = "SELECT number FROM sessions WHERE session = $1";
    Ok(sqlx::query_scalar(sql).bind(session.to_string()).fetch_one(c).await?)
}

// sqlx loses count of its transactions when SQLite rolls back on its own, as on a full disk.
async fn begin(c: &mut SqliteConnection) -> Result<(), IndexError> {
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(c).await?;
    Ok(())
}

async fn commit(c: &mut SqliteConnection) -> Result<(), IndexError> {
    sqlx::raw_sql("COMMIT").execute(c).await?;
    Ok(())
}

fn digest(text: &str) -> i64 {
    let hash = Sha256::digest(text);
    let mut start = [0; 8];
    start.copy_from_slice(&hash[..8]);
    i64::from_le_bytes(start)
}
