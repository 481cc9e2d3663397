//! Steps that work in a workspace: agents and commands.

use engine::recipes::model::{Action, Agent, Expr, Place, Run, Template, Value};
use serde_json::Value as Json;

use super::{At, Reader};
use crate::node::Kind;

/// The fields of `agent`.
pub(crate) const AGENT: &[&str] =
    &["profile", "agent", "model", "prompt", "prompt_file", "title", "accept", "files", "workspace"];

/// The fields of `run`.
pub(crate) const RUN: &[&str] = &["argv", "workspace"];

/// How many arguments a command may have.
pub(crate) const ARGUMENTS: usize = 500;

/// How many patterns `files` may have.
pub(crate) const FILES: usize = 200;

impl<'n> Reader<'n> {
    pub(super) fn agent(&mut self, at: &At<'n>) -> Option<Action> {
        if let Kind::Text(_) = at.node.kind {
            let profile = self.said(at)?;
            return Some(Action::Agent(Agent { profile: Some(profile), ..Agent::default() }));
        }
        let fields = self.fields(at, "`agent`", AGENT)?;
        let said = |reader: &mut Self, name: &str| fields.get(name).and_then(|at| reader.said(&at));
        let (profile, agent, model) = (said(self, "profile"), said(self, "agent"), said(self, "model"));
        let (prompt, title) = (said(self, "prompt"), said(self, "title"));
        if let Some(file) = fields.get("prompt_file") {
            let said = "a prompt in a file is put into the recipe by `shopfloor recipe check` and `recipe add`; \
                        here only `prompt` can be used";
            self.error(file.say(said).instead("prompt: |"));
        } else if !fields.has("prompt") && !fields.has("profile") {
            self.error(at.below("prompt", at.node).say("is missing: say what the agent is to do, or name a `profile`"));
        }
        let accept = fields.get("accept").map(|at| self.accept(&at)).unwrap_or_default();
        let files = fields.get("files").map(|at| self.files(&at)).unwrap_or_default();
        let workspace = fields.get("workspace").and_then(|at| self.workspace(&at)).unwrap_or_default();
        let accept = accept.into_iter().map(Value).collect();
        Some(Action::Agent(Agent { profile, agent, model, prompt, title, accept, files, workspace }))
    }

    fn files(&mut self, at: &At<'n>) -> Vec<Template> {
        let files = self.templates(at, "paths or patterns");
        if files.len() > FILES {
            self.error(at.say(format!("has {}; the limit is {FILES}", files.len())));
        }
        self.check_files(at);
        files
    }

    pub(super) fn run(&mut self, at: &At<'n>) -> Option<Action> {
        match &at.node.kind {
            Kind::Fields(_) => {}
            _ => {
                let (argv, argv_of) = self.argv(at)?;
                return Some(Action::Run(Run { argv, argv_of, workspace: Place::default() }));
            }
        }
        let fields = self.fields(at, "`run`", RUN)?;
        let argv = fields.needed(self, "argv").and_then(|at| self.argv(&at));
        let workspace = fields.get("workspace").and_then(|at| self.workspace(&at)).unwrap_or_default();
        let (argv, argv_of) = argv?;
        Some(Action::Run(Run { argv, argv_of, workspace }))
    }

    /// A program and its arguments: a list of templates, or an expression that gives a list.
    fn argv(&mut self, at: &At<'n>) -> Option<(Vec<Template>, Option<Expr>)> {
        match &at.node.kind {
            Kind::List(items) => {
                if items.is_empty() {
                    self.error(at.say("is empty; expected a program and its arguments"));
                    return None;
                }
                if items.len() > ARGUMENTS {
                    self.error(at.say(format!("has {} arguments; the limit is {ARGUMENTS}", items.len())));
                    return None;
                }
                let argv: Vec<Option<Template>> = at.items().iter().map(|item| self.template(item)).collect();
                if argv.first().is_some_and(|program| program.as_ref().is_some_and(|it| it.0.trim().is_empty())) {
                    self.error(at.item(0, &items[0]).say("is empty; expected a program"));
                }
                Some((argv.into_iter().collect::<Option<_>>()?, None))
            }
            Kind::Text(text) if crate::source::alone(&text.value).is_some() => {
                let expr = self.expr(at)?;
                Some((Vec::new(), Some(expr)))
            }
            Kind::Text(text) => {
                let said = "is a text; expected a list of the program and its arguments, because no shell runs it";
                let words = split(&text.value);
                self.error(at.say(said).instead(format!("[{}]", words.join(", "))));
                None
            }
            _ => {
                let said = format!("is {}; expected a list of the program and its arguments", at.node.what());
                self.error(at.say(said).instead("[make, test]"));
                None
            }
        }
    }

    /// `shared`, `new`, or `{of: STEP}`.
    pub(super) fn workspace(&mut self, at: &At<'n>) -> Option<Place> {
        match &at.node.kind {
            Kind::Fields(_) => {
                let fields = self.fields(at, "`workspace`", &["of"])?;
                let of = fields.needed(self, "of")?;
                let id = self.text(&of)?;
                self.places.push((of, id.clone(), self.position.clone()));
                Some(Place::Of(id))
            }
            Kind::Text(text) if !["shared", "new"].contains(&text.value.as_str()) => {
                let shown = super::at::short(&text.value);
                let said = format!("`{shown}` is not one of: shared, new, {{of: STEP}}");
                let near = super::at::near(&text.value, ["shared", "new"]);
                let instead = near.map_or_else(|| format!("{{of: {shown}}}"), str::to_owned);
                self.error(at.say(said).instead(instead));
                None
            }
            Kind::Text(text) => Some(if text.value == "new" { Place::New } else { Place::Shared }),
            _ => {
                self.error(at.say(format!("is {}; expected shared, new, or {{of: STEP}}", at.node.what())));
                None
            }
        }
    }
}

/// The words of a command line, as a list shows them.
fn split(line: &str) -> Vec<String> {
    let words = plan::words_of(line).unwrap_or_else(|_| line.split_whitespace().map(str::to_owned).collect());
    let plain = |word: &String| {
        let fits = |c: char| c.is_alphanumeric() || "-_./=+".contains(c);
        !word.is_empty() && word.chars().all(fits) && word.parse::<f64>().is_err()
    };
    let shown = |word: String| if plain(&word) { word } else { Json::String(word).to_string() };
    words.into_iter().take(20).map(shown).collect()
}
