//! `shopfloor stop-everything` and `shopfloor thaw`

use clap::Args;
use protocol::{Call, Freeze, Frozen, Project};

use crate::pick::pick_if;
use crate::table::Style;
use crate::{Context, Failure};

/// Where.
#[derive(Debug, Args)]
pub(crate) struct FreezeArgs {
    /// Only in this project (id or name) [default: everywhere]
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
}

/// Stops everything of the caller's, until it is thawed.
pub(crate) async fn stop(args: FreezeArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let project = pick_if::<Project>(&client, args.project.as_deref()).await?;
    let frozen: Frozen = client.ask(Call::FloorFreeze { input: Freeze { project } }).await?;
    context.out.show(&frozen, |out| {
        let stopped = Style::Red.paint("stopped", out.color);
        let (workers, sessions) = (frozen.workers, frozen.sessions);
        let again = args.project.as_ref().map(|project| format!(" --project '{project}'")).unwrap_or_default();
        crate::output::clean(&format!("{workers} workers and {sessions} sessions are "))
            + &format!("{stopped}; nothing is handed out until `shopfloor thaw{}`", crate::output::clean(&again))
    })
}

/// Hands out tasks again.
pub(crate) async fn thaw(args: FreezeArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let project = pick_if::<Project>(&client, args.project.as_deref()).await?;
    let frozen: Frozen = client.ask(Call::FloorThaw { input: Freeze { project } }).await?;
    context.out.show(&frozen, |_| format!("thawed: {} workers take tasks again", frozen.workers))
}
