//! Finding steps in the tree of a recipe.

use std::collections::BTreeSet;

use super::model::{Action, Recipe, Step};
use super::{Path, limits};

/// A list of steps of an execution: the top, or a lane of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'a>(pub Option<(&'a Path, &'a str)>);

impl At<'_> {
    /// The path of a step of the list.
    pub(super) fn path(self, step: &str) -> Path {
        match self.0 {
            None => Path::top(step),
            Some((block, key)) => block.inside(key, step),
        }
    }
}

/// The steps of a lane of a block; `None` if the step is no block, or has no such lane.
pub(super) fn lane<'r>(step: &'r Step, key: &str) -> Option<&'r [Step]> {
    match &step.action {
        Action::Branch { cases } => cases.get(key.parse::<usize>().ok()?).map(|case| case.steps.as_slice()),
        Action::Parallel { branches, .. } => {
            branches.iter().find(|branch| branch.name == key).map(|branch| branch.steps.as_slice())
        }
        Action::ForEach(each) => Some(&each.steps),
        _ => None,
    }
}

/// The lists of steps in a step.
pub(super) fn lists(step: &Step) -> Vec<&[Step]> {
    match &step.action {
        Action::Branch { cases } => cases.iter().map(|case| case.steps.as_slice()).collect(),
        Action::Parallel { branches, .. } => branches.iter().map(|branch| branch.steps.as_slice()).collect(),
        Action::ForEach(each) => vec![&each.steps],
        _ => Vec::new(),
    }
}

/// Whether a step has steps in it.
pub(super) fn is_block(step: &Step) -> bool {
    matches!(step.action, Action::Branch { .. } | Action::Parallel { .. } | Action::ForEach(_))
}

/// The list that a path is in.
pub(super) fn list<'r>(recipe: &'r Recipe, path: &Path) -> Option<&'r [Step]> {
    let mut steps = recipe.steps.as_slice();
    for through in path.lanes() {
        let block = steps.iter().find(|step| step.id == through.block)?;
        steps = lane(block, &through.key)?;
    }
    Some(steps)
}

/// The step of a path.
pub(super) fn find<'r>(recipe: &'r Recipe, path: &Path) -> Option<&'r Step> {
    list(recipe, path)?.iter().find(|step| step.id == path.step())
}

/// The blocks that a path is in, outermost first.
pub(super) fn blocks(path: &Path) -> Vec<Path> {
    let mut found: Vec<Path> = std::iter::successors(block_of(path), block_of).collect();
    found.reverse();
    found
}

fn block_of(path: &Path) -> Option<Path> {
    path.block().map(|(block, _)| block)
}

/// The step that `steps.ID` means in an expression of a step: earlier in its list, or in a list around it.
pub(super) fn visible(recipe: &Recipe, from: &Path, id: &str) -> Option<Path> {
    let mut at = from.clone();
    loop {
        let steps = list(recipe, &at)?;
        let own = steps.iter().position(|step| step.id == at.step()).unwrap_or(steps.len());
        if steps[..own].iter().any(|step| step.id == id) {
            return Some(at.beside(id));
        }
        at = at.block()?.0;
    }
}

/// Why a recipe is beyond the limits or no recipe at all, for people.
pub fn fault(recipe: &Recipe) -> Option<String> {
    let mut ids = BTreeSet::new();
    check(&recipe.steps, 0, &mut ids).err()
}

fn check<'r>(steps: &'r [Step], depth: usize, ids: &mut BTreeSet<&'r str>) -> Result<(), String> {
    if depth > limits::DEPTH {
        return Err(format!("blocks are more than {} deep: call another recipe", limits::DEPTH));
    }
    for step in steps {
        if !ids.insert(&step.id) {
            return Err(format!("two steps are called `{}`", step.id));
        }
        if ids.len() > limits::STEPS {
            return Err(format!("a recipe has at most {} steps: call another recipe", limits::STEPS));
        }
        if step.retry.attempts > limits::ATTEMPTS {
            return Err(format!("`{}` has more than {} attempts", step.id, limits::ATTEMPTS));
        }
        for list in lists(step) {
            check(list, depth + 1, ids)?;
        }
    }
    Ok(())
}
