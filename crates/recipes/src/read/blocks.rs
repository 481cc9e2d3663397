//! Blocks: branch, parallel, for each.

use engine::recipes::limits;
use engine::recipes::model::{Action, Branch, Case, ForEach, Join};

use super::at::short;
use super::values::name_fault;
use super::{At, Reader};
use crate::node::Kind;

/// The fields of a case of `branch`.
pub(crate) const CASE: &[&str] = &["if", "steps"];

/// The field of the last case of `branch`.
pub(crate) const ELSE: &[&str] = &["else"];

/// The fields of `parallel`.
pub(crate) const PARALLEL: &[&str] = &["join", "branches"];

/// The fields of `for_each`.
pub(crate) const FOR_EACH: &[&str] = &["items", "as", "key", "max_parallel", "steps"];

/// How many lanes a block may have.
pub(crate) const LANES: usize = 50;

impl<'n> Reader<'n> {
    pub(super) fn branch(&mut self, at: &At<'n>) -> Option<Action> {
        let items = self.list(at, "cases, such as `{if: …, steps: […]}`", 1)?;
        if items.len() > LANES {
            self.error(at.say(format!("has {} cases; the limit is {LANES}", items.len())));
        }
        let mut cases = Vec::new();
        for (lane, item) in items.iter().enumerate() {
            let last = lane + 1 == items.len();
            cases.extend(self.case(lane, last, item));
        }
        Some(Action::Branch { cases })
    }

    fn case(&mut self, lane: usize, last: bool, at: &At<'n>) -> Option<Case> {
        if let Some(node) = at.node.field("else") {
            self.fields(at, "a case with `else`", ELSE)?;
            if !last {
                self.error(at.say("`else` must be the last case: the cases after it are never looked at"));
            }
            let steps = self.lane(lane, &at.below("else", node));
            return Some(Case { when: None, steps });
        }
        let fields = self.fields(at, "a case", CASE)?;
        let when = fields.needed(self, "if").and_then(|at| self.expr(&at));
        let steps = fields.needed(self, "steps").map(|at| self.lane(lane, &at)).unwrap_or_default();
        Some(Case { when: Some(when?), steps })
    }

    pub(super) fn parallel(&mut self, at: &At<'n>) -> Option<Action> {
        let fields = self.fields(at, "`parallel`", PARALLEL)?;
        let lanes = fields.needed(self, "branches")?;
        let entries = self.entries(&lanes, "lists of steps by name");
        if lanes.node.fields().is_some() && (entries.is_empty() || entries.len() > LANES) {
            self.error(lanes.say(format!("has {} lists of steps; expected 1 to {LANES}", entries.len())));
        }
        let mut branches = Vec::new();
        for (lane, (field, at)) in entries.iter().enumerate() {
            if let Some(why) = name_fault(&field.name) {
                self.wrong_name(field, at, why);
            }
            let steps = self.lane(lane, at);
            branches.push(Branch { name: field.name.clone(), steps });
        }
        let join = match fields.get("join") {
            Some(at) => self.join(&at, branches.len())?,
            None => Join::default(),
        };
        Some(Action::Parallel { branches, join })
    }

    fn join(&mut self, at: &At<'n>, lanes: usize) -> Option<Join> {
        match &at.node.kind {
            Kind::Fields(_) => {
                let fields = self.fields(at, "`join`", &["at_least"])?;
                let least = fields.needed(self, "at_least")?;
                let count = self.whole(&least, 1, LANES as u32)?;
                if count as usize > lanes {
                    self.error(least.say(format!("is {count}, but there are only {lanes} lists of steps")));
                    return None;
                }
                Some(Join::AtLeast(count))
            }
            Kind::Text(text) if !["all", "any"].contains(&text.value.as_str()) => {
                let said = format!("`{}` is not one of: all, any, {{at_least: N}}", short(&text.value));
                let near = super::at::near(&text.value, ["all", "any"]).unwrap_or("all");
                self.error(at.say(said).instead(near));
                None
            }
            Kind::Text(text) => Some(if text.value == "any" { Join::Any } else { Join::All }),
            Kind::Number(number) => {
                self.error(
                    at.say("is a number; expected all, any, or {at_least: N}")
                        .instead(format!("{{at_least: {number}}}")),
                );
                None
            }
            _ => {
                self.error(at.say(format!("is {}; expected all, any, or {{at_least: N}}", at.node.what())));
                None
            }
        }
    }

    pub(super) fn for_each(&mut self, at: &At<'n>) -> Option<Action> {
        let fields = self.fields(at, "`for_each`", FOR_EACH)?;
        let items = fields.needed(self, "items").and_then(|at| self.items(&at));
        let name = fields.get("as").and_then(|at| self.variable(&at)).unwrap_or_else(|| "item".to_owned());
        if !fields.has("as") && self.locals.contains(&name) {
            let said = "`item` is already the variable of a `for_each` around this one; name this one with `as`";
            self.error(at.say(said).instead("as: inner"));
        }
        let max_parallel = fields.get("max_parallel").and_then(|at| self.whole(&at, 1, limits::ITEMS as u32));
        self.locals.push(name.clone());
        let key = fields.get("key").and_then(|at| self.expr(&at));
        self.locals.push("key".to_owned());
        let steps = fields.needed(self, "steps").map(|at| self.lane(0, &at)).unwrap_or_default();
        self.locals.truncate(self.locals.len() - 2);
        Some(Action::ForEach(ForEach { items: items?, name, key, max_parallel, steps }))
    }

    fn items(&mut self, at: &At<'n>) -> Option<engine::recipes::model::Expr> {
        if let Kind::List(_) = at.node.kind {
            let said = "is a list; expected an expression that gives one: make the list the default of an input";
            self.error(at.say(said).instead("inputs.NAME"));
            return None;
        }
        self.expr(at)
    }

    /// The variable of an item.
    fn variable(&mut self, at: &At<'n>) -> Option<String> {
        let name = self.text(at)?;
        if let Some(why) = name_fault(&name) {
            self.error(at.say(why));
            return None;
        }
        if ["inputs", "steps", "execution", "event", "trigger", "key", "loop"].contains(&name.as_str()) {
            self.error(at.say(format!("`{name}` has a meaning already; choose another name")));
            return None;
        }
        if self.locals.contains(&name) {
            self.error(
                at.say(format!("`{name}` is the variable of a `for_each` around this one; choose another name")),
            );
            return None;
        }
        Some(name)
    }
}
