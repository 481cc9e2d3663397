//! A turn of many workers, for scripts: what they hand back, and what they take next.

use protocol::{Call, Project, TaskTurn, Turned};

use super::worker_args::TurnArgs;
use crate::output::clean;
use crate::pick::pick;
use crate::{Context, Failure};

/// Hands back and takes.
pub(crate) async fn run(args: TurnArgs, context: &Context) -> Result<(), Failure> {
    let input: TaskTurn = serde_json::from_str(&args.turn.required()?).map_err(|error| {
        Failure::usage(format!("this is no turn: {error}")).advise("see the example of `shopfloor task turn --help`")
    })?;
    let client = context.client()?;
    let project = pick::<Project>(&client, &args.project).await?;
    let turned: Turned = client.ask(Call::TaskTurn { project, input }).await?;
    context.out.show(&turned, |_| lines(&turned).join("\n"))
}

/// One line for each report, and one for each who asked.
fn lines(turned: &Turned) -> Vec<String> {
    let reports = turned.reports.iter().map(|one| match (&one.report, &one.refused) {
        (_, Some(refused)) => format!("not taken: {}", clean(refused)),
        (Some(report), None) => format!("{}  {}", report.task, report.verdict.word()),
        (None, None) => "not taken".to_owned(),
    });
    let taken = turned.taken.iter().map(|one| match &one.taken {
        Some(held) => {
            let title = held.task.description.lines().next().unwrap_or_default();
            format!("{}  fence {}  {}", held.task.id, held.lease.fence, clean(title))
        }
        None => format!("nothing to take: {}", clean(one.why_not.as_deref().unwrap_or("no task is ready"))),
    });
    reports.chain(taken).collect()
}
