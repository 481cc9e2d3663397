//! Where a task goes after a refusal: to the same worker, to another, or to a person.

/// Retry limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How often the task returns to the same worker.
    pub per_worker: u32,
    /// How many workers try in total.
    pub workers: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { per_worker: 2, workers: 2 }
    }
}

/// Attempts so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tries {
    /// Refusals of the current worker's work, including this one.
    pub by_this: u32,
    /// Workers that have tried, including this one.
    pub workers: u32,
}

/// Where the task goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// To the same worker, with the reasons.
    Back,
    /// To another worker, with the earlier work.
    Another,
    /// To a person.
    Escalate,
}

/// Decides where a task goes after a refusal; `stuck` says that another attempt of this worker is useless.
pub fn after_refusal(tries: Tries, stuck: bool, limits: Limits) -> Next {
    if tries.by_this <= limits.per_worker && !stuck {
        Next::Back
    } else if tries.workers < limits.workers {
        Next::Another
    } else {
        Next::Escalate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_goes_back_then_to_another_then_to_a_person() {
        let limits = Limits::default();
        let next = |by_this, workers| after_refusal(Tries { by_this, workers }, false, limits);
        assert_eq!([next(1, 1), next(2, 1), next(3, 1)], [Next::Back, Next::Back, Next::Another]);
        assert_eq!([next(1, 2), next(2, 2), next(3, 2)], [Next::Back, Next::Back, Next::Escalate]);
        assert_eq!(after_refusal(Tries { by_this: 1, workers: 1 }, true, limits), Next::Another);
        assert_eq!(after_refusal(Tries { by_this: 1, workers: 2 }, true, limits), Next::Escalate);
    }

    #[test]
    fn it_ends_with_a_person_whatever_the_limits() {
        for per_worker in 0..4 {
            for workers in 0..4 {
                let limits = Limits { per_worker, workers };
                let mut tries = Tries { by_this: 1, workers: 1 };
                let mut steps = 0;
                loop {
                    match after_refusal(tries, false, limits) {
                        Next::Back => tries.by_this += 1,
                        Next::Another => tries = Tries { by_this: 1, workers: tries.workers + 1 },
                        Next::Escalate => break,
                    }
                    steps += 1;
                    assert!(steps <= 20, "{limits:?}");
                }
            }
        }
    }
}
