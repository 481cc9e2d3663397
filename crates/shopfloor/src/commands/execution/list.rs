//! `shopfloor execution list`.

use client::Client;
use protocol::{Call, Execution, ExecutionsWanted, Recipe};

use super::args::ListArgs;
use crate::commands::words;
use crate::pick::{pick_of, projects};
use crate::table::Table;
use crate::{Failure, Output, when};

/// Lists executions, newest first.
pub(super) async fn run(args: &ListArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let recipe = match &args.recipe {
        Some(recipe) => Some(pick_of::<Recipe>(client, args.project.as_deref(), recipe).await?),
        None => None,
    };
    let filter = ExecutionsWanted { recipe, open: args.open.then_some(true), before: args.before, limit: args.limit };
    let mut all: Vec<Execution> = Vec::new();
    for project in projects(client, args.project.as_deref()).await? {
        all.extend(client.ask::<Vec<Execution>>(Call::ExecutionList { project, filter: filter.clone() }).await?);
    }
    all.sort_by_key(|execution| std::cmp::Reverse(execution.created_at));
    out.show(&all, |out| table(&all, out))
}

fn table(all: &[Execution], out: &Output) -> String {
    let titles = ["ID", "RECIPE…", "STATUS", "AT…", "STARTED", "BY", "COST", "REASON…"];
    let mut table = Table::new(&titles, "no executions; `shopfloor recipe run` starts one").at_least("RECIPE", 12);
    for one in all {
        let by = if one.schedule.is_some() {
            format!("{} (schedule)", one.started_by.name)
        } else {
            one.started_by.name.clone()
        };
        table.row([
            one.id.into(),
            format!("{} v{}", one.name, one.number).into(),
            words::execution_cell(one.status, one.needs_person),
            if one.current.is_empty() { "-".into() } else { one.current.join(", ").into() },
            when::relative(one.created_at, out.now).into(),
            by.into(),
            one.cost_micros.map_or_else(|| "-".to_owned(), words::money).into(),
            one.reason.as_deref().unwrap_or("-").into(),
        ]);
    }
    table.render(out)
}
