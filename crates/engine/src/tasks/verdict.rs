//! The verdict on a report, from the results of its criteria.

/// The result of a criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Whether it is met; absent if the check could not say.
    pub passed: Option<bool>,
    /// Whether the criterion is that the work is merged.
    pub merged: bool,
}

/// What follows from the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// A criterion is not met.
    Refuse,
    /// A person must judge first.
    Ask,
    /// Everything else is met: the work goes through the merge queue, which decides.
    Merge,
    /// All criteria are met.
    Accept,
}

/// Decides about a report. Work is merged last, so that nothing lands that a check or a person may still refuse.
pub fn verdict(outcomes: &[Outcome]) -> Verdict {
    let open = |merged: bool| outcomes.iter().any(|one| one.passed.is_none() && one.merged == merged);
    if outcomes.iter().any(|one| one.passed == Some(false)) {
        Verdict::Refuse
    } else if open(false) {
        Verdict::Ask
    } else if open(true) {
        Verdict::Merge
    } else {
        Verdict::Accept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn outcomes() -> impl Strategy<Value = Vec<Outcome>> {
        let one = (any::<Option<bool>>(), any::<bool>()).prop_map(|(passed, merged)| Outcome { passed, merged });
        proptest::collection::vec(one, 0..6)
    }

    proptest! {
        #[test]
        fn only_work_that_meets_everything_else_is_merged(outcomes in outcomes()) {
            let others_met = outcomes.iter().all(|one| one.merged || one.passed == Some(true));
            let all_met = outcomes.iter().all(|one| one.passed == Some(true));
            let failed = outcomes.iter().any(|one| one.passed == Some(false));
            prop_assert_eq!(verdict(&outcomes) == Verdict::Refuse, failed);
            prop_assert_eq!(verdict(&outcomes) == Verdict::Accept, all_met);
            prop_assert_eq!(verdict(&outcomes) == Verdict::Merge, others_met && !all_met && !failed);
        }
    }
}
