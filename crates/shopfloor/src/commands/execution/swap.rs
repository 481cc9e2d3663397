//! `shopfloor execution swap`.

use client::Client;
use protocol::{Call, Execution, ExecutionSwap};

use super::args::SwapArgs;
use super::{id, line};
use crate::commands::history::show_diff;
use crate::commands::recipe;
use crate::{Failure, Output};

/// Swaps the recipe of an execution for another version, or shows the difference.
pub(super) async fn run(args: SwapArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let execution = id(client, &args.of.execution).await?;
    if args.diff {
        let now = super::detail(client, execution).await?.execution;
        let before = recipe::detail(client, now.recipe, Some(now.number.to_string())).await?;
        let after = recipe::detail(client, now.recipe, args.version).await?;
        return show_diff(out, &recipe::between(&before, &after));
    }
    let input = ExecutionSwap { version: args.version, reason: args.of.why.reason };
    let execution: Execution = client.ask(Call::ExecutionSwap { execution, input }).await?;
    out.show(&execution, |out| line(&execution, out))
}
