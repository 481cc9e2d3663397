//! `shopfloor stop-everything` and `shopfloor thaw`

use clap::Args;
use protocol::{Call, Freeze, Frozen, Project};

use super::words::counted;
use crate::pick::pick_if;
use crate::table::Style;
use crate::{Context, Failure};

/// Arguments of both.
#[derive(Debug, Args)]
pub(crate) struct FreezeArgs {
    /// Only in this project (id or name) [default: everywhere]
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
}

/// Stops everything of the caller's until it is thawed.
pub(crate) async fn stop(args: FreezeArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let project = pick_if::<Project>(&client, args.project.as_deref()).await?;
    let frozen: Frozen = client.ask(Call::FloorFreeze { input: Freeze { project } }).await?;
    context.out.show(&frozen, |out| {
        let stopped = Style::Red.paint("stopped", out.color);
        let workers = counted(frozen.workers, "worker takes nothing", "workers take nothing");
        let asked = ("session was asked to stop", "sessions were asked to stop");
        let sessions = counted(frozen.sessions, asked.0, asked.1);
        let again = args.project.as_ref().map(|project| format!(" --project '{project}'")).unwrap_or_default();
        let again = crate::output::clean(&again);
        format!("{stopped}: {workers}, {sessions}; nothing is handed out until `shopfloor thaw{again}`")
    })
}

/// Hands out tasks again.
pub(crate) async fn thaw(args: FreezeArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let project = pick_if::<Project>(&client, args.project.as_deref()).await?;
    let frozen: Frozen = client.ask(Call::FloorThaw { input: Freeze { project } }).await?;
    let again = |_: &crate::Output| match frozen.workers {
        0 if frozen.frozen => {
            "still stopped: you stopped all projects; run `shopfloor thaw` without --project".to_owned()
        }
        0 => "thawed: none of your workers was stopped".to_owned(),
        workers => {
            let workers = counted(workers, "worker takes tasks", "workers take tasks");
            format!("thawed: {workers} again")
        }
    };
    context.out.show(&frozen, again)
}
