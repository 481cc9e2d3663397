//! Checks every expression and template: its syntax, and that what it reads exists when it is evaluated.

use std::collections::HashMap;

use engine::recipes::eval::{self, Kind};
use engine::recipes::model::Expr;
use serde_json::Value as Json;

use crate::Finding;
use crate::read::{At, near, short};
use crate::scope::{Form, Known, Position, Use};
use crate::source::{self, Named};

/// What can be read of an execution, without its inputs and steps.
const EXECUTION: &[&str] = &["id", "project", "person", "started_at"];

/// What can be read of a step.
const STEP: &[&str] = &["output", "status", "attempt", "error"];

/// The names of filters for suggestions.
const FILTERS: &[&str] = &[
    "lower",
    "upper",
    "title",
    "capitalize",
    "trim",
    "length",
    "count",
    "items",
    "reverse",
    "split",
    "lines",
    "default",
    "round",
    "abs",
    "int",
    "float",
    "bool",
    "first",
    "last",
    "min",
    "max",
    "sort",
    "list",
    "unique",
    "sum",
    "select",
    "reject",
    "selectattr",
    "rejectattr",
    "join",
    "replace",
    "string",
    "tojson",
    "indent",
    "map",
    "times",
];

/// The names of tests for suggestions.
const TESTS: &[&str] = &[
    "defined",
    "undefined",
    "none",
    "boolean",
    "odd",
    "even",
    "number",
    "integer",
    "string",
    "sequence",
    "mapping",
    "startingwith",
    "endingwith",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "in",
    "true",
    "false",
];

