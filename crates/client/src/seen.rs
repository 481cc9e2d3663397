//! Which changes were already seen, and where to resume.

use domain::Seq;
use protocol::{Change, Delta};

/// The newest change that was seen.
///
/// One committed change can arrive as several deltas with the same position (a project that becomes visible brings its
/// activities), so a position is complete only after something later was seen.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    newest: Option<Seq>,
    open: Vec<String>,
}

impl Seen {
    /// Everything up to `seq` was seen.
    pub(crate) fn up_to(seq: Seq) -> Self {
        Self { newest: Some(seq), open: Vec::new() }
    }

    /// Whether `delta` is new; marks it as seen.
    pub(crate) fn accept(&mut self, delta: &Delta) -> bool {
        let subject = subject(&delta.change);
        match self.newest {
            Some(newest) if delta.seq < newest => false,
            Some(newest) if delta.seq == newest => {
                let fresh = !self.open.is_empty() && !self.open.contains(&subject);
                if fresh {
                    self.open.push(subject);
                }
                fresh
            }
            _ => {
                *self = Self { newest: Some(delta.seq), open: vec![subject] };
                true
            }
        }
    }

    /// The hub has sent everything up to `seq`.
    pub(crate) fn complete(&mut self, seq: Seq) {
        if self.newest.is_none_or(|newest| newest <= seq) {
            *self = Self::up_to(seq);
        }
    }

    /// The newest position.
    pub(crate) fn newest(&self) -> Option<Seq> {
        self.newest
    }

    /// The last position that is certainly complete.
    pub(crate) fn resume_from(&self) -> Option<Seq> {
        let newest = self.newest?;
        Some(if self.open.is_empty() { newest } else { Seq(newest.0.saturating_sub(1)) })
    }
}

fn subject(change: &Change) -> String {
    match change {
        Change::User { user } => user.id.to_string(),
        Change::UserGone { user } => format!("gone {user}"),
        Change::Project { project } => project.id.to_string(),
        Change::ProjectGone { project } => format!("gone {project}"),
        Change::Activity { activity } => activity.id.to_string(),
        Change::Message { message, .. } => message.id.to_string(),
        Change::Unread { unread } => format!("unread {}", unread.project),
        Change::Runner { runner } => runner.id.to_string(),
        Change::RunnerGone { runner } => format!("gone {runner}"),
        Change::Workspace { workspace } => workspace.id.to_string(),
        Change::Session { session } => session.id.to_string(),
        Change::Overlap { overlap } => overlap.id.to_string(),
        Change::Reservation { reservation } => reservation.id.to_string(),
        // Several workers in one change have no single name.
        Change::Tasks { tasks } => together(tasks.iter().map(|task| task.id)),
        Change::Workers { workers } => together(workers.iter().map(|worker| worker.id)),
        Change::WorkerGone { worker } => format!("gone {worker}"),
        Change::Escalation { escalation } => escalation.id.to_string(),
        Change::Review { review } => format!("review of {}", review.of),
        Change::Approval { approval } => approval.id.to_string(),
        Change::WorkEntry { entry } => format!("entry {}", entry.number),
        Change::WorkSettings { project, .. } => format!("work in {project}"),
        Change::MergeSettings { project, .. } => format!("merging in {project}"),
        Change::MergeQueue { queue } => format!("merge queue of {} {}", queue.project, queue.target),
        Change::Candidate { candidate } => candidate.id.to_string(),
        Change::Handoff { handoff } => handoff.id.to_string(),
        Change::Landing { landing } => landing.id.to_string(),
        Change::LandingSettings { project, .. } => format!("landing in {project}"),
        Change::Recipe { recipe } => recipe.id.to_string(),
        Change::Profiles { project, .. } => format!("profiles of {project}"),
        Change::Execution { execution } => execution.id.to_string(),
        Change::Schedule { schedule } => schedule.id.to_string(),
        Change::ScheduleRemoved { schedule } => format!("gone {schedule}"),
        Change::ExecutionGone { project } => format!("execution of {project}"),
        Change::Unknown => "unknown".to_owned(),
    }
}

