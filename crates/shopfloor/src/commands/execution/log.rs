//! `shopfloor execution log`.

use client::Client;
use protocol::{Call, ExecutionEntry, ExecutionLogPage};

use super::args::LogArgs;
use super::id;
use crate::table::Table;
use crate::{Failure, Output};

/// How many entries a hub tells at once.
const PAGE: u32 = 1_000;

/// Shows what happened.
pub(super) async fn run(args: &LogArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let execution = id(client, &args.execution).await?;
    let mut entries: Vec<ExecutionEntry> = Vec::new();
    loop {
        let after = entries.last().map(|entry| entry.number).or(args.after);
        let page = ExecutionLogPage { after, limit: Some(args.limit.unwrap_or(PAGE)) };
        let more: Vec<ExecutionEntry> = client.ask(Call::ExecutionLog { execution, page }).await?;
        let last = args.limit.is_some() || more.len() < PAGE as usize;
        entries.extend(more);
        if last {
            break;
        }
    }
    out.show(&entries, |out| table(&entries, out))
}

fn table(entries: &[ExecutionEntry], out: &Output) -> String {
    let mut table = Table::new(&["NUMBER", "TIME", "BY", "WHAT…"], "no entries");
    for entry in entries {
        table.row([
            entry.number.into(),
            entry.at.into(),
            entry.by.as_ref().map_or("-", |by| by.name.as_str()).into(),
            (&entry.what).into(),
        ]);
    }
    table.render(out)
}
