//! The format of an adapter's file. `docs/agents.md` describes every key.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::cause::CauseRule;
use crate::error::AdapterError;
use crate::event::EventRule;
use crate::json::Conditions;
use crate::launch::Autonomy;
use crate::limit::LimitRule;
use crate::screen::ScreenRule;
use crate::shape::Shape;
use crate::template::Template;

/// How to start, understand and resume one coding-agent CLI.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// Its name in commands, as in `--agent codex`.
    pub name: Name,
    /// Its label for people.
    pub label: String,
    /// How to install it, shown if it is missing.
    #[serde(default)]
    pub install: String,
    /// The program and its fixed arguments.
    #[serde(default)]
    pub(crate) command: Vec<Arg>,
    /// The arguments that print the program's version.
    #[serde(default)]
    pub(crate) version: Vec<String>,
    /// Variables of the person's environment that this agent needs to log in or to find its files; `X_*` is a prefix.
    #[serde(default)]
    pub(crate) credentials: Vec<String>,
    /// Where the agent keeps its own state, private to it inside a sandbox; `~/` and `$NAME/` are understood.
    #[serde(default)]
    pub(crate) state: Vec<String>,
    /// The person's settings in there, readable inside a sandbox.
    #[serde(default)]
    pub(crate) settings: Vec<String>,
    /// Files with the person's login, shared even inside a sandbox.
    #[serde(default)]
    pub(crate) login: Vec<String>,
    /// Variables to set.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, Template>,
    /// JSON documents, for `{json.NAME}` and `{file.NAME}`.
    #[serde(default)]
    pub(crate) json: BTreeMap<String, Shape>,
    /// What `{autonomy}` stands for.
    #[serde(default)]
    pub(crate) autonomy: Autonomies,
    /// The autonomies with which the agent can commit; absent: all.
    pub(crate) commits: Option<Vec<Autonomy>>,
    pub(crate) mcp: Option<Mcp>,
    pub(crate) interactive: Option<Start>,
    pub(crate) headless: Option<Start>,
    pub(crate) log: Option<Log>,
    /// What its screen means; the first matching rule counts.
    #[serde(default)]
    pub(crate) screen: Vec<ScreenRule>,
    /// What its structured lines mean; every matching rule counts.
    #[serde(default)]
    pub(crate) event: Vec<EventRule>,
    /// How to recognize a provider's limit in an error; the first match counts, then the common rules.
    #[serde(default)]
    pub(crate) limit: Vec<LimitRule>,
    /// How to recognize hold-ups by their words; the first match counts, then the common rules.
    #[serde(default)]
    pub(crate) cause: Vec<CauseRule>,
    /// How a person logs in to it on a machine, shown if the login is missing.
    #[serde(default)]
    pub login_command: String,
    /// The source text.
    #[serde(skip)]
    pub(crate) source: String,
}

/// An adapter's name: lower-case letters, digits and `-`, at most 32.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(String);

/// How to start a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// With the agent's own screen, for a person.
    Interactive,
    /// One prompt, run to its end.
    Headless,
}

/// The arguments of one mode, and how the prompt is delivered.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {
    #[serde(default)]
    pub(crate) args: Vec<Arg>,
    #[serde(default)]
    pub(crate) prompt: PromptWay,
    /// Whether standard output is JSON lines, which `[[event]]` rules describe.
    #[serde(default)]
    pub(crate) lines: bool,
    /// The screen on which a prompt may be pasted.
    pub(crate) ready: Option<ScreenRule>,
    /// The keys that submit a pasted prompt.
    pub(crate) submit: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PromptWay {
    #[default]
    None,
    Stdin,
    Paste,
}

/// One argument, or several that belong together.
#[derive(Debug, Clone)]
pub(crate) struct Arg(pub(crate) Vec<Template>);

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Autonomies {
    #[serde(default)]
    pub(crate) read: Vec<Arg>,
    #[serde(default)]
    pub(crate) ask: Vec<Arg>,
    #[serde(default)]
    pub(crate) edit: Vec<Arg>,
    #[serde(default)]
    pub(crate) full: Vec<Arg>,
}

