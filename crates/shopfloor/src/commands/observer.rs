//! `shopfloor observer`.

use clap::Subcommand;
use domain::{ObserverId, Timestamp};
use protocol::{Call, NewObserver, Observer, ObserverCreate, Project};

use crate::pick::pick;
use crate::table::Table;
use crate::{Context, Failure, Output, when};

/// Subcommands for observer links.
#[derive(Debug, Subcommand)]
pub(crate) enum ObserverCommand {
    /// Create a link to a read-only page of a project; it is printed once
    Create {
        /// The project's id or name
        project: String,
        /// The observer's name
        name: String,
        /// When it expires: a time, or a duration such as 30d [default: never]
        #[arg(long, value_name = "WHEN", value_parser = when::parse)]
        expires: Option<Timestamp>,
    },
    /// List a project's observer links
    List {
        /// The project's id or name
        project: String,
    },
    /// Revoke an observer link at once
    Revoke {
        /// The observer link's id
        observer: ObserverId,
    },
}

/// Runs the subcommand.
pub(crate) async fn run(command: ObserverCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        ObserverCommand::Create { project, name, expires } => {
            let project = pick::<Project>(client, &project).await?;
            let input = ObserverCreate { name, expires_at: expires };
            let made: NewObserver = client.ask(Call::ObserverCreate { project, input }).await?;
            if !out.json {
                out.note(&format!(
                    "{}: anybody with this link can read the project; the link is not shown again",
                    made.observer.id
                ));
            }
            out.show(&made, |_| made.link.clone())
        }
        ObserverCommand::List { project } => {
            let project = pick::<Project>(client, &project).await?;
            let observers: Vec<Observer> = client.ask(Call::ObserverList { project }).await?;
            out.show(&observers, |out| table(&observers, out))
        }
        ObserverCommand::Revoke { observer } => {
            client.ask::<()>(Call::ObserverRevoke { observer }).await?;
            out.did("revoked", observer)
        }
    }
}

fn table(observers: &[Observer], out: &Output) -> String {
    let mut table = Table::new(&["ID", "FOR…", "MADE BY…", "MADE", "EXPIRES"], "no observer links");
    for observer in observers {
        table.row([
            observer.id.into(),
            (&observer.name).into(),
            (&observer.created_by.name).into(),
            when::relative(observer.created_at, out.now).into(),
            when::ahead_or(observer.expires_at, out.now, "never").into(),
        ]);
    }
    table.render(out)
}
