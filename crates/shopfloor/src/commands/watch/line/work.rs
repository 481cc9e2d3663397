//! Tasks, workers and questions as lines.

use domain::{ProjectId, TaskStatus, WorkerStatus};
use protocol::{
    Approval, Candidate, Escalation, Handoff, Landing, MergeQueue, ReviewLine, TaskLine, WorkEntry, Worker,
};

use super::{EXCERPT, Names};
use crate::commands::words;
use crate::output::clean;
use crate::table::shorten;

/// One task.
pub(super) fn task(task: &TaskLine, names: &Names) -> String {
    let who = task.assigned_to.map(|worker| format!(" with {}", names.worker(worker))).unwrap_or_default();
    let why = task.reason.as_ref().or(task.progress.as_ref()).map(|why| format!(": {why}")).unwrap_or_default();
    format!("task      \"{}\" is {}{who}{why} ({})", task.title, task.status, task.short)
}

/// Tasks that changed together.
pub(super) fn tasks(tasks: &[TaskLine], names: &Names) -> String {
    let at: Vec<TaskStatus> = tasks.iter().map(|task| task.status).collect();
    format!("tasks     {}", many(tasks.first().map(|task| task.project), TaskStatus::ALL, &at, names))
}

/// A worker.
pub(super) fn worker(worker: &Worker, names: &Names) -> String {
    let why = worker.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    format!("worker    {} in {} is {}{why} ({})", worker.name, names.of(worker.project), worker.status, worker.id)
}

/// Workers that changed together.
pub(super) fn workers(workers: &[Worker], names: &Names) -> String {
    let at: Vec<WorkerStatus> = workers.iter().map(|worker| worker.status).collect();
    format!("workers   {}", many(workers.first().map(|worker| worker.project), WorkerStatus::ALL, &at, names))
}

/// Work on its way to the repository.
pub(super) fn landing(landing: &Landing, names: &Names) -> String {
    let why = landing.detail.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let project = names.of(landing.project);
    format!("landing   \"{}\" in {project} is {}{why} ({})", landing.title, landing.state, landing.branch)
}

/// How many changed where, and their statuses.
fn many<S: PartialEq + std::fmt::Display>(project: Option<ProjectId>, all: &[S], at: &[S], names: &Names) -> String {
    let counts = all.iter().map(|status| (status, at.iter().filter(|one| *one == status).count()));
    let counts = counts.filter(|(_, count)| *count > 0).map(|(status, count)| format!("{count} {status}"));
    let project = project.map(|project| format!(" in {}", names.of(project))).unwrap_or_default();
    format!("{} changed{project}: {}", at.len(), counts.collect::<Vec<_>>().join(", "))
}

/// A question, or its answer.
pub(super) fn escalation(escalation: &Escalation, names: &Names) -> String {
    let question = shorten(&escalation.question.replace('\n', " "), EXCERPT);
    let answer = shorten(&escalation.answer.as_deref().unwrap_or("-").replace('\n', " "), EXCERPT);
    match (escalation.answered_at, &escalation.answered_by) {
        (Some(_), Some(by)) => format!("answered  {} to \"{question}\": {answer} ({})", by.name, escalation.id),
        (Some(_), None) => format!("settled   \"{question}\": {answer} ({})", escalation.id),
        (None, _) => {
            let (title, project) = (&escalation.title, names.of(escalation.project));
            format!("needs you \"{title}\" in {project}: {question} ({})", escalation.id)
        }
    }
}

/// Another person's text that would run on the reader's runner, or the answer.
pub(super) fn approval(approval: &Approval, names: &Names) -> String {
    let text = shorten(approval.text.lines().next().unwrap_or_default(), EXCERPT);
    let (kind, by, id) = (approval.kind, &approval.author.user.name, approval.id);
    match approval.answer {
        Some(answer) => format!("approval  {answer}: {kind} \"{text}\" by {by} ({id})"),
        None => {
            let (project, runner) = (names.of(approval.project), &approval.runner_name);
            format!("needs you {kind} \"{text}\" by {by} in {project} would run on {runner} ({id})")
        }
    }
}

/// The review of the changes of a task or a workspace.
pub(super) fn review(review: &ReviewLine, names: &Names) -> String {
    let ReviewLine { open, sent, resolved, of, .. } = review;
    let approved = if review.approved { "approved, " } else { "" };
    format!("review    in {}: {approved}{open} open, {sent} sent, {resolved} resolved ({of})", names.of(review.project))
}

/// A handoff that began or moved.
pub(super) fn handoff(handoff: &Handoff, names: &Names) -> String {
    let detail = handoff.detail.as_deref().map(|detail| format!(": {}", clean(detail))).unwrap_or_default();
    let (title, project, id) = (shorten(&handoff.title, EXCERPT), names.of(handoff.project), handoff.id);
    format!("handoff   \"{title}\" in {project} is {} at {}{detail} ({id})", handoff.status, handoff.step)
}

/// A decision and its reason.
pub(super) fn decision(entry: &WorkEntry, names: &Names) -> String {
    let worker = entry.worker.map(|worker| names.worker(worker));
    let about: Vec<String> = worker.into_iter().chain(entry.task.map(|task| task.to_string())).collect();
    let about = if about.is_empty() { names.of(entry.project) } else { about.join(", ") };
    format!("decided   {}: {} ({about})", entry.what, entry.reason)
}

/// A merge queue that moved.
pub(super) fn merge_queue(queue: &MergeQueue) -> String {
    let reason = queue.reason.as_deref().map(|reason| format!(": {}", clean(reason))).unwrap_or_default();
    let waiting = words::counted(u32::try_from(queue.candidates.len()).unwrap_or(u32::MAX), "branch", "branches");
    let runs = words::counted(u32::try_from(queue.runs.len()).unwrap_or(u32::MAX), "run", "runs");
    format!("merge     {} is {}, {waiting}, {runs}{reason}", clean(&queue.target), queue.gate)
}

/// A branch that left a merge queue.
pub(super) fn candidate(candidate: &Candidate) -> String {
    let reason = candidate.reason.as_deref().map(|reason| format!(": {}", clean(reason))).unwrap_or_default();
    format!("merge     {} {}{reason} ({})", clean(&candidate.branch), candidate.state, candidate.id)
}
