//! Tasks for the queue and acceptance criteria, by the grammar of plans.

use engine::recipes::model::Action;
use serde_json::{Map, Value as Json, json};

use super::mask::Mask;
use super::{At, Reader};
use crate::node::{Kind, Node};

/// The fields of a task.
pub(crate) const TASK: &[&str] =
    &["id", "title", "description", "context", "accept", "files", "after", "priority", "needs"];

/// The field of many tasks.
pub(crate) const TASKS: &[&str] = &["tasks"];

/// What the grammar of plans calls fields.
const PLAN_WORDS: &[(&str, &str)] = &[("acceptance", "accept"), ("deps", "after")];

impl<'n> Reader<'n> {
    pub(super) fn task(&mut self, at: &At<'n>) -> Option<Action> {
        let places = match (&at.node.kind, at.node.field("tasks")) {
            (Kind::Fields(_), Some(tasks)) => {
                self.fields(at, "many tasks", TASKS)?;
                let list = at.below("tasks", tasks);
                if let Some(text) = tasks.text().filter(|text| crate::source::alone(text).is_some()) {
                    self.value(&list);
                    return Some(Action::Task { tasks: vec![text.into()] });
                }
                self.list(&list, "tasks, or an expression that gives one", 1)?
            }
            (Kind::Fields(_), None) => vec![at.clone()],
            (Kind::List(_), _) => {
                self.error(
                    at.say("is a list; expected a task, or `tasks` with a list of tasks").instead("{tasks: […]}"),
                );
                return None;
            }
            _ => {
                self.error(at.say(format!("is {}; expected a task: a mapping with a title", at.node.what())));
                return None;
            }
        };
        let tasks: Vec<Option<Json>> = places.iter().map(|place| self.one_task(place)).collect();
        let tasks: Vec<Json> = tasks.into_iter().collect::<Option<_>>()?;
        self.as_plan(&tasks, |task, rest| places.get(task).map(|at| below(at, rest)));
        Some(Action::Task { tasks })
    }

    /// A task, as `task add` takes it.
    fn one_task(&mut self, at: &At<'n>) -> Option<Json> {
        let fields = self.fields(at, "a task", TASK)?;
        let before = self.errors.len();
        let mut task = Map::new();
        let title = fields.get("title").and_then(|at| self.said(&at));
        let text = fields.get("description").and_then(|at| self.said(&at));
        if !fields.has("title") && !fields.has("description") {
            self.error(at.below("title", at.node).say("is missing: say what is to be done"));
        }
        let whole: Vec<String> = title.into_iter().chain(text).map(|text| text.0).collect();
        task.insert("description".to_owned(), whole.join("\n\n").into());
        if let Some(id) = fields.get("id").and_then(|at| self.visible(&at)) {
            task.insert("id".to_owned(), id.into());
        }
        if let Some(context) = fields.get("context").and_then(|at| self.template(&at)) {
            task.insert("context".to_owned(), context.0.into());
        }
        if let Some(at) = fields.get("accept") {
            task.insert("acceptance".to_owned(), self.criteria(&at).into());
        }
        for (name, wire) in [("files", "files"), ("after", "deps")] {
            if let Some(at) = fields.get(name) {
                let texts = self.templates(&at, "texts").into_iter().map(|text| Json::String(text.0));
                task.insert(wire.to_owned(), texts.collect());
            }
        }
        if let Some(at) = fields.get("needs") {
            let needs = self.texts(&at, "abilities of a worker");
            task.insert("needs".to_owned(), needs.into());
        }
        if let Some(priority) = fields.get("priority").and_then(|at| self.whole(&at, 0, 9)) {
            task.insert("priority".to_owned(), priority.into());
        }
        (self.errors.len() == before).then_some(Json::Object(task))
    }

    /// Acceptance criteria of an agent step, checked.
    pub(super) fn accept(&mut self, at: &At<'n>) -> Vec<Json> {
        let before = self.errors.len();
        let criteria = self.criteria(at);
        if self.errors.len() == before {
            let task = json!({ "description": "x", "acceptance": criteria });
            self.as_plan(&[task], |_, rest| Some(below(at, rest.strip_prefix("acceptance").unwrap_or(rest))));
        }
        criteria
    }

