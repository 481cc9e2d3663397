//! From a request to everything that starts a session: arguments, variables, files, and the delivery of the prompt.

use std::path::{Path, PathBuf};

use crate::adapter::{Adapter, Mode, PromptWay, Start};
use crate::event::StateName;
use crate::screen::ScreenRule;
use crate::values::{PROMPT_FILE, SYSTEM_FILE, Values, uses};

/// What to start.
#[derive(Debug, Clone)]
pub struct Request {
    /// With the agent's own screen, or one prompt to its end.
    pub mode: Mode,
    /// The prompt; never in the arguments.
    pub prompt: Option<String>,
    /// The model's name, as the agent knows it.
    pub model: Option<String>,
    /// A system text beside the prompt.
    pub system: Option<String>,
    /// MCP servers for the agent.
    pub mcp: Vec<McpServer>,
    /// The conversation to resume.
    pub conversation: Option<String>,
    /// The whole command, for adapters that run any.
    pub argv: Vec<String>,
    /// How much the agent may do without asking.
    pub autonomy: Autonomy,
    /// Whether the person has approved this repository's own agent settings.
    pub trusted: bool,
    /// Where the agent works.
    pub workspace: PathBuf,
    /// The workspace's git directory, writable for an agent that commits; absent without a repository.
    pub git_dir: Option<PathBuf>,
    /// The session's own folder, 0700.
    pub session_dir: PathBuf,
    /// Our own program, for the wrapper of structured lines.
    pub exe: PathBuf,
    /// The agent's program, if it is not looked up in `PATH`.
    pub program: Option<PathBuf>,
    /// The person's login shell.
    pub shell: String,
    /// The person's home.
    pub home: Option<PathBuf>,
}

impl Request {
    /// A minimal request.
    pub fn new(mode: Mode, workspace: &Path, session_dir: &Path, exe: &Path) -> Self {
        Self {
            mode,
            prompt: None,
            model: None,
            system: None,
            mcp: Vec::new(),
            conversation: None,
            argv: Vec::new(),
            autonomy: Autonomy::Edit,
            trusted: false,
            workspace: workspace.to_owned(),
            git_dir: None,
            session_dir: session_dir.to_owned(),
            exe: exe.to_owned(),
            program: None,
            shell: "/bin/sh".to_owned(),
            home: None,
        }
    }
}

/// How much an agent may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Autonomy {
    /// It only reads: it is asked about earlier work.
    Read,
    /// It asks before it changes anything.
    Ask,
    /// It changes files in its workspace; other actions as the agent decides.
    #[default]
    Edit,
    /// It never asks: only in a sandbox.
    Full,
}

/// A program that speaks MCP on its standard input and output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// Lower-case letters, digits, `-` and `_`.
    pub name: String,
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its variables; never in any arguments.
    pub env: Vec<(String, String)>,
    /// Variables of the agent's environment that it also gets.
    pub passed: Vec<String>,
}

/// Everything that starts a session.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Variables to add to the person's allowed ones.
    pub env: Vec<(String, String)>,
    /// Files to write into the session's folder first, 0600.
    pub files: Vec<File>,
    /// How the prompt is delivered.
    pub prompt: Prompt,
    /// The conversation's id, if it is chosen before the start.
    pub conversation: Option<String>,
    /// Whether `events.jsonl` appears in the session's folder.
    pub events: bool,
}

/// A file of the session's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its name, without a folder.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// How the prompt is delivered.
#[derive(Debug, Clone)]
pub enum Prompt {
    /// There is none, or the agent accepts none; with structured lines, the wrapper delivers it.
    None,
    /// The agent's standard input is this file.
    Stdin(PathBuf),
    /// Typed as one paste when the agent is ready: see [`crate::Typist`].
    Paste(Paste),
}

/// A prompt to be pasted, and when.
#[derive(Debug, Clone)]
pub struct Paste {
    pub(crate) ready: ScreenRule,
    pub(crate) submit: String,
    pub(crate) text: String,
    pub(crate) never: Vec<ScreenRule>,
}

/// Why a session cannot be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// The adapter has no such table.
    #[error("{agent} cannot be started {mode}")]
    Mode {
        /// The adapter.
        agent: String,
        /// What was asked for.
        mode: &'static str,
    },
    /// A part of the request cannot be passed to the agent.
    #[error("{0}")]
    Refused(String),
}