fn together(ids: impl Iterator<Item: ToString>) -> String {
    ids.map(|id| id.to_string()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{ProjectId, Timestamp, UserId, WorkerKind, WorkerStatus};
    use proptest::prelude::*;
    use protocol::{Usage, UserRef, Worker};

    fn delta(seq: u64, project: ProjectId) -> Delta {
        Delta { seq: Seq(seq), at: Timestamp::from_millis(0), change: Change::ProjectGone { project } }
    }

    proptest! {
        /// However often the connection breaks, every delta is new exactly once, in order.
        #[test]
        fn nothing_is_missed_or_doubled(
            sizes in prop::collection::vec(1_usize..4, 1..12),
            cuts in prop::collection::vec(0_usize..20, 0..8),
        ) {
            let groups = sizes.iter().enumerate().flat_map(|(index, size)| vec![index as u64 + 1; *size]);
            let all: Vec<Delta> = groups.map(|seq| delta(seq, ProjectId::generate())).collect();
            let (mut seen, mut got) = (Seen::up_to(Seq(0)), Vec::new());
            for cut in cuts.into_iter().chain([usize::MAX]) {
                let since = seen.resume_from().unwrap_or_default();
                let sent = all.iter().filter(|delta| delta.seq > since).take(cut);
                got.extend(sent.filter(|delta| seen.accept(delta)).cloned());
            }
            prop_assert_eq!(got, all);
        }
    }

    #[test]
    fn a_change_is_new_once() {
        let (a, b) = (ProjectId::generate(), ProjectId::generate());
        let mut seen = Seen::up_to(Seq(4));
        assert!(!seen.accept(&delta(4, a)), "known from before");
        assert!(seen.accept(&delta(5, a)));
        assert!(!seen.accept(&delta(5, a)), "the same twice");
        assert!(seen.accept(&delta(5, b)), "another subject of the same change");
        assert!(seen.accept(&delta(9, a)), "filtered ones leave holes");
        assert!(!seen.accept(&delta(5, b)), "older");
    }

    #[test]
    fn changes_of_different_workers_are_distinguished() {
        let workers = |names: &[&str]| {
            let worker = |name: &&str| Worker {
                id: format!("wrk_{name:0>32}").parse().unwrap(),
                project: "prj_00000000000000000000000000000001".parse().unwrap(),
                owner: UserRef { id: UserId::generate(), name: "ann".into() },
                name: (*name).into(),
                kind: WorkerKind::Managed,
                runner: None,
                agent: "codex".into(),
                model: None,
                role: None,
                abilities: Vec::new(),
                colour: 0,
                status: WorkerStatus::Idle,
                reason: None,
                until: None,
                task: None,
                session: None,
                queue: Vec::new(),
                failures: 0,
                done: 0,
                failed: 0,
                usage: Usage { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_micros: None },
                budget_micros: None,
                handoff_after_micros: None,
                context_score: None,
                seen_at: None,
                created_at: Timestamp::from_millis(0),
            };
            let change = Change::Workers { workers: names.iter().map(worker).collect() };
            Delta { seq: Seq(3), at: Timestamp::from_millis(0), change }
        };
        let mut seen = Seen::up_to(Seq(2));
        assert!(seen.accept(&workers(&["1", "2"])));
        assert!(seen.accept(&workers(&["1", "3"])), "the same first worker does not make them equal");
        assert!(!seen.accept(&workers(&["1", "2"])), "the same twice");
    }

    #[test]
    fn a_change_may_have_been_cut_in_half() {
        let project = ProjectId::generate();
        let mut seen = Seen::default();
        assert_eq!(seen.resume_from(), None);
        seen.accept(&delta(7, project));
        assert_eq!(seen.resume_from(), Some(Seq(6)));
        assert!(!seen.accept(&delta(7, project)), "the first half comes again");
        seen.complete(Seq(12));
        assert_eq!(seen.resume_from(), Some(Seq(12)));
        seen.complete(Seq(3));
        assert_eq!(seen.newest(), Some(Seq(12)));
    }
}
