//! `shopfloor observer`.

use clap::Subcommand;
use client::Client;
use domain::{ObserverId, Timestamp};
use protocol::{Call, NewObserver, Observer, ObserverCreate, Project};

use crate::confirm::{Yes, sure};
use crate::pick::pick;
use crate::project_arg::{ProjectArg, ProjectName};
use crate::table::Table;
use crate::{Context, Failure, Output, when};

/// Subcommands for observer links.
#[derive(Debug, Subcommand)]
pub(crate) enum ObserverCommand {
    /// Create a link to a read-only page of a project; it is printed once
    Create {
        #[command(flatten)]
        who: ProjectName,
        /// When it expires: a time, or a duration such as 30d [default: never]
        #[arg(long, value_name = "WHEN", value_parser = when::parse)]
        expires: Option<Timestamp>,
    },
    /// List a project's observer links
    List {
        #[command(flatten)]
        project: ProjectArg,
    },
    /// Revoke an observer link at once, after asking
    Revoke {
        /// The observer link's id
        observer: ObserverId,
        #[command(flatten)]
        yes: Yes,
    },
}

/// Runs the subcommand.
pub(crate) async fn run(command: ObserverCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        ObserverCommand::Create { who, expires } => {
            let (project, name) = who.parts()?;
            let project = pick::<Project>(client, project).await?;
            let input = ObserverCreate { name: name.to_owned(), expires_at: expires };
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
            let project = project.id(client).await?;
            let observers: Vec<Observer> = client.ask(Call::ObserverList { project }).await?;
            out.show(&observers, |out| table(&observers, out))
        }
        ObserverCommand::Revoke { observer, yes } => {
            if !yes.yes {
                sure(false, "revoke", &named(client, observer).await?, "Open pages of this link close at once.")?;
            }
            client.ask::<()>(Call::ObserverRevoke { observer }).await?;
            out.did("revoked", observer)
        }
    }
}

/// An observer link in words; its project must be searched for.
async fn named(client: &Client, id: ObserverId) -> Result<String, Failure> {
    for project in client.ask::<Vec<Project>>(Call::ProjectList {}).await? {
        // Only the owner of a project may list its links.
        let links = client.ask::<Vec<Observer>>(Call::ObserverList { project: project.id }).await.unwrap_or_default();
        if let Some(link) = links.iter().find(|link| link.id == id) {
            return Ok(format!("the observer link of `{}` to project `{}`", link.name, project.name));
        }
    }
    Ok(format!("the observer link {id}"))
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
