//! The envelope that all kinds of steps share.

use engine::recipes::ErrorKind;
use engine::recipes::limits;
use engine::recipes::model::{Action, Backoff, Idempotency, Retry, Step};

use super::{At, Reader};

/// The fields of every step.
pub(crate) const ENVELOPE: &[&str] =
    &["id", "if", "timeout", "retry", "continue_on_error", "output", "needs", "idempotency"];

/// The fields of `retry`.
pub(crate) const RETRY: &[&str] = &["attempts", "backoff", "first", "max", "jitter", "on"];

/// The fields of `output`.
pub(crate) const OUTPUT: &[&str] = &["schema"];

/// How the wait between two attempts grows, as it is written.
pub(crate) const BACKOFF: &[(&str, Backoff)] =
    &[("fixed", Backoff::Fixed), ("linear", Backoff::Linear), ("exponential", Backoff::Exponential)];

/// What a crash in the middle means, as it is written.
pub(crate) const IDEMPOTENCY: &[(&str, Idempotency)] =
    &[("at_least_once", Idempotency::AtLeastOnce), ("at_most_once", Idempotency::AtMostOnce)];

/// The kinds of errors, as they are written.
pub(crate) const ERRORS: &[(&str, ErrorKind)] = &[
    ("failed", ErrorKind::Failed),
    ("timeout", ErrorKind::Timeout),
    ("lost", ErrorKind::Lost),
    ("rejected", ErrorKind::Rejected),
    ("output", ErrorKind::Output),
    ("expression", ErrorKind::Expression),
    ("refused", ErrorKind::Refused),
    ("limit", ErrorKind::Limit),
];

impl<'n> Reader<'n> {
    /// The envelope, in a step whose id and action are still open.
    pub(super) fn envelope(&mut self, at: &At<'n>, kind: &str) -> Step {
        let get = |name: &str| at.node.field(name).map(|node| at.below(name, node));
        let when = get("if").and_then(|at| self.expr(&at));
        let timeout = get("timeout").and_then(|at| self.span(&at, limits::RUNNING));
        let retry = get("retry").and_then(|at| self.retry(&at)).unwrap_or_default();
        let continue_on_error = get("continue_on_error").and_then(|at| self.boolean(&at)).unwrap_or_default();
        let output = get("output").and_then(|at| self.typed(&at, "output"));
        let needs = get("needs").map(|at| self.needs(&at, kind)).unwrap_or_default();
        let idempotency = get("idempotency").and_then(|at| self.idempotency(&at, kind));
        let action = Action::End { success: true, reason: None };
        let idempotency = idempotency.unwrap_or_else(|| usual(kind));
        Step { id: String::new(), when, timeout, retry, continue_on_error, output, needs, idempotency, action }
    }

    fn retry(&mut self, at: &At<'n>) -> Option<Retry> {
        if let crate::node::Kind::Number(number) = &at.node.kind {
            self.error(at.say("is a number; expected a mapping").instead(format!("{{attempts: {number}}}")));
            return None;
        }
        let fields = self.fields(at, "`retry`", RETRY)?;
        let usual = Retry::default();
        let attempts = fields.needed(self, "attempts").and_then(|at| self.whole(&at, 1, limits::ATTEMPTS));
        let backoff = fields.get("backoff").and_then(|at| self.word(&at, BACKOFF));
        let first = fields.get("first").and_then(|at| self.span(&at, limits::RUNNING));
        let max = fields.get("max").and_then(|at| self.span(&at, limits::RUNNING));
        let jitter = fields.get("jitter").and_then(|at| self.whole(&at, 0, 100));
        let on = fields.get("on").map(|at| {
            let items = self.list(&at, "kinds of errors", 1).unwrap_or_default();
            items.iter().filter_map(|item| self.word(item, ERRORS)).collect()
        });
        let first = first.unwrap_or(usual.first);
        if let Some((at, max)) = fields.get("max").zip(max).filter(|(_, max)| *max < first) {
            let said = format!("is {}, less than the first wait of {}", super::span::say(max), super::span::say(first));
            self.error(at.say(said));
        }
        Some(Retry {
            attempts: attempts?,
            backoff: backoff.unwrap_or(usual.backoff),
            first,
            max: max.unwrap_or(usual.max.max(first)),
            jitter: jitter.unwrap_or(usual.jitter),
            on: on.unwrap_or_default(),
        })
    }

    /// `{schema: …}`
    pub(super) fn typed(&mut self, at: &At<'n>, what: &str) -> Option<serde_json::Value> {
        if at.node.field("type").is_some() && at.node.field("schema").is_none() {
            let said = format!("is a JSON Schema; expected `{what}` to have it below `schema`");
            self.error(at.say(said).instead(format!("{what}: {{schema: …}}")));
            return None;
        }
        let fields = self.fields(at, &format!("`{what}`"), OUTPUT)?;
        fields.needed(self, "schema").and_then(|at| self.schema(&at))
    }

    fn needs(&mut self, at: &At<'n>, kind: &str) -> Vec<String> {
        if !["agent", "run", "task"].contains(&kind) {
            self.warnings.push(at.say(format!("has no effect: `{kind}` runs on no runner")));
        }
        let needs = self.texts(at, "abilities of a runner, such as `rust`");
        if needs.len() > 20 {
            self.error(at.say(format!("has {}; the limit is 20", needs.len())));
        }
        needs
    }

    fn idempotency(&mut self, at: &At<'n>, kind: &str) -> Option<Idempotency> {
        if ["branch", "parallel", "for_each", "wait", "approve", "end"].contains(&kind) {
            self.warnings.push(at.say(format!("has no effect: `{kind}` does nothing outside of the execution")));
        }
        self.word(at, IDEMPOTENCY)
    }
}

/// What a kind of step is unless it says otherwise.
pub(crate) fn usual(kind: &str) -> Idempotency {
    match kind {
        "agent" | "notify" | "merge" => Idempotency::AtMostOnce,
        _ => Idempotency::AtLeastOnce,
    }
}