/// How to pass MCP servers to the agent.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mcp {
    /// One server in the agent's format.
    pub(crate) server: Shape,
    /// Arguments for each server, where `{mcp}` stands among the arguments.
    #[serde(default)]
    pub(crate) args: Vec<Template>,
    /// Whether the servers' variables go into the agent's own environment, because `server` only names them.
    #[serde(default)]
    pub(crate) share_env: bool,
    /// How `server` refers to a variable of the agent's environment, so that no secret is written down.
    pub(crate) variable: Option<Template>,
}

/// The agent's own log of a conversation, for `[[event]]` rules.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Log {
    /// The folder; `~/` and `$NAME/` are understood, and `$NAME/` falls through to the next one when it is not set.
    pub(crate) folders: Vec<String>,
    /// What such a file's name ends with.
    pub(crate) suffix: String,
    /// What must hold for one of its first lines.
    #[serde(default)]
    pub(crate) when: Conditions,
    /// Where such a line names the workspace.
    pub(crate) workspace: String,
}

impl Adapter {
    /// Parses an adapter; `file` is only used in errors.
    pub fn parse(file: &Path, text: &str) -> Result<Self, AdapterError> {
        let mut adapter: Self = toml::from_str(text).map_err(|error| AdapterError::of_toml(file, text, &error))?;
        adapter.source = text.to_owned();
        if let Some((word, message)) = adapter.fault() {
            let start = text.find(&word).unwrap_or(0);
            return Err(AdapterError::at(file, text, start..start, &message));
        }
        Ok(adapter)
    }

    /// How it starts in this mode, if it can.
    pub(crate) fn start(&self, mode: Mode) -> Option<&Start> {
        match mode {
            Mode::Interactive => self.interactive.as_ref(),
            Mode::Headless => self.headless.as_ref(),
        }
    }

    /// Whether it can be started in this mode.
    pub fn supports(&self, mode: Mode) -> bool {
        self.start(mode).is_some()
    }

    /// Whether it can resume a conversation in this mode.
    pub fn resumes(&self, mode: Mode) -> bool {
        self.names(mode, "conversation")
    }

    /// Whether a conversation of it can be resumed for a question, with arguments that keep it from changing anything.
    pub fn can_be_asked(&self) -> bool {
        let way = Mode::Headless;
        !self.autonomy.read.is_empty() && self.resumes(way) && self.takes_prompt(way) && self.names(way, "autonomy")
    }

    fn names(&self, mode: Mode, name: &str) -> bool {
        self.start(mode).is_some_and(|start| start.args.iter().any(|arg| arg.names().any(|named| named == name)))
    }

    /// Whether it runs a given command in this mode.
    pub fn takes_argv(&self, mode: Mode) -> bool {
        let args = self.start(mode).into_iter().flat_map(|start| &start.args).chain(&self.command);
        args.flat_map(Arg::names).any(|name| name == "argv" || name == "shell")
    }

    /// Whether a prompt can be delivered in this mode.
    pub fn takes_prompt(&self, mode: Mode) -> bool {
        let Some(start) = self.start(mode) else { return false };
        let args = self.command.iter().chain(&start.args).flat_map(Arg::names);
        let elsewhere = self.env.values().chain(self.json.values().flat_map(Shape::templates));
        let named = args.chain(elsewhere.flat_map(Template::names)).any(|name| name == "prompt_file");
        start.prompt != PromptWay::None || named
    }

    /// Whether its sessions report token usage in this mode.
    pub fn counts(&self, mode: Mode) -> bool {
        let tokens = |rule: &EventRule| [&rule.input, &rule.cached, &rule.output].iter().any(|paths| !paths.is_empty());
        self.hears(mode, |rule| rule.cost.is_some() || tokens(rule))
    }

    /// Whether its sessions report their cost in this mode.
    pub fn tells_cost(&self, mode: Mode) -> bool {
        self.hears(mode, |rule| rule.cost.is_some())
    }

    /// Whether one of its rules matches, and its lines or its log are read in this mode.
    fn hears(&self, mode: Mode, is: impl FnMut(&EventRule) -> bool) -> bool {
        let heard = self.start(mode).is_some_and(|start| start.lines || self.log.is_some());
        heard && self.event.iter().any(is)
    }

