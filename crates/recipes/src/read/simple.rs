//! Steps with a few fields: wait, approve, notify, merge, call, end.

use engine::recipes::limits;
use engine::recipes::model::{Action, Approve, AtDeadline, Awaited, Template, Wait};

use super::{At, Reader};
use crate::node::Kind;

/// The fields of `wait`.
pub(crate) const WAIT: &[&str] = &["for", "until", "event", "matching"];

/// The fields of `approve`.
pub(crate) const APPROVE: &[&str] = &["question", "who", "count", "not_starter", "form", "deadline", "then"];

/// The fields of `notify`.
pub(crate) const NOTIFY: &[&str] = &["to", "text"];

/// The fields of `merge`.
pub(crate) const MERGE: &[&str] = &["branch"];

/// The fields of `call`.
pub(crate) const CALL: &[&str] = &["recipe", "inputs"];

/// The fields of `end`.
pub(crate) const END: &[&str] = &["success", "reason"];

/// The events that can be waited for.
pub(crate) const EVENTS: &[&str] =
    &["task_done", "task_failed", "activity_blocked", "activity_completed", "execution_ended", "push", "webhook"];

/// What happens at a deadline, as it is written.
pub(crate) const THEN: &[(&str, AtDeadline)] =
    &[("fail", AtDeadline::Fail), ("approve", AtDeadline::Approve), ("reject", AtDeadline::Reject)];

/// How an execution ends, as it is written.
pub(crate) const ENDS: &[(&str, bool)] = &[("success", true), ("failure", false)];

/// How many people may be named.
pub(crate) const PEOPLE: usize = 50;

impl<'n> Reader<'n> {
    pub(super) fn wait(&mut self, at: &At<'n>) -> Option<Action> {
        if let Some(text) = at.node.text() {
            let said = "is a text; expected a mapping with `for`, `until` or `event`";
            let field = if super::span::parse(text).is_ok() { "for" } else { "until" };
            self.error(at.say(said).instead(format!("{{{field}: {}}}", super::at::short(text))));
            return None;
        }
        let fields = self.fields(at, "`wait`", WAIT)?;
        let count = ["for", "until", "event"].iter().filter(|name| fields.has(name)).count();
        if count != 1 {
            self.error(at.say(format!("has {count} of `for`, `until` and `event`; expected exactly one")));
        }
        let span = fields.get("for").and_then(|at| self.wait_span(&at));
        let until = fields.get("until").and_then(|at| self.until(&at));
        let event = fields.get("event").and_then(|at| {
            let words: Vec<(&str, &str)> = EVENTS.iter().map(|name| (*name, *name)).collect();
            self.word(&at, &words)
        });
        self.locals.push("event".to_owned());
        let matching = fields.get("matching").and_then(|at| self.expr(&at));
        self.locals.pop();
        if let Some(at) = fields.get("matching").filter(|_| !fields.has("event")) {
            self.error(at.say("belongs to an `event`, and there is none"));
        }
        let event = event.map(|kind| Awaited { kind: kind.to_owned(), matching });
        Some(Action::Wait(Wait { span, until, event })).filter(|_| count == 1)
    }

    fn wait_span(&mut self, at: &At<'n>) -> Option<Template> {
        if at.node.text().is_some_and(|text| text.contains('{')) {
            return self.template(at);
        }
        self.span(at, limits::RUNNING)?;
        at.node.text().map(|text| Template(text.to_owned()))
    }

    fn until(&mut self, at: &At<'n>) -> Option<Template> {
        let text = self.text(at)?;
        if text.contains('{') {
            return self.template(at);
        }
        match text.parse::<domain::Timestamp>() {
            Ok(_) => Some(Template(text)),
            Err(why) => {
                self.error(at.say(why).instead("2026-12-24T18:00:00Z"));
                None
            }
        }
    }