/// Everything that starts `request` with `adapter`. Has no effects.
pub fn launch(adapter: &Adapter, request: &Request) -> Result<Launch, LaunchError> {
    let start = adapter.start(request.mode).ok_or_else(|| LaunchError::Mode {
        agent: adapter.label.clone(),
        mode: if request.mode == Mode::Interactive { "with its own screen" } else { "without a screen" },
    })?;
    check(adapter, request)?;
    let values = Values::new(adapter, request);
    let mut argv = values.args(&adapter.command);
    argv.extend(values.args(&start.args));
    if let (Some(program), Some(first)) = (&request.program, argv.first_mut()) {
        *first = program.to_string_lossy().into_owned();
    }
    if argv.first().is_none_or(String::is_empty) {
        return Err(LaunchError::Refused(format!("{} needs a command to run", adapter.label)));
    }
    let native = adapter.templates().iter().any(|template| uses(template, "system") || uses(template, "system_file"));
    let text = prompt_text(request, start, native);
    let mut files = files(&values, request, text.as_deref(), adapter, start);
    files.retain(|file| !file.text.is_empty());
    let conversation = request.conversation.clone().or_else(|| values.new_conversation.clone());
    let prompt = way(adapter, start, text, request);
    let stdin = matches!(prompt, Prompt::Stdin(_));
    if start.lines {
        argv = wrapped(adapter, request, argv, stdin);
    }
    let prompt = if start.lines { Prompt::None } else { prompt };
    Ok(Launch { argv, env: env(adapter, request, &values), files, prompt, conversation, events: start.lines })
}

/// The prompt with the system text before it, if the agent has no better way.
fn prompt_text(request: &Request, start: &Start, native: bool) -> Option<String> {
    let prompt = request.prompt.as_ref()?;
    match &request.system {
        Some(system) if !native && start.prompt != PromptWay::None => {
            Some(format!("<context>\n{}\n</context>\n\n{prompt}", system.trim_end()))
        }
        _ => Some(prompt.clone()),
    }
}

fn files(values: &Values<'_>, request: &Request, text: Option<&str>, adapter: &Adapter, start: &Start) -> Vec<File> {
    let mut files: Vec<_> = values.files().map(|(name, text)| File { name, text }).collect();
    let mut add = |name: &str, text: &str| files.push(File { name: name.to_owned(), text: text.to_owned() });
    if let Some(text) = text {
        add(PROMPT_FILE, text);
    }
    if let Some(system) = &request.system {
        add(SYSTEM_FILE, system);
    }
    if start.lines {
        // The wrapper reads the rules from here, so that a changed adapter does not affect a running session.
        add(crate::lines::ADAPTER_FILE, &adapter.source);
    }
    files
}

fn way(adapter: &Adapter, start: &Start, text: Option<String>, request: &Request) -> Prompt {
    match (start.prompt, text, &start.ready, &start.submit) {
        (PromptWay::Stdin, Some(_), ..) => Prompt::Stdin(request.session_dir.join(PROMPT_FILE)),
        (PromptWay::Paste, Some(text), Some(ready), Some(submit)) => {
            let busy = |rule: &&ScreenRule| matches!(rule.state, Some(StateName::Waiting | StateName::Working));
            let never = adapter.screen.iter().filter(busy).cloned().collect();
            Prompt::Paste(Paste { ready: ready.clone(), submit: submit.clone(), text, never })
        }
        _ => Prompt::None,
    }
}

fn wrapped(adapter: &Adapter, request: &Request, child: Vec<String>, stdin: bool) -> Vec<String> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut argv = vec![text(&request.exe), crate::lines::COMMAND.to_owned()];
    argv.extend(["--session-dir".to_owned(), text(&request.session_dir)]);
    argv.extend(["--adapter".to_owned(), adapter.name.to_string()]);
    if stdin {
        argv.extend(["--stdin".to_owned(), PROMPT_FILE.to_owned()]);
    }
    argv.push("--".to_owned());
    argv.extend(child);
    argv
}

fn env(adapter: &Adapter, request: &Request, values: &Values<'_>) -> Vec<(String, String)> {
    let own = adapter.env.iter().filter_map(|(name, template)| Some((name.clone(), values.fill(template)?)));
    let mut env: Vec<_> = own.collect();
    if adapter.mcp.as_ref().is_some_and(|mcp| mcp.share_env) {
        env.extend(request.mcp.iter().flat_map(|server| server.env.iter().cloned()));
    }
    env
}

/// Refuses values that could be read as options, or break an argument or a variable.
fn check(adapter: &Adapter, request: &Request) -> Result<(), LaunchError> {
    let refuse = |what: &str, value: &str| Err(LaunchError::Refused(format!("invalid {what} {value:?}")));
    for (what, value) in [("model", &request.model), ("conversation", &request.conversation)] {
        let good = |c: char| c.is_ascii_alphanumeric() || "._:/@+-[]".contains(c);
        if let Some(value) = value
            && (value.is_empty() || value.len() > 128 || value.starts_with('-') || !value.chars().all(good))
        {
            return refuse(what, value);
        }
    }
    if request.conversation.is_some() && !adapter.resumes(request.mode) {
        return Err(LaunchError::Refused(format!("{} cannot resume a conversation", adapter.label)));
    }
    for server in &request.mcp {
        let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
        if server.name.is_empty() || !server.name.chars().all(good) {
            return refuse("MCP server", &server.name);
        }
        let passed = server.passed.iter().map(|name| (name, ""));
        for (name, value) in server.env.iter().map(|(name, value)| (name, value.as_str())).chain(passed) {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return refuse("variable", name);
            }
        }
    }
    let texts = request.argv.iter().chain(&request.prompt).chain(&request.system);
    if texts.into_iter().any(|text| text.contains('\0')) {
        return Err(LaunchError::Refused("a text contains a NUL character".to_owned()));
    }
    Ok(())
}
