//! The values of an adapter's placeholders in one launch.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::adapter::{Adapter, Arg, Mcp};
use crate::launch::{Autonomy, McpServer, Request};
use crate::shape::as_text;
use crate::template::Template;

/// The texts that the session's own files have.
pub(crate) const PROMPT_FILE: &str = "prompt.txt";
pub(crate) const SYSTEM_FILE: &str = "system.md";

/// A request as seen by its adapter's placeholders.
pub(crate) struct Values<'a> {
    adapter: &'a Adapter,
    request: &'a Request,
    pub(crate) new_conversation: Option<String>,
    documents: BTreeMap<&'a str, Value>,
}

impl<'a> Values<'a> {
    pub(crate) fn new(adapter: &'a Adapter, request: &'a Request) -> Self {
        let fresh = request.conversation.is_none() && adapter.templates().iter().any(|t| uses(t, "new_conversation"));
        let new_conversation = fresh.then(|| uuid::Uuid::now_v7().to_string());
        let mut values = Self { adapter, request, new_conversation, documents: BTreeMap::new() };
        let documents = adapter
            .json
            .iter()
            .filter_map(|(name, shape)| Some((name.as_str(), shape.fill(&|name| values.value(name))?)));
        values.documents = documents.collect();
        values
    }

    /// One placeholder's value.
    pub(crate) fn value(&self, name: &str) -> Option<Value> {
        if name == "mcp" {
            return self.servers();
        }
        if let Some(name) = name.strip_prefix("json.") {
            return self.documents.get(name).map(|document| Value::String(document.to_string()));
        }
        self.text(name).map(Value::String)
    }

    fn text(&self, name: &str) -> Option<String> {
        let request = self.request;
        let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let in_session = |file: &str| path(&request.session_dir.join(file));
        match name {
            "model" => request.model.clone(),
            "system" => request.system.clone(),
            "system_file" => request.system.as_ref().map(|_| in_session(SYSTEM_FILE)),
            "prompt_file" => request.prompt.as_ref().map(|_| in_session(PROMPT_FILE)),
            "conversation" => request.conversation.clone(),
            "new_conversation" => self.new_conversation.clone(),
            "workspace" => Some(path(&request.workspace)),
            "session_dir" => Some(path(&request.session_dir)),
            "shell" => Some(request.shell.clone()),
            "home" => request.home.as_deref().map(path),
            "git_dir" => request.git_dir.as_deref().map(path),
            "trusted" => request.trusted.then(|| path(&request.workspace)),
            "untrusted" => (!request.trusted).then(|| path(&request.workspace)),
            // Where nobody is there to answer, what must be asked for is refused.
            "ask" => matches!(request.autonomy, Autonomy::Ask | Autonomy::Read).then(String::new),
            "edit" => (request.autonomy == Autonomy::Edit).then(String::new),
            "full" => (request.autonomy == Autonomy::Full).then(String::new),
            name => {
                let document = name.strip_prefix("file.")?;
                self.documents.contains_key(document).then(|| in_session(&format!("{document}.json")))
            }
        }
    }

    pub(crate) fn fill(&self, template: &Template) -> Option<String> {
        template.fill(|name| self.value(name).map(as_text))
    }

    /// The arguments, without those that lack a value.
    pub(crate) fn args(&self, args: &[Arg]) -> Vec<String> {
        args.iter().flat_map(|arg| self.group(&arg.0).unwrap_or_default()).collect()
    }

    fn group(&self, group: &[Template]) -> Option<Vec<String>> {
        let mut filled = Vec::new();
        for template in group {
            match template.whole() {
                Some("argv") => filled.extend(self.request.argv.iter().cloned()),
                // Another shell than the person's own.
                Some("shell") if !self.request.argv.is_empty() => filled.extend(self.request.argv.iter().cloned()),
                Some("autonomy") => filled.extend(self.args(self.autonomy())),
                Some("mcp") => filled.extend(self.server_args()),
                _ => {
                    let text = self.fill(template)?;
                    filled.extend((!template.is_condition()).then_some(text));
                }
            }
        }
        Some(filled)
    }

    fn autonomy(&self) -> &[Arg] {
        match self.request.autonomy {
            Autonomy::Read => &self.adapter.autonomy.read,
            Autonomy::Ask => &self.adapter.autonomy.ask,
            Autonomy::Edit => &self.adapter.autonomy.edit,
            Autonomy::Full => &self.adapter.autonomy.full,
        }
    }

    fn servers(&self) -> Option<Value> {
        let mcp = self.adapter.mcp.as_ref()?;
        let servers = self.request.mcp.iter().filter_map(|server| Some((server.name.clone(), config(mcp, server)?)));
        let servers: serde_json::Map<_, _> = servers.collect();
        (!servers.is_empty()).then_some(Value::Object(servers))
    }

    fn server_args(&self) -> Vec<String> {
        let Some(mcp) = &self.adapter.mcp else { return Vec::new() };
        let of_server = |server: &McpServer| -> Option<Vec<String>> {
            let config = config(mcp, server)?;
            let fill = |template: &Template| template.fill(|name| server_text(server, &config, name));
            mcp.args.iter().map(fill).collect()
        };
        self.request.mcp.iter().filter_map(of_server).flatten().collect()
    }

    /// The documents that `{file.NAME}` refers to, to be written.
    pub(crate) fn files(&self) -> impl Iterator<Item = (String, String)> {
        let templates = self.adapter.templates();
        let used = move |name: &str| templates.iter().any(|template| uses(template, &format!("file.{name}")));
        let documents = self.documents.iter().filter(move |(name, _)| used(name));
        documents.map(|(name, document)| (format!("{name}.json"), format!("{document:#}\n")))
    }
}

pub(crate) fn uses(template: &Template, name: &str) -> bool {
    template.names().any(|used| used == name)
}

fn config(mcp: &Mcp, server: &McpServer) -> Option<Value> {
    mcp.server.fill(&|name| match name {
        "server" => Some(Value::from(server.name.as_str())),
        "command" => Some(Value::from(server.command.as_str())),
        "args" => Some(Value::from(server.args.clone())),
        "env" => {
            let env = server.env.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
            let named = |name: &String| {
                let value = mcp.variable.as_ref()?.fill(|asked| (asked == "variable").then(|| name.clone()))?;
                Some((name.clone(), Value::from(value)))
            };
            let all: serde_json::Map<_, _> = env.chain(server.passed.iter().filter_map(named)).collect();
            (!all.is_empty()).then_some(Value::Object(all))
        }
        "env_names" => {
            let names: Vec<_> = server.env.iter().map(|(name, _)| name).chain(&server.passed).cloned().collect();
            (!names.is_empty()).then(|| Value::from(names))
        }
        _ => None,
    })
}

fn server_text(server: &McpServer, config: &Value, name: &str) -> Option<String> {
    match name {
        "server" => Some(server.name.clone()),
        "config" => toml::Value::try_from(config).ok().map(|config| config.to_string()),
        _ => None,
    }
}
