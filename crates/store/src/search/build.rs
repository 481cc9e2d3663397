//! Builds the index from the tables: in a new database, after an import, and for a new format.

use domain::{SearchKind, TaskStatus};

use super::entry::is_open;
use super::{Entry, INSERT};
use crate::StoreError;
use crate::bulk::Part;
use crate::connection::Owned;
use crate::sql::{Connection, Database, Row, args};
use crate::verbs::work::tasks::reach::list;

/// The version of the index: its tables, and what things are indexed under. A higher one builds it again.
const VERSION: i64 = 1;

/// How many things are indexed at once.
const PAGE: usize = 500;

/// Everything that has an entry, oldest first: the order of entries is the order of age.
const THINGS: &str = "SELECT id, 'project' AS kind, created_at FROM projects \
    UNION ALL SELECT id, 'activity', created_at FROM activities \
    UNION ALL SELECT id, 'task', created_at FROM tasks \
    UNION ALL SELECT id, 'message', created_at FROM messages WHERE deleted_at IS NULL \
    UNION ALL SELECT id, 'session', created_at FROM sessions ORDER BY created_at, id";

/// Builds the index unless the database has it.
pub(crate) async fn prepare(connection: &mut Owned) -> Result<(), StoreError> {
    let mut c = connection.borrow();
    if version(&mut c).await? == Some(VERSION) {
        return Ok(());
    }
    c.begin_write().await?;
    // Another hub may have built it meanwhile.
    if version(&mut c).await? != Some(VERSION) {
        rebuild(&mut c).await?;
    }
    c.script("COMMIT").await
}

/// The version of the index that the database has.
async fn version(c: &mut Connection<'_>) -> Result<Option<i64>, StoreError> {
    let there = match c.database {
        Database::Sqlite(_) => "SELECT 1 AS there FROM sqlite_master WHERE name = 'search_index'",
        Database::Postgres(_) => "SELECT 1 AS there WHERE to_regclass('search_index') IS NOT NULL",
    };
    if c.first(there, args![]).await?.is_none() {
        return Ok(None);
    }
    c.first("SELECT version FROM search_index", args![]).await?.map(|row| row.integer("version")).transpose()
}

/// Builds the index from the tables, within a transaction.
pub(crate) async fn rebuild(c: &mut Connection<'_>) -> Result<(), StoreError> {
    c.script(match c.database {
        Database::Sqlite(_) => include_str!("sqlite.sql"),
        Database::Postgres(_) => include_str!("postgres.sql"),
    })
    .await?;
    let mut things: Vec<(String, SearchKind)> = Vec::new();
    for row in c.all(THINGS, args![]).await? {
        things.push((row.text("id")?, row.parsed("kind")?));
    }
    for page in things.chunks(PAGE) {
        let mut entries = Vec::new();
        for kind in SearchKind::ALL {
            let ids: Vec<&String> = page.iter().filter(|(_, of)| of == kind).map(|(id, _)| id).collect();
            if !ids.is_empty() {
                let (places, values) = list(&ids);
                let sql = format!("{} IN ({places})", rows_of(*kind));
                for row in c.all(&sql, values).await? {
                    entries.push(entry(*kind, &row)?);
                }
            }
        }
        let place = |entry: &Entry| page.iter().position(|(id, _)| *id == entry.id);
        entries.sort_by_key(place);
        let rows = entries.into_iter().map(|entry| {
            let digest = entry.digest();
            entry.row(digest)
        });
        c.write(vec![Part::insert(INSERT, rows.collect())]).await?;
    }
    c.run("INSERT INTO search_index (version) VALUES ($1)", args![VERSION]).await.map(|_| ())
}

fn rows_of(kind: SearchKind) -> &'static str {
    match kind {
        SearchKind::Project => "SELECT id, id AS project, content, task_key, updated_at AS at FROM projects WHERE id",
        SearchKind::Activity => "SELECT id, project, content, status, updated_at AS at FROM activities WHERE id",
        SearchKind::Task => {
            "SELECT id, project, description AS content, labels, status, updated_at AS at FROM tasks WHERE id"
        }
        SearchKind::Message => "SELECT id, project, content, created_at AS at FROM messages WHERE id",
        SearchKind::Session | SearchKind::Recording => {
            "SELECT id, project, owner, title, agent AS content, model, status, output_bytes, disk_bytes, created_at AS at \
             FROM sessions WHERE id"
        }
    }
}

fn entry(kind: SearchKind, row: &Row) -> Result<Entry, StoreError> {
    let (id, project, text, at) = (row.text("id")?, row.parsed("project")?, row.text("content")?, row.time("at")?);
    Ok(match kind {
        SearchKind::Project => Entry::written(kind, id, project, &text, at).called(&row.text("task_key")?),
        SearchKind::Activity => Entry::written(kind, id, project, &text, at).open(is_open(row.parsed("status")?)),
        SearchKind::Task => {
            let over = row.parsed::<TaskStatus>("status")?.is_over();
            let labels: Vec<String> = row.json("labels")?;
            Entry::written(kind, id, project, &text, at).labelled(&labels).open(!over)
        }
        SearchKind::Message => Entry::said(id, project, &text, at),
        SearchKind::Session | SearchKind::Recording => {
            let recorded = row.integer("output_bytes")? > 0 || row.integer("disk_bytes")? > 0;
            let (title, model) = (row.text("title")?, row.text_or_none("model")?);
            let entry = Entry::said(id, project, &text, at);
            entry.run(row.parsed("owner")?, &title, model.as_deref(), row.parsed("status")?, recorded)
        }
    })
}
