//! `report`: hands a report in, and returns the verdict in the same call.

use std::time::Duration;

use domain::{ReportId, ReportVerdict, TaskStatus};
use protocol::{Call, CriterionResult, Deliverables, ProblemKind, Report, TaskDetail, TaskReport, Usage};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Spec, beat};
use crate::desk::{Desk, Hold};
use crate::trouble::Trouble;
use crate::verbs::ask;
use crate::{schema, task};

/// Clients give a tool a minute.
const USUAL_WAIT: u64 = 45;
const LONGEST_WAIT: u64 = 300;
const FIRST_LOOK: Duration = Duration::from_millis(200);
const LOOKS: Duration = Duration::from_secs(2);

pub(super) static SPEC: Spec = Spec {
    name: "report",
    title: "Report work",
    description: "Hands back the task you hold and waits for the verdict. `verdict` in the answer is `accepted` (take the \
        next task), `refused` (fix what `reasons` say and call report again: you still hold the task), or `pending` \
        (still being checked: call report again with nothing but {\"summary\": \"same\"} to hear the verdict, or take_task). \
        Commit your work before you report if the task asks for it. Examples: {\"summary\": \"Added the parser and 12 \
        tests; all pass.\", \"files\": [\"src/parser.rs\", \"tests/parser.rs\"], \"context_score\": 4}. If the task \
        cannot be done: {\"summary\": \"what you tried\", \"failed\": \"why it cannot be done\"}.",
    schema: || {
        schema::object(
            &["summary"],
            json!({
                "summary": schema::text("What you did, in one to five sentences, for the person who reads it."),
                "files": schema::texts("Paths of the files that you made or changed, relative to the workspace. In a session of \
                     Shopfloor's, what you leave out here, of `branch` or of `commits` is filled in from the workspace."),
                "branch": schema::text("The git branch with the work, if there is one; push it first."),
                "commits": schema::texts("The commits with the work, as full or short hashes."),
                "context_score": schema::number(
                    1,
                    5,
                    "How well the task was described: 1 much was missing, 5 nothing was missing.",
                ),
                "failed": schema::text("Only if the task could NOT be done: the reason. Leave it out if the work is done."),
                "input_tokens": schema::number(0, u32::MAX.into(), "Input tokens used, if you know."),
                "output_tokens": schema::number(0, u32::MAX.into(), "Output tokens used, if you know."),
                "cost_usd": json!({ "type": "number", "minimum": 0, "description": "The cost in dollars, if you know." }),
                "wait_seconds": schema::number(0, LONGEST_WAIT, "How long to wait for the verdict; default 45."),
                "task": schema::task(),
                "fence": schema::fence(),
            }),
        )
    },
    reads: false,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    summary: String,
    #[serde(default)]
    files: Vec<String>,
    branch: Option<String>,
    #[serde(default)]
    commits: Vec<String>,
    context_score: Option<u8>,
    failed: Option<String>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cost_usd: Option<f64>,
    wait_seconds: Option<u64>,
    task: Option<String>,
    fence: Option<u64>,
}

pub(super) async fn run(desk: &Desk, given: Arguments) -> Result<Value, Trouble> {
    let task = task::resolve(desk, given.task.as_deref()).await?;
    let hold = desk.hold(task, given.fence).await?;
    let until = Instant::now() + Duration::from_secs(given.wait_seconds.unwrap_or(USUAL_WAIT).min(LONGEST_WAIT));
    // A caller that repeats a report without a verdict wants that verdict, even if it is known by now.
    if let Some(report) = desk.with(hold.task, |held| held.handed_in).flatten() {
        return verdict(desk, hold, report, until).await;
    }
    let input = input(given, hold.fence);
    match ask::<Report>(&*desk.verbs, Call::TaskReport { task: hold.task, input }).await {
        Ok(report) => verdict(desk, hold, report.id, until).await,
        Err(problem) if problem.kind == ProblemKind::Conflict => match handed_in(desk, hold).await {
            Some(report) => verdict(desk, hold, report, until).await,
            None => Err(beat::lost(desk, hold, problem.into())),
        },
        Err(problem) => Err(problem.into()),
    }
}

