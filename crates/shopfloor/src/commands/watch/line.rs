//! A change as one line for people; tasks or workers that changed together get a line each.

mod recipes;
mod work;

use std::collections::HashMap;

use domain::{OverlapKind, ProjectId, WorkerId};
use protocol::{Activity, Change, Delta, Message, Project};

use crate::commands::words;
use crate::output::clean;
use crate::table::shorten;

/// Maximum columns of a message in a line.
const EXCERPT: usize = 120;
/// Above this number of tasks or workers, only their counts are shown.
const EACH: usize = 8;

/// Names of projects and workers, as far as known.
#[derive(Debug, Default)]
pub(crate) struct Names {
    projects: HashMap<ProjectId, String>,
    workers: HashMap<WorkerId, String>,
}

impl Names {
    /// Stores the name of what changed.
    pub(crate) fn learn(&mut self, change: &Change) {
        match change {
            Change::Project { project } => self.learn_projects(std::slice::from_ref(project)),
            Change::ProjectGone { project } => {
                self.projects.remove(project);
            }
            Change::Workers { workers } => {
                self.workers.extend(workers.iter().map(|worker| (worker.id, worker.name.clone())));
            }
            _ => {}
        }
    }

    /// Stores the names of projects.
    pub(crate) fn learn_projects(&mut self, projects: &[Project]) {
        self.projects.extend(projects.iter().map(|project| (project.id, project.name.clone())));
    }

    fn of(&self, project: ProjectId) -> String {
        self.projects.get(&project).map_or_else(|| project.to_string(), |name| format!("\"{name}\""))
    }

    fn worker(&self, worker: WorkerId) -> String {
        self.workers.get(&worker).cloned().unwrap_or_else(|| worker.to_string())
    }
}

/// The project of a change.
pub(crate) fn project_of(change: &Change) -> Option<ProjectId> {
    match change {
        Change::Project { project } => Some(project.id),
        Change::ProjectGone { project } => Some(*project),
        Change::Activity { activity } => Some(activity.project),
        Change::Message { message, .. } => Some(message.project),
        Change::Unread { unread } => Some(unread.project),
        Change::Workspace { workspace } => Some(workspace.project),
        Change::Session { session } => Some(session.project),
        Change::Overlap { overlap } => Some(overlap.project),
        Change::Reservation { reservation } => Some(reservation.project),
        Change::ExecutionGone { project } => Some(*project),
        Change::Tasks { tasks } => tasks.first().map(|task| task.project),
        Change::Workers { workers } => workers.first().map(|worker| worker.project),
        Change::WorkerGone { .. } => None,
        Change::Escalation { escalation } => Some(escalation.project),
        Change::Review { review } => Some(review.project),
        Change::Approval { approval } => Some(approval.project),
        Change::WorkEntry { entry } => Some(entry.project),
        Change::WorkSettings { project, .. } | Change::MergeSettings { project, .. } => Some(*project),
        Change::MergeQueue { queue } => Some(queue.project),
        Change::Candidate { candidate } => Some(candidate.project),
        Change::LandingSettings { project, .. } => Some(*project),
        Change::Landing { landing } => Some(landing.project),
        Change::Handoff { handoff } => Some(handoff.project),
        Change::Recipe { recipe } => Some(recipe.project),
        Change::Profiles { project, .. } => Some(*project),
        Change::Execution { execution } => Some(execution.project),
        Change::Schedule { schedule } => Some(schedule.project),
        Change::ScheduleRemoved { .. } => None,
        Change::User { .. } | Change::UserGone { .. } | Change::Runner { .. } | Change::RunnerGone { .. } => None,
        Change::Unknown => None,
    }
}

