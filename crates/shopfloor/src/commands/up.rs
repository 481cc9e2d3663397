//! `shopfloor up` and `shopfloor serve`: this process becomes a hub.

mod already;
mod background;
mod browser;
pub(crate) mod log;
mod person;
mod runner;
mod start;

use clap::Args;

pub(crate) use start::Stop;

use super::serve_args::ServeArgs;
use crate::{Context, Failure};

/// Arguments of `up`.
#[derive(Debug, Args)]
pub(crate) struct UpArgs {
    #[command(flatten)]
    hub: ServeArgs,
    /// Do not open the browser
    #[arg(long)]
    no_open: bool,
    /// Do not start a runner on this machine
    #[arg(long)]
    no_runner: bool,
    /// Return when the hub answers; end it with `shopfloor down`
    #[arg(long)]
    background: bool,
    /// For service managers: open no browser and print no login link; `shopfloor login` prints one
    #[arg(long)]
    service: bool,
}

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeCommand {
    #[command(flatten)]
    hub: ServeArgs,
    /// For service managers: print no login link; `shopfloor login` prints one
    #[arg(long)]
    service: bool,
}

/// Runs a hub and opens its page, or shows the one that runs.
pub(crate) async fn up(args: UpArgs, context: &Context) -> Result<(), Failure> {
    if args.service {
        start::own_session();
    }
    let browser = !args.no_open && !args.service;
    let greeting = if args.service { start::Greeting::None } else { start::Greeting::Link { browser } };
    let beside = start::Beside { greeting, runner: !args.no_runner, shared: !args.service };
    let chosen = args.hub != ServeArgs::default() || args.no_runner;
    let data_dir = start::data_dir(context)?;
    if args.service {
        return start::run(args.hub, beside, context).await;
    }
    if let Some(already) = already::Already::look(&data_dir).await {
        return already.show(browser, chosen, context);
    }
    if args.background {
        // Wrong options are refused here, not in the log.
        args.hub.settle(&context.layers, &data_dir)?;
        return background::run(&data_dir, browser, !args.no_runner, context).await;
    }
    start::run(args.hub, beside, context).await
}

/// Runs a hub.
pub(crate) async fn serve(args: ServeCommand, context: &Context) -> Result<(), Failure> {
    let greeting = if args.service { start::Greeting::None } else { start::Greeting::Link { browser: false } };
    start::run(args.hub, start::Beside { greeting, runner: false, shared: false }, context).await
}
