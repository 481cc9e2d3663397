//! Why nobody takes a ready task, where no hub says so: it hands tasks to managed workers, and the others come by themselves.

use std::fmt;

use domain::{ProjectId, Timestamp, WorkerKind, WorkerStatus};
use protocol::Worker;

use crate::commands::words::counted;

/// A worker that takes tasks itself and was not heard from for so long is not waited for.
const LATELY: i64 = 600_000;

/// What a ready task without a reason waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nobody {
    /// There is no worker at all.
    Here,
    /// So many take tasks themselves, and were not heard from lately.
    Heard(u64),
    /// So many take tasks themselves.
    Handing(u64),
    /// So many have another task.
    Free(u64),
}

impl Nobody {
    /// What the tasks of a project wait for; nothing when somebody is about to get them.
    pub(crate) fn of<'a>(
        project: ProjectId,
        workers: impl IntoIterator<Item = &'a Worker>,
        now: Timestamp,
    ) -> Option<Self> {
        let here: Vec<&Worker> = workers.into_iter().filter(|worker| worker.project == project).collect();
        let count = |wanted: &dyn Fn(&Worker) -> bool| here.iter().filter(|worker| wanted(worker)).count() as u64;
        let managed = count(&|worker| worker.kind == WorkerKind::Managed);
        let busy = count(&|worker| worker.kind == WorkerKind::Managed && worker.status == WorkerStatus::Working);
        let outside = count(&|worker| worker.kind == WorkerKind::External);
        let lately = |worker: &Worker| worker.seen_at.is_some_and(|seen| seen > now.plus_millis(-LATELY));
        let heard = count(&|worker| worker.kind == WorkerKind::External && (worker.task.is_some() || lately(worker)));
        match (managed, outside) {
            (0, 0) => Some(Self::Here),
            (0, _) if heard == 0 => Some(Self::Heard(outside)),
            (0, _) => Some(Self::Handing(heard)),
            (managed, _) => (busy == managed).then_some(Self::Free(managed)),
        }
    }

    /// Whether nothing moves before somebody does something.
    pub(crate) fn stands(self) -> bool {
        matches!(self, Self::Here | Self::Heard(_))
    }
}

impl fmt::Display for Nobody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outside = |count| counted(count, "worker takes tasks itself", "workers take tasks themselves");
        match self {
            Self::Here => f.write_str("nobody takes it: there is no worker: start one, or take it"),
            Self::Heard(count) => {
                write!(f, "nobody takes it: {}, none heard from for 10 min: start one, or take it", outside(*count))
            }
            Self::Handing(count) => write!(f, "{}: it waits until one takes it", outside(*count)),
            Self::Free(count) => write!(f, "{} busy", counted(*count, "worker is", "workers are")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample_worker;
    use super::*;

    #[test]
    fn what_a_ready_task_waits_for_is_said() {
        let now = Timestamp::from_millis(1_794_774_000_000);
        let managed = |status| sample_worker("anvil", status);
        let project = managed(WorkerStatus::Idle).project;
        let outside = |ago: i64| Worker {
            kind: WorkerKind::External,
            seen_at: Some(now.plus_millis(-ago)),
            ..managed(WorkerStatus::Idle)
        };
        let check = |workers: &[Worker], expected: &str| {
            let said = Nobody::of(project, workers, now).map(|nobody| nobody.to_string());
            assert_eq!(said.unwrap_or_default(), expected);
        };
        check(&[], "nobody takes it: there is no worker: start one, or take it");
        check(&[outside(1_000)], "1 worker takes tasks itself: it waits until one takes it");
        let gone =
            "nobody takes it: 2 workers take tasks themselves, none heard from for 10 min: start one, or take it";
        check(&[outside(LATELY), outside(LATELY + 1)], gone);
        check(&[managed(WorkerStatus::Idle), outside(1)], "");
        check(&[managed(WorkerStatus::Working), managed(WorkerStatus::Working)], "2 workers are busy");
        check(&[managed(WorkerStatus::Working), managed(WorkerStatus::Offline)], "");
        let elsewhere = Nobody::of(ProjectId::generate(), &[managed(WorkerStatus::Idle)], now);
        assert_eq!(elsewhere, Some(Nobody::Here), "it takes no tasks of another project");
    }
}
