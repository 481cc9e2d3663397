//! Lands a commit that a test run has built.

use domain::LandOutcome;
use protocol::link::{DesiredMerge, MergeLand};
use worktree::{BranchName, Error, Landed, Location, Oid};

use super::Merger;
use super::test::text;

/// How many paths are named.
const NAMED: usize = 10;

impl Merger {
    pub(super) async fn land(&self, merge: &DesiredMerge, base: &str, commit: &str) -> MergeLand {
        let landed = self.try_land(merge, base, commit).await;
        if landed.outcome != LandOutcome::Landed {
            tracing::warn!(run = %merge.run, detail = landed.detail, "did not land a commit");
        }
        landed
    }

    async fn try_land(&self, merge: &DesiredMerge, base: &str, commit: &str) -> MergeLand {
        let fault = |detail| MergeLand { outcome: LandOutcome::Infrastructure, tip: None, detail };
        if let Err(why) = self.may_reach(merge).await {
            return MergeLand { outcome: LandOutcome::Refused, tip: None, detail: why };
        }
        let (location, target, base, commit) = match self.parsed(merge, base, commit) {
            Ok(parsed) => parsed,
            Err(why) => return fault(why),
        };
        match self.worktrees.land(&location, &target, &base, &commit).await {
            // Something newer may be on it.
            Ok(Landed::Already) => {
                let tip = self.worktrees.fetch_tip(&location, &target).await.ok().flatten();
                let tip = tip.map(|tip| tip.to_string());
                MergeLand { outcome: LandOutcome::Landed, tip, detail: String::new() }
            }
            Ok(landed) => told(landed, &location, &target, &base, &commit),
            Err(error @ Error::Access { .. }) => {
                MergeLand { outcome: LandOutcome::Protected, tip: Some(base.to_string()), detail: error.to_string() }
            }
            Err(error) => fault(error.to_string()),
        }
    }

    fn parsed(
        &self,
        merge: &DesiredMerge,
        base: &str,
        commit: &str,
    ) -> Result<(Location, BranchName, Oid, Oid), String> {
        let location = self.machine.location(&merge.repository.location).parse().map_err(text)?;
        let target = merge.target.parse().map_err(text)?;
        Ok((location, target, base.parse().map_err(text)?, commit.parse().map_err(text)?))
    }
}

fn told(landed: Landed, location: &Location, target: &BranchName, base: &Oid, commit: &Oid) -> MergeLand {
    let (outcome, tip, detail) = match landed {
        Landed::Landed | Landed::Already => (LandOutcome::Landed, Some(commit), String::new()),
        Landed::Moved { tip } => {
            let detail = match &tip {
                Some(tip) => format!("`{target}` is at {tip}, not at {base}, on which the commit was tested"),
                None => format!("`{target}` was deleted"),
            };
            return MergeLand { outcome: LandOutcome::BaseMoved, tip: tip.map(|tip| tip.to_string()), detail };
        }
        Landed::Declined { why } if why.contains("protected") => (LandOutcome::Protected, Some(base), why),
        Landed::Declined { why } => (LandOutcome::Refused, Some(base), why),
        Landed::CheckedOut { paths } => {
            let named = paths.iter().take(NAMED).map(|path| format!("`{}`", path.escape_debug()));
            let named = named.collect::<Vec<_>>().join(", ");
            let detail = format!("`{target}` is checked out in {location}, with uncommitted changes: {named}");
            (LandOutcome::CheckedOutDirty, Some(base), detail)
        }
    };
    MergeLand { outcome, tip: tip.map(Oid::to_string), detail }
}
