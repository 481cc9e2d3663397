//! Budgets, which stop work before it exceeds them.

/// Money in millionths of a dollar.
pub type Micros = u64;

/// The state of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purse {
    /// The limit; absent if unlimited.
    pub limit: Option<Micros>,
    /// The amount spent.
    pub spent: Micros,
    /// The expected cost of running tasks.
    pub promised: Micros,
}

/// The expected cost of the next task: the maximum of the last few, so that the usual variation does not exceed a
/// budget.
pub fn expected(last: &[Micros]) -> Micros {
    last.iter().rev().take(10).copied().max().unwrap_or(0)
}

/// Why a task with this expected cost must not start.
pub fn refuses(purse: Purse, expected: Micros) -> Option<String> {
    let limit = purse.limit?;
    let after = purse.spent.saturating_add(purse.promised).saturating_add(expected);
    let spent_up = purse.spent.saturating_add(purse.promised) >= limit;
    (after > limit || spent_up).then(|| {
        format!(
            "{} of {} dollars are spent or promised, and a task costs up to {}",
            dollars(purse.spent.saturating_add(purse.promised)),
            dollars(limit),
            dollars(expected)
        )
    })
}

/// Why running work must stop: the budget is spent, or another step as expensive as the last would exceed it. `step` is
/// absent if no step's cost is known.
pub fn must_stop(purse: Purse, step: Option<Micros>) -> Option<String> {
    let limit = purse.limit?;
    let after = purse.spent.saturating_add(step.unwrap_or(0));
    (purse.spent >= limit || after > limit).then(|| {
        let last = step.map(|step| format!(", and the last step cost {}", dollars(step))).unwrap_or_default();
        format!("{} of {} dollars are spent{last}", dollars(purse.spent), dollars(limit))
    })
}

/// An amount in dollars, for people.
pub fn dollars(micros: Micros) -> String {
    format!("{}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_refusal_says_the_numbers() {
        let purse = Purse { limit: Some(5_000_000), spent: 4_000_000, promised: 500_000 };
        let reason = refuses(purse, 600_000).unwrap();
        assert_eq!(reason, "4.50 of 5.00 dollars are spent or promised, and a task costs up to 0.60");
        assert_eq!(refuses(purse, 500_000), None);
        assert_eq!(refuses(Purse { limit: None, ..purse }, u64::MAX), None);
    }

    #[test]
    fn work_stops_before_a_step_that_is_too_dear() {
        let purse = Purse { limit: Some(1_000_000), spent: 700_000, promised: 0 };
        assert_eq!(must_stop(purse, Some(300_000)), None);
        assert_eq!(must_stop(purse, None), None);
        let reason = must_stop(purse, Some(300_001)).unwrap();
        assert_eq!(reason, "0.70 of 1.00 dollars are spent, and the last step cost 0.30");
        let reason = must_stop(Purse { spent: 1_000_000, ..purse }, None).unwrap();
        assert_eq!(reason, "1.00 of 1.00 dollars are spent");
        assert_eq!(must_stop(Purse { limit: None, ..purse }, Some(u64::MAX)), None);
    }

    proptest! {
        #[test]
        fn steps_that_grow_no_dearer_never_overrun(mut steps in proptest::collection::vec(0u64..100, 1..40), limit in 100u64..2000) {
            steps.sort_unstable_by(|one, other| other.cmp(one));
            let mut spent = 0;
            for step in steps {
                spent += step;
                if must_stop(Purse { limit: Some(limit), spent, promised: 0 }, Some(step)).is_some() {
                    break;
                }
            }
            prop_assert!(spent <= limit);
        }

        #[test]
        fn tasks_within_their_estimate_stay_within_the_budget(costs in proptest::collection::vec(0u64..1000, 1..50), limit in 0u64..5000) {
            let most = costs.iter().copied().max().unwrap_or(0);
            let mut spent = 0;
            for cost in costs {
                if refuses(Purse { limit: Some(limit), spent, promised: 0 }, most).is_none() {
                    spent += cost;
                }
            }
            prop_assert!(spent <= limit);
        }
    }
}
