//! `shopfloor mcp`: an MCP server on standard input and output that gives an agent its tools.

use std::sync::Arc;

use clap::Args;
use client::{Client, ClientError};
use mcp::{Desk, Running, Settings, Verbs};
use protocol::{Call, Problem, ProblemKind};

use crate::{Context, Failure};

/// Arguments of `mcp`.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// The default project, if the agent names none: its id or name [env: SHOPFLOOR_PROJECT]
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// The agent's name as a worker; the same name is the same worker [default: a new name]
    #[arg(long, value_name = "NAME")]
    worker: Option<String>,
}

/// Serves until the agent closes standard input.
pub(crate) async fn run(args: McpArgs, context: &Context) -> Result<(), Failure> {
    let verbs = Arc::new(ClientVerbs(context.client()?.for_agent()));
    let desk = Arc::new(Desk::new(verbs, settings(args, context)));
    mcp::serve_stdio(desk).await.map_err(Failure::other)
}

/// The agent's identity: its session, project and worker.
fn settings(args: McpArgs, context: &Context) -> Settings {
    let variable = |name: &str| context.layers.variable(name);
    let session = variable("SHOPFLOOR_SESSION").and_then(|text| text.parse().ok());
    Settings {
        project: args.project.or_else(|| variable("SHOPFLOOR_PROJECT")),
        activity: variable("SHOPFLOOR_ACTIVITY").and_then(|text| text.parse().ok()),
        session,
        task: variable("SHOPFLOOR_TASK").and_then(|text| text.parse().ok()),
        fence: variable("SHOPFLOOR_FENCE").and_then(|text| text.parse().ok()),
        // An agent in a session is its session's worker, whatever its name.
        worker: args.worker.or_else(|| session.is_none().then(own_name)),
        grace: None,
    }
}

/// A unique worker name: process ids repeat in containers.
fn own_name() -> String {
    let id = domain::WorkerId::generate().to_string();
    // The end of an id is random; its beginning is a time.
    format!("mcp-{}", &id[id.len() - 8..])
}

/// Calls the hub with the caller's token.
struct ClientVerbs(Client);

impl Verbs for ClientVerbs {
    fn run(&self, call: Call) -> Running<'_> {
        Box::pin(async move {
            self.0.call(call).await.map_err(|error| match error {
                ClientError::Problem(problem) => problem,
                other => Problem::new(ProblemKind::Unavailable, other.to_string()),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_with_the_same_id_have_different_names() {
        let (here, there) = (own_name(), own_name());
        assert_ne!(here, there);
        assert!(here.starts_with("mcp-") && here.len() == "mcp-".len() + 8, "{here}");
    }
}
