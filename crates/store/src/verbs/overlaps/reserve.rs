//! Reservations: files that an activity says it will change, for a time. They refuse nobody anything.

use domain::text::{Field, counted, title};
use domain::{Action, ActivityId, ActivityStatus, ProjectId, ReservationId, Timestamp};
use engine::overlaps::Pattern;
use protocol::{Change, Reservation, ReservationFilter, Verb, verbs};

use super::declared;
use crate::batch::PendingEvent;
use crate::event::EventBody;
use crate::sql::{Connection, Row, Value, args, text, to_json};
use crate::tx::{AuditScope, Tx};
use crate::verbs::{activities, projects, users};
use crate::{Caller, Command, Store, StoreError};

const COLUMNS: &str = "SELECT r.id, r.project, r.activity, a.content, r.by_user, u.name AS by_user_name, r.by_agent, \
    r.patterns, r.reason, r.since, r.expires_at, r.ended_at FROM reservations r \
    JOIN activities a ON a.id = r.activity JOIN users u ON u.id = r.by_user";
const REASON: Field = Field { name: "reason", limit: 200, lines: false, optional: true };
/// Maximum number of patterns of a reservation.
const PATTERNS: usize = 20;
/// How long a reservation lasts by default, at least and at most, in seconds.
const SECONDS: (u32, u32, u32) = (2 * 3600, 60, 24 * 3600);
/// Maximum number of reservations of an activity and in a project.
const MOST: (usize, usize) = (20, 200);

pub(super) fn view(row: &Row) -> Result<Reservation, StoreError> {
    Ok(Reservation {
        id: row.parsed("id")?,
        project: row.parsed("project")?,
        activity: row.parsed("activity")?,
        name: title(&row.text("content")?),
        by: users::reference(row, "by_user")?,
        by_agent: row.flag("by_agent")?,
        patterns: row.json("patterns")?,
        reason: row.text_or_none("reason")?,
        since: row.time("since")?,
        expires_at: row.time("expires_at")?,
        ended_at: row.time_or_none("ended_at")?,
    })
}

/// The reservations that stand at a time, with a further condition on them, those that end first first.
async fn standing(
    c: &mut Connection<'_>,
    condition: &str,
    mut values: Vec<Value>,
    now: Timestamp,
) -> Result<Vec<Reservation>, StoreError> {
    values.push(now.into());
    let end = values.len();
    let sql = format!(
        "{COLUMNS} WHERE r.ended_at IS NULL AND r.expires_at > ${end}{condition} ORDER BY r.expires_at, r.id LIMIT 2000"
    );
    c.all(&sql, values).await?.iter().map(view).collect()
}

/// The reservations in one project or in all. The caller must check access.
pub(crate) async fn current(
    c: &mut Connection<'_>,
    only: Option<ProjectId>,
    now: Timestamp,
) -> Result<Vec<Reservation>, StoreError> {
    match only {
        Some(project) => standing(c, " AND r.project = $1", vec![text(project)], now).await,
        None => standing(c, "", args![], now).await,
    }
}

/// Files that an activity reserves, for the assignment of tasks.
pub(crate) struct Reserved {
    pub(crate) activity: ActivityId,
    pub(crate) patterns: Vec<Pattern>,
    /// By which activity, and until when.
    pub(crate) told: String,
}

impl Reserved {
    /// Whether another activity reserves a file that a task names.
    pub(crate) fn meets(&self, activity: Option<ActivityId>, files: &[String]) -> bool {
        let named = || files.iter().map(|file| Pattern::lenient(file));
        activity != Some(self.activity) && named().any(|file| self.patterns.iter().any(|one| one.meets(&file)))
    }
}

/// What activities of a project reserve now.
pub(crate) async fn reserved(
    c: &mut Connection<'_>,
    project: ProjectId,
    now: Timestamp,
) -> Result<Vec<Reserved>, StoreError> {
    let read = |found: Reservation| Reserved {
        activity: found.activity,
        patterns: found.patterns.iter().map(|pattern| Pattern::lenient(pattern)).collect(),
        told: format!("by `{}` until {}", found.name, clock(found.expires_at)),
    };
    Ok(current(c, Some(project), now).await?.into_iter().map(read).collect())
}

