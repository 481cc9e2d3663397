//! What an adapter's file may say. `docs/agents.md` describes every key.

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

/// How one coding-agent CLI is started, understood and resumed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// The word for it in commands, as in `--agent codex`.
    pub name: Name,
    /// What people read.
    pub label: String,
    /// How to install it, shown where it is missing.
    #[serde(default)]
    pub install: String,
    /// The program and what always follows it.
    #[serde(default)]
    pub(crate) command: Vec<Arg>,
    /// What makes the program print its version.
    #[serde(default)]
    pub(crate) version: Vec<String>,
    /// Variables of the person's environment that this agent needs to log in or to find its own files; `X_*` for all that begin so.
    #[serde(default)]
    pub(crate) credentials: Vec<String>,
    /// Where the agent keeps its own state, private to it inside a sandbox; `~/` and `$NAME/` are understood.
    #[serde(default)]
    pub(crate) state: Vec<String>,
    /// Settings of the person in there, which it reads inside a sandbox.
    #[serde(default)]
    pub(crate) settings: Vec<String>,
    /// Files with the person's login, which it shares even inside a sandbox.
    #[serde(default)]
    pub(crate) login: Vec<String>,
    /// Variables that are set for it.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, Template>,
    /// JSON documents, for `{json.NAME}` and `{file.NAME}`.
    #[serde(default)]
    pub(crate) json: BTreeMap<String, Shape>,
    /// What `{autonomy}` stands for.
    #[serde(default)]
    pub(crate) autonomy: Autonomies,
    /// The autonomies with which the agent can commit; absent: with all of them.
    pub(crate) commits: Option<Vec<Autonomy>>,
    pub(crate) mcp: Option<Mcp>,
    pub(crate) interactive: Option<Start>,
    pub(crate) headless: Option<Start>,
    pub(crate) log: Option<Log>,
    /// What its screen means; the first rule that fits counts.
    #[serde(default)]
    pub(crate) screen: Vec<ScreenRule>,
    /// What its structured lines mean; every rule that fits counts.
    #[serde(default)]
    pub(crate) event: Vec<EventRule>,
    /// How a provider's limit is known from what went wrong; the first that fits counts, then those of all agents.
    #[serde(default)]
    pub(crate) limit: Vec<LimitRule>,
    /// What held the agent up, by the words for it; the first that fits counts, then those of all agents.
    #[serde(default)]
    pub(crate) cause: Vec<CauseRule>,
    /// How a person logs in to it on a machine, shown where the login is missing.
    #[serde(default)]
    pub login_command: String,
    /// The text this was read from.
    #[serde(skip)]
    pub(crate) source: String,
}

/// An adapter's name: lower-case letters, digits and `-`, at most 32.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(String);

/// How a session is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The agent's own screen, for a person to look at and type into.
    Interactive,
    /// One prompt, run to its end.
    Headless,
}

/// The arguments of one mode, and how the prompt gets there.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {
    #[serde(default)]
    pub(crate) args: Vec<Arg>,
    #[serde(default)]
    pub(crate) prompt: PromptWay,
    /// Whether standard output is JSON lines, which `[[event]]` rules explain.
    #[serde(default)]
    pub(crate) lines: bool,
    /// The screen on which a prompt may be pasted.
    pub(crate) ready: Option<ScreenRule>,
    /// What sends a pasted prompt off.
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

/// One argument, or several that stand or fall together.
#[derive(Debug, Clone)]
pub(crate) struct Arg(pub(crate) Vec<Template>);

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Autonomies {
    #[serde(default)]
    pub(crate) ask: Vec<Arg>,
    #[serde(default)]
    pub(crate) edit: Vec<Arg>,
    #[serde(default)]
    pub(crate) full: Vec<Arg>,
}

/// How MCP servers are made known to the agent.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mcp {
    /// One server as the agent wants to read it.
    pub(crate) server: Shape,
    /// Arguments for each server, where `{mcp}` stands among the arguments.
    #[serde(default)]
    pub(crate) args: Vec<Template>,
    /// The servers' variables go into the agent's own environment, because `server` only names them.
    #[serde(default)]
    pub(crate) share_env: bool,
    /// How `server` names a variable of the agent's own environment, so that no secret is written down.
    pub(crate) variable: Option<Template>,
}

