//! Which parts of a task a person or agent may change, and when.

use domain::TaskStatus;

/// The parts of a task that an edit changes and that are not always free to change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Parts {
    /// The acceptance criteria.
    pub acceptance: bool,
    /// The dependencies.
    pub deps: bool,
    /// The abilities that its worker must have.
    pub needs: bool,
}

/// Why a task cannot be edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The work was accepted.
    #[error("it is done: reopen it to ask for more")]
    Done,
    /// The task failed or was cancelled.
    #[error("it is over: retry it first")]
    Over,
    /// A worker has started from the dependencies, or was chosen by its abilities.
    #[error("a worker has it: its dependencies and needs cannot change now")]
    Held,
    /// The results of a check name criteria by their places.
    #[error("its report waits for a verdict: its acceptance criteria cannot change until then")]
    Judged,
}

/// Whether an edit of these parts is possible; `judged` if a report waits for its verdict.
pub fn check(status: TaskStatus, judged: bool, parts: Parts) -> Result<(), Refused> {
    match status {
        TaskStatus::Done => Err(Refused::Done),
        TaskStatus::Failed | TaskStatus::Cancelled => Err(Refused::Over),
        _ if judged && parts.acceptance => Err(Refused::Judged),
        _ if status.is_held() && (parts.deps || parts.needs) => Err(Refused::Held),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn done_tasks_and_used_dependencies_cannot_be_edited() {
        let (acceptance, deps) =
            (Parts { acceptance: true, ..Parts::default() }, Parts { deps: true, ..Parts::default() });
        let needs = Parts { needs: true, ..Parts::default() };
        for status in TaskStatus::ALL.iter().copied() {
            let may = |judged, parts| check(status, judged, parts);
            match status {
                TaskStatus::Done => assert_eq!(may(false, Parts::default()), Err(Refused::Done)),
                TaskStatus::Failed | TaskStatus::Cancelled => {
                    assert_eq!(may(false, Parts::default()), Err(Refused::Over));
                }
                _ => {
                    assert_eq!((may(true, Parts::default()), may(false, acceptance)), (Ok(()), Ok(())), "{status}");
                    assert_eq!(may(true, acceptance), Err(Refused::Judged), "{status}");
                    let rest = if status.is_held() { Err(Refused::Held) } else { Ok(()) };
                    assert_eq!((may(false, deps), may(false, needs)), (rest, rest), "{status}");
                }
            }
        }
    }
}
