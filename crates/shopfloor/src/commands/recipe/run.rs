//! `shopfloor recipe run`, which `shopfloor execution start` is, too.

use clap::Args;
use client::Client;
use protocol::{Call, Execution, ExecutionStart};

use super::One;
use crate::commands::execution;
use crate::given::InputArgs;
use crate::{Context, Exit, Failure};

/// Arguments of `recipe run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    one: One,
    #[command(flatten)]
    inputs: InputArgs,
    /// The version, by number or content hash [default: the newest]
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// Follow the execution until it is over; exit code 1 if it does not complete
    #[arg(long)]
    watch: bool,
}

/// Starts an execution, and follows it if that is asked for.
pub(crate) async fn run(args: RunArgs, context: &Context) -> Result<Exit, Failure> {
    let (client, out) = (&context.client()?, &context.out);
    let watch = args.watch;
    let started = start(args, client).await?;
    if watch {
        return execution::watch(started.id, client, out).await;
    }
    out.show(&started, |out| execution::line(&started, out))?;
    if !out.json {
        out.note(&format!("`shopfloor execution watch {}` follows it", started.id));
    }
    Ok(Exit::Done)
}

/// Starts an execution.
async fn start(args: RunArgs, client: &Client) -> Result<Execution, Failure> {
    let inputs = args.inputs.read()?;
    let recipe = args.one.id(client).await?;
    let input = ExecutionStart { inputs, version: args.version };
    Ok(client.ask(Call::ExecutionStart { recipe, input }).await?)
}
