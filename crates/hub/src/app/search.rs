//! Search: in what the hub has, and in what runners have of terminals.

use std::time::Duration;

use futures_util::future::join_all;
use protocol::TerminalQuery;
use protocol::link::{MAX_SEARCHED, RunnerAnswer, RunnerAsk};
use store::{FoundLine, TerminalPlace};
use tokio::time::timeout;

use super::execution::unexpected;
use super::handle;
use crate::AppError;
use crate::hub::Hub;

/// The maximum number of lines of one runner.
const MOST: u32 = 50;

handle! {
    SearchFind(verb, asked) { Ok(asked.hub.store.find(asked.caller, &verb.query).await?) }

    SearchTerminals(verb, asked) {
        let (hub, query) = (asked.hub, verb.query);
        let places = hub.store.terminal_places(asked.caller, &query).await?;
        let patience = Duration::from_millis(hub.limits.search_milliseconds);
        let answers = places.into_iter().map(async |place| {
            let runner = place.runner;
            match timeout(patience, lines_on(hub, place, &query)).await {
                Ok(Ok((lines, truncated))) => Some((lines, truncated)),
                Ok(Err(error)) => {
                    tracing::debug!(%error, %runner, "a runner could not search its terminals");
                    None
                }
                Err(_) => None,
            }
        });
        let answers = join_all(answers).await;
        let unanswered = answers.iter().filter(|answer| answer.is_none()).count();
        let truncated = answers.iter().flatten().any(|(_, truncated)| *truncated);
        let found = answers.into_iter().flatten().flat_map(|(lines, _)| lines).collect();
        let mut results = hub.store.terminal_hits(asked.caller, &query, found).await?;
        results.truncated |= truncated;
        results.unanswered = u32::try_from(unanswered).unwrap_or(u32::MAX);
        Ok(results)
    }
}

/// What a runner finds, and whether there is more.
async fn lines_on(
    hub: &Hub,
    TerminalPlace { runner, mut projects }: TerminalPlace,
    query: &TerminalQuery,
) -> Result<(Vec<FoundLine>, bool), AppError> {
    let cut = projects.len() > MAX_SEARCHED;
    projects.truncate(MAX_SEARCHED);
    let ask = RunnerAsk::Search { text: query.text.clone(), projects, limit: MOST };
    match hub.links.ask(runner, ask).await? {
        RunnerAnswer::Lines(found) => {
            let truncated = cut || found.truncated || found.lines.len() > MOST as usize;
            let line = |line: protocol::link::TerminalLine| FoundLine {
                runner,
                session: line.session,
                at_ms: line.at_ms,
                at: line.at,
                line: line.line,
            };
            Ok((found.lines.into_iter().take(MOST as usize).map(line).collect(), truncated))
        }
        other => Err(unexpected(&other)),
    }
}
