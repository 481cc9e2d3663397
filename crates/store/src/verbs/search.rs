//! Search: the entries of the index that a caller may see and that match a text, best first.

use std::collections::{HashMap, HashSet};

use domain::text::{Field, title};
use domain::{Action, Actor, ProjectFacts, ProjectId, Resource, SearchKind, Short, Timestamp, UserId};
use engine::search::{Candidate, Piece, Query, Rank, Term};
use protocol::{SearchHit, SearchPiece, SearchQuery, SearchResults};

use super::activities::looks;
use super::projects;
use super::work::tasks::reach::list;
use super::work::tasks::row::id_or_none;
use super::workspaces::sees;
use crate::search::{matches, of_kind, of_project, query};
use crate::sql::{Connection, Row, Value, args};
use crate::{Caller, Store, StoreError};

/// A search text.
pub(super) const TEXT: Field = Field { name: "text", limit: 200, lines: false, optional: false };

/// The default and maximum number of results.
const USUAL: u32 = 20;
const MOST: u32 = 50;

/// The number of newest matches of one lookup among which open ones come first, and how many of these are ranked.
const RECENT: u32 = 1000;
const READ: u32 = 200;

/// The maximum number of projects that are looked up as terms.
const FEW: usize = 32;

impl Store {
    /// Things that match a text and that the caller may see, best first.
    pub async fn find(&self, caller: &Caller, asked: &SearchQuery) -> Result<SearchResults, StoreError> {
        TEXT.check(&asked.text)?;
        let most = most(asked.limit);
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let mut facts = projects::all_facts(&mut c).await?;
        let all = facts.len();
        if let Some(id) = asked.project {
            let only = projects::check(&mut c, caller, id, Action::See, "project").await?;
            facts = [(id, only)].into();
        }
        facts.retain(|_, facts| caller.may(Action::See, Resource::Project(facts), "project").is_ok());
        // Rare projects are looked up, so that hidden entries cost nothing.
        let few = facts.len() < all && facts.len() <= FEW;
        let mut only: Vec<Vec<Term>> = asked.kind.iter().map(|kind| vec![of_kind(*kind)]).collect();
        only.extend(few.then(|| facts.keys().map(|id| of_project(*id)).collect()));
        let mut search = Search { caller, facts, kind: asked.kind, only, known: HashSet::new(), found: Vec::new() };
        if !search.facts.is_empty() {
            search.run(&mut c, &asked.text, most).await?;
        }
        let Search { mut found, .. } = search;
        found.sort_by(|a, b| b.rank.cmp(&a.rank).then_with(|| b.number.cmp(&a.number)));
        let truncated = found.len() > most;
        found.truncate(most);
        let query = Query::read(&asked.text);
        Ok(SearchResults { hits: hits(&mut c, query.as_ref(), found).await?, truncated })
    }
}

/// How many results to return.
pub(super) fn most(limit: Option<u32>) -> usize {
    limit.unwrap_or(USUAL).clamp(1, MOST) as usize
}

/// One search.
struct Search<'a> {
    caller: &'a Caller,
    /// The projects that the caller may see, or the one to search in.
    facts: HashMap<ProjectId, ProjectFacts>,
    kind: Option<SearchKind>,
    /// Terms that every result has.
    only: Vec<Vec<Term>>,
    known: HashSet<i64>,
    found: Vec<Found>,
}

/// A found entry.
struct Found {
    number: i64,
    id: String,
    kind: SearchKind,
    project: ProjectId,
    open: bool,
    at: Timestamp,
    title: String,
    body: String,
    rank: Rank,
}

