//! An agent that speaks MCP, to the hub itself or to `shopfloor mcp`.

use std::process::Stdio;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::binary;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::fixture::Fixture;

/// One connection.
pub(crate) enum Agent<'a> {
    Hub { fixture: &'a Fixture, session: String },
    Program { _child: Box<Child>, input: ChildStdin, output: Box<Lines<BufReader<ChildStdout>>> },
}

impl<'a> Agent<'a> {
    /// To the hub's `/mcp`, in a session of this name.
    pub(crate) fn of_hub(fixture: &'a Fixture, session: &str) -> Self {
        Self::Hub { fixture, session: session.to_owned() }
    }

    /// To a `shopfloor mcp` of its own.
    pub(crate) async fn of_program(fixture: &Fixture, project: &str) -> Self {
        let mut command = Command::new(binary());
        command.env_clear().env("HOME", fixture.path("home")).env("PATH", std::env::var_os("PATH").unwrap());
        command.env("SHOPFLOOR_HUB", &fixture.url).env("SHOPFLOOR_TOKEN", &fixture.token);
        command.args(["mcp", "--project", project]).current_dir(fixture.path("scratch")).kill_on_drop(true);
        let log = std::fs::File::options().create(true).append(true).open(fixture.path("mcp.log")).unwrap();
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let output = Box::new(BufReader::new(output).lines());
        let mut agent = Self::Program { _child: Box::new(child), input, output };
        let params = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
        });
        agent.ask("initialize", params).await;
        agent
    }

    /// Calls a tool; its result, or the error of the protocol.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        match self {
            Self::Hub { fixture, session } => {
                let reply = fixture.http_in(session, Method::POST, "/mcp", Some(&message)).await;
                assert_eq!(reply.status, 200, "{message}: {}", reply.text);
                reply.body()
            }
            Self::Program { input, output, .. } => {
                input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
                loop {
                    let line = output.next_line().await.unwrap().unwrap_or_else(|| panic!("it ended at {message}"));
                    let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                    if answer["id"] == 1 {
                        return answer;
                    }
                }
            }
        }
    }
}
