//! `shopfloor task turn`: reports and takes of many workers in one request.

use protocol::{Call, Project, TaskTurn, Turned};

use super::worker_args::TurnArgs;
use crate::output::clean;
use crate::pick::pick;
use crate::{Context, Failure};

/// Hands in reports and takes tasks.
pub(crate) async fn run(args: TurnArgs, context: &Context) -> Result<(), Failure> {
    let input: TaskTurn = serde_json::from_str(&args.turn.required()?).map_err(|error| {
        Failure::usage(format!("invalid turn: {error}")).advise("`shopfloor task turn --help` has an example")
    })?;
    let client = context.client()?;
    let project = pick::<Project>(&client, &args.project).await?;
    let turned: Turned = client.ask(Call::TaskTurn { project, input }).await?;
    context.out.show(&turned, |_| lines(&turned).join("\n"))
}

/// One line for each report and each take.
fn lines(turned: &Turned) -> Vec<String> {
    let reports = turned.reports.iter().map(|one| match (&one.report, &one.refused) {
        (_, Some(refused)) => format!("report refused: {}", clean(refused)),
        (Some(report), None) => format!("{}  {}", report.task, report.verdict.word()),
        (None, None) => "report refused".to_owned(),
    });
    let taken = turned.taken.iter().map(|one| match &one.taken {
        Some(held) => {
            let title = held.task.description.lines().next().unwrap_or_default();
            format!("{}  fence {}  {}", held.task.id, held.lease.fence, clean(title))
        }
        None => format!("no task: {}", clean(one.why_not.as_deref().unwrap_or("no task is ready"))),
    });
    reports.chain(taken).collect()
}
