//! Raw data of the metrics: holds, questions, scores and finished tasks.

use domain::{AttemptOutcome, ProjectId, WorkerId};
use engine::metrics::spans::Span;
use protocol::Usage;

use crate::StoreError;
use crate::sql::{Connection, Row, args};

/// One worker's hold on a task.
pub(super) struct Hold {
    pub(super) worker: WorkerId,
    pub(super) name: String,
    /// The time span of the work.
    pub(super) span: Span,
    /// When the hold ended, which is after the work if a person had to judge; now, if it has not ended.
    pub(super) over: i64,
    pub(super) ended: bool,
    pub(super) outcome: AttemptOutcome,
    pub(super) usage: Usage,
    /// When a lost worker was last heard from.
    last_sign: Option<i64>,
    /// Time from the session's failure to its detection, if the failure ended the hold.
    noticed_after: Option<i64>,
}

impl Hold {
    fn read(row: &Row, now: i64) -> Result<Self, StoreError> {
        let ended = row.integer_or_none("ended_at")?;
        let over = ended.unwrap_or(now);
        let until = row.integer_or_none("asked_at")?.map_or(over, |asked| over.min(asked));
        Ok(Self {
            worker: row.parsed("worker")?,
            name: row.text("worker_name")?,
            span: (row.integer("started_at")?, until),
            over,
            ended: ended.is_some(),
            outcome: row.parsed("outcome")?,
            usage: row.json("usage")?,
            last_sign: row.integer_or_none("last_sign_at")?,
            noticed_after: row.integer_or_none("noticed_after")?,
        })
    }

    /// Whether the hold ended without success.
    pub(super) fn failed(&self) -> bool {
        matches!(self.outcome, AttemptOutcome::Failed | AttemptOutcome::Lost | AttemptOutcome::Refused)
    }

    /// Detection time of a lost worker.
    pub(super) fn lost_for(&self) -> Option<u64> {
        let lost = self.ended && self.outcome == AttemptOutcome::Lost;
        self.last_sign.filter(|_| lost).map(|sign| (self.over - sign).max(0).unsigned_abs())
    }

    /// Detection time of a failed session. Time spent on judging a report does not count.
    pub(super) fn failed_for(&self) -> Option<u64> {
        let failed = self.ended && self.outcome == AttemptOutcome::Failed;
        self.noticed_after.filter(|_| failed).map(|after| after.max(0).unsigned_abs())
    }
}

/// A worker's context score.
pub(super) struct Score {
    pub(super) worker: WorkerId,
    pub(super) at: i64,
    pub(super) score: u8,
}

/// Events in a window.
pub(super) struct Seen {
    /// Holds that had not ended when the window began, ordered by their start.
    pub(super) holds: Vec<Hold>,
    /// Times of escalations.
    pub(super) asked: Vec<i64>,
    /// Times when tasks were done or failed.
    pub(super) over: Vec<i64>,
    /// Context scores of reports.
    pub(super) scores: Vec<Score>,
}

impl Seen {
    /// Reads the events in a window of a project.
    pub(super) async fn read(c: &mut Connection<'_>, project: ProjectId, window: Span) -> Result<Self, StoreError> {
        let since = || args![project.to_string(), window.0];
        // A worker is free while a person judges its work. A failed attempt counts as a session failure if its last
        // session ended before the attempt did.
        let sql = "SELECT a.worker, a.worker_name, a.started_at, a.ended_at, a.last_sign_at, a.outcome, a.usage, \
                   (SELECT MIN(e.created_at) FROM escalations e WHERE e.task = a.task AND e.created_at >= a.started_at \
                   AND e.kind IN ('judgement', 'review', 'same_lines', 'contradiction', 'uncheckable')) AS asked_at, \
                   CASE WHEN a.outcome = 'failed' THEN (SELECT CASE WHEN s.ended_at <= a.ended_at AND \
                   COALESCE(s.code, 1) <> 0 THEN s.ended_at - s.since END FROM \
                   sessions s WHERE s.task = a.task AND s.fence = a.fence ORDER BY s.created_at DESC, s.id DESC LIMIT 1) \
                   END AS noticed_after FROM attempts a \
                   WHERE a.project = $1 AND (a.ended_at IS NULL OR a.ended_at >= $2) ORDER BY a.started_at";
        let holds = c.all(sql, since()).await?;
        let holds = holds.iter().map(|row| Hold::read(row, window.1)).collect::<Result<_, _>>()?;
        let sql = "SELECT created_at AS at FROM escalations WHERE project = $1 AND created_at >= $2";
        let asked = moments(c.all(sql, since()).await?)?;
        let sql = "SELECT updated_at AS at FROM tasks WHERE project = $1 AND status IN ('done', 'failed') AND \
                   updated_at >= $2";
        let over = moments(c.all(sql, since()).await?)?;
        let sql = "SELECT worker, at, context_score FROM reports WHERE project = $1 AND at >= $2 AND context_score IS \
                   NOT NULL";
        let score = |row: &Row| {
            let score = u8::try_from(row.count("context_score")?).unwrap_or(u8::MAX);
            Ok(Score { worker: row.parsed("worker")?, at: row.integer("at")?, score })
        };
        let scores = c.all(sql, since()).await?.iter().map(score).collect::<Result<_, StoreError>>()?;
        Ok(Self { holds, asked, over, scores })
    }

    /// The time span of each hold.
    pub(super) fn spans(&self) -> Vec<Span> {
        self.holds.iter().map(|hold| hold.span).collect()
    }

    /// The time spans of holds that succeeded, or may succeed, with their workers.
    pub(super) fn useful(&self) -> Vec<(WorkerId, Span)> {
        use AttemptOutcome::{Accepted, Escalated, Open, TakenOver};
        let useful = |hold: &&Hold| matches!(hold.outcome, Open | Accepted | TakenOver | Escalated);
        self.holds.iter().filter(useful).map(|hold| (hold.worker, hold.span)).collect()
    }

    /// The time span of each hold, with its worker.
    pub(super) fn work(&self) -> Vec<(WorkerId, Span)> {
        self.holds.iter().map(|hold| (hold.worker, hold.span)).collect()
    }
}

fn moments(rows: Vec<Row>) -> Result<Vec<i64>, StoreError> {
    rows.iter().map(|row| row.integer("at")).collect()
}
