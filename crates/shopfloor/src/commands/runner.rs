//! `shopfloor runner …`

use clap::Subcommand;
use protocol::{Call, NewRunner, Runner, RunnerCreate};

use super::words;
use crate::pick::pick;
use crate::table::Table;
use crate::{Context, Failure, Output, when};

/// Everything that can be done with runners.
#[derive(Debug, Subcommand)]
pub(crate) enum RunnerCommand {
    /// Register a runner; its secret is printed once
    Create {
        /// What you call it, as your machine's name
        name: String,
    },
    /// The runners of this hub
    List,
    /// Remove one of your runners
    Remove {
        /// Its id or name
        runner: String,
    },
}

/// Runs one of them.
pub(crate) async fn run(command: RunnerCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        RunnerCommand::Create { name } => {
            let made: NewRunner = client.ask(Call::RunnerCreate { input: RunnerCreate { name } }).await?;
            if !out.json {
                out.note(&format!("{}: the secret below is not shown again", made.runner.id));
            }
            out.show(&made, |_| made.secret.clone())
        }
        RunnerCommand::List => {
            let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await?;
            out.show(&runners, |out| table(&runners, out))
        }
        RunnerCommand::Remove { runner } => {
            let runner = pick::<Runner>(client, &runner).await?;
            client.ask::<()>(Call::RunnerRemove { runner }).await?;
            out.note(&format!("removed {runner}"));
            Ok(())
        }
    }
}

fn table(runners: &[Runner], out: &Output) -> String {
    let mut table = Table::new(&["ID", "NAME…", "OWNER…", "CONNECTED", "LAST SEEN"], "no runners");
    for runner in runners {
        table.row([
            runner.id.into(),
            (&runner.name).into(),
            (&runner.owner.name).into(),
            words::yes(runner.connected).into(),
            when::relative_or(runner.last_seen_at, out.now, "never").into(),
        ]);
    }
    table.render(out)
}