impl Search<'_> {
    /// Looks in better places first, until there is more than enough.
    async fn run(&mut self, c: &mut Connection<'_>, text: &str, most: usize) -> Result<(), StoreError> {
        self.by_id(c, text).await?;
        let Some(query) = Query::read(text) else { return Ok(()) };
        for places in [query.as_name(), query.in_titles(), query.anywhere()] {
            if self.found.len() > most {
                return Ok(());
            }
            self.look_up(c, &query, places).await?;
        }
        match query.nearly() {
            Some(places) if self.found.len() <= most => self.look_up(c, &query, places).await,
            _ => Ok(()),
        }
    }

    /// Finds what has this id, or tasks with this short name.
    async fn by_id(&mut self, c: &mut Connection<'_>, text: &str) -> Result<(), StoreError> {
        let mut ids = vec![text.trim().to_owned()];
        if let Ok(short) = text.trim().to_uppercase().parse::<Short>() {
            let sql = "SELECT t.id FROM projects p JOIN tasks t ON t.project = p.id AND t.number = $2 \
                       WHERE p.task_key = $1 ORDER BY t.id LIMIT 50";
            for row in c.all(sql, args![&short.key, short.number]).await? {
                ids.push(row.text("id")?);
            }
        }
        let (places, values) = list(&ids);
        let (sql, values) = self.sql("search_entries e", format!("e.id IN ({places})"), "e.number", values);
        for row in c.all(&sql, values).await? {
            let rank = Rank::named(row.flag("open")?, row.integer("at")?);
            self.add(&row, |_| Some(rank))?;
        }
        Ok(())
    }

    async fn look_up(
        &mut self,
        c: &mut Connection<'_>,
        asked: &Query,
        mut groups: Vec<Vec<Term>>,
    ) -> Result<(), StoreError> {
        groups.extend(self.only.iter().cloned());
        let (source, matching, number) = matches(c, 1);
        let (sql, values) = self.sql(source, matching, number, args![query(c, &groups)]);
        for row in c.all(&sql, values).await? {
            self.add(&row, |thing| asked.rank(thing))?;
        }
        Ok(())
    }

    /// The query for entries that meet a condition. The database leaves out what the caller may not see, so that it does
    /// not displace other entries; [`Search::add`] asks the access rule about each.
    fn sql(&self, source: &str, mut condition: String, number: &str, mut values: Vec<Value>) -> (String, Vec<Value>) {
        let among = |values: &mut Vec<Value>, ids: &[ProjectId]| {
            let places: Vec<String> = (1..=ids.len()).map(|at| format!("${}", values.len() + at)).collect();
            values.extend(ids.iter().map(|id| Value::Text(id.to_string())));
            if places.is_empty() { "NULL".to_owned() } else { places.join(", ") }
        };
        let seen: Vec<ProjectId> = self.facts.keys().copied().collect();
        condition.push_str(&format!(" AND e.project IN ({})", among(&mut values, &seen)));
        let shared: Vec<ProjectId> =
            self.facts.values().filter(|facts| looks(self.caller, facts)).map(|facts| facts.id).collect();
        if shared.len() < seen.len() {
            let shared = among(&mut values, &shared);
            let me = self.caller.actor().and_then(Actor::acts_for).map(|me| me.to_string());
            values.extend(args![me]);
            let mine = values.len();
            condition.push_str(&format!(" AND (e.owner IS NULL OR e.owner = ${mine} OR e.project IN ({shared}))"));
        }
        if let Some(kind) = self.kind {
            values.extend(args![kind.word()]);
            condition.push_str(&format!(" AND e.kind = ${}", values.len()));
        }
        let sql = format!(
            "SELECT * FROM (SELECT e.number, e.id, e.kind, e.project, e.owner, e.open, e.at, e.title, e.name, e.body \
             FROM {source} WHERE {condition} ORDER BY {number} DESC LIMIT {RECENT}) AS recent \
             ORDER BY open DESC, number DESC LIMIT {READ}"
        );
        (sql, values)
    }

    /// Adds an entry that matches and that the caller may see.
    fn add(&mut self, row: &Row, rank: impl Fn(&Candidate<'_>) -> Option<Rank>) -> Result<(), StoreError> {
        let (number, project) = (row.integer("number")?, row.parsed::<ProjectId>("project")?);
        let Some(facts) = self.facts.get(&project) else { return Ok(()) };
        let owner: Option<UserId> = id_or_none(row, "owner")?;
        if owner.is_some_and(|owner| !sees(self.caller, Some(facts), owner)) || !self.known.insert(number) {
            return Ok(());
        }
        let (title, body, name) = (row.text("title")?, row.text("body")?, row.text_or_none("name")?);
        let names: Vec<&str> = name.as_deref().into_iter().collect();
        let (open, at) = (row.flag("open")?, row.time("at")?);
        let thing = Candidate { title: &title, names: &names, body: &body, open, at: at.as_millis() };
        if let Some(rank) = rank(&thing) {
            let (id, kind) = (row.text("id")?, row.parsed("kind")?);
            self.found.push(Found { number, id, kind, project, open, at, title, body, rank });
        }
        Ok(())
    }
}

/// The results as clients see them.
async fn hits(c: &mut Connection<'_>, query: Option<&Query>, found: Vec<Found>) -> Result<Vec<SearchHit>, StoreError> {
    let projects: HashSet<String> = found.iter().map(|found| found.project.to_string()).collect();
    let names = column(c, "SELECT id, content AS words FROM projects WHERE id", projects.into_iter().collect()).await?;
    let ids =
        |kind: SearchKind| found.iter().filter(|found| found.kind == kind).map(|found| found.id.clone()).collect();
    let shorts = "SELECT t.id, p.task_key || '-' || t.number AS words FROM tasks t \
                  JOIN projects p ON p.id = t.project WHERE t.id";
    let shorts = column(c, shorts, ids(SearchKind::Task)).await?;
    let authors = "SELECT m.id, u.name AS words FROM messages m JOIN users u ON u.id = m.author WHERE m.id";
    let authors = column(c, authors, ids(SearchKind::Message)).await?;
    let places = "SELECT id, CAST(number AS TEXT) AS words FROM messages WHERE id";
    let places = column(c, places, ids(SearchKind::Message)).await?;
    let hit = |found: Found| {
        let plain = |text: &str| vec![SearchPiece { text: text.to_owned(), hit: false }];
        let heading = authors.get(&found.id).map(|author| plain(author));
        let marked = |text: &str| query.map_or_else(|| plain(text), |query| pieces(query.title(text)));
        SearchHit {
            kind: found.kind,
            project: found.project,
            project_name: names.get(&found.project.to_string()).map(|content| title(content)).unwrap_or_default(),
            short: shorts.get(&found.id).cloned(),
            number: places.get(&found.id).and_then(|number| number.parse().ok()),
            title: heading.unwrap_or_else(|| marked(&found.title)),
            snippet: query.map(|query| pieces(query.snippet(&found.body))).unwrap_or_default(),
            open: found.open,
            at: found.at,
            id: found.id,
        }
    };
    Ok(found.into_iter().map(hit).collect())
}

pub(super) fn pieces(pieces: Vec<Piece>) -> Vec<SearchPiece> {
    pieces.into_iter().map(|Piece { text, hit }| SearchPiece { text, hit }).collect()
}

/// One column of these rows, by id.
pub(super) async fn column(
    c: &mut Connection<'_>,
    sql: &str,
    ids: Vec<String>,
) -> Result<HashMap<String, String>, StoreError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let (places, values) = list(&ids);
    let rows = c.all(&format!("{sql} IN ({places})"), values).await?;
    rows.iter().map(|row| Ok((row.text("id")?, row.text("words")?))).collect()
}
