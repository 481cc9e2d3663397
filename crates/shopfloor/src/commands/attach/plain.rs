//! A session as plain text, for pipes and logs.

use client::Client;
use client::terminal::Event;
use domain::SessionId;
use serde_json::json;

use super::Left;
use super::standing::Standing;
use crate::tty::Plain;
use crate::{Failure, Output};

/// Prints the session's text until the session exits.
pub(super) async fn show(client: &Client, session: SessionId, out: &Output) -> Result<Left, Failure> {
    let mut standing = Standing::ask(client, session).await?;
    let mut terminal = client.terminal(session);
    let mut plain = Plain::default();
    loop {
        let event = tokio::select! {
            event = terminal.next() => event?,
            () = standing.is_over() => return Ok(Left::Over(standing.words())),
        };
        match event {
            Event::State(session) => standing.hear(session),
            Event::Watching { reachable: false, .. } => out.note("the session's runner is unreachable; waiting"),
            Event::Watching { .. } => {}
            Event::Snapshot { cols, rows, bytes, end, .. } => {
                standing.shows();
                plain = Plain::default();
                print(out, &mut plain, &bytes, json!({"event": "screen", "cols": cols, "rows": rows}))?;
                terminal.took(end);
            }
            Event::Data { bytes, end } => {
                standing.shows();
                print(out, &mut plain, &bytes, json!({"event": "output"}))?;
                terminal.took(end);
            }
            Event::Lost { why, retry_in } => {
                out.note(&format!("connection lost ({why}); reconnecting in {:.1} s", retry_in.as_secs_f64()));
            }
            Event::Exit { code, signal } => {
                let mut rest = Vec::new();
                plain.line(&mut rest);
                match out.json {
                    true => out.stream(&json!({"event": "exit", "code": code, "signal": signal}), |_| String::new())?,
                    false => out.bytes(&rest)?,
                }
                return Ok(Left::Ended { code, signal, how: standing.exited(code, signal) });
            }
        }
    }
}

fn print(out: &Output, plain: &mut Plain, bytes: &[u8], mut line: serde_json::Value) -> Result<(), Failure> {
    let text = plain.pass(bytes);
    if !out.json {
        return out.bytes(&text);
    }
    line["text"] = String::from_utf8_lossy(&text).into();
    out.stream(&line, |_| String::new())
}