    /// Whether it can commit in its workspace with this autonomy.
    pub fn commits(&self, autonomy: Autonomy) -> bool {
        self.commits.as_ref().is_none_or(|with| with.contains(&autonomy))
    }

    /// The program that it needs, if it is always the same.
    pub fn program(&self) -> Option<String> {
        self.command.first()?.0.first()?.fill(|_| None)
    }

    /// Where the agent keeps its own state, by the person's variables.
    pub fn state_folders(&self, env: &BTreeMap<String, String>) -> Vec<PathBuf> {
        // A variable that names a folder replaces the default one, so each folder counts once.
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in self.state.iter().filter_map(|folder| crate::log::expand(folder, env)) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }

    /// All templates, for checks.
    pub(crate) fn templates(&self) -> Vec<&Template> {
        let starts = [&self.interactive, &self.headless].into_iter().flatten();
        let Autonomies { read, ask, edit, full } = &self.autonomy;
        let autonomy = [read, ask, edit, full].into_iter().flatten();
        let args = self.command.iter().chain(starts.flat_map(|start| &start.args)).chain(autonomy);
        let args = args.flat_map(|arg| &arg.0);
        let mcp = self.mcp.iter().flat_map(|mcp| mcp.args.iter().chain(&mcp.variable).chain(mcp.server.templates()));
        let json = self.json.values().flat_map(Shape::templates);
        args.chain(self.env.values()).chain(mcp).chain(json).collect()
    }

    /// Checks across keys: the place, and the error.
    fn fault(&self) -> Option<(String, String)> {
        if self.interactive.is_none() && self.headless.is_none() {
            return Some(("name".to_owned(), "it needs [interactive] or [headless]".to_owned()));
        }
        for (table, start) in [("[interactive]", &self.interactive), ("[headless]", &self.headless)] {
            let Some(start) = start else { continue };
            let paste = start.prompt == PromptWay::Paste;
            if paste && (start.ready.is_none() || start.submit.is_none()) {
                return Some((table.to_owned(), "prompt = \"paste\" needs `ready` and `submit`".to_owned()));
            }
            if start.lines && start.prompt == PromptWay::Paste {
                return Some((table.to_owned(), "lines = true needs prompt = \"stdin\" or \"none\"".to_owned()));
            }
        }
        let Autonomies { read, ask, edit, full } = &self.autonomy;
        let autonomies = [read, ask, edit, full];
        if autonomies.into_iter().flatten().flat_map(Arg::names).any(|name| name == "autonomy") {
            return Some(("[autonomy]".to_owned(), "{autonomy} cannot stand for itself".to_owned()));
        }
        for name in self.templates().iter().flat_map(|template| template.names()) {
            let document = name.strip_prefix("json.").or(name.strip_prefix("file."));
            if let Some(document) = document
                && !self.json.contains_key(document)
            {
                let declared: Vec<_> = self.json.keys().map(String::as_str).collect();
                let message = format!("{{{name}}} needs [json.{document}], expected one of {}", declared.join(", "));
                return Some((format!("{{{name}"), message));
            }
        }
        None
    }
}

impl Name {
    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || name.len() > 32 || name.starts_with('-') || !name.chars().all(good) {
            let message = "expected up to 32 lower-case letters, digits and `-`, beginning with a letter or digit";
            return Err(serde::de::Error::custom(message));
        }
        Ok(Self(name))
    }
}

impl Arg {
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(Template::names)
    }
}

impl<'de> Deserialize<'de> for Arg {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ArgVisitor)
    }
}

struct ArgVisitor;

impl<'de> Visitor<'de> for ArgVisitor {
    type Value = Arg;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, or a list of strings that belong together")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Arg, E> {
        Ok(Arg(vec![Template::ours(text).map_err(E::custom)?]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Arg, A::Error> {
        let mut group = Vec::new();
        while let Some(item) = items.next_element()? {
            group.push(item);
        }
        Ok(Arg(group))
    }
}

/// A regular expression, checked when the adapter is read.
#[derive(Debug, Clone)]
pub(crate) struct Pattern(pub(crate) Regex);

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let regex = regex::RegexBuilder::new(&text).multi_line(true).size_limit(1 << 20).build();
        regex.map(Self).map_err(|error| serde::de::Error::custom(format!("not a regular expression: {error}")))
    }
}
