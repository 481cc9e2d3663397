//! `shopfloor instructions`: texts that make an ordinary agent follow the protocol.

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::{Context, Failure};

const WORKER: &str = include_str!("instructions/worker.md");
const COORDINATOR: &str = include_str!("instructions/coordinator.md");

/// Arguments of `instructions`.
#[derive(Debug, Args)]
pub(crate) struct InstructionsArgs {
    /// The agent's role
    role: Role,
    /// The agent that reads them
    #[arg(long = "for", value_name = "AGENT", default_value = "agents-md")]
    target: Target,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Role {
    /// Splits a goal into tasks and follows them
    Coordinator,
    /// Takes tasks, does them and reports
    Worker,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Target {
    /// Claude Code: CLAUDE.md
    Claude,
    /// Codex: AGENTS.md, and its config.toml
    Codex,
    /// Cursor: a rule under .cursor/rules
    Cursor,
    /// Any agent that reads AGENTS.md
    AgentsMd,
}

/// The instructions with their target, for programs.
#[derive(Serialize)]
struct Instructions {
    role: Role,
    #[serde(rename = "for")]
    target: Target,
    /// The file that the agent reads them from.
    file: &'static str,
    /// How to give the agent its tools.
    tools: &'static str,
    text: String,
}

/// Prints them; standard error says where they belong.
pub(crate) fn run(args: &InstructionsArgs, context: &Context) -> Result<(), Failure> {
    let instructions = instructions(args.role, args.target);
    let out = &context.out;
    out.show(&instructions, |_| instructions.text.clone())?;
    if !out.json {
        out.note(&format!("add them to {}; give the agent its tools with:\n{}", instructions.file, instructions.tools));
    }
    Ok(())
}

fn instructions(role: Role, target: Target) -> Instructions {
    let body = match role {
        Role::Coordinator => COORDINATOR,
        Role::Worker => WORKER,
    };
    let (file, tools) = match target {
        Target::Claude => ("CLAUDE.md", "  claude mcp add shopfloor -- shopfloor mcp"),
        Target::Codex => ("AGENTS.md", "  codex mcp add shopfloor -- shopfloor mcp"),
        Target::Cursor => (
            ".cursor/rules/shopfloor.mdc",
            "  {\"mcpServers\": {\"shopfloor\": {\"command\": \"shopfloor\", \"args\": [\"mcp\"]}}}   in .cursor/mcp.json",
        ),
        Target::AgentsMd => ("AGENTS.md", "  an MCP server over standard input and output, started as `shopfloor mcp`"),
    };
    Instructions { role, target, file, tools, text: text(body, role, target) }
}

fn text(body: &str, role: Role, target: Target) -> String {
    let whose = match target {
        Target::Claude => {
            "Your tools are called `mcp__shopfloor__take_task`, `mcp__shopfloor__report` and so on; below they have their short names."
        }
        Target::Codex => "Your tools are those of the MCP server `shopfloor`; if they are missing, say so and stop.",
        Target::Cursor => {
            "Work in agent mode: the tools of the MCP server `shopfloor` must be switched on in the settings."
        }
        Target::AgentsMd => "If the tools of the MCP server `shopfloor` are missing, say so and stop.",
    };
    let (title, rest) = body.split_once("\n\n").unwrap_or((body, ""));
    let text = format!("{title}\n\n{whose}\n\n{rest}");
    if target != Target::Cursor {
        return text;
    }
    let about = match role {
        Role::Coordinator => "How to split work into tasks on the Shopfloor",
        Role::Worker => "How to take tasks from the Shopfloor and report them",
    };
    format!("---\ndescription: {about}\nalwaysApply: true\n---\n\n{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: &[&str] = &[
        "list_tasks",
        "take_task",
        "heartbeat",
        "report",
        "review_reply",
        "ask",
        "escalate",
        "chat_send",
        "chat_read",
        "search",
        "artifact_put",
        "artifact_get",
        "artifact_list",
        "activity_update",
        "who_is_doing_what",
        "overlaps",
        "reserve",
        "release",
        "add_tasks",
        "merge_request",
        "handoff_write",
        "handoff_ack",
    ];

    #[test]
    fn every_text_names_every_tool_and_no_other() {
        for role in Role::value_variants() {
            for target in Target::value_variants() {
                let text = instructions(*role, *target).text;
                for tool in TOOLS {
                    assert!(text.contains(&format!("`{tool}`")), "{role:?} {target:?} does not name {tool}");
                }
                // Every quoted word that looks like a tool is one.
                let quoted =
                    text.split('`').skip(1).step_by(2).filter(|word| word.contains('_') && !word.contains(' '));
                let known = [
                    "context_score",
                    "file_exists",
                    "file_matches",
                    "only_touches",
                    "no_conflict_with_base",
                    "why_not",
                ];
                for word in quoted.filter(|word| !word.starts_with('{') && !word.starts_with("mcp__")) {
                    assert!(TOOLS.contains(&word) || known.contains(&word), "{role:?} {target:?} names `{word}`");
                }
            }
        }
    }

    #[test]
    fn each_agent_gets_what_it_reads() {
        assert!(instructions(Role::Worker, Target::Cursor).text.starts_with("---\ndescription: "));
        assert!(instructions(Role::Worker, Target::Claude).text.contains("mcp__shopfloor__take_task"));
        assert!(instructions(Role::Coordinator, Target::AgentsMd).text.starts_with("# Coordinating"));
    }
}
