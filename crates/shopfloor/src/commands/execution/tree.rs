//! The steps of an execution as a tree: those that have begun, and those that are still to come.

use std::collections::{HashMap, HashSet};

use domain::{StepKind, StepStatus};
use engine::recipes::Path;
use engine::recipes::model::{Action, Recipe, Step};
use protocol::{ExecutionDetail, ExecutionStep};

/// A line of the tree.
pub(super) struct Node<'a> {
    /// How deep it is.
    pub(super) depth: usize,
    /// The id of the step, or the name of a lane in brackets.
    pub(super) name: String,
    /// What the step does; absent for a lane.
    pub(super) kind: Option<StepKind>,
    /// The step, once it has begun.
    pub(super) step: Option<&'a ExecutionStep>,
}

impl Node<'_> {
    /// How far the step is; absent for a lane.
    pub(super) fn status(&self) -> Option<StepStatus> {
        self.kind.map(|_| self.step.map_or(StepStatus::Pending, |step| step.status))
    }
}

/// The steps in the order of the recipe. Steps that the recipe no longer has come last.
pub(super) fn nodes(detail: &ExecutionDetail) -> Vec<Node<'_>> {
    let mut tree = Tree {
        begun: detail.steps.iter().map(|step| (step.path.as_str(), step)).collect(),
        paths: detail.steps.iter().filter_map(|step| step.path.parse().ok()).collect(),
        seen: HashSet::new(),
        found: Vec::new(),
    };
    if let Ok(recipe) = serde_json::from_value::<Recipe>(detail.model.clone()) {
        tree.list(&recipe.steps, None, 0);
    }
    let Tree { seen, mut found, .. } = tree;
    let rest = detail.steps.iter().filter(|step| !seen.contains(&step.path));
    found.extend(rest.map(|step| Node { depth: 0, name: step.path.clone(), kind: Some(step.kind), step: Some(step) }));
    found
}

struct Tree<'a> {
    begun: HashMap<&'a str, &'a ExecutionStep>,
    paths: Vec<Path>,
    seen: HashSet<String>,
    found: Vec<Node<'a>>,
}

impl Tree<'_> {
    /// The steps of a list: at the top, or of a lane of a block.
    fn list(&mut self, steps: &[Step], lane: Option<(&Path, &str)>, depth: usize) {
        for step in steps {
            let path = match lane {
                None => Path::top(&step.id),
                Some((block, key)) => block.inside(key, &step.id),
            };
            let text = path.to_string();
            let found = self.begun.get(text.as_str()).copied();
            self.found.push(Node { depth, name: step.id.clone(), kind: Some(kind(&step.action)), step: found });
            self.seen.insert(text);
            if found.is_some() {
                self.lanes(step, &path, depth + 1);
            }
        }
    }

    /// The lanes of a block that has begun.
    fn lanes(&mut self, step: &Step, path: &Path, depth: usize) {
        match &step.action {
            Action::Parallel { branches, .. } => {
                for branch in branches {
                    self.lane(&branch.steps, path, &branch.name, depth);
                }
            }
            Action::ForEach(each) => {
                for key in self.keys(path) {
                    self.lane(&each.steps, path, &key, depth);
                }
            }
            Action::Branch { cases } => {
                for key in self.keys(path) {
                    let case = key.parse::<usize>().ok().and_then(|at| cases.get(at));
                    // There is only one: its steps need no heading.
                    if let Some(case) = case {
                        self.list(&case.steps, Some((path, &key)), depth);
                    }
                }
            }
            _ => {}
        }
    }

    fn lane(&mut self, steps: &[Step], path: &Path, key: &str, depth: usize) {
        self.found.push(Node { depth, name: format!("[{key}]"), kind: None, step: None });
        self.list(steps, Some((path, key)), depth + 1);
    }

    /// The lanes of a block in which a step has begun, in their order.
    fn keys(&self, block: &Path) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        for path in &self.paths {
            if path.is_inside(block)
                && let Some(lane) = path.lanes().get(block.lanes().len())
                && !keys.contains(&lane.key)
            {
                keys.push(lane.key.clone());
            }
        }
        keys
    }
}

/// What a step does.
fn kind(action: &Action) -> StepKind {
    match action {
        Action::Agent(_) => StepKind::Agent,
        Action::Task { .. } => StepKind::Task,
        Action::Run(_) => StepKind::Run,
        Action::Wait(_) => StepKind::Wait,
        Action::Approve(_) => StepKind::Approve,
        Action::Branch { .. } => StepKind::Branch,
        Action::Parallel { .. } => StepKind::Parallel,
        Action::ForEach(_) => StepKind::ForEach,
        Action::Notify { .. } => StepKind::Notify,
        Action::Merge { .. } => StepKind::Merge,
        Action::Call { .. } => StepKind::Call,
        Action::End { .. } => StepKind::End,
    }
}
