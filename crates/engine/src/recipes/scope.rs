//! What the expressions of a step can read, and what they have read.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use super::eval::{self, EvalError, Kind};
use super::model::{Action, Expr, Template, Value};
use super::{Execution, Path, StepState, tree};

/// The values that one step can read, built from what its texts name, and a record of it.
pub(super) struct Scope<'e> {
    execution: &'e Execution,
    path: Path,
    /// An item that is looked at before its lane exists.
    item: Option<(String, Json)>,
    /// The inputs and steps that were read: `inputs.issue`, `steps.fix`.
    pub used: BTreeSet<String>,
}

impl<'e> Scope<'e> {
    pub(super) fn new(execution: &'e Execution, path: &Path) -> Self {
        Self { execution, path: path.clone(), item: None, used: BTreeSet::new() }
    }

    /// Sets the item that an expression over an item reads.
    pub(super) fn look_at(&mut self, name: &str, item: Json) {
        self.item = Some((name.to_owned(), item));
    }

    pub(super) fn expression(&mut self, expr: &Expr) -> Result<Json, EvalError> {
        let values = self.values(eval::variables(&expr.0, Kind::Expression)?);
        eval::evaluate_checked(&expr.0, &values)
    }

    pub(super) fn condition(&mut self, expr: &Expr) -> Result<bool, EvalError> {
        eval::holds(self.expression(expr)?)
    }

    pub(super) fn template(&mut self, template: &Template) -> Result<String, EvalError> {
        let values = self.values(eval::variables(&template.0, Kind::Template)?);
        eval::render_checked(template, &values)
    }

    pub(super) fn value(&mut self, value: &Value) -> Result<Json, EvalError> {
        let values = self.values(eval::variables_of(&value.0)?);
        eval::value(value, &values)
    }

    /// The values of the variables, as far as they exist; remembers the inputs and steps among them.
    pub(super) fn values(&mut self, variables: impl IntoIterator<Item = String>) -> Json {
        let (mut values, mut steps) = (Map::new(), Map::new());
        for variable in variables {
            let mut parts = variable.split('.');
            let (root, name) = (parts.next().unwrap_or_default(), parts.next());
            match (root, name) {
                ("steps", Some(id)) => {
                    self.used.insert(format!("steps.{id}"));
                    steps.extend(self.step(id).map(|step| (id.to_owned(), step)));
                    values.insert("steps".to_owned(), Json::Null);
                    continue;
                }
                ("inputs", Some(name)) => drop(self.used.insert(format!("inputs.{name}"))),
                ("inputs", None) => drop(self.used.insert("inputs".to_owned())),
                _ => {}
            }
            if !values.contains_key(root) {
                values.extend(self.root(root).map(|value| (root.to_owned(), value)));
            }
        }
        if let Some(place) = values.get_mut("steps") {
            *place = Json::Object(steps);
        }
        Json::Object(values)
    }

    /// The step that has left the workspace that another continues.
    pub(super) fn workspace_of(&mut self, id: &str) -> Option<Path> {
        self.used.insert(format!("steps.{id}"));
        let path = tree::visible(&self.execution.recipe, &self.path, id)?;
        let run = self.execution.steps.get(&path)?;
        let worked = run.attempt > 0 || matches!(run.state, StepState::Succeeded { .. });
        (worked && run.state.is_over()).then_some(())?;
        Some(path)
    }

    fn root(&self, name: &str) -> Option<Json> {
        let context = &self.execution.context;
        if let Some((_, value)) = self.item.as_ref().filter(|(item, _)| item == name) {
            return Some(value.clone());
        }
        match name {
            "inputs" => Some(Json::Object(self.execution.inputs.clone())),
            "execution" => Some(json!({
                "id": context.id, "project": context.project, "person": context.person,
                "started_at": context.started_at.to_string(),
            })),
            "trigger" => Some(context.trigger.clone().unwrap_or_default()),
            name => self.item(name),
        }
    }

    /// The item of the innermost `for_each` around the step that calls it so, or the key of the innermost one.
    fn item(&self, name: &str) -> Option<Json> {
        let mut at = self.path.clone();
        while let Some((block, key)) = at.block().map(|(block, key)| (block, key.to_owned())) {
            let step = tree::find(&self.execution.recipe, &block);
            if let Some(Action::ForEach(each)) = step.map(|step| &step.action) {
                if each.name == name {
                    let lanes = &self.execution.steps.get(&block)?.lanes;
                    return lanes.iter().find(|lane| lane.0 == key).map(|lane| lane.1.clone());
                }
                if name == "key" {
                    return Some(Json::String(key));
                }
            }
            at = block;
        }
        None
    }

    fn step(&self, id: &str) -> Option<Json> {
        let path = tree::visible(&self.execution.recipe, &self.path, id)?;
        let run = self.execution.steps.get(&path)?;
        let mut step = json!({ "status": run.state.word(), "attempt": run.attempt });
        match &run.state {
            StepState::Succeeded { output } | StepState::Skipped { output, .. } => step["output"] = output.clone(),
            StepState::Failed { error } => {
                step["output"] = Json::Null;
                step["error"] = json!({ "kind": error.kind, "message": error.message });
            }
            _ => {}
        }
        Some(step)
    }
}