/// The agent's own log of a conversation, where `[[event]]` rules find what its screen does not say.
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
    /// Reads one adapter's text; `file` is only named in errors.
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

    /// Whether a conversation of it can be taken up again in this mode.
    pub fn resumes(&self, mode: Mode) -> bool {
        self.start(mode)
            .is_some_and(|start| start.args.iter().any(|arg| arg.names().any(|name| name == "conversation")))
    }

    /// Whether it runs what it is told, in this mode.
    pub fn takes_argv(&self, mode: Mode) -> bool {
        let args = self.start(mode).into_iter().flat_map(|start| &start.args).chain(&self.command);
        args.flat_map(Arg::names).any(|name| name == "argv" || name == "shell")
    }

    /// Whether a prompt gets to it in this mode.
    pub fn takes_prompt(&self, mode: Mode) -> bool {
        let Some(start) = self.start(mode) else { return false };
        let args = self.command.iter().chain(&start.args).flat_map(Arg::names);
        let elsewhere = self.env.values().chain(self.json.values().flat_map(Shape::templates));
        let named = args.chain(elsewhere.flat_map(Template::names)).any(|name| name == "prompt_file");
        start.prompt != PromptWay::None || named
    }

    /// Whether its sessions tell, in this mode, what they used of their model: a rule reads it off its lines or its log.
    pub fn counts(&self, mode: Mode) -> bool {
        let tokens = |rule: &EventRule| [&rule.input, &rule.cached, &rule.output].iter().any(|paths| !paths.is_empty());
        self.hears(mode, |rule| rule.cost.is_some() || tokens(rule))
    }

    /// Whether its sessions tell, in this mode, what they cost.
    pub fn tells_cost(&self, mode: Mode) -> bool {
        self.hears(mode, |rule| rule.cost.is_some())
    }

    /// Whether one of its rules is so, and its lines or its log are read in this mode.
    fn hears(&self, mode: Mode, is: impl FnMut(&EventRule) -> bool) -> bool {
        let heard = self.start(mode).is_some_and(|start| start.lines || self.log.is_some());
        heard && self.event.iter().any(is)
    }

    /// Whether it can commit in its workspace with this autonomy.
    pub fn commits(&self, autonomy: Autonomy) -> bool {
        self.commits.as_ref().is_none_or(|with| with.contains(&autonomy))
    }

    /// The program it needs, if that is always the same one.
    pub fn program(&self) -> Option<String> {
        self.command.first()?.0.first()?.fill(|_| None)
    }

    /// Where the agent keeps its own state, by the person's variables.
    pub fn state_folders(&self, env: &BTreeMap<String, String>) -> Vec<PathBuf> {
        // A variable that says where a folder is takes the place of the usual one, so each place counts once.
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in self.state.iter().filter_map(|folder| crate::log::expand(folder, env)) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }

    /// Every template in it, for the checks that need all of it.
    pub(crate) fn templates(&self) -> Vec<&Template> {
        let starts = [&self.interactive, &self.headless].into_iter().flatten();
        let autonomy = [&self.autonomy.ask, &self.autonomy.edit, &self.autonomy.full].into_iter().flatten();
        let args = self.command.iter().chain(starts.flat_map(|start| &start.args)).chain(autonomy);
        let args = args.flat_map(|arg| &arg.0);
        let mcp = self.mcp.iter().flat_map(|mcp| mcp.args.iter().chain(&mcp.variable).chain(mcp.server.templates()));
        let json = self.json.values().flat_map(Shape::templates);
        args.chain(self.env.values()).chain(mcp).chain(json).collect()
    }

    /// What no single key can know: a word of the text near the fault, and the fault.
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
        let autonomies = [&self.autonomy.ask, &self.autonomy.edit, &self.autonomy.full];
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
        f.write_str("a text, or a list of texts that stand or fall together")
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