/// The line: time, position, what changed.
pub(crate) fn render(delta: &Delta, names: &Names) -> String {
    let at = delta.at.to_string();
    // The time of day suffices for a live event.
    let clock = at.get("2026-01-31T".len().."2026-01-31T12:00:00".len()).unwrap_or(&at);
    let line = |text: String| {
        let text = format!("{clock}Z  {:>6}  {text}", delta.seq.0);
        clean(&text).replace(['\n', '\t'], " ")
    };
    let each: Vec<String> = match &delta.change {
        Change::Tasks { tasks } if few(tasks) => tasks.iter().map(|task| work::task(task, names)).collect(),
        Change::Workers { workers } if few(workers) => {
            workers.iter().map(|worker| work::worker(worker, names)).collect()
        }
        _ => vec![describe(delta, names)],
    };
    each.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Whether each task or worker gets its own line.
fn few<T>(changed: &[T]) -> bool {
    (1..=EACH).contains(&changed.len())
}

fn describe(delta: &Delta, names: &Names) -> String {
    match &delta.change {
        Change::User { user } if user.disabled => format!("user      {} is disabled ({})", user.name, user.id),
        Change::User { user } => format!("user      {} ({})", user.name, user.id),
        Change::UserGone { user } => format!("user      {user} was removed"),
        Change::Project { project } => describe_project(project),
        Change::ProjectGone { project } => format!("project   {} was deleted ({project})", names.of(*project)),
        Change::Activity { activity } => describe_activity(activity, names),
        Change::Message { message, .. } => describe_message(message, names),
        Change::Unread { unread } => {
            format!("unread    {} in {}, read up to {}", unread.count, names.of(unread.project), unread.read)
        }
        Change::Runner { runner } => {
            let state = if runner.connected { "connected" } else { "not connected" };
            format!("runner    {} of {} is {state} ({})", runner.name, runner.owner.name, runner.id)
        }
        Change::RunnerGone { runner } => format!("runner    {runner} was removed"),
        Change::Workspace { workspace } => {
            let branch = workspace.branch.as_deref().unwrap_or("without a branch");
            let changes =
                workspace.stats.as_ref().map(|stats| format!(", {}", words::stats(stats))).unwrap_or_default();
            format!("workspace {branch} is {}{changes} ({})", workspace.status, workspace.id)
        }
        Change::Session { session } => {
            let state = words::state(session, None, delta.at);
            format!("session   {} \"{}\": {state} ({})", session.agent, session.title, session.id)
        }
        Change::Overlap { overlap } => {
            let what = match (overlap.ended_at, overlap.kind) {
                (Some(_), _) => "no longer meet",
                (None, OverlapKind::SameLines | OverlapKind::Contradiction | OverlapKind::Base) => "conflict",
                (None, OverlapKind::SameFile | OverlapKind::RenamedUnder) => "change the same files",
                (None, OverlapKind::SameSymbol) => "change the same code",
                (None, OverlapKind::Declared) => "are about to change the same files",
            };
            let other = overlap.other.as_ref().map(|other| &other.name).or(overlap.base.as_ref());
            let other = other.map_or("", String::as_str);
            format!("overlap   \"{}\" and \"{other}\" {what} ({})", overlap.one.name, overlap.id)
        }
        Change::Reservation { reservation } => {
            let files = reservation.patterns.join(", ");
            let what = if reservation.ended_at.is_some() { "no longer reserves" } else { "reserves" };
            format!("reserved  \"{}\" {what} {files} ({})", reservation.name, reservation.id)
        }
        Change::Tasks { tasks } => work::tasks(tasks, names),
        Change::Workers { workers } => work::workers(workers, names),
        Change::WorkerGone { worker } => format!("worker    {} was removed", names.worker(*worker)),
        Change::Escalation { escalation } => work::escalation(escalation, names),
        Change::Review { review } => work::review(review, names),
        Change::Approval { approval } => work::approval(approval, names),
        Change::WorkEntry { entry } => work::decision(entry, names),
        Change::WorkSettings { project, .. } => format!("work      settings of {} changed", names.of(*project)),
        Change::MergeSettings { project, .. } => format!("merge     settings of {} changed", names.of(*project)),
        Change::MergeQueue { queue } => work::merge_queue(queue),
        Change::Candidate { candidate } => work::candidate(candidate),
        Change::Landing { landing } => work::landing(landing, names),
        Change::Handoff { handoff } => work::handoff(handoff, names),
        Change::LandingSettings { project, .. } => format!("landing   settings of {} changed", names.of(*project)),
        Change::Recipe { recipe } => recipes::recipe(recipe, names),
        Change::Profiles { project, .. } => format!("profiles  of {} changed", names.of(*project)),
        Change::Execution { execution } => recipes::execution(execution, names),
        Change::Schedule { schedule } => recipes::schedule(schedule, names),
        Change::ScheduleRemoved { schedule } => format!("schedule  {schedule} was removed"),
        Change::ExecutionGone { project } => format!("sessions  of {} are no longer shared", names.of(*project)),
        Change::Unknown => "a change that this version does not know".to_owned(),
    }
}

fn describe_project(project: &Project) -> String {
    let verb = if project.created_at == project.updated_at { "created" } else { "changed" };
    let (name, owner) = (&project.name, &project.owner.name);
    format!(
        "project   \"{name}\" of {owner} {verb}: {}, version {} ({})",
        project.visibility, project.version, project.id
    )
}

fn describe_activity(activity: &Activity, names: &Names) -> String {
    let verb = if activity.created_at == activity.updated_at { "created" } else { "changed" };
    let project = names.of(activity.project);
    let state = format!("{}, version {}", activity.status, activity.version);
    format!("activity  \"{}\" in {project} {verb}: {state} ({})", activity.name, activity.id)
}

fn describe_message(message: &Message, names: &Names) -> String {
    let (author, project) = (&message.author.name, names.of(message.project));
    let text = shorten(&message.content.replace('\n', " "), EXCERPT);
    match (message.deleted_at, message.edited_at) {
        (Some(_), _) => format!("message   {author} deleted {} in {project} ({})", message.number, message.id),
        (None, Some(_)) => format!("message   {author} edited in {project}: {text} ({})", message.id),
        (None, None) => format!("message   {author} in {project}: {text} ({})", message.id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{AuthorKind, MessageId, Seq, TaskStatus, Timestamp, UserId, WorkerStatus};
    use protocol::UserRef;

    use crate::commands::task::{sample, sample_worker};

    #[test]
    fn a_change_is_one_harmless_line() {
        let at = Timestamp::from_millis(1_794_774_000_000);
        let (id, project) = (MessageId::generate(), ProjectId::generate());
        let message = Message {
            id,
            project,
            number: 3,
            author: UserRef { id: UserId::generate(), name: "ann".into() },
            author_kind: AuthorKind::User,
            author_session: None,
            content: "look\n\u{1b}[2Jhere".into(),
            references: Vec::new(),
            mentions: Vec::new(),
            created_at: at,
            edited_at: None,
            deleted_at: None,
        };
        let delta = Delta { seq: Seq(42), at, change: Change::Message { message, key: None } };
        let expected = format!("20:20:00Z      42  message   ann in {project}: look \u{FFFD}[2Jhere ({id})");
        assert_eq!(render(&delta, &Names::default()), expected);
        assert_eq!(project_of(&delta.change), Some(project));
    }

    #[test]
    fn tasks_have_a_line_each_unless_they_are_many() {
        let at = Timestamp::from_millis(1_794_774_000_000);
        let show = |count: usize| {
            let tasks = (0..count).map(|at| sample(&format!("task {at}"), TaskStatus::Ready, &[])).collect();
            render(&Delta { seq: Seq(7), at, change: Change::Tasks { tasks } }, &Names::default())
        };
        assert!(show(1).starts_with("20:20:00Z       7  task      \"task 0\" is ready (CALC-1)"), "{}", show(1));
        let two = show(2);
        assert!(
            two.lines().count() == 2 && two.lines().all(|line| line.starts_with("20:20:00Z       7  task ")),
            "{two}"
        );
        let many = show(20);
        assert!(many.ends_with("20 changed in prj_00000000000000000000000000000001: 20 ready"), "{many}");
    }

    #[test]
    fn workers_have_a_line_each_unless_they_are_many() {
        let at = Timestamp::from_millis(1_794_774_000_000);
        let show = |count: usize| {
            let status = |at: usize| if at == 0 { WorkerStatus::Working } else { WorkerStatus::Paused };
            let workers: Vec<_> = (0..count).map(|at| sample_worker(&format!("anvil-{at}"), status(at))).collect();
            let mut names = Names::default();
            let change = Change::Workers { workers: workers.clone() };
            names.learn(&change);
            assert!(workers.iter().all(|worker| names.worker(worker.id) == worker.name));
            assert_eq!(project_of(&change), Some(workers[0].project));
            render(&Delta { seq: Seq(7), at, change }, &names)
        };
        let one = show(1);
        let (start, end) = ("20:20:00Z       7  worker    anvil-0 in prj_", " is working (wrk_");
        assert!(one.starts_with(start) && one.contains(end), "{one}");
        let eight = show(EACH);
        assert_eq!(eight.lines().count(), EACH);
        for (at, line) in eight.lines().enumerate() {
            assert!(line.starts_with(&format!("20:20:00Z       7  worker    anvil-{at} in ")), "{line}");
        }
        let many = show(EACH + 1);
        let project = "prj_00000000000000000000000000000001";
        assert_eq!(many, format!("20:20:00Z       7  workers   9 changed in {project}: 1 working, 8 paused"));
    }
}
