//! Export, import and backup of a whole database.
//!
//! The archive is JSON lines: a header, one line per row, and a trailer with the number of rows, which reveals a
//! truncated file.

use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};

use crate::StoreError;
use crate::connection::{Owned, Target};
use crate::open::{self, OpenError};
use crate::reader::Reader;
use crate::search;
use crate::sql::{Connection, Value, args};

/// All tables, ordered by their references.
const TABLES: &[(&str, &str)] = &[
    ("ledger", "one"),
    ("users", "id"),
    ("projects", "id"),
    ("activities", "id"),
    ("versions", "subject, version"),
    ("messages", "id"),
    ("reads", "user_id, project"),
    ("runners", "id"),
    ("workspaces", "id"),
    ("sessions", "id"),
    ("session_questions", "id"),
    ("workspace_work", "workspace"),
    ("work_names", "workspace, name"),
    ("work_overlaps", "id"),
    ("reservations", "id"),
    ("tasks", "id"),
    ("task_queue", "project, queue_key, task"),
    ("task_deps", "dep, task"),
    ("task_gists", "project, gist, task"),
    ("attempts", "task, number"),
    ("reports", "id"),
    ("escalations", "id"),
    ("review_threads", "id"),
    ("review_comments", "thread, number"),
    ("review_approvals", "report"),
    ("handoffs", "id"),
    ("handoff_settings", "project"),
    ("landings", "id"),
    ("landing_settings", "project"),
    ("approvals", "id"),
    ("grants", "id"),
    ("workers", "id"),
    ("work_settings", "project"),
    ("work_log", "number"),
    ("freezes", "user_id, project"),
    ("merge_settings", "project"),
    ("merge_queues", "project, target"),
    ("merge_candidates", "id"),
    ("merge_runs", "id"),
    ("merge_members", "candidate, run"),
    ("recipes", "id"),
    ("recipe_versions", "recipe, number"),
    ("agent_profiles", "project, name, number"),
    ("agent_profile_names", "project, name"),
    ("executions", "id"),
    ("execution_events", "execution, number"),
    ("execution_work", "execution, path, attempt"),
    ("execution_tasks", "task"),
    ("execution_timers", "execution, path, attempt, timer"),
    ("schedules", "id"),
    ("schedule_ticks", "schedule, planned_at, number"),
    ("execution_cursor", "one"),
    ("hooks", "id"),
    ("hook_deliveries", "hook, delivery"),
    ("branch_tips", "project, repository, branch, commit_id"),
    ("branch_looks", "project, repository"),
    ("artifact_contents", "id"),
    ("artifact_chunks", "content, number"),
    ("artifact_uploads", "project, sender, sha256"),
    ("artifacts", "id"),
    ("artifact_settings", "project"),
    ("outages", "runner, agent"),
    ("notify_channels", "id"),
    ("notify_settings", "user_id"),
    ("notices", "id"),
    ("notify_deliveries", "id"),
    ("notify_cursor", "one"),
    ("tokens", "id"),
    ("observers", "id"),
    ("logins", "id"),
    ("login_links", "hash"),
    ("invites", "id"),
    ("events", "seq"),
    ("audit", "number"),
    ("requests", "actor, request_key"),
];

const FORMAT: &str = "shopfloor-export";
const PAGE: u64 = 1000;
/// The rows of a page of `artifact_chunks`, which are large.
const CHUNKS: u64 = 16;

/// Why an export, import or backup failed.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The database cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A statement failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot be read or written.
    #[error("the file cannot be read or written")]
    Io(#[from] std::io::Error),
    /// The archive is truncated or has another format.
    #[error("line {line}: {reason}")]
    Archive {
        /// The line, counted from 1.
        line: u64,
        /// The fault.
        reason: String,
    },
    /// The target database is not empty.
    #[error("the database is not empty: import into a new one")]
    NotEmpty,
    /// The backup file exists already.
    #[error("{0} exists already: choose another name")]
    Exists(std::path::PathBuf),
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Header { format: String, schema: i64 },
    Row { table: String, row: Map<String, Json> },
    Trailer { rows: u64 },
}

/// Writes a consistent export and returns the number of rows. A hub may be running.
pub async fn export(url: &str, out: &mut (impl AsyncWrite + Unpin)) -> Result<u64, TransferError> {
    let mut reader = snapshot(url).await?;
    let mut c = reader.borrow();
    let newest = c.first("SELECT MAX(version) AS version FROM _sqlx_migrations", args![]).await?;
    let schema = newest.map(|row| row.integer("version")).transpose()?.unwrap_or(0).min(open::schema());
    write(out, &Line::Header { format: FORMAT.into(), schema }).await?;
    let mut rows = 0;
    for (table, key) in TABLES {
        let mut offset = 0;
        let size = if *table == "artifact_chunks" { CHUNKS } else { PAGE };
        loop {
            let sql = format!("SELECT * FROM {table} ORDER BY {key} LIMIT $1 OFFSET $2");
            let page = c.all(&sql, args![size, offset]).await?;
            for row in &page {
                write(out, &Line::Row { table: (*table).into(), row: row.columns()? }).await?;
            }
            rows += page.len() as u64;
            offset += size;
            if (page.len() as u64) < size {
                break;
            }
        }
    }
    write(out, &Line::Trailer { rows }).await?;
    out.flush().await?;
    Ok(rows)
}

