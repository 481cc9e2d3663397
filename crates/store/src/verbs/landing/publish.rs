//! Publications for the hub's reconciler, and what follows from their results.

use std::pin::Pin;

use domain::{Action, CandidateId, LandingId, ReportId, RunnerId, WorkspaceId};
use engine::landing::{Event, goes_back, step};
use protocol::link::PublishWork;
use protocol::{Landing, WrittenBy};
use serde::Serialize;

use super::{get, save, settings};
use crate::sql::{Row, args, text};
use crate::tx::Tx;
use crate::verbs::work::review::merging::{self, Ended};
use crate::verbs::work::tasks::reopen_by_hub;
use crate::verbs::work::tasks::row::id_or_none;
use crate::verbs::{merge, projects};
use crate::{Caller, Command, Store, StoreError};

/// The longest reason for a refusal, and the longest part of a log.
const WORDS: usize = 2000;
const LOG: usize = 4000;

/// A branch that a runner must publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publishing {
    /// The landing.
    pub landing: LandingId,
    /// The runner that has the work.
    pub runner: RunnerId,
    /// The repository, as the project names it.
    pub location: String,
    /// The work.
    pub work: PublishWork,
    /// The name of the branch there.
    pub branch: String,
    /// The commit that an earlier publication of ours left there.
    pub replaces: Option<String>,
    /// The pull request to open afterwards.
    pub pull_request: Option<PullRequestText>,
}

/// The text of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestText {
    /// The branch to merge into; absent: the repository's default.
    pub target: Option<String>,
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: String,
}

fn publishing(row: &Row) -> Result<Publishing, StoreError> {
    let title = row.text("title")?;
    let work = match (id_or_none(row, "report")?, row.text_or_none("kept")?) {
        (Some(report), Some(commit)) => PublishWork::Kept { report, commit },
        _ => PublishWork::Workspace { workspace: row.parsed::<WorkspaceId>("workspace")? },
    };
    let pull_request = match row.flag("wants_pull_request")? {
        true => {
            let summary = row.text_or_none("summary")?.unwrap_or_default();
            Some(PullRequestText { target: row.text_or_none("target")?, title, body: summary })
        }
        false => None,
    };
    Ok(Publishing {
        landing: row.parsed("id")?,
        runner: row.parsed("runner")?,
        location: row.text("location")?,
        work,
        branch: row.text("branch")?,
        replaces: row.text_or_none("replaces")?,
        pull_request,
    })
}

impl Store {
    /// All branches that are to be published, oldest first.
    pub async fn publishing(&self) -> Result<Vec<Publishing>, StoreError> {
        let sql = "SELECT l.id, l.runner, l.location, l.report, l.kept, l.workspace, l.branch, l.target, l.title, \
                   l.wants_pull_request, r.summary, (SELECT e.published FROM landings e WHERE e.project = l.project AND \
                   e.branch = l.branch AND e.published IS NOT NULL AND e.id < l.id ORDER BY e.id DESC LIMIT 1) \
                   AS replaces FROM landings l LEFT JOIN reports r ON r.id = l.report \
                   WHERE l.state = 'publishing' ORDER BY l.id";
        let rows = self.readers.get().await?.borrow().all(sql, args![]).await?;
        rows.iter().map(publishing).collect()
    }
}