/// The time of day.
fn clock(at: Timestamp) -> String {
    let text = at.to_string();
    format!("{} UTC", text.get("2026-01-31T".len().."2026-01-31T12:00".len()).unwrap_or(&text))
}

impl Command for verbs::OverlapReserve {
    type Output = Reservation;
    const VERB: &'static str = verbs::OverlapReserve::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Reservation, StoreError> {
        let (caller, input) = (tx.caller, &self.input);
        let activity = activities::find(tx.read(), caller, self.activity, Action::Write).await?;
        own(tx, activity.id).await?;
        let by = caller.writer()?;
        let patterns = checked(&input.patterns)?;
        let reason = input.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty()).map(str::to_owned);
        REASON.check(reason.as_deref().unwrap_or_default())?;
        let (default, least, most) = SECONDS;
        let seconds = input.seconds.unwrap_or(default);
        if !(least..=most).contains(&seconds) {
            let message = format!("{seconds} seconds: a reservation lasts {least} to {most} seconds (24 hours)");
            return Err(StoreError::invalid("seconds", message));
        }
        if matches!(activity.status, ActivityStatus::Completed | ActivityStatus::Abandoned) {
            let message = format!("the activity is {}: reserve files for one that is active", activity.status);
            return Err(StoreError::Conflict(message));
        }
        let now = tx.now;
        let known = current(tx.read(), Some(activity.project), now).await?;
        let own: Vec<&Reservation> = known.iter().filter(|one| one.activity == activity.id).collect();
        let expires_at = tx.now.plus_millis(i64::from(seconds) * 1000);
        let same = own.iter().find(|one| one.patterns == patterns);
        let id = match same {
            Some(same) => {
                let sql =
                    "UPDATE reservations SET expires_at = $1, reason = $2, by_user = $3, by_agent = $4 WHERE id = $5";
                let values = args![expires_at, reason, by.user.id.to_string(), by.by_agent, same.id.to_string()];
                tx.run(sql, values).await?;
                same.id
            }
            None if own.len() >= MOST.0 || known.len() >= MOST.1 => {
                let (of, most) = if own.len() >= MOST.0 { ("activity", MOST.0) } else { ("project", MOST.1) };
                let message = format!("the {of} has {most} reservations, the most it can have: release some first");
                return Err(StoreError::Conflict(message));
            }
            None => {
                let id = ReservationId::generate();
                let sql = "INSERT INTO reservations (id, project, activity, by_user, by_agent, patterns, reason, since, \
                           expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
                let values = args![
                    id.to_string(),
                    activity.project.to_string(),
                    activity.id.to_string(),
                    by.user.id.to_string(),
                    by.by_agent,
                    to_json(&patterns),
                    reason,
                    tx.now,
                    expires_at,
                ];
                tx.run(sql, values).await?;
                id
            }
        };
        let made = announced(tx, id).await?;
        declared::again(tx, activity.project).await?;
        declared::moved(tx, id).await?;
        let count = counted(patterns.len(), "pattern", "patterns");
        let detail = format!("reserved {count} for `{}` until {}", made.name, clock(made.expires_at));
        tx.audit(Self::VERB, id, AuditScope::Project(made.project), detail);
        Ok(made)
    }
}

impl Command for verbs::OverlapRelease {
    type Output = Reservation;
    const VERB: &'static str = verbs::OverlapRelease::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Reservation, StoreError> {
        let found = get(tx.read(), self.reservation).await?.ok_or(StoreError::NotFound("reservation"))?;
        tx.check(found.project, Action::Write, "reservation").await?;
        own(tx, found.activity).await?;
        if found.ended_at.is_some() {
            return Ok(found);
        }
        let ended = end(tx, found.id).await?;
        declared::again(tx, found.project).await?;
        let detail = format!("released what `{}` reserved", ended.name);
        tx.audit(Self::VERB, found.id, AuditScope::Project(found.project), detail);
        Ok(ended)
    }
}