    pub(super) fn approve(&mut self, at: &At<'n>) -> Option<Action> {
        let fields = self.fields(at, "`approve`", APPROVE)?;
        let question = fields.needed(self, "question").and_then(|at| self.said(&at));
        let who = fields.get("who").map(|at| self.templates(&at, "names of people")).unwrap_or_default();
        let count = fields.get("count").and_then(|at| self.whole(&at, 1, PEOPLE as u32)).unwrap_or(1);
        if who.len() > PEOPLE {
            self.error(at.say(format!("names {} people; the limit is {PEOPLE}", who.len())));
        }
        if let Some(at) = fields.get("count").filter(|_| !who.is_empty() && count as usize > who.len()) {
            self.error(at.say(format!("is {count}, but `who` names only {}", who.len())));
        }
        let not_starter = fields.get("not_starter").and_then(|at| self.boolean(&at)).unwrap_or_default();
        let form = fields.get("form").and_then(|at| self.typed(&at, "form"));
        let deadline = fields.get("deadline").and_then(|at| self.span(&at, limits::RUNNING));
        let then = fields.get("then").and_then(|at| self.word(&at, THEN)).unwrap_or_default();
        if let Some(at) = fields.get("then").filter(|_| !fields.has("deadline")) {
            self.error(at.say("belongs to a `deadline`, and there is none").instead("deadline: 2d"));
        }
        Some(Action::Approve(Approve { question: question?, who, count, not_starter, form, deadline, then }))
    }

    pub(super) fn notify(&mut self, at: &At<'n>) -> Option<Action> {
        if let Some(text) = at.node.text() {
            let said = "is a text; expected a mapping with `to` and `text`";
            self.error(at.say(said).instead(format!("{{to: chat, text: \"{}\"}}", super::at::short(text))));
            return None;
        }
        let fields = self.fields(at, "`notify`", NOTIFY)?;
        let to = fields.needed(self, "to").and_then(|at| self.said(&at));
        let text = fields.needed(self, "text").and_then(|at| self.said(&at));
        Some(Action::Notify { to: to?, text: text? })
    }

    pub(super) fn merge(&mut self, at: &At<'n>) -> Option<Action> {
        if let Some(text) = at.node.text() {
            let instead = match self.known.steps.iter().any(|step| step.id == text) {
                true => format!("{{branch: \"{{{{ steps.{text}.output.branch }}}}\"}}"),
                false => format!("{{branch: \"{}\"}}", super::at::short(text)),
            };
            self.error(at.say("is a text; expected a mapping with `branch`").instead(instead));
            return None;
        }
        let fields = self.fields(at, "`merge`", MERGE)?;
        let branch = fields.needed(self, "branch").and_then(|at| self.said(&at))?;
        Some(Action::Merge { branch })
    }

    pub(super) fn call(&mut self, at: &At<'n>) -> Option<Action> {
        if let Some(text) = at.node.text() {
            let said = "is a text; expected a mapping with `recipe`";
            self.error(at.say(said).instead(format!("{{recipe: {}}}", super::at::short(text))));
            return None;
        }
        let fields = self.fields(at, "`call`", CALL)?;
        let recipe = fields.needed(self, "recipe").and_then(|at| {
            if at.node.text().is_some_and(|text| text.contains('{')) {
                let said = "must be a name that is known when the recipe is saved, not an expression; use `branch`";
                self.error(at.say(said));
                return None;
            }
            self.recipe_name(&at)
        });
        let inputs = fields.get("inputs").map(|at| {
            let entries = self.entries(&at, "the inputs by name");
            entries.into_iter().map(|(field, at)| (field.name.clone(), self.value(&at))).collect()
        });
        Some(Action::Call { recipe: recipe?, inputs: inputs.unwrap_or_default() })
    }

    pub(super) fn end(&mut self, at: &At<'n>) -> Option<Action> {
        if let Kind::Text(_) = at.node.kind {
            let success = self.word(at, ENDS)?;
            return Some(Action::End { success, reason: None });
        }
        if let Kind::Bool(success) = at.node.kind {
            let word = if success { "success" } else { "failure" };
            self.error(at.say("is true or false; expected success, failure, or a mapping").instead(word));
            return None;
        }
        let fields = self.fields(at, "`end`", END)?;
        let success = fields.needed(self, "success").and_then(|at| self.boolean(&at));
        let reason = fields.get("reason").and_then(|at| self.said(&at));
        Some(Action::End { success: success?, reason })
    }
}