impl Store {
    /// Workspaces of done tasks that nobody works in, once their work has landed or the project's time is over.
    pub async fn finished_workspaces(&self) -> Result<Vec<(WorkspaceId, RunnerId)>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let sql = "SELECT w.id, w.runner, w.project, MAX(t.updated_at) AS done_at, MIN(CASE WHEN EXISTS (SELECT 1 FROM \
                   landings l WHERE l.task = t.id AND l.state = 'landed') THEN 1 ELSE 0 END) AS landed \
                   FROM workspaces w JOIN tasks t ON t.workspace = w.id WHERE w.status = 'ready' AND \
                   w.repository IS NOT NULL AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.workspace = w.id AND \
                   s.ended_at IS NULL) AND NOT EXISTS (SELECT 1 FROM tasks o WHERE o.workspace = w.id AND \
                   o.status <> 'done') AND NOT EXISTS (SELECT 1 FROM landings l WHERE l.workspace = w.id AND \
                   l.state IN ('publishing', 'queued')) GROUP BY w.id, w.runner, w.project ORDER BY w.id";
        let mut found = Vec::new();
        for row in c.all(sql, args![]).await? {
            let days = settings::of(&mut c, row.parsed("project")?).await?.keep_days;
            let old = row.time("done_at")?.plus_millis(i64::from(days) * 86_400_000) <= self.now();
            if row.integer("landed")? > 0 || (days > 0 && old) {
                found.push((row.parsed("id")?, row.parsed("runner")?));
            }
        }
        Ok(found)
    }
}

/// The result of a publication.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum PublishResult {
    /// The branch is there.
    Done {
        /// The commit that it is at.
        commit: String,
        /// The address of the pull request, if one was wanted.
        pull_request: Option<String>,
        /// The repository's own default branch.
        default_branch: Option<String>,
    },
    /// It could not be published.
    Refused {
        /// The reason.
        why: String,
    },
}

/// A runner answered about a publication.
#[derive(Debug, Serialize)]
pub struct PublishEnded {
    /// The landing.
    pub landing: LandingId,
    /// The result.
    pub result: PublishResult,
}

impl Command for PublishEnded {
    type Output = ();
    const VERB: &'static str = "landing.published";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let Some(mut landing) = get(tx.read(), self.landing).await? else { return Ok(()) };
        let event = match &self.result {
            PublishResult::Done { commit, pull_request, default_branch } => {
                landing.commit = Some(commit.clone());
                landing.target = target(tx, &landing, default_branch.clone()).await?;
                landing.pull_request = pull_request.clone().or(landing.pull_request);
                Event::Published { merges: !landing.push_only }
            }
            PublishResult::Refused { why } => Event::NotPublished { why: domain::text::plain(why, WORDS) },
        };
        let Some((mut landing, enters)) = after(landing, event) else { return Ok(()) };
        if enters {
            landing.candidate = Some(enqueue(tx, &landing).await?);
        }
        save(tx, &landing).await?;
        match &landing.detail {
            Some(why) => report_ended(tx, landing.id, Ended::Undecided(format!("it was not published: {why}"))).await,
            None => Ok(()),
        }
    }
}

/// A landing after an event, and whether its branch enters the merge queue now; `None` if nothing changes.
fn after(landing: Landing, event: Event) -> Option<(Landing, bool)> {
    let next = step(landing.state, event)?;
    Some((Landing { state: next.state, detail: next.detail, ..landing }, next.enqueue))
}

/// The branch that work lands on: as the project says, else the repository's base branch, else its default.
async fn target(
    tx: &mut Tx<'_>,
    landing: &Landing,
    default_branch: Option<String>,
) -> Result<Option<String>, StoreError> {
    let project = projects::find(tx.read(), &Caller::hub("landing"), landing.project, Action::See).await?;
    let base = project.repositories.first().and_then(|repository| repository.base_branch.clone());
    let named = default_branch.filter(|name| domain::branch::check(name).is_ok());
    Ok(landing.target.clone().or(base).or(named))
}

/// Adds a published branch to the merge queue.
async fn enqueue(tx: &mut Tx<'_>, landing: &Landing) -> Result<CandidateId, StoreError> {
    let project = projects::find(tx.read(), &Caller::hub("landing"), landing.project, Action::See).await?;
    let (priority, task) = match landing.task {
        Some(task) => (tx.task(task).await?.map_or(0, |row| row.priority), Some(task)),
        None => (0, None),
    };
    let new = merge::New {
        branch: landing.branch.clone(),
        title: landing.title.clone(),
        target: merge::target_of(&project, landing.target.as_deref())?,
        priority,
        after: candidates_before(tx, landing).await?,
        fix: false,
        task,
        activity: landing.activity,
        head: landing.commit.clone(),
        by: WrittenBy { user: landing.asked_by.clone().unwrap_or(project.owner), agent: None, by_agent: false },
    };
    merge::enter(tx, landing.project, new).await.map(|candidate| candidate.id)
}