/// Ends the reservations of an activity; returns whether it had any.
pub(super) async fn end_all(tx: &mut Tx<'_>, activity: ActivityId) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM reservations WHERE activity = $1 AND ended_at IS NULL ORDER BY id";
    let standing = tx.read().all(sql, vec![text(activity)]).await?;
    for row in &standing {
        end(tx, row.parsed("id")?).await?;
    }
    Ok(!standing.is_empty())
}

/// Ends the reservations of a project whose time is over.
pub(super) async fn expire(tx: &mut Tx<'_>, project: ProjectId) -> Result<(), StoreError> {
    let sql = "SELECT id FROM reservations WHERE project = $1 AND ended_at IS NULL AND expires_at <= $2 ORDER BY id";
    let values = args![project.to_string(), tx.now];
    for row in tx.read().all(sql, values).await? {
        end(tx, row.parsed("id")?).await?;
    }
    Ok(())
}

async fn end(tx: &mut Tx<'_>, id: ReservationId) -> Result<Reservation, StoreError> {
    tx.run("UPDATE reservations SET ended_at = $1 WHERE id = $2", args![tx.now, id.to_string()]).await?;
    announced(tx, id).await
}

async fn get(c: &mut Connection<'_>, id: ReservationId) -> Result<Option<Reservation>, StoreError> {
    c.first(&format!("{COLUMNS} WHERE r.id = $1"), vec![text(id)]).await?.as_ref().map(view).transpose()
}

/// Announces a reservation to those who see its project.
async fn announced(tx: &mut Tx<'_>, id: ReservationId) -> Result<Reservation, StoreError> {
    let reservation = get(tx.read(), id).await?.ok_or(StoreError::NotFound("reservation"))?;
    let project = Some(reservation.project);
    let body = EventBody::Change { change: Change::Reservation { reservation: reservation.clone() } };
    tx.announce(PendingEvent { project, audience: None, facts_before: None, execution_of: None, body });
    Ok(reservation)
}

/// Refuses an agent for another activity than that of its session.
async fn own(tx: &mut Tx<'_>, activity: ActivityId) -> Result<(), StoreError> {
    let Some(session) = tx.caller.session() else { return Ok(()) };
    let row = tx.read().first("SELECT activity FROM sessions WHERE id = $1", vec![text(session)]).await?;
    let own: Option<ActivityId> = row.map(|row| row.parsed("activity")).transpose()?;
    match own == Some(activity) {
        true => Ok(()),
        false => {
            Err(StoreError::Forbidden("an agent reserves and releases files only for the activity of its session"))
        }
    }
}

/// The patterns as they are stored: in order, without doubles.
fn checked(patterns: &[String]) -> Result<Vec<String>, StoreError> {
    let invalid = |message: String| StoreError::invalid("patterns", message);
    if patterns.is_empty() || patterns.len() > PATTERNS {
        return Err(invalid(format!("{} patterns: give 1 to {PATTERNS}, such as src/** or docs", patterns.len())));
    }
    let read = |(at, text): (usize, &String)| match Pattern::parse(text) {
        Ok(pattern) => Ok(pattern.text().to_owned()),
        Err(error) => Err(invalid(format!("patterns[{at}]: {error}"))),
    };
    let mut found = patterns.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

impl Store {
    /// The reservations that the caller may see, those that end first first.
    pub async fn reservations(
        &self,
        caller: &Caller,
        filter: ReservationFilter,
    ) -> Result<Vec<Reservation>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        if let Some(project) = filter.project {
            projects::check(&mut c, caller, project, Action::See, "project").await?;
        }
        if let Some(activity) = filter.activity {
            activities::find(&mut c, caller, activity, Action::See).await?;
        }
        let seen = projects::seen(&mut c, caller).await?;
        let (condition, values) = match (filter.activity, filter.project) {
            (Some(activity), _) => (" AND r.activity = $1", vec![text(activity)]),
            (None, Some(project)) => (" AND r.project = $1", vec![text(project)]),
            (None, None) => ("", args![]),
        };
        let mut found = standing(&mut c, condition, values, self.now()).await?;
        found.retain(|one| {
            seen.contains_key(&one.project) && filter.project.is_none_or(|project| project == one.project)
        });
        found.truncate(LISTED);
        Ok(found)
    }
}

/// Maximum number of reservations in a list.
const LISTED: usize = 500;