/// Reads an archive into an empty database, in one transaction, and returns the number of rows.
pub async fn import(url: &str, input: &mut (impl AsyncBufRead + Unpin)) -> Result<u64, TransferError> {
    let (mut connection, _lock) = open::for_import(url).await?;
    let mut c = connection.borrow();
    c.begin_write().await?;
    let people = c.first("SELECT COUNT(*) AS total FROM users", args![]).await?;
    if people.map(|row| row.integer("total")).transpose()? != Some(0) {
        return Err(TransferError::NotEmpty);
    }
    c.run("DELETE FROM ledger", args![]).await?;
    let rows = read_rows(&mut c, input).await?;
    search::rebuild(&mut c).await?;
    c.script("COMMIT").await?;
    connection.close().await;
    Ok(rows)
}

/// Makes a consistent copy of a live database: a SQLite file, or for PostgreSQL an archive for `import`.
pub async fn backup(url: &str, file: &Path) -> Result<(), TransferError> {
    let target = open::parse(url)?;
    // Only the owner may read it: it contains every project and every hash.
    let made = std::fs::File::options().write(true).create_new(true).mode(0o600).open(file);
    let made = made.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => TransferError::Exists(file.to_owned()),
        _ => error.into(),
    })?;
    let done = copy(url, target, file, made).await;
    if done.is_err() {
        let _ = std::fs::remove_file(file);
    }
    done
}

async fn copy(url: &str, target: Target, file: &Path, made: std::fs::File) -> Result<(), TransferError> {
    match target {
        Target::Sqlite(options) => {
            let source = Target::Sqlite(options.create_if_missing(false));
            let mut connection = Owned::connect(&source).await?;
            let path = file.to_string_lossy().into_owned();
            connection.borrow().run("VACUUM INTO $1", args![path]).await?;
            connection.close().await;
        }
        Target::Postgres(_) => {
            let mut out = tokio::io::BufWriter::new(tokio::fs::File::from_std(made));
            export(url, &mut out).await?;
            out.get_ref().sync_all().await?;
        }
    }
    Ok(())
}

async fn snapshot(url: &str) -> Result<Reader, TransferError> {
    let readers = open::readers(&open::parse(url)?).await?;
    Ok(readers.snapshot().await?)
}

async fn write(out: &mut (impl AsyncWrite + Unpin), line: &Line) -> Result<(), TransferError> {
    let mut text = crate::sql::to_json(line);
    text.push('\n');
    Ok(out.write_all(text.as_bytes()).await?)
}

async fn read_rows(c: &mut Connection<'_>, input: &mut (impl AsyncBufRead + Unpin)) -> Result<u64, TransferError> {
    let mut lines = input.lines();
    let (mut number, mut rows, mut whole) = (0, 0, false);
    while let Some(text) = lines.next_line().await? {
        number += 1;
        let refuse = |reason: String| TransferError::Archive { line: number, reason };
        let line: Line = serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?;
        match line {
            Line::Header { format, schema } if number == 1 => {
                if format != FORMAT || schema > open::schema() {
                    return Err(refuse(format!("`{format}` with schema {schema} is not a supported archive")));
                }
            }
            Line::Row { table, row } if number > 1 && !whole => {
                insert(c, &table, row).await?.ok_or_else(|| refuse(format!("there is no table `{table}`")))?;
                rows += 1;
            }
            Line::Trailer { rows: expected } if number > 1 && !whole => {
                if expected != rows {
                    return Err(refuse(format!("{expected} rows were exported, {rows} arrived")));
                }
                whole = true;
            }
            _ => return Err(refuse("the line is out of place".into())),
        }
    }
    if !whole {
        return Err(TransferError::Archive { line: number, reason: "the archive is truncated".into() });
    }
    Ok(rows)
}

/// Inserts a row; `None` if there is no such table. Column names come from the file, so only plain words are accepted.
async fn insert(c: &mut Connection<'_>, table: &str, row: Map<String, Json>) -> Result<Option<()>, StoreError> {
    let Some((table, _)) = TABLES.iter().find(|(name, _)| *name == table) else { return Ok(None) };
    let mut names = Vec::new();
    let mut values = Vec::new();
    for (name, value) in row {
        if !name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_') {
            return Err(StoreError::Corrupt(format!("`{name}` is not a column")));
        }
        // Omit null values: PostgreSQL needs their type, and keeps the type of the first row.
        if value.is_null() {
            continue;
        }
        values.push(match value {
            Json::String(text) => Value::Text(text),
            Json::Number(number) => Value::Integer(number.as_i64().unwrap_or(0)),
            other => return Err(StoreError::Corrupt(format!("`{name}` holds {other}"))),
        });
        names.push(name);
    }
    let places: Vec<String> = (1..=names.len()).map(|at| format!("${at}")).collect();
    let sql = format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), places.join(", "));
    c.run(&sql, values).await.map(|_| Some(()))
}
