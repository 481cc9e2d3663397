//! Which of the tools that an agent offers does what the script wants. A real model also takes what it is given.

use serde_json::{Value, json};

use super::script::Act;

/// A tool call as every API knows it.
pub(crate) struct Call {
    pub(crate) name: String,
    /// JSON for functions, plain text for free-form tools.
    pub(crate) input: Input,
}

pub(crate) enum Input {
    Arguments(String),
    Text(String),
}

/// The tools of a request: name, and whether it takes free text.
fn offered(request: &Value) -> Vec<(String, bool)> {
    let mut tools = request["tools"].as_array().cloned().unwrap_or_default();
    let groups = tools.iter().filter_map(|group| group["functionDeclarations"].as_array().cloned());
    tools.extend(groups.flatten().collect::<Vec<_>>());
    let name = |tool: &Value| tool["name"].as_str().or(tool["function"]["name"].as_str()).map(str::to_owned);
    tools.iter().filter_map(|tool| Some((name(tool)?, tool["type"] == "custom"))).collect()
}

/// The call that does it; the names of the tools there are, if none does.
pub(crate) fn choose(act: &Act, request: &Value) -> Result<Call, String> {
    let tools = offered(request);
    let has = |name: &str| tools.iter().any(|(tool, _)| tool == name);
    let arguments = |name: &str, arguments: Value| {
        Ok(Call { name: name.to_owned(), input: Input::Arguments(arguments.to_string()) })
    };
    match act {
        Act::Call { name, arguments: value } => arguments(name, value.clone()),
        Act::Run(command) if has("exec_command") => arguments("exec_command", json!({ "cmd": command })),
        Act::Run(command) if has("shell_command") => arguments("shell_command", json!({ "command": command })),
        Act::Run(command) if has("shell") => arguments("shell", json!({ "command": ["bash", "-c", command] })),
        Act::Run(command) if has("bash") => {
            arguments("bash", json!({ "command": command, "description": "Runs what the script says" }))
        }
        Act::Run(command) if has("Bash") => {
            arguments("Bash", json!({ "command": command, "description": "Runs what the script says" }))
        }
        Act::Run(command) if has("run_shell_command") => arguments("run_shell_command", json!({ "command": command })),
        Act::Write { path, text } if has("Write") => arguments("Write", json!({ "file_path": path, "content": text })),
        Act::Write { path, text } if has("write_file") => {
            arguments("write_file", json!({ "file_path": path, "content": text }))
        }
        Act::Write { path, text } if has("write") => arguments("write", json!({ "filePath": path, "content": text })),
        Act::Write { path, text } if has("apply_patch") => {
            let patch = patch(path, text);
            let free = tools.iter().any(|(tool, free)| tool == "apply_patch" && *free);
            let input = if free { Input::Text(patch) } else { Input::Arguments(json!({ "input": patch }).to_string()) };
            Ok(Call { name: "apply_patch".to_owned(), input })
        }
        Act::Write { path, text } if has("exec_command") => {
            let command = format!("apply_patch <<'END_OF_PATCH'\n{}END_OF_PATCH\n", patch(path, text));
            arguments("exec_command", json!({ "cmd": command }))
        }
        _ => Err(format!("no tool does {act:?}; there are {:?}", tools.iter().map(|tool| &tool.0).collect::<Vec<_>>())),
    }
}

fn patch(path: &str, text: &str) -> String {
    let added: String = text.lines().map(|line| format!("+{line}\n")).collect();
    format!("*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n")
}
