//! A test run: fetches, builds the stack in memory, and runs the checks on its last level.

use domain::MergeMethod;
use domain::text::plain;
use protocol::link::{
    DesiredMerge, FactBody, LevelBuilt, MAX_MERGE_LOG, MAX_MERGE_PATHS, MergeCandidate, MergeCheck, MergeLevel,
    MergeTest,
};
use worktree::{BranchName, Candidate, Level, Location, Method, Oid, Progress, Stacked};

use super::Merger;

/// What to test.
#[derive(Debug, Clone, Copy)]
pub(super) struct Order<'a> {
    pub(super) merge: &'a DesiredMerge,
    pub(super) base: Option<&'a str>,
    pub(super) candidates: &'a [MergeCandidate],
    pub(super) checks: &'a [MergeCheck],
}

/// A candidate's branch as it was fetched.
enum Found {
    At(Oid),
    Moved(Oid),
    Missing,
}

impl Merger {
    pub(super) async fn test(&self, order: Order<'_>) -> MergeTest {
        match self.try_test(order).await {
            Ok(test) => test,
            Err(trouble) => {
                tracing::warn!(run = %order.merge.run, trouble, "could not test a stack");
                MergeTest { base: None, levels: vec![], checks: vec![], trouble: Some(trouble) }
            }
        }
    }

    async fn try_test(&self, order: Order<'_>) -> Result<MergeTest, String> {
        let Order { merge, base, candidates, checks } = order;
        self.may_reach(merge).await?;
        let location: Location = self.machine.location(&merge.repository.location).parse().map_err(text)?;
        let target: BranchName = merge.target.parse().map_err(text)?;
        self.worktrees.refresh(&location, &Progress::none()).await.map_err(text)?;
        let tip = self.worktrees.fetched_tip(&location, &target).await.map_err(text)?;
        let mut test =
            MergeTest { base: tip.as_ref().map(Oid::to_string), levels: vec![], checks: vec![], trouble: None };
        let Some(tip) = tip.filter(|tip| base.is_none_or(|base| base == tip.as_str())) else { return Ok(test) };
        let (levels, top) = self.levels(&location, &tip, merge.method, candidates).await?;
        test.levels = levels;
        let all = test.levels.iter().all(|level| matches!(level.built, LevelBuilt::Merged { .. }));
        if !all || checks.is_empty() {
            return Ok(test);
        }
        self.may_run(merge, checks, &top).await?;
        let _turn = self.turns.acquire().await.map_err(|error| error.to_string())?;
        self.journal.tell(FactBody::MergeBegan { run: merge.run }).await;
        tracing::info!(run = %merge.run, commit = %top, "checking a stack");
        let checkout = self.worktrees.checkout_clean(&location, &top, &merge.repository.copy).await.map_err(text)?;
        test.checks = self.run_checks(merge, checks, &checkout).await?;
        Ok(test)
    }

    /// Builds the stack of those candidates whose branches are as expected; returns its last commit.
    async fn levels(
        &self,
        location: &Location,
        tip: &Oid,
        method: MergeMethod,
        candidates: &[MergeCandidate],
    ) -> Result<(Vec<MergeLevel>, Oid), String> {
        let mut found = Vec::new();
        for candidate in candidates {
            found.push(self.find(location, candidate).await?);
        }
        let there = candidates.iter().zip(&found).filter_map(|(candidate, found)| match found {
            Found::At(head) => Some(stacked(candidate, head, method)),
            Found::Moved(_) | Found::Missing => None,
        });
        let built = self.worktrees.stack(location, tip, &there.collect::<Vec<_>>()).await.map_err(text)?;
        let (mut built, mut top, mut levels) = (built.into_iter(), tip.clone(), Vec::new());
        for (candidate, found) in candidates.iter().zip(found) {
            let (head, built) = match found {
                Found::Missing => (None, LevelBuilt::Missing),
                Found::Moved(head) => (Some(head), LevelBuilt::Moved),
                Found::At(head) => {
                    let level = built.next().ok_or("a level of the stack is missing")?;
                    if let Stacked::Built { commit, .. } = &level.built {
                        top = commit.clone();
                    }
                    let sides = match &level.built {
                        Stacked::Conflict { with_base: true, .. } => self.sides(location, tip, &head).await,
                        _ => String::new(),
                    };
                    (Some(head), told(level, sides))
                }
            };
            levels.push(MergeLevel { candidate: candidate.candidate, head: head.map(|head| head.to_string()), built });
        }
        Ok((levels, top))
    }

    /// Both sides of a conflict with the tip, without escapes.
    async fn sides(&self, location: &Location, tip: &Oid, head: &Oid) -> String {
        match self.worktrees.sides(location, tip, head).await {
            Ok(sides) => plain(&sides, MAX_MERGE_LOG),
            Err(error) => {
                tracing::warn!(%error, "could not read the sides of a conflict");
                String::new()
            }
        }
    }

    async fn find(&self, location: &Location, candidate: &MergeCandidate) -> Result<Found, String> {
        let branch: BranchName = candidate.branch.parse().map_err(text)?;
        let head = self.worktrees.fetched_tip(location, &branch).await.map_err(text)?;
        Ok(match (head, &candidate.head) {
            (None, _) => Found::Missing,
            (Some(head), Some(wanted)) if head.as_str() != wanted => Found::Moved(head),
            (Some(head), _) => Found::At(head),
        })
    }
}

fn stacked(candidate: &MergeCandidate, head: &Oid, method: MergeMethod) -> Candidate {
    let method = match method {
        MergeMethod::Merge => Method::Merge,
        MergeMethod::Squash => Method::Squash,
        MergeMethod::Rebase => Method::Rebase,
    };
    let (name, title) = (candidate.candidate.to_string(), candidate.title.clone());
    Candidate { name, head: head.clone(), title, method }
}

fn told(level: Level, sides: String) -> LevelBuilt {
    let few = |mut paths: Vec<String>| {
        paths.truncate(MAX_MERGE_PATHS);
        paths
    };
    match level.built {
        Stacked::Built { commit, tree, contribution } => LevelBuilt::Merged {
            commit: commit.to_string(),
            tree: tree.to_string(),
            paths: few(contribution.paths),
            differs: few(contribution.differs),
        },
        Stacked::Contained => LevelBuilt::Contained,
        Stacked::Conflict { paths, with_base } => {
            LevelBuilt::Conflict { paths: few(paths), with_tip: with_base, sides }
        }
    }
}

/// An error for people.
pub(super) fn text(error: worktree::Error) -> String {
    error.to_string()
}