/// The errors of all uses.
pub(crate) fn uses(uses: &[Use<'_>], known: &Known) -> Vec<Finding> {
    let mut checker = Checker { known, words: HashMap::new(), errors: Vec::new() };
    uses.iter().for_each(|using| checker.one(using));
    checker.errors
}

/// The errors of all workspaces of other steps.
pub(crate) fn places(places: &[(At<'_>, String, Position)], known: &Known) -> Vec<Finding> {
    let wrong = |(at, id, position): &(At<'_>, String, Position)| match known.usable(id, position) {
        Ok(step) if ["agent", "run", "task"].contains(&step.kind) => None,
        Ok(step) => Some(at.say(format!("`{id}` is a step `{}`, which has no workspace", step.kind))),
        Err(unusable) => {
            let finding = at.say(unusable.why);
            let instead = unusable.instead.and_then(|instead| instead.strip_prefix("steps.").map(str::to_owned));
            Some(finding.perhaps(instead.filter(|instead| !instead.contains('.'))))
        }
    };
    places.iter().filter_map(wrong).collect()
}

struct Checker<'a> {
    known: &'a Known,
    /// Filters and tests that were asked for, with whether they exist.
    words: HashMap<(bool, String), bool>,
    errors: Vec<Finding>,
}

impl Checker<'_> {
    fn one(&mut self, using: &Use<'_>) {
        let Some(text) = using.at.node.text() else { return };
        let kind = match using.form {
            Form::Expr => Kind::Expression,
            Form::Template => Kind::Template,
        };
        if kind == Kind::Template && !text.contains('{') && text.len() <= engine::recipes::limits::SOURCE {
            return;
        }
        let code = source::code(text, using.form);
        match eval::variables(text, kind) {
            Ok(variables) => {
                // `inputs.issue` says everything that `inputs` says.
                let longest = |name: &&String| {
                    !variables
                        .iter()
                        .any(|other| other.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('.')))
                };
                variables.iter().filter(longest).for_each(|name| self.variable(using, &code, name));
                // minijinja counts it as a variable of every template.
                if let Some(byte) = source::find(&code, "self").filter(|_| !variables.iter().any(|it| it == "self")) {
                    self.errors.push(self.stranger(using, &code, "self", byte));
                }
                self.words(using, &code);
            }
            Err(error) => {
                let line = error.line.unwrap_or(1).max(1);
                let begin = text.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>();
                let first = code.get(begin..).and_then(|code| code.find(|c| c != ' ')).map_or(begin, |at| begin + at);
                let what = if kind == Kind::Expression { "this expression" } else { "this text" };
                self.errors.push(using.at.say_inside(first, format!("{what} cannot be evaluated: {}", error.message)));
            }
        }
    }

    fn variable(&mut self, using: &Use<'_>, code: &str, name: &str) {
        let mut parts = name.split('.');
        let root = parts.next().unwrap_or_default();
        let (first, second) = (parts.next(), parts.next());
        let byte = source::find(code, name).or_else(|| source::find(code, root)).unwrap_or(0);
        let say = |message: String| using.at.say_inside(byte, message);
        if using.locals.iter().any(|local| local == root) {
            return;
        }
        let finding = match (root, first, second) {
            ("inputs", None, _) => None,
            ("inputs", Some(input), _) => {
                let inputs = || self.known.inputs.iter().map(String::as_str);
                if inputs().any(|known| known == input) {
                    return;
                }
                let said = match self.known.inputs.is_empty() {
                    true => format!("there is no input `{}`: the recipe has no inputs", short(input)),
                    false => {
                        format!("there is no input `{}`: the recipe has {}", short(input), self.known.inputs.join(", "))
                    }
                };
                Some(say(said).perhaps(near(input, inputs()).map(|near| format!("inputs.{near}"))))
            }
            ("steps", Some(id), member) => match self.known.usable(id, &using.position) {
                Err(unusable) => Some(say(unusable.why).perhaps(unusable.instead)),
                Ok(_) if member.is_some_and(|member| STEP.contains(&member)) => None,
                Ok(_) => {
                    let said = format!("a step has {}; what it leaves is in its `output`", STEP.join(", "));
                    let rest = name.splitn(3, '.').nth(2).map(|rest| format!(".{rest}")).unwrap_or_default();
                    let meant = member.and_then(|member| WORDS.iter().find(|(word, _)| *word == member));
                    let instead = match meant.or(Some(&("", "output")).filter(|_| member.is_none())) {
                        Some((_, meant)) => format!("steps.{id}.{meant}"),
                        None => format!("steps.{id}.output{rest}"),
                    };
                    Some(say(said).instead(instead))
                }
            },
            ("execution", Some(field), _) if !EXECUTION.contains(&field) => {
                let said = format!("an execution has no `{}`; it has {}", short(field), EXECUTION.join(", "));
                let meant = near(field, EXECUTION.iter().copied()).map(|near| format!("execution.{near}"));
                Some(say(said).perhaps(meant))
            }
            ("execution" | "trigger", ..) => None,
            _ => Some(self.stranger(using, code, root, byte)),
        };
        self.errors.extend(finding);
    }

    /// A name that is no variable.
    fn stranger(&self, using: &Use<'_>, code: &str, root: &str, byte: usize) -> Finding {
        let called = code.get(byte + root.len()..).is_some_and(|rest| rest.trim_start().starts_with('('));
        if called {
            let said = format!(
                "there is no function `{}`: expressions have filters, such as `inputs.list|length`",
                short(root)
            );
            let filter = near(root, FILTERS.iter().copied()).map(|near| format!("…|{near}"));
            let finding = using.at.say_inside(byte, said);
            return finding.perhaps(filter);
        }
        let mut names = vec!["inputs", "steps", "execution", "trigger"];
        names.extend(using.locals.iter().map(String::as_str));
        let said = match root {
            "event" => "`event` exists only in the `matching` of a wait".to_owned(),
            "item" => "`item` exists only in the steps and the key of a `for_each`".to_owned(),
            _ => format!("there is no variable `{}`; there are {}", short(root), names.join(", ")),
        };
        let finding = using.at.say_inside(byte, said);
        if self.known.inputs.iter().any(|input| input == root) {
            return finding.instead(format!("inputs.{root}"));
        }
        if self.known.steps.iter().any(|step| step.id == root) {
            return finding.instead(format!("steps.{root}.output"));
        }
        finding.perhaps(near(root, names))
    }

    fn words(&mut self, using: &Use<'_>, code: &str) {
        for kind in [Named::Filter, Named::Test] {
            for (byte, name) in source::names(code, kind) {
                let filter = kind == Named::Filter;
                let known = self.words.entry((filter, name.to_owned())).or_insert_with(|| exists(name, kind));
                if *known {
                    continue;
                }
                let (what, all) = if filter { ("filter", FILTERS) } else { ("test", TESTS) };
                let finding = using.at.say_inside(byte, format!("there is no {what} `{}`", short(name)));
                self.errors.push(finding.perhaps(near(name, all.iter().copied())));
            }
        }
    }
}

/// Other words for what can be read of a step.
const WORDS: &[(&str, &str)] = &[
    ("state", "status"),
    ("outcome", "status"),
    ("conclusion", "status"),
    ("result", "output"),
    ("outputs", "output"),
];

/// Whether a filter or a test exists: the evaluator itself is asked.
fn exists(name: &str, kind: Named) -> bool {
    let (text, unknown) = match kind {
        Named::Filter => (format!("'a'|{name}"), format!("filter {name} is unknown")),
        Named::Test => (format!("'a' is {name}"), format!("test {name} is unknown")),
    };
    match eval::expression(&Expr(text), &Json::Null) {
        Ok(_) => true,
        Err(error) => !error.message.contains(&unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suggested_words_exist() {
        for name in FILTERS {
            assert!(exists(name, Named::Filter), "{name}");
        }
        for name in TESTS {
            assert!(exists(name, Named::Test), "{name}");
        }
        assert!(!exists("shell", Named::Filter) && !exists("nice", Named::Test));
    }
}
