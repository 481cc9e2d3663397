//! Which steps exist, where each is, and which outputs an expression may use.

use crate::node::Spot;
use crate::read::{At, near};

/// What a source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// An expression.
    Expr,
    /// A text with expressions in it.
    Template,
}

/// A lane of a block: the number of the block's step, and of the lane.
pub(crate) type Lane = (usize, usize);

/// A step, as others refer to it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) id: String,
    pub(crate) spot: Spot,
    /// Its kind, if it is known: `agent`.
    pub(crate) kind: &'static str,
    /// The lanes that it is in, outermost first.
    pub(crate) lanes: Vec<Lane>,
}

/// What expressions may name.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// All steps in the order of the text, blocks before what is in them.
    pub(crate) steps: Vec<Seen>,
    /// The names of the inputs.
    pub(crate) inputs: Vec<String>,
}

/// Where in the recipe an expression is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Position {
    /// The number of its step; at the end, the number of all steps.
    pub(crate) step: usize,
    /// The lanes around the step.
    pub(crate) lanes: Vec<Lane>,
}

impl Position {
    /// After all steps.
    pub(crate) fn end(known: &Known) -> Self {
        Self { step: known.steps.len(), lanes: Vec::new() }
    }
}

/// An expression or a template, and where it is.
#[derive(Debug)]
pub(crate) struct Use<'n> {
    pub(crate) at: At<'n>,
    pub(crate) form: Form,
    pub(crate) position: Position,
    /// The variables besides `inputs`, `steps` and `execution`.
    pub(crate) locals: Vec<String>,
}

/// Why a step's output cannot be used, and what can be written instead.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unusable {
    pub(crate) why: String,
    pub(crate) instead: Option<String>,
}

impl Unusable {
    fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), instead: None }
    }
}

impl Known {
    /// The step with this id, if its output exists when the step at `position` begins.
    pub(crate) fn usable(&self, id: &str, position: &Position) -> Result<&Seen, Unusable> {
        let Some((at, step)) = self.steps.iter().enumerate().find(|(_, step)| step.id == id) else {
            return Err(self.unknown(id));
        };
        let line = step.spot.line;
        if at == position.step {
            return Err(Unusable::new(format!("`{id}` is this step: its output does not exist before its end")));
        }
        if position.lanes.iter().any(|(block, _)| *block == at) {
            return Err(Unusable::new(format!(
                "`{id}` is the block around this step: its output does not exist before the block's end"
            )));
        }
        let shared = step.lanes.iter().zip(&position.lanes).take_while(|(ours, theirs)| ours == theirs).count();
        if shared == step.lanes.len() {
            if at < position.step {
                return Ok(step);
            }
            return Err(Unusable::new(format!(
                "`{id}` on line {line} comes later: its output does not exist yet when this step runs"
            )));
        }
        let block = step.lanes[shared].0;
        let name = self.steps.get(block).map_or("", |block| &block.id);
        if position.lanes.get(shared).is_some_and(|(other, _)| *other == block) {
            return Err(Unusable::new(format!(
                "`{id}` on line {line} is in another lane of `{name}`: it may not run, or not be over, when this step runs"
            )));
        }
        if block > position.step {
            return Err(Unusable::new(format!(
                "`{id}` on line {line} is in `{name}`, which comes later: its output does not exist yet"
            )));
        }
        Err(Unusable {
            why: format!("`{id}` on line {line} is inside `{name}`: from outside, use the output of the block"),
            instead: Some(format!("steps.{name}.output")),
        })
    }

    fn unknown(&self, id: &str) -> Unusable {
        let dashed = self.steps.iter().find(|step| step.id.split('-').next() == Some(id) && step.id.contains('-'));
        if let Some(step) = dashed {
            let why = format!(
                "an id with `-` cannot be used in expressions: rename the step `{}` on line {} to `{}`",
                step.id,
                step.spot.line,
                step.id.replace('-', "_")
            );
            return Unusable { why, instead: Some(format!("steps.{}", step.id.replace('-', "_"))) };
        }
        let near = near(id, self.steps.iter().map(|step| step.id.as_str()));
        let id = crate::read::short(id);
        Unusable { why: format!("there is no step `{id}`"), instead: near.map(|near| format!("steps.{near}")) }
    }
}
