//! Nodes into the model, with every error at its place.

mod agent;
mod at;
mod blocks;
mod envelope;
mod inputs;
mod mask;
mod simple;
mod span;
mod step;
mod tasks;
mod values;

use std::collections::BTreeMap;

use engine::recipes::model::Recipe;

use crate::Finding;
use crate::node::Node;
use crate::scope::{Form, Known, Position, Use};

/// The words of the language, for its JSON Schema.
pub(crate) mod words {
    pub(crate) use super::agent::{ARGUMENTS, FILES};
    pub(crate) use super::blocks::LANES;
    pub(crate) use super::envelope::{BACKOFF, ERRORS, IDEMPOTENCY};
    #[cfg(test)]
    pub(crate) use super::envelope::{ENVELOPE, RETRY};
    pub(crate) use super::inputs::{INPUTS, SCHEMA, TYPES};
    pub(crate) use super::simple::{ENDS, EVENTS, PEOPLE, THEN};
    pub(crate) use super::step::KINDS;
    pub(crate) use super::values::NAME;
    #[cfg(test)]
    pub(crate) use super::{RECIPE, inputs::INPUT};
}

pub(crate) use at::{At, near, short};
#[cfg(test)]
pub(crate) use step::fields_of;
pub(crate) use values::id_fault;

/// The fields of a recipe.
pub(crate) const RECIPE: &[&str] = &["name", "description", "inputs", "outputs", "timeout", "lost_after", "steps"];

/// Reads a recipe; the findings tell whether it is complete.
pub(crate) fn read(root: &Node) -> (Option<Recipe>, Reader<'_>) {
    let mut reader = Reader::default();
    let at = At::root(root);
    reader.twice(&at);
    let recipe = reader.recipe(&at);
    (recipe, reader)
}

/// What is known while a recipe is read.
#[derive(Default)]
pub(crate) struct Reader<'n> {
    pub(crate) errors: Vec<Finding>,
    pub(crate) warnings: Vec<Finding>,
    /// The steps and inputs so far.
    pub(crate) known: Known,
    /// The expressions and templates so far.
    pub(crate) uses: Vec<Use<'n>>,
    /// The workspaces of other steps so far, each with the id that was named.
    pub(crate) places: Vec<(At<'n>, String, Position)>,
    /// Where the reader is.
    position: Position,
    /// The variables of the `for_each` blocks around.
    locals: Vec<String>,
}

impl<'n> Reader<'n> {
    fn recipe(&mut self, at: &At<'n>) -> Option<Recipe> {
        let fields = self.fields(at, "a recipe", RECIPE)?;
        let name = fields.needed(self, "name").and_then(|at| self.recipe_name(&at));
        let description = fields.get("description").and_then(|at| self.text(&at)).unwrap_or_default();
        let inputs = fields.get("inputs").map(|at| self.inputs(&at)).unwrap_or_default();
        let timeout = fields.get("timeout").and_then(|at| self.span(&at, engine::recipes::limits::RUNNING));
        let lost_after = fields.get("lost_after").and_then(|at| self.span(&at, engine::recipes::limits::RUNNING));
        let steps = fields.needed(self, "steps").map(|at| self.steps(&at)).unwrap_or_default();
        self.position = Position::end(&self.known);
        let outputs = fields.get("outputs").map(|at| self.outputs(&at)).unwrap_or_default();
        Some(Recipe { name: name?, description, inputs, outputs, timeout, lost_after, steps })
    }

    fn outputs(&mut self, at: &At<'n>) -> BTreeMap<String, engine::recipes::model::Expr> {
        let outputs = self.entries(at, "the outputs by name");
        let mut found = BTreeMap::new();
        for (field, at) in outputs {
            if let Some(why) = values::name_fault(&field.name) {
                self.wrong_name(field, &at, why);
            }
            if let Some(expr) = self.expr(&at) {
                found.insert(field.name.clone(), expr);
            }
        }
        found
    }

    /// Adds an expression or a template, to be checked when all steps are known.
    fn uses(&mut self, at: &At<'n>, form: Form) {
        self.uses.push(Use { at: at.clone(), form, position: self.position.clone(), locals: self.locals.clone() });
    }

    pub(crate) fn error(&mut self, finding: Finding) {
        self.errors.push(finding);
    }
}
