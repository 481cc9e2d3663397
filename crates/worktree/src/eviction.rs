//! Which workspaces to delete when the disk quota is exceeded. Pure.

use domain::{Timestamp, WorkspaceId};

/// The facts about one workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvictionFacts {
    /// Which workspace.
    pub id: WorkspaceId,
    /// What it takes on the disk.
    pub bytes: u64,
    /// Whether a session runs in it, or it is in use otherwise.
    pub in_use: bool,
    /// Whether its activity is completed or abandoned.
    pub finished: bool,
    /// Whether anything in it is not committed.
    pub uncommitted: bool,
    /// Commits that no remote has.
    pub unpushed: u32,
    /// When somebody last worked in it.
    pub used_at: Timestamp,
}

/// What to delete, in this order, and the result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EvictionPlan {
    /// The workspaces to delete, in order.
    pub clean: Vec<WorkspaceId>,
    /// How much that frees.
    pub frees: u64,
    /// How much is still above the quota; people must decide about that.
    pub still_over: u64,
}

/// Finished first, then oldest first, until the quota holds; never what is in use, uncommitted or unpushed.
pub fn eviction_order(facts: &[EvictionFacts], quota: u64) -> EvictionPlan {
    let total: u64 = facts.iter().fold(0, |sum, fact| sum.saturating_add(fact.bytes));
    let mut over = total.saturating_sub(quota);
    let mut may_go: Vec<&EvictionFacts> =
        facts.iter().filter(|fact| !fact.in_use && !fact.uncommitted && fact.unpushed == 0).collect();
    may_go.sort_by_key(|fact| (!fact.finished, fact.used_at, fact.id));
    let mut plan = EvictionPlan::default();
    for fact in may_go {
        if over == 0 {
            break;
        }
        plan.clean.push(fact.id);
        plan.frees = plan.frees.saturating_add(fact.bytes);
        over = over.saturating_sub(fact.bytes);
    }
    plan.still_over = over;
    plan
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fact() -> impl Strategy<Value = EvictionFacts> {
        (0u64..1000, any::<bool>(), any::<bool>(), any::<bool>(), 0u32..2, 0i64..50).prop_map(
            |(bytes, in_use, finished, uncommitted, unpushed, used)| EvictionFacts {
                id: WorkspaceId::generate(),
                bytes,
                in_use,
                finished,
                uncommitted,
                unpushed,
                used_at: Timestamp::from_millis(used),
            },
        )
    }

    proptest! {
        #[test]
        fn needed_workspaces_stay_and_no_more_go_than_necessary(
            facts in prop::collection::vec(fact(), 0..30), quota in 0u64..12_000
        ) {
            let plan = eviction_order(&facts, quota);
            let of = |id: &WorkspaceId| facts.iter().find(|fact| fact.id == *id).unwrap();
            let total: u64 = facts.iter().map(|fact| fact.bytes).sum();
            for id in &plan.clean {
                let fact = of(id);
                prop_assert!(!fact.in_use && !fact.uncommitted && fact.unpushed == 0);
            }
            let order: Vec<_> = plan.clean.iter().map(|id| (!of(id).finished, of(id).used_at)).collect();
            prop_assert!(order.is_sorted());
            prop_assert_eq!(plan.frees, plan.clean.iter().map(|id| of(id).bytes).sum::<u64>());
            prop_assert_eq!(plan.still_over, total.saturating_sub(plan.frees).saturating_sub(quota));
            // Without its last entry the plan would not be enough.
            if let Some(last) = plan.clean.last() {
                prop_assert!(total - (plan.frees - of(last).bytes) > quota);
            }
            // The rest cannot be deleted.
            if plan.still_over > 0 {
                let may_go = facts.iter().filter(|f| !f.in_use && !f.uncommitted && f.unpushed == 0).count();
                prop_assert_eq!(may_go, plan.clean.len());
            }
            // An older or finished one never stays while a newer, unfinished one goes.
            for stays in facts.iter().filter(|f| !plan.clean.contains(&f.id)) {
                if !stays.in_use && !stays.uncommitted && stays.unpushed == 0 {
                    for id in &plan.clean {
                        prop_assert!((!of(id).finished, of(id).used_at) <= (!stays.finished, stays.used_at));
                    }
                }
            }
        }
    }
}
