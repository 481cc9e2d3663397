//! The progress of a set of tasks: done ones beside all that are still meant to be done.

use domain::TaskStatus;

/// Done tasks and all tasks that count; cancelled ones do not.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// The number of done tasks.
    pub done: usize,
    /// The number of tasks that are not cancelled.
    pub total: usize,
}

impl Tally {
    /// The share of done tasks, rounded down; `None` if no task counts.
    pub fn percent(self) -> Option<usize> {
        self.done.saturating_mul(100).checked_div(self.total)
    }
}

/// The progress of tasks, given as numbers of tasks by status.
pub fn tally(counts: impl IntoIterator<Item = (TaskStatus, usize)>) -> Tally {
    let counted = counts.into_iter().filter(|(status, _)| *status != TaskStatus::Cancelled);
    counted.fold(Tally::default(), |tally, (status, count)| Tally {
        done: tally.done + if status == TaskStatus::Done { count } else { 0 },
        total: tally.total + count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancelled_tasks_are_not_part_of_the_whole() {
        use TaskStatus::{Cancelled, Done, Failed, Ready};
        let tally = tally([(Done, 2), (Ready, 2), (Failed, 1), (Cancelled, 5)]);
        assert_eq!((tally, tally.percent()), (Tally { done: 2, total: 5 }, Some(40)));
        assert_eq!(super::tally([(Cancelled, 3)]).percent(), None);
        assert_eq!(super::tally([]).percent(), None);
    }
}