/// The waiting candidates of the tasks that this one builds on: they land first.
async fn candidates_before(tx: &mut Tx<'_>, landing: &Landing) -> Result<Vec<CandidateId>, StoreError> {
    let Some(row) = (match landing.task {
        Some(task) => tx.task(task).await?,
        None => None,
    }) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for dep in &row.deps {
        let sql = "SELECT candidate FROM landings WHERE task = $1 AND state = 'queued' AND candidate IS NOT NULL \
                   ORDER BY id DESC LIMIT 1";
        if let Some(waits) = tx.read().first(sql, vec![text(dep)]).await? {
            found.push(waits.parsed("candidate")?);
        }
    }
    Ok(found)
}

/// The landing of a candidate of the merge queue.
async fn of_candidate(tx: &mut Tx<'_>, candidate: CandidateId) -> Result<Option<Landing>, StoreError> {
    let sql = "SELECT id FROM landings WHERE candidate = $1 ORDER BY id DESC LIMIT 1";
    match tx.read().first(sql, vec![text(candidate)]).await? {
        Some(row) => get(tx.read(), row.parsed("id")?).await,
        None => Ok(None),
    }
}

/// Applies what the merge queue says about a candidate to its landing.
async fn told(tx: &mut Tx<'_>, landing: Landing, event: Event) -> Result<(), StoreError> {
    match after(landing, event) {
        Some((landing, _)) => save(tx, &landing).await,
        None => Ok(()),
    }
}

/// The report whose work lands, if a task requires that.
async fn report_of(tx: &mut Tx<'_>, landing: LandingId) -> Result<Option<ReportId>, StoreError> {
    let sql =
        "SELECT l.report FROM landings l JOIN reports r ON r.id = l.report WHERE l.id = $1 AND r.verdict = 'pending'";
    tx.read().first(sql, vec![text(landing)]).await?.map(|row| row.parsed("report")).transpose()
}

/// Applies the end of a landing to the report that waits for it.
async fn report_ended(tx: &mut Tx<'_>, landing: LandingId, how: Ended) -> Result<(), StoreError> {
    match report_of(tx, landing).await? {
        Some(report) => merging::ended(tx, report, how).await,
        None => Ok(()),
    }
}

/// Stops the landing of a report that got its verdict otherwise. A push that has begun still lands. Boxed, because the
/// end of a landing can judge reports.
pub(crate) fn withdraw<'a>(
    tx: &'a mut Tx<'_>,
    report: ReportId,
) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>> {
    Box::pin(async move {
        let sql = "SELECT id FROM landings WHERE report = $1 AND state IN ('publishing', 'queued')";
        for row in tx.read().all(sql, vec![text(report)]).await? {
            let Some(landing) = get(tx.read(), row.parsed("id")?).await? else { continue };
            let candidate = landing.candidate;
            let why = "its task moved on".to_owned();
            match candidate {
                Some(candidate) => merge::withdraw_candidate(tx, candidate, &why).await?,
                None => told(tx, landing, Event::Withdrawn { why }).await?,
            }
        }
        Ok(())
    })
}

/// A candidate of the merge queue is on the target branch, as this commit; without one, as the published commit, which
/// came there with another branch.
pub(crate) async fn landed(tx: &mut Tx<'_>, candidate: CandidateId, commit: Option<String>) -> Result<(), StoreError> {
    let Some(landing) = of_candidate(tx, candidate).await? else { return Ok(()) };
    let landed = commit.or_else(|| landing.commit.clone());
    let (id, target) = (landing.id, landing.target.clone().unwrap_or_default());
    told(tx, Landing { landed, ..landing }, Event::Landed).await?;
    report_ended(tx, id, Ended::Landed(target)).await
}