fn input(given: Arguments, fence: u64) -> TaskReport {
    let deliverables =
        Deliverables { files: given.files, branch: given.branch, commits: given.commits, more_commits: 0 };
    let used = given.input_tokens.is_some() || given.output_tokens.is_some() || given.cost_usd.is_some();
    let usage = Usage {
        input_tokens: given.input_tokens.unwrap_or(0),
        cached_tokens: 0,
        output_tokens: given.output_tokens.unwrap_or(0),
        cost_micros: given.cost_usd.map(|dollars| (dollars.max(0.0) * 1e6).round() as u64),
    };
    TaskReport {
        fence,
        summary: given.summary,
        deliverables: (deliverables != Deliverables::default()).then_some(deliverables),
        context_score: given.context_score,
        usage: used.then_some(usage),
        failed: given.failed,
    }
}

/// The report that was handed in under this hold; after a restart it is not in memory.
async fn handed_in(desk: &Desk, hold: Hold) -> Option<ReportId> {
    let detail: TaskDetail = ask(&*desk.verbs, Call::TaskShow { task: hold.task }).await.ok()?;
    let attempt = detail.attempts.iter().find(|attempt| attempt.fence == hold.fence)?.number;
    let in_time = |report: &&Report| report.attempt == attempt && report.verdict != ReportVerdict::Late;
    detail.reports.iter().rev().find(in_time).map(|report| report.id)
}

/// Polls the task until its report has a verdict, a person is asked, or time is up.
async fn verdict(desk: &Desk, hold: Hold, report: ReportId, until: Instant) -> Result<Value, Trouble> {
    let mut pause = FIRST_LOOK;
    loop {
        let detail: TaskDetail = ask(&*desk.verbs, Call::TaskShow { task: hold.task }).await?;
        let found = detail.reports.iter().find(|one| one.id == report);
        let Some(found) = found else { return Err(Trouble::new("The report no longer exists: the task was removed.")) };
        if found.verdict != ReportVerdict::Pending || !detail.task.status.is_held() {
            return Ok(judged(desk, hold, &detail, found));
        }
        if Instant::now() + pause >= until {
            desk.with(hold.task, |held| held.handed_in = Some(report));
            return Ok(json!({
                "task": hold.task,
                "verdict": "pending",
                "next": "It is still being checked. Call report again with the same summary to hear the verdict, \
                         or take_task to continue with another task.",
            }));
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LOOKS);
    }
}

fn judged(desk: &Desk, hold: Hold, detail: &TaskDetail, report: &Report) -> Value {
    let task = &detail.task;
    let still_mine = task.lease.as_ref().is_some_and(|lease| lease.fence == hold.fence) && task.status.is_held();
    desk.with(hold.task, |held| held.handed_in = None);
    if !still_mine {
        desk.forget_hold(hold);
    }
    let (word, next) = match (report.verdict, task.status) {
        (ReportVerdict::Accepted, _) => ("accepted", "Well done. Call take_task for the next one."),
        (ReportVerdict::Refused, _) if still_mine => {
            ("refused", "You still hold the task: fix what `reasons` say, then call report again.")
        }
        (ReportVerdict::Refused, TaskStatus::Escalated) => {
            ("refused", "A person decides about the task. Call take_task for another one.")
        }
        (ReportVerdict::Refused, TaskStatus::Failed) => {
            ("refused", "The task has failed. Call take_task for another one.")
        }
        (ReportVerdict::Refused, _) => {
            ("refused", "Another worker gets the task now; stop working on it. Call take_task for another one.")
        }
        (ReportVerdict::Late, _) => (
            "late",
            "Your lease was lost before you reported: somebody else has the task. Stop working on it; \
                      the report is kept. Call take_task for another one.",
        ),
        (ReportVerdict::Pending, TaskStatus::Escalated) => {
            ("pending", "A person must judge it; you need not wait. Call take_task for another one.")
        }
        (ReportVerdict::Pending, _) => ("pending", "You no longer hold the task. Call take_task for another one."),
    };
    let mut answer = json!({ "task": task.id, "verdict": word, "task_status": task.status, "next": next });
    let reasons = reasons(report);
    if word != "accepted" && !reasons.is_empty() {
        answer["reasons"] = json!(reasons);
    }
    answer
}

/// The failed criteria, each with what was found.
fn reasons(report: &Report) -> Vec<String> {
    let failed = |result: &&CriterionResult| result.passed != Some(true);
    let mut all: Vec<String> = report.results.iter().filter(failed).map(|result| result.reason.clone()).collect();
    if let Some(reason) = &report.reason
        && !all.contains(reason)
    {
        all.insert(0, reason.clone());
    }
    all
}