    /// Patterns of files, checked.
    pub(super) fn check_files(&mut self, at: &At<'n>) {
        let files: Vec<&str> = at.node.list().unwrap_or_default().iter().filter_map(Node::text).collect();
        let task = json!({ "description": "x", "files": files });
        self.as_plan(&[task], |_, rest| Some(below(at, rest.strip_prefix("files").unwrap_or(rest))));
    }

    /// A list of criteria: lines such as `command: make test`, or mappings with a `kind`.
    fn criteria(&mut self, at: &At<'n>) -> Vec<Json> {
        let items = self.list(at, "acceptance criteria, such as `\"command: make test\"`", 0).unwrap_or_default();
        items.iter().filter_map(|item| self.criterion(item)).collect()
    }

    fn criterion(&mut self, at: &At<'n>) -> Option<Json> {
        if let Kind::Fields(fields) = &at.node.kind {
            // `command: make test` without quotes is a mapping.
            if at.node.field("kind").is_none() && fields.len() == 1 {
                let line = fields[0].value.text().map(|value| format!("\"{}: {value}\"", fields[0].name));
                let finding = at.say("is a mapping without a `kind`; put quotes around a criterion of one line");
                self.error(finding.perhaps(line));
                return None;
            }
            return Some(self.value(at).0);
        }
        let line = self.said(at)?.0;
        let mask = Mask::of(&line);
        let criterion = match plan::criterion(&mask.text) {
            Ok(criterion) => criterion,
            Err(why) => {
                self.error(at.say(mask.back(&why)));
                return None;
            }
        };
        let mut criterion = serde_json::to_value(criterion).ok()?;
        // The argv of a criterion that is one expression alone is the list that it gives.
        let alone = criterion["argv"].as_array().filter(|argv| argv.len() == 1).and_then(|argv| argv[0].as_str());
        if let Some(word) = alone.map(|word| mask.back(word)).filter(|word| crate::source::alone(word).is_some()) {
            criterion["argv"] = Json::String(word);
        }
        Some(mask.back_all(criterion))
    }

    /// Checks tasks as a plan is checked; `place` finds what a path inside of a task stands for.
    fn as_plan(&mut self, tasks: &[Json], place: impl Fn(usize, &str) -> Option<At<'n>>) {
        let plain: Vec<Json> = tasks.iter().map(without_templates).collect();
        let Ok(text) = serde_json::to_vec(&plain) else { return };
        for fault in plan::read(&text, "", Some(plan::Format::Json)).faults {
            let (task, rest) = split(&fault.path).unwrap_or((0, ""));
            let Some(at) = place(task, rest) else { continue };
            self.error(at.say(fault.reason));
        }
    }
}

/// `tasks[3].deps[0]` as 3 and `deps[0]`.
fn split(path: &str) -> Option<(usize, &str)> {
    let (task, rest) = path.strip_prefix("tasks[")?.split_once(']')?;
    Some((task.parse().ok()?, rest.trim_start_matches('.')))
}

/// The value at a path below another, as deep as it goes.
fn below<'n>(at: &At<'n>, path: &str) -> At<'n> {
    let mut at = at.clone();
    for part in path.split(['.', '[', ']']).filter(|part| !part.is_empty()) {
        let name = PLAN_WORDS.iter().find(|(plan, _)| *plan == part).map_or(part, |(_, ours)| ours);
        let next = match part.parse::<usize>() {
            Ok(number) => at.node.list().and_then(|items| items.get(number)).map(|node| at.item(number, node)),
            Err(_) => at.node.field(name).map(|node| at.below(name, node)),
        };
        match next {
            Some(next) => at = next,
            None => return at,
        }
    }
    at
}

/// A task whose templates stand for something harmless.
fn without_templates(task: &Json) -> Json {
    fn plain(name: &str, value: &Json) -> Json {
        match value {
            // Any name of a task that may exist.
            Json::String(text) if name == "deps" && text.contains('{') => "X-1".into(),
            Json::String(text) if name == "argv" && text.contains('{') => json!(["x"]),
            Json::String(text) => Mask::of(text).filled("x").into(),
            Json::Array(items) => {
                items.iter().map(|item| plain(if name == "deps" { name } else { "" }, item)).collect()
            }
            Json::Object(fields) => {
                Json::Object(fields.iter().map(|(name, value)| (name.clone(), plain(name, value))).collect())
            }
            other => other.clone(),
        }
    }
    plain("", task)
}
