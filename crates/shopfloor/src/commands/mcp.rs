//! `shopfloor mcp`: the tools for an agent that speaks MCP over standard input and output.

use std::sync::Arc;

use clap::Args;
use client::{Client, ClientError};
use mcp::{Desk, Running, Settings, Verbs};
use protocol::{Call, Problem, ProblemKind};

use crate::{Context, Failure};

/// How an agent's tools are served.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// The project that is meant when the agent names none: its id or name [env: SHOPFLOOR_PROJECT]
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// What the agent is called as a worker; the same name is the same worker [default: one of its own]
    #[arg(long, value_name = "NAME")]
    worker: Option<String>,
}

/// Serves until the agent closes its end.
pub(crate) async fn run(args: McpArgs, context: &Context) -> Result<(), Failure> {
    let verbs = Arc::new(ClientVerbs(context.client()?.for_agent()));
    let desk = Arc::new(Desk::new(verbs, settings(args, context)));
    mcp::serve_stdio(desk).await.map_err(Failure::other)
}

/// What the session that the agent runs in says about it.
fn settings(args: McpArgs, context: &Context) -> Settings {
    let variable = |name: &str| context.layers.variable(name);
    let session = variable("SHOPFLOOR_SESSION").and_then(|text| text.parse().ok());
    Settings {
        project: args.project.or_else(|| variable("SHOPFLOOR_PROJECT")),
        activity: variable("SHOPFLOOR_ACTIVITY").and_then(|text| text.parse().ok()),
        session,
        task: variable("SHOPFLOOR_TASK").and_then(|text| text.parse().ok()),
        fence: variable("SHOPFLOOR_FENCE").and_then(|text| text.parse().ok()),
        // The agent of a session is the worker of its session, whatever it is called.
        worker: args.worker.or_else(|| session.is_none().then(own_name)),
        grace: None,
    }
}

/// A name that no other agent has: process ids are the same in many containers.
fn own_name() -> String {
    let id = domain::WorkerId::generate().to_string();
    // The end of an id is random; its beginning is the time.
    format!("mcp-{}", &id[id.len() - 8..])
}

/// Asks the hub, as whoever has the token.
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
    fn processes_with_the_same_number_have_names_of_their_own() {
        let (here, there) = (own_name(), own_name());
        assert_ne!(here, there);
        assert!(here.starts_with("mcp-") && here.len() == "mcp-".len() + 8, "{here}");
    }
}
