//! Why a ready task has no worker, where the hub gives no reason: it assigns tasks only to managed workers; external
//! ones take them.

use std::fmt;

use domain::{ProjectId, Timestamp, WorkerKind, WorkerStatus};
use protocol::Worker;

use crate::commands::words::counted;

/// An external worker that was silent for this long is not expected to take a task.
const LATELY: i64 = 600_000;

/// Why a ready task without a reason waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nobody {
    /// There is no worker.
    Here,
    /// This many external workers, none heard from lately.
    Heard(u64),
    /// This many external workers.
    Handing(u64),
    /// This many busy workers.
    Free(u64),
}

impl Nobody {
    /// Why the tasks of a project wait; `None` if one is about to be assigned.
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

    /// Whether no task moves until somebody acts.
    pub(crate) fn stands(self) -> bool {
        matches!(self, Self::Here | Self::Heard(_))
    }
}

impl fmt::Display for Nobody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outside = |count| counted(count, "external worker", "external workers");
        match self {
            Self::Here => f.write_str("no worker: start one with `shopfloor worker start`"),
            Self::Heard(count) => {
                let start = "start one with `shopfloor worker start`";
                write!(f, "no free worker: {} silent for 10 min; {start}", outside(*count))
            }
            Self::Handing(count) => write!(f, "no worker has taken it yet: {}", outside(*count)),
            Self::Free(count) => write!(f, "{} busy", counted(*count, "worker is", "workers are")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample_worker;
    use super::*;

    #[test]
    fn the_reason_of_a_waiting_task_is_shown() {
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
        check(&[], "no worker: start one with `shopfloor worker start`");
        check(&[outside(1_000)], "no worker has taken it yet: 1 external worker");
        let gone = "no free worker: 2 external workers silent for 10 min; start one with `shopfloor worker start`";
        check(&[outside(LATELY), outside(LATELY + 1)], gone);
        check(&[managed(WorkerStatus::Idle), outside(1)], "");
        check(&[managed(WorkerStatus::Working), managed(WorkerStatus::Working)], "2 workers are busy");
        check(&[managed(WorkerStatus::Working), managed(WorkerStatus::Offline)], "");
        let elsewhere = Nobody::of(ProjectId::generate(), &[managed(WorkerStatus::Idle)], now);
        assert_eq!(elsewhere, Some(Nobody::Here), "workers of another project do not count");
    }
}
