//! Searches the index, newest first, within a short time.

use std::collections::HashMap;
use std::time::Duration;

use domain::{ProjectId, Timestamp};
use engine::search::Query;
use protocol::link::{SEARCH_MILLISECONDS, TerminalLine, TerminalLines};
use protocol::{Problem, ProblemKind};
use sqlx::{Row as _, SqliteConnection};
use tokio::time::{Instant, timeout_at};

use super::rows::{of_project, time_of};
use super::{Index, IndexError};

/// The maximum number of results.
const MOST: u32 = 50;
/// How many lines of one session to return.
const OF_A_SESSION: usize = 3;
/// How many lines to look at before the sessions that have enough are left out, and how often.
const PAGE: usize = 300;
const PAGES: usize = 4;
/// The maximum number of projects that are looked up as terms.
const FEW: usize = 32;
/// Of the time that a hub waits, this is for the way.
const WAY: u64 = 50;
/// How long a search may take.
pub(crate) const PATIENCE: Duration = Duration::from_millis(SEARCH_MILLISECONDS - WAY);
/// How many steps of SQLite's program pass between two looks at the clock.
const STEPS: i32 = 2000;

impl Index {
    /// The newest lines with all words of a text, of sessions in these projects.
    pub(crate) async fn search(
        &self,
        text: &str,
        projects: &[ProjectId],
        limit: u32,
    ) -> Result<TerminalLines, Problem> {
        let Some(query) = Query::read(text) else { return Ok(TerminalLines::default()) };
        let until = Instant::now() + self.patience;
        let most = limit.clamp(1, MOST) as usize;
        let found = async {
            let mut held = self.reader.hold().await?;
            let done = in_time(&mut held.connection, until, &query, projects, most).await;
            held.end(done)
        };
        match timeout_at(until, found).await {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(error)) => {
                tracing::debug!(%error, "could not search the index of terminals");
                Err(Problem::new(ProblemKind::Unavailable, "the search of terminals failed or took too long"))
            }
            Err(_) => Err(Problem::new(ProblemKind::Unavailable, "the search of terminals took too long")),
        }
    }
}

/// The same as [`lines`]; SQLite stops at the deadline.
async fn in_time(
    c: &mut SqliteConnection,
    until: Instant,
    query: &Query,
    projects: &[ProjectId],
    most: usize,
) -> Result<TerminalLines, IndexError> {
    let clock = until.into_std();
    c.lock_handle().await?.set_progress_handler(STEPS, move || std::time::Instant::now() < clock);
    let found = lines(c, query, projects, most).await;
    c.lock_handle().await?.remove_progress_handler();
    found
}

/// Reads pages of the newest lines until there are enough.
async fn lines(
    c: &mut SqliteConnection,
    query: &Query,
    projects: &[ProjectId],
    most: usize,
) -> Result<TerminalLines, IndexError> {
    let allowed = serde_json::to_string(projects).unwrap_or_default();
    let sql = "SELECT DISTINCT project FROM sessions WHERE project IN (SELECT value FROM json_each($1))";
    let here: Vec<String> = sqlx::query_scalar(sql).bind(&allowed).fetch_all(&mut *c).await?;
    if here.is_empty() {
        return Ok(TerminalLines::default());
    }
    let expression = expression(query, &here);
    let mut found = TerminalLines::default();
    let (mut of, mut before) = (HashMap::<i64, usize>::new(), i64::MAX);
    for _ in 0..PAGES {
        let full: Vec<i64> =
            of.iter().filter(|(_, count)| **count >= OF_A_SESSION).map(|(number, _)| *number).collect();
        let sql = "SELECT l.number, l.at_ms, l.line, l.session AS place, s.session FROM words \
                   CROSS JOIN lines l ON l.number = words.rowid CROSS JOIN sessions s ON s.number = l.session \
                   WHERE words MATCH $1 AND words.rowid < $2 AND s.project IN (SELECT value FROM json_each($3)) \
                   AND l.session NOT IN (SELECT value FROM json_each($4)) ORDER BY words.rowid DESC LIMIT $5";
        let full = serde_json::to_string(&full).unwrap_or_default();
        let query = sqlx::query(sql).bind(&expression).bind(before).bind(&allowed).bind(full).bind(PAGE as i64);
        let rows = query.fetch_all(&mut *c).await?;
        for row in &rows {
            before = row.try_get("number")?;
            let count = of.entry(row.try_get("place")?).or_default();
            *count += 1;
            if *count > OF_A_SESSION || found.lines.len() >= most {
                found.truncated = true;
                continue;
            }
            let Ok(session) = row.try_get::<String, _>("session")?.parse() else { continue };
            found.lines.push(TerminalLine {
                session,
                at_ms: row.try_get::<i64, _>("at_ms")?.cast_unsigned(),
                at: Timestamp::from_millis(time_of(before)),
                line: row.try_get("line")?,
            });
        }
        if rows.len() < PAGE || found.lines.len() >= most {
            break;
        }
    }
    Ok(found)
}

/// What FTS5 looks up: one term of each word, and a project.
fn expression(query: &Query, projects: &[String]) -> String {
    let mut groups: Vec<String> = Vec::new();
    for terms in query.anywhere() {
        let one = |term: engine::search::Term| format!("\"{}\"{}", term.text, if term.prefix { " *" } else { "" });
        groups.push(terms.into_iter().map(one).collect::<Vec<_>>().join(" OR "));
    }
    // A rare project is looked up, so that lines of others cost nothing.
    if projects.len() <= FEW {
        let marks = projects.iter().filter_map(|id| id.parse().ok()).map(|id| format!("\"{}\"", of_project(id)));
        groups.push(marks.collect::<Vec<_>>().join(" OR "));
    }
    groups.iter().map(|group| format!("({group})")).collect::<Vec<_>>().join(" AND ")
}