/// A person took a candidate out of the merge queue.
pub(crate) async fn removed(tx: &mut Tx<'_>, candidate: CandidateId) -> Result<(), StoreError> {
    let Some(landing) = of_candidate(tx, candidate).await? else { return Ok(()) };
    let (id, why) = (landing.id, "it was taken out of the merge queue");
    told(tx, landing, Event::Ejected { why: why.to_owned() }).await?;
    report_ended(tx, id, Ended::Undecided(why.to_owned())).await
}

/// The merge queue took out a candidate for a reason that only a person can judge.
pub(crate) async fn undecided(tx: &mut Tx<'_>, candidate: CandidateId, why: &str) -> Result<(), StoreError> {
    let Some(landing) = of_candidate(tx, candidate).await? else { return Ok(()) };
    let id = landing.id;
    told(tx, landing, Event::Ejected { why: domain::text::plain(why, WORDS) }).await?;
    report_ended(tx, id, Ended::Undecided(why.to_owned())).await
}

/// Whether newer work is on its way to the branch of a candidate: then the hub itself moved the branch.
pub(crate) async fn replaced(tx: &mut Tx<'_>, candidate: CandidateId) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM landings n JOIN landings l ON l.project = n.project AND l.branch = n.branch \
               WHERE l.candidate = $1 AND n.state = 'publishing' AND n.id > l.id";
    Ok(tx.read().first(sql, vec![text(candidate)]).await?.is_some())
}

/// What shows why the merge queue sent a branch back.
pub(crate) enum Evidence {
    /// The end of the failed check's log.
    Log(String),
    /// Both sides of the conflicting lines.
    Sides(String),
}

impl Evidence {
    fn words(&self) -> String {
        match self {
            Self::Log(log) => format!("\n\nThe end of the log:\n{}", indented(log)),
            Self::Sides(sides) => format!("\n\nBoth sides of the conflict:\n{}", indented(sides)),
        }
    }
}

/// The merge queue sent a candidate back: its task is reopened with the reason and the log, so that its agent fixes it.
pub(crate) async fn ejected(
    tx: &mut Tx<'_>,
    candidate: CandidateId,
    why: &str,
    evidence: Option<Evidence>,
) -> Result<(), StoreError> {
    let Some(landing) = of_candidate(tx, candidate).await? else { return Ok(()) };
    let (id, project, task) = (landing.id, landing.project, landing.task);
    let target = landing.target.clone().unwrap_or_default();
    told(tx, landing, Event::Ejected { why: domain::text::plain(why, WORDS) }).await?;
    let Some(task) = task else { return Ok(()) };
    let sql = "SELECT COUNT(*) AS n FROM landings WHERE task = $1 AND state = 'refused' AND candidate IS NOT NULL";
    let rounds = tx.read().first(sql, vec![text(task)]).await?.map_or(Ok(0), |row| row.count("n"))?;
    let required = report_of(tx, id).await?;
    if required.is_none() && !goes_back(rounds) {
        return Ok(());
    }
    // Everybody who sees the project reads the context of its tasks.
    let shared = projects::facts_of(tx.read(), project).await?.is_some_and(|facts| facts.share_execution);
    let evidence = evidence.filter(|_| shared).map(|evidence| evidence.words()).unwrap_or_default();
    let words = format!(
        "The merge queue sent this work back: {why}.\nFetch `origin`, rebase your branch onto `origin/{target}` or merge \
         it, fix what the merge queue found, and report again.{evidence}"
    );
    match required {
        Some(report) => merging::ended(tx, report, Ended::SentBack(words)).await,
        None => reopen_by_hub(tx, task, &words).await,
    }
}

/// A log as quoted lines: it is data of a program, not an instruction.
fn indented(log: &str) -> String {
    domain::text::plain(log, LOG).lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
