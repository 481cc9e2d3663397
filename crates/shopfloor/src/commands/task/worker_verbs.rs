//! A worker's verbs for scripts: take, heartbeat, report, release, ask.

use std::time::Duration;

use client::Client;
use domain::{ReportVerdict, TaskId, TaskStatus};
use protocol::{
    Call, Deliverables, Escalation, Lease, Project, Report, Taken, TakenTask, Task, TaskAsk, TaskDetail, TaskHeartbeat,
    TaskRelease, TaskReport, TaskTake, Usage,
};
use tokio::time::Instant;

use super::worker_args::{AskArgs, HeartbeatArgs, HoldArgs, ReleaseArgs, ReportArgs, TakeArgs};
use crate::commands::words;
use crate::output::clean;
use crate::pick::pick;
use crate::{Context, Exit, Failure, Output, when};

/// Maximum wait of one request; a longer wait takes several.
const WAIT: u32 = 20;
/// Polling interval for a report's verdict.
const LOOK: Duration = Duration::from_millis(300);

/// Takes a task.
pub(crate) async fn take(args: TakeArgs, context: &Context) -> Result<Exit, Failure> {
    let (client, out) = (&context.client()?, &context.out);
    let project = pick::<Project>(client, &args.project).await?;
    let task = match &args.task {
        Some(task) => Some(super::id(client, task).await?),
        None => None,
    };
    let mut left = args.wait;
    let taken = loop {
        let wait = left.min(WAIT);
        left -= wait;
        let input = TaskTake {
            task,
            worker: args.worker.clone(),
            abilities: args.abilities.clone(),
            wait_seconds: Some(wait).filter(|wait| *wait > 0),
        };
        let taken: Taken = client.ask(Call::TaskTake { project, input }).await?;
        if taken.taken.is_some() || left == 0 {
            break taken;
        }
    };
    match &taken.taken {
        Some(task) => {
            out.show(&taken, |out| brief(task, out))?;
            Ok(Exit::Done)
        }
        None => {
            if out.json {
                out.show(&taken, |_| String::new())?;
            }
            out.note(&format!("no task: {}", taken.why_not.as_deref().unwrap_or("no task is ready")));
            Ok(Exit::NotFound)
        }
    }
}

fn brief(taken: &TakenTask, out: &Output) -> String {
    let TakenTask { task, lease, heartbeat_seconds, brief, .. } = taken;
    let (id, fence) = (task.id, lease.fence);
    let left = when::left(lease.expires_at, out.now);
    clean(&format!(
        "{brief}\n\n\
         task {id}, fence {fence}, yours for {left} unless you renew it every {heartbeat_seconds} s:\n  \
         shopfloor task heartbeat {id} --fence {fence}\n  \
         shopfloor task report {id} --fence {fence} \"what was done\""
    ))
}

/// Renews a lease.
pub(crate) async fn heartbeat(args: HeartbeatArgs, context: &Context) -> Result<(), Failure> {
    let client = &context.client()?;
    let (task, fence) = hold(&args.hold, client).await?;
    let input = TaskHeartbeat { fence, progress: args.progress };
    let lease: Lease = client.ask(Call::TaskHeartbeat { task, input }).await?;
    context.out.show(&lease, |out| format!("the lease ends {}", when::ahead(lease.expires_at, out.now)))
}

/// Hands in a report and, if requested, waits for its verdict.
pub(crate) async fn report(args: ReportArgs, context: &Context) -> Result<Exit, Failure> {
    let client = &context.client()?;
    let (task, fence) = hold(&args.hold, client).await?;
    let summary = match (args.summary.read()?, &args.failed) {
        (Some(summary), _) => summary,
        (None, Some(why)) => why.clone(),
        (None, None) => args.summary.required()?,
    };
    let deliverables = Deliverables { files: args.files, branch: args.branch, commits: args.commits, more_commits: 0 };
    let used = [args.input_tokens, args.output_tokens, args.cost].iter().any(Option::is_some);
    let usage = Usage {
        input_tokens: args.input_tokens.unwrap_or(0),
        cached_tokens: 0,
        output_tokens: args.output_tokens.unwrap_or(0),
        cost_micros: args.cost,
    };
    let input = TaskReport {
        fence,
        summary,
        deliverables: Some(deliverables).filter(|deliverables| *deliverables != Deliverables::default()),
        context_score: args.context_score,
        usage: used.then_some(usage),
        failed: args.failed,
    };
    let report: Report = client.ask(Call::TaskReport { task, input }).await?;
    let report = judged(client, report, Duration::from_secs(args.wait.into())).await?;
    context.out.show(&report, |out| {
        let verdict = words::verdict_style(report.verdict).paint(report.verdict.word(), out.color);
        let why = report.reason.as_ref().map(|why| format!(": {}", clean(why))).unwrap_or_default();
        format!("{}  {verdict}{why}", report.id)
    })?;
    Ok(if args.wait > 0 && report.verdict != ReportVerdict::Accepted { Exit::Other } else { Exit::Done })
}

/// The report once it has a verdict, or as it is when the time is up.
async fn judged(client: &Client, mut report: Report, patience: Duration) -> Result<Report, Failure> {
    let until = Instant::now() + patience;
    while report.verdict == ReportVerdict::Pending && Instant::now() < until {
        tokio::time::sleep(LOOK).await;
        let detail: TaskDetail = client.ask(Call::TaskShow { task: report.task }).await?;
        let checking = matches!(detail.task.status, TaskStatus::Reported | TaskStatus::Validating);
        if let Some(newer) = detail.reports.into_iter().find(|one| one.id == report.id) {
            report = newer;
        }
        if !checking {
            // Nobody checks it any more, so no verdict will come by itself.
            report.reason = report.reason.or(detail.task.reason);
            break;
        }
    }
    Ok(report)
}

/// Returns a task.
pub(crate) async fn release(args: ReleaseArgs, context: &Context) -> Result<(), Failure> {
    let client = &context.client()?;
    let (task, fence) = hold(&args.hold, client).await?;
    let input = TaskRelease { fence, reason: args.reason };
    let task: Task = client.ask(Call::TaskRelease { task, input }).await?;
    super::said(&task, &context.out)
}

/// Asks a person.
pub(crate) async fn ask(args: AskArgs, context: &Context) -> Result<(), Failure> {
    let client = &context.client()?;
    let (task, fence) = hold(&args.hold, client).await?;
    let input =
        TaskAsk { fence, question: args.question, options: args.options, context: args.context, give_up: args.give_up };
    let escalation: Escalation = client.ask(Call::TaskAsk { task, input }).await?;
    context.out.show(&escalation, |_| format!("{}  waits for a person", escalation.id))
}

/// A worker names its task by id or short name: another task may have the same title.
async fn hold(args: &HoldArgs, client: &Client) -> Result<(TaskId, u64), Failure> {
    let task = match args.task.parse() {
        Ok(task) => task,
        Err(error) => super::by_short(client, &args.task).await?.ok_or_else(|| {
            Failure::usage(format!("{error}")).advise("pass the task's id or short name, as `task take` printed it")
        })?,
    };
    Ok((task, args.fence))
}
