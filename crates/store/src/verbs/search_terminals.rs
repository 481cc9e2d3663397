//! Search in terminals: which runners to ask about which projects, and what of their answers the caller may see.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use domain::text::{plain, title};
use domain::{Action, ProjectFacts, ProjectId, RunnerId, SessionId, Timestamp, UserId};
use engine::search::Query;
use protocol::{Session, TerminalHit, TerminalQuery, TerminalResults};

use super::search::{TEXT, column, most, pieces};
use super::workspaces::sees;
use super::{projects, sessions};
use crate::sql::{Connection, text};
use crate::{Caller, Store, StoreError};

/// How much of a line to return, in characters.
const LINE: usize = 400;
/// How many lines of one session to return.
const OF_A_SESSION: usize = 3;
/// Numbers on the wire stay below 2^53.
const MAX_MILLIS: u64 = 1 << 52;
/// How many of the newest lines to check.
const CHECKED: usize = 500;

/// A runner, and the projects whose sessions on it the caller may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalPlace {
    /// The runner.
    pub runner: RunnerId,
    /// The projects, newest first.
    pub projects: Vec<ProjectId>,
}

/// A line that a runner says it found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLine {
    /// The runner.
    pub runner: RunnerId,
    /// The session.
    pub session: SessionId,
    /// When the line was on the screen first, from the start of the recording.
    pub at_ms: u64,
    /// When that was, on the runner's clock.
    pub at: Timestamp,
    /// The line.
    pub line: String,
}

impl Store {
    /// The runners with recordings that the caller may see; none if the text has no words.
    pub async fn terminal_places(
        &self,
        caller: &Caller,
        asked: &TerminalQuery,
    ) -> Result<Vec<TerminalPlace>, StoreError> {
        TEXT.check(&asked.text)?;
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let facts = facts(&mut c, caller, asked).await?;
        if Query::read(&asked.text).is_none() {
            return Ok(Vec::new());
        }
        let only = asked.project.map(text);
        let among = if only.is_some() { "AND project = $1" } else { "" };
        let sql = format!(
            "SELECT p.runner, p.project, p.owner FROM (SELECT DISTINCT runner, project, owner FROM sessions \
             WHERE (ended_at IS NULL OR disk_bytes > 0) {among}) AS p JOIN runners r ON r.id = p.runner"
        );
        let mut places = BTreeMap::<RunnerId, BTreeSet<ProjectId>>::new();
        for row in c.all(&sql, only.into_iter().collect()).await? {
            let (project, owner) = (row.parsed::<ProjectId>("project")?, row.parsed::<UserId>("owner")?);
            if sees(caller, facts.get(&project), owner) {
                places.entry(row.parsed("runner")?).or_default().insert(project);
            }
        }
        let place = |(runner, projects): (RunnerId, BTreeSet<ProjectId>)| TerminalPlace {
            runner,
            projects: projects.into_iter().rev().collect(),
        };
        Ok(places.into_iter().map(place).collect())
    }

    /// The lines that the caller may see, newest first. A runner speaks only for its own sessions.
    pub async fn terminal_hits(
        &self,
        caller: &Caller,
        asked: &TerminalQuery,
        mut found: Vec<FoundLine>,
    ) -> Result<TerminalResults, StoreError> {
        let Some(query) = Query::read(&asked.text) else { return Ok(TerminalResults::default()) };
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let facts = facts(&mut c, caller, asked).await?;
        found.sort_by_key(|line| std::cmp::Reverse((line.at, line.at_ms)));
        let mut truncated = found.len() > CHECKED;
        found.truncate(CHECKED);
        let ids: Vec<SessionId> = found.iter().map(|line| line.session).collect::<BTreeSet<_>>().into_iter().collect();
        let known = sessions::some(&mut c, &ids).await?;
        let known: HashMap<SessionId, Session> = known.into_iter().map(|session| (session.id, session)).collect();
        let (mut lines, mut seen, mut of) = (Vec::new(), HashSet::new(), HashMap::<SessionId, usize>::new());
        let most = most(asked.limit);
        for line in found {
            let Some(session) = known.get(&line.session).filter(|session| session.runner == line.runner) else {
                continue;
            };
            let visible = sees(caller, facts.get(&session.project), session.owner.id);
            if !visible || !seen.insert((line.session, line.line.clone())) {
                continue;
            }
            let count = of.entry(line.session).or_default();
            *count += 1;
            if *count > OF_A_SESSION || lines.len() >= most {
                truncated = true;
            } else {
                lines.push((session, line));
            }
        }
        let projects: BTreeSet<String> = lines.iter().map(|(session, _)| session.project.to_string()).collect();
        let sql = "SELECT id, content AS words FROM projects WHERE id";
        let names = column(&mut c, sql, projects.into_iter().collect()).await?;
        let hit = |(session, line): (&Session, FoundLine)| TerminalHit {
            session: session.id,
            title: session.title.clone(),
            project: session.project,
            project_name: names.get(&session.project.to_string()).map(|content| title(content)).unwrap_or_default(),
            open: !session.state.ended(),
            at_ms: line.at_ms.min(MAX_MILLIS),
            at: line.at,
            line: pieces(query.snippet(&plain(&line.line, LINE))),
        };
        Ok(TerminalResults { hits: lines.into_iter().map(hit).collect(), truncated, unanswered: 0 })
    }
}

/// The facts of the projects to search in.
async fn facts(
    c: &mut Connection<'_>,
    caller: &Caller,
    asked: &TerminalQuery,
) -> Result<HashMap<ProjectId, ProjectFacts>, StoreError> {
    match asked.project {
        Some(id) => Ok([(id, projects::check(c, caller, id, Action::See, "project").await?)].into()),
        None => projects::all_facts(c).await,
    }
}
