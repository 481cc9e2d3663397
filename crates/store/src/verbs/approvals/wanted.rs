//! Requests of runners: decided by rule at once, or sent to the owner.

use domain::text::plain;
use domain::trust::{Ground, Right, Wish as Judged, judge, readable};
use domain::{
    Action, Actor, Answered, ApprovalId, ApprovalKind, Author, ProjectFacts, ProjectId, Resource, RunnerId,
    RunnerPolicy, TaskId, can,
};
use engine::tasks::life::Event;
use protocol::Sandbox;
use protocol::link::{Subject, Wish};

use super::facts::{Asking, author};
use super::{COLUMNS, announce, approval, grants};
use crate::StoreError;
use crate::sql::{Row, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::projects;
use crate::verbs::work::life::step;

/// The maximum number of requests of one session or check.
const MOST: usize = 64;
/// Placeholder for a text that is too long to be read.
const TOO_LONG: &str = "(too long to be shown)";

/// A runner asks to run other people's text. Repeated requests are ignored.
pub(crate) async fn wanted(
    tx: &mut Tx<'_>,
    runner: RunnerId,
    subject: Subject,
    wishes: &[Wish],
) -> Result<(), StoreError> {
    let Some(asking) = Asking::find(tx, runner, subject).await? else { return Ok(()) };
    let Some(facts) = projects::facts_of(tx.read(), asking.project).await? else { return Ok(()) };
    let grants = grants::of(tx, runner, asking.project).await?;
    let subject = match subject {
        Subject::Session(id) => id.to_string(),
        Subject::Report(id) => id.to_string(),
        Subject::Merge(id) => id.to_string(),
    };
    for wish in wishes.iter().take(MOST) {
        // The owner's own text needs no approval; tell a runner that asks anyway.
        let by = asking.authors.who(wish.kind).cloned();
        let by = by.unwrap_or_else(|| protocol::WrittenBy { user: asking.owner.clone(), agent: None, by_agent: false });
        let sha256 = plain(&wish.sha256, 64);
        if asked_before(tx, &subject, wish, &sha256).await? {
            continue;
        }
        let reach = Sandbox::reach(wish.sandbox.as_ref());
        let judged = Judged { kind: wish.kind, sha256: &sha256, author: author(&by), reach };
        let ground = ground(asking.owner.id, asking.policy, asking.project, &facts, author(&by));
        let answer = judge(&judged, &ground, &grants).map(answered);
        // A text that cannot be read as a whole cannot be approved.
        let (shown, answer) = match readable(&wish.text) {
            Some(shown) => (shown, answer),
            None => (TOO_LONG.to_owned(), Some(Answered::Denied)),
        };
        let id = ApprovalId::generate();
        let sql = "INSERT INTO approvals (id, runner, project, subject, kind, text, sha256, author, author_session, \
                   by_agent, why, sandbox, reach, session, report, task, workspace, created_at, answer, answered_at) VALUES \
                   ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)";
        let values = args![
            id.to_string(),
            runner.to_string(),
            asking.project.to_string(),
            &subject,
            wish.kind.word(),
            shown,
            &sha256,
            by.user.id.to_string(),
            by.agent.map(|id| id.to_string()),
            author(&by).agent,
            why(wish.kind, &asking.title),
            wish.sandbox.is_some(),
            wish.sandbox.as_ref().map(to_json),
            asking.session.map(|id| id.to_string()),
            asking.report.map(|id| id.to_string()),
            asking.task.map(|id| id.to_string()),
            asking.workspace.map(|id| id.to_string()),
            tx.now,
            answer.map(|answer| answer.word().to_owned()),
            answer.map(|_| tx.now),
        ];
        tx.run(sql, values).await?;
        if answer.is_none() {
            let row = tx.read().first(&format!("{COLUMNS} WHERE a.id = $1"), vec![text(id)]).await?;
            let made = approval(&row.ok_or(StoreError::NotFound("approval"))?)?;
            announce(tx, asking.owner.id, made);
        }
    }
    if let Some(task) = asking.task {
        say_so(tx, task, &asking.owner.name, &asking.runner_name).await?;
    }
    tx.desire(runner).await
}

/// Whether the same request exists. An answer for a different sandbox does not count and is deleted.
async fn asked_before(tx: &mut Tx<'_>, subject: &str, wish: &Wish, sha256: &str) -> Result<bool, StoreError> {
    let sql = format!("{COLUMNS} WHERE a.subject = $1 AND a.kind = $2 AND a.sha256 = $3");
    let Some(row) = tx.read().first(&sql, args![subject, wish.kind.word(), sha256]).await? else { return Ok(false) };
    let known = approval(&row)?;
    if known.reach == wish.sandbox {
        return Ok(true);
    }
    if known.answer.is_none() {
        close(tx, &row, Answered::Withdrawn).await?;
    }
    tx.run("DELETE FROM approvals WHERE id = $1", vec![text(known.id)]).await?;
    Ok(false)
}

fn answered(right: Right) -> Answered {
    match right {
        Right::Own | Right::Granted => Answered::Granted,
        Right::Policy => Answered::Policy,
    }
}

fn ground(
    owner: domain::UserId,
    policy: RunnerPolicy,
    project: ProjectId,
    facts: &ProjectFacts,
    author: Author,
) -> Ground {
    let actor = Actor::User { id: author.user, hub_owner: false };
    let author_writes = can(&actor, Action::Write, Resource::Project(facts)).is_allowed();
    Ground { owner, policy, project, project_owner: facts.owner, author_writes }
}

/// Why the text would run, for the person who decides.
fn why(kind: ApprovalKind, title: &str) -> String {
    match kind {
        ApprovalKind::Session => "somebody else asks for this session on your runner".to_owned(),
        ApprovalKind::Repository => format!("the workspace of `{title}` would be made from it"),
        ApprovalKind::Copy => format!("these files would be copied into the workspace of `{title}`"),
        ApprovalKind::Setup => format!("it would prepare the workspace of `{title}`"),
        ApprovalKind::Teardown => format!("it would run before the workspace of `{title}` is deleted"),
        ApprovalKind::Settings => format!("the agent that works on `{title}` would load them"),
        ApprovalKind::Command => format!("it would check the work on `{title}`"),
        ApprovalKind::Code => format!("the checks of `{title}` would run it"),
    }
}

/// Decides the open requests of a runner again, after its policy or grants changed.
pub(crate) async fn settle(tx: &mut Tx<'_>, runner: RunnerId) -> Result<(), StoreError> {
    let sql = format!("{COLUMNS} WHERE a.runner = $1 AND a.answer IS NULL ORDER BY a.created_at, a.id");
    let policy = tx.read().first("SELECT policy FROM runners WHERE id = $1", vec![text(runner)]).await?;
    let Some(policy) = policy.map(|row| row.parsed::<RunnerPolicy>("policy")).transpose()? else { return Ok(()) };
    let mut settled = false;
    for row in tx.read().all(&sql, vec![text(runner)]).await? {
        let open = approval(&row)?;
        let owner = row.parsed("runner_owner")?;
        let Some(facts) = projects::facts_of(tx.read(), open.project).await? else { continue };
        let grants = grants::of(tx, runner, open.project).await?;
        let by = author(&open.author);
        let reach = Sandbox::reach(open.reach.as_ref());
        let judged = Judged { kind: open.kind, sha256: &open.sha256, author: by, reach };
        if let Some(right) = judge(&judged, &ground(owner, policy, open.project, &facts, by), &grants) {
            close(tx, &row, answered(right)).await?;
            settled = true;
        }
    }
    if settled { tx.desire(runner).await } else { Ok(()) }
}

/// Stores an answer and announces it to the owner.
pub(super) async fn close(tx: &mut Tx<'_>, row: &Row, answer: Answered) -> Result<protocol::Approval, StoreError> {
    let mut closed = approval(row)?;
    let sql = "UPDATE approvals SET answer = $1, answered_at = $2 WHERE id = $3";
    tx.run(sql, args![answer.word(), tx.now, closed.id.to_string()]).await?;
    closed.answer = Some(answer);
    closed.answered_at = Some(tx.now);
    let owner = row.parsed("runner_owner")?;
    announce(tx, owner, closed.clone());
    if let Some(task) = closed.task {
        say_so(tx, task, "its owner", &closed.runner_name).await?;
    }
    Ok(closed)
}

/// Withdraws the requests of a session or check that has ended.
pub(crate) async fn over(tx: &mut Tx<'_>, subject: impl std::fmt::Display) -> Result<(), StoreError> {
    let sql = format!("{COLUMNS} WHERE a.subject = $1 AND a.answer IS NULL");
    for row in tx.read().all(&sql, vec![text(subject)]).await? {
        close(tx, &row, Answered::Withdrawn).await?;
    }
    Ok(())
}

/// Shows on the task that it waits for an approval, without the text itself.
async fn say_so(tx: &mut Tx<'_>, task: TaskId, owner: &str, runner: &str) -> Result<(), StoreError> {
    let sql = "SELECT COUNT(*) AS open FROM approvals WHERE task = $1 AND answer IS NULL";
    let open = tx.read().first(sql, vec![text(task)]).await?.map_or(Ok(0), |row| row.count("open"))?;
    let row = tx.known_task(task).await?;
    let Some(hold) = row.hold() else { return Ok(()) };
    let why = match open {
        0 => None,
        1 => Some(format!("waits until {owner} allows something to run on `{runner}`")),
        many => Some(format!("waits until {owner} allows {many} things to run on `{runner}`")),
    };
    match hold.waiting == why {
        true => Ok(()),
        false => step(tx, row, Event::Wait { why }).await.map(|_| ()),
    }
}
