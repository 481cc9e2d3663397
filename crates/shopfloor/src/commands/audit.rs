//! `shopfloor audit`.

use clap::Subcommand;
use protocol::{ActedBy, AuditEntry, AuditPage, Call, Project};

use crate::pick::pick;
use crate::table::Table;
use crate::{Context, Failure, Output, when};

/// Subcommands for the audit trail.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// List the newest entries that you can see
    List {
        /// Only in this project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
        /// Only entries with a lower number
        #[arg(long, value_name = "N")]
        before: Option<u64>,
        /// How many entries, at most 500 [default: 100]
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
}

/// Runs the subcommand.
pub(crate) async fn run(command: AuditCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    let AuditCommand::List { project, before, limit } = command;
    let project = match project {
        Some(project) => Some(pick::<Project>(client, &project).await?),
        None => None,
    };
    let entries: Vec<AuditEntry> = client.ask(Call::AuditList { page: AuditPage { project, before, limit } }).await?;
    out.show(&entries, |out| table(&entries, out))
}

fn table(entries: &[AuditEntry], out: &Output) -> String {
    let titles = ["NO", "WHEN", "WHO…", "FROM…", "VERB", "SUBJECT", "WHAT…"];
    let mut table = Table::new(&titles, "no entries");
    for entry in entries {
        table.row([
            entry.number.into(),
            when::relative(entry.at, out.now).into(),
            who(entry).into(),
            (&entry.origin).into(),
            (&entry.verb).into(),
            (&entry.subject).into(),
            (&entry.detail).into(),
        ]);
    }
    table.render(out)
}

/// The person, or the agent or runner that acted on their behalf.
fn who(entry: &AuditEntry) -> String {
    let person = entry.actor.as_ref().map_or("-", |user| &user.name);
    match entry.via {
        None => person.to_owned(),
        Some(ActedBy::Agent { session: Some(session) }) => format!("agent of {session}, on behalf of {person}"),
        Some(ActedBy::Agent { session: None }) => format!("an agent, on behalf of {person}"),
        Some(ActedBy::Runner { runner }) => format!("runner {runner}, on behalf of {person}"),
    }
}
