//! What people change in an execution: outputs, inputs, the recipe, where it takes over from another.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::inputs::complete;
use super::machine::Machine;
use super::model::{Action, Recipe, Step as Plan};
use super::operate::{refuse, unknown};
use super::step::Refused;
use super::{Path, Status, StepRun, StepState, tree};

impl Machine {
    pub(super) fn correct(&mut self, path: &Path, output: &Json) -> Result<(), Refused> {
        self.is_open()?;
        let recipe = Arc::clone(&self.next.recipe);
        let plan = tree::find(&recipe, path).ok_or_else(|| unknown(path))?;
        self.fits(plan, output)?;
        if let Some((block, _)) = path.block()
            && self.state(&block).is_some_and(StepState::is_over)
        {
            return refuse(format!("`{block}` is over: correct its output"));
        }
        if let Some(user) = self.user_of(path) {
            return refuse(format!("`{user}` has used it: rewind to `{user}` instead"));
        }
        match &mut self.run(path).state {
            StepState::Succeeded { output: old } | StepState::Skipped { output: old, .. } => *old = output.clone(),
            state => {
                let word = state.word();
                return refuse(format!("`{path}` is {word}: it has no output"));
            }
        }
        Ok(())
    }

    /// A step that has read the output of another.
    fn user_of(&self, path: &Path) -> Option<Path> {
        let name = format!("steps.{}", path.step());
        let reads = |(user, run): &(&Path, &StepRun)| {
            run.used.contains(&name) && tree::visible(&self.next.recipe, user, path.step()).as_ref() == Some(path)
        };
        self.next.steps.iter().find(reads).map(|(user, _)| user.clone())
    }

    pub(super) fn change_inputs(&mut self, inputs: &Map<String, Json>) -> Result<(), Refused> {
        if self.next.status != Status::New {
            self.is_open()?;
        }
        for (name, value) in inputs {
            if self.next.inputs.get(name) == Some(value) {
                continue;
            }
            let full = format!("inputs.{name}");
            let reads = |run: &StepRun| run.used.contains(&full) || run.used.contains("inputs");
            if let Some((user, _)) = self.next.steps.iter().find(|(_, run)| reads(run)) {
                return refuse(format!("`{user}` has used the input `{name}`: rewind to `{user}` instead"));
            }
        }
        let mut all = self.next.inputs.clone();
        all.extend(inputs.clone());
        self.next.inputs = complete(&self.next.recipe, &all).map_err(|why| Refused(why.join("; ")))?;
        Ok(())
    }

    pub(super) fn swap(&mut self, version: &str, recipe: &Recipe) -> Result<(), Refused> {
        if self.next.status != Status::New {
            self.is_open()?;
        }
        if let Some(why) = tree::fault(recipe) {
            return refuse(why);
        }
        self.keeps(None, &self.next.recipe.steps, &recipe.steps)?;
        let known = |name: &String| recipe.inputs.iter().any(|input| input.name == *name);
        let kept: Map<String, Json> =
            self.next.inputs.iter().filter(|(name, _)| known(name)).map(|(n, v)| (n.clone(), v.clone())).collect();
        self.next.inputs = complete(recipe, &kept).map_err(|why| Refused(why.join("; ")))?;
        self.next.recipe = Arc::new(recipe.clone());
        version.clone_into(&mut self.next.version);
        Ok(())
    }

    /// Refuses a list in which a step that has begun disappears, becomes another kind, or moves behind one that has not.
    fn keeps(&self, block: Option<(&Path, &str)>, old: &[Plan], new: &[Plan]) -> Result<(), Refused> {
        let at = tree::At(block);
        let has_begun = |plan: &&Plan| {
            let run = self.next.steps.get(&at.path(&plan.id));
            run.is_some_and(|run| run.attempt > 0 || !matches!(run.state, StepState::Skipped { .. }))
        };
        let is_known = |plan: &&Plan| self.next.steps.contains_key(&at.path(&plan.id));
        for plan in old.iter().filter(is_known) {
            let path = at.path(&plan.id);
            match new.iter().find(|step| step.id == plan.id) {
                None => return refuse(format!("`{path}` has begun and is not in the new version")),
                Some(step) if kind(step) != kind(plan) => {
                    return refuse(format!("`{path}` has begun and does something else in the new version"));
                }
                Some(step)
                    if self.is_at_work(&path) && (step.action != plan.action || step.timeout != plan.timeout) =>
                {
                    return refuse(format!(
                        "`{path}` runs, and is different in the new version: wait for it or skip it"
                    ));
                }
                Some(step) => self.keeps_lanes(&path, plan, step)?,
            }
        }
        let begun: Vec<&str> = old.iter().filter(has_begun).map(|plan| plan.id.as_str()).collect();
        let mut order = new.iter().filter(|plan| !is_known(plan) || has_begun(plan)).map(|plan| plan.id.as_str());
        match begun.iter().find(|id| order.next() != Some(**id)) {
            Some(id) => refuse(format!("`{}` has begun, and the new version has another step before it", at.path(id))),
            None => Ok(()),
        }
    }

    fn is_at_work(&self, path: &Path) -> bool {
        let run = self.next.steps.get(path);
        run.is_some_and(|run| run.lanes.is_empty() && matches!(run.state, StepState::Running { .. }))
    }

    fn keeps_lanes(&self, path: &Path, old: &Plan, new: &Plan) -> Result<(), Refused> {
        for (key, _) in &self.next.steps.get(path).map(|run| run.lanes.clone()).unwrap_or_default() {
            let Some(lane) = tree::lane(new, key) else {
                return refuse(format!("the lane `{key}` of `{path}` has begun and is not in the new version"));
            };
            self.keeps(Some((path, key)), tree::lane(old, key).unwrap_or_default(), lane)?;
        }
        Ok(())
    }

    pub(super) fn reuse(&mut self, outputs: &BTreeMap<Path, Json>) -> Result<(), Refused> {
        if self.next.status != Status::New {
            return refuse("the execution has started");
        }
        for (path, output) in outputs {
            let plan = tree::find(&self.next.recipe, path).ok_or_else(|| unknown(path))?;
            if !tree::is_block(plan) {
                self.fits(plan, output)?;
            }
        }
        self.next.reused = outputs.clone();
        Ok(())
    }
}

fn kind(plan: &Plan) -> std::mem::Discriminant<Action> {
    std::mem::discriminant(&plan.action)
}

/// The outputs that a new execution takes over to begin at a step: of everything that is over, but the step itself,
/// what comes after it, and the blocks around it.
pub fn rewind(execution: &super::Execution, to: &Path) -> Result<BTreeMap<Path, Json>, Refused> {
    let recipe = &execution.recipe;
    if tree::find(recipe, to).is_none() {
        return Err(unknown(to));
    }
    let mut again = vec![to.clone()];
    let mut at = to.clone();
    loop {
        let steps = tree::list(recipe, &at).unwrap_or_default();
        let own = steps.iter().position(|step| step.id == at.step()).unwrap_or(steps.len());
        again.extend(steps.iter().skip(own).map(|step| at.beside(&step.id)));
        match at.block() {
            Some((block, _)) => at = block,
            None => break,
        }
    }
    let after = |path: &Path| again.iter().any(|step| path == step || path.is_inside(step) && !to.is_inside(step));
    let left = |(path, run): (&Path, &StepRun)| {
        let output = super::step::left(&run.state).filter(|output| !output.is_null() || run.attempt > 0)?;
        (!after(path)).then(|| (path.clone(), output.clone()))
    };
    Ok(execution.steps.iter().filter_map(left).collect())
}
