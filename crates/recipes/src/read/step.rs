//! Steps: their kinds, ids and order.

use engine::recipes::limits;
use engine::recipes::model::{Action, Step};

use super::at::short;
use super::envelope::ENVELOPE;
use super::{At, Reader, id_fault};
use crate::Finding;
use crate::node::{Kind, Node};
use crate::scope::{Position, Seen};

/// The kinds of steps, as they are written.
pub(crate) const KINDS: &[&str] =
    &["agent", "task", "run", "wait", "approve", "branch", "parallel", "for_each", "notify", "merge", "call", "end"];

impl<'n> Reader<'n> {
    /// A list of steps that run one after the other.
    pub(super) fn steps(&mut self, at: &At<'n>) -> Vec<Step> {
        let Some(items) = self.list(at, "steps", 1) else { return Vec::new() };
        let mut steps = Vec::new();
        let mut ended: Option<String> = None;
        for item in &items {
            if let Some(end) = &ended {
                self.warnings
                    .push(item.say(format!("never runs: the step `{end}` before it always ends the execution")));
                ended = None;
            }
            let Some(step) = self.step(item) else { continue };
            if matches!(step.action, Action::End { .. }) && step.when.is_none() {
                ended = Some(step.id.clone());
            }
            steps.push(step);
        }
        steps
    }

    /// The steps of a lane of the block that is read.
    pub(super) fn lane(&mut self, lane: usize, at: &At<'n>) -> Vec<Step> {
        let before = self.position.clone();
        self.position.lanes.push((before.step, lane));
        if self.position.lanes.len() == limits::DEPTH + 1 {
            let said = format!(
                "blocks are nested more than {} deep; move steps to another recipe and use `call`",
                limits::DEPTH
            );
            self.error(at.say(said));
        }
        let steps = self.steps(at);
        self.position = before;
        steps
    }

    fn step(&mut self, at: &At<'n>) -> Option<Step> {
        let Kind::Fields(fields) = &at.node.kind else {
            let said =
                format!("is {}; expected a step: a mapping with an id and one of {}", at.node.what(), KINDS.join(", "));
            self.error(at.say(said));
            return None;
        };
        let written = |kind: &str| fields.iter().position(|field| field.name == kind);
        let mut kinds: Vec<&'static str> = KINDS.iter().copied().filter(|kind| written(kind).is_some()).collect();
        kinds.sort_by_key(|kind| written(kind));
        let kind = kinds.first().copied();
        let id = self.id(at, kind);
        self.enter(id.as_deref().unwrap_or_default(), kind.unwrap_or_default(), at.node);
        self.step_fields(at, kind);
        if let Some(other) = kinds.get(1).and_then(|other| fields.iter().find(|field| field.name == *other)) {
            let said = format!("a step does one thing, and this one has {}; make steps of them", kinds.join(" and "));
            self.error(Finding::new(other.spot, at.below(&other.name, at.node).path, said));
        }
        let envelope = self.envelope(at, kind.unwrap_or_default());
        let before = self.position.clone();
        let action = kind.and_then(|kind| {
            let value = at.node.field(kind)?;
            self.action(kind, &at.below(kind, value))
        });
        self.position = before;
        Some(Step { id: id?, action: action?, ..envelope })
    }

    /// Adds a step to those that others can refer to.
    fn enter(&mut self, id: &str, kind: &'static str, node: &Node) {
        let count = self.known.steps.len();
        if count == limits::STEPS {
            let said = format!("the recipe has more than {} steps; split it and use `call`", limits::STEPS);
            self.error(Finding::new(node.spot, "steps", said));
        }
        let lanes = self.position.lanes.clone();
        self.known.steps.push(Seen { id: id.to_owned(), spot: node.spot, kind, lanes: lanes.clone() });
        self.position = Position { step: count, lanes };
    }

    fn id(&mut self, at: &At<'n>, kind: Option<&str>) -> Option<String> {
        let Some(node) = at.node.field("id") else {
            let missing = at.below("id", at.node).say("is missing: each step needs an id of its own");
            self.error(match at.node.field("name").and_then(Node::text).or(kind).filter(|id| id_fault(id).is_none()) {
                Some(id) => missing.instead(format!("id: {id}")),
                None => missing,
            });
            return None;
        };
        let below = at.below("id", node);
        let id = self.text(&below)?;
        if let Some((why, instead)) = id_fault(&id) {
            let finding = below.say(why);
            self.error(finding.perhaps(instead));
            return None;
        }
        if let Some(before) = self.known.steps.iter().find(|step| step.id == id) {
            self.error(below.say(format!("`{id}` is already the id of the step on line {}", before.spot.line)));
            return None;
        }
        if id.contains('-') {
            let said = "an id with `-` cannot be used in expressions: `a-b` there is a subtraction";
            self.warnings.push(below.say(said).instead(id.replace('-', "_")));
        }
        Some(id)
    }

    /// Refuses unknown fields, and a step without a kind.
    fn step_fields(&mut self, at: &At<'n>, kind: Option<&str>) {
        let known: Vec<&str> = match kind {
            Some(kind) => ENVELOPE.iter().copied().chain([kind]).collect(),
            None => ENVELOPE.iter().chain(KINDS).copied().collect(),
        };
        let mut slip = false;
        for field in at.node.fields().unwrap_or_default() {
            let name = field.name.as_str();
            if known.contains(&name) || KINDS.contains(&name) {
                continue;
            }
            let place = at.below(&short(name), at.node).path;
            let meant = super::at::meant(name, &known);
            slip |= meant.as_ref().is_some_and(|meant| KINDS.contains(&meant.as_str()));
            // A field of the kind that is indented too little.
            let inner = kind.filter(|kind| fields_of(kind).contains(&name));
            let finding = match (inner, meant) {
                (Some(kind), _) => Finding::new(field.spot, place, format!("`{name}` belongs inside `{kind}`")),
                (None, Some(meant)) => Finding::new(field.spot, place, "unknown field of a step").instead(meant),
                (None, None) => {
                    let said = format!(
                        "unknown field of a step; a step has {}, and one of {}",
                        ENVELOPE.join(", "),
                        KINDS.join(", ")
                    );
                    Finding::new(field.spot, place, said)
                }
            };
            self.error(finding);
        }
        // A misspelled kind has its finding already.
        if kind.is_none() && !slip {
            self.error(at.say(format!("does not say what to do; expected one of {}", KINDS.join(", "))));
        }
    }

    fn action(&mut self, kind: &str, at: &At<'n>) -> Option<Action> {
        match kind {
            "agent" => self.agent(at),
            "task" => self.task(at),
            "run" => self.run(at),
            "wait" => self.wait(at),
            "approve" => self.approve(at),
            "branch" => self.branch(at),
            "parallel" => self.parallel(at),
            "for_each" => self.for_each(at),
            "notify" => self.notify(at),
            "merge" => self.merge(at),
            "call" => self.call(at),
            _ => self.end(at),
        }
    }
}

/// The fields of a kind of step.
pub(crate) fn fields_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "agent" => super::agent::AGENT,
        "task" => super::tasks::TASK,
        "run" => super::agent::RUN,
        "wait" => super::simple::WAIT,
        "approve" => super::simple::APPROVE,
        "parallel" => super::blocks::PARALLEL,
        "for_each" => super::blocks::FOR_EACH,
        "notify" => super::simple::NOTIFY,
        "merge" => super::simple::MERGE,
        "call" => super::simple::CALL,
        "end" => super::simple::END,
        _ => &[],
    }
}
