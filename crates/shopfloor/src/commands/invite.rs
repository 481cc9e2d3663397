//! `shopfloor invite`.

use clap::Subcommand;
use domain::Timestamp;
use protocol::{Call, Invite, InviteCreate, NewInvite};

use crate::pick::pick;
use crate::table::Table;
use crate::{Context, Failure, Output, when};

/// Subcommands for invitations.
#[derive(Debug, Subcommand)]
pub(crate) enum InviteCommand {
    /// Create a link that lets one new person in; it is printed once
    Create {
        /// The new person's name
        name: String,
        /// When it expires: a time, or a duration such as 12h [default: 7d]
        #[arg(long, value_name = "WHEN", value_parser = when::parse)]
        expires: Option<Timestamp>,
    },
    /// List your invitations
    List,
    /// Revoke an invitation
    Revoke {
        /// The invitation's id, or the person's name
        invite: String,
    },
}

/// Runs the subcommand.
pub(crate) async fn run(command: InviteCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        InviteCommand::Create { name, expires } => {
            let input = InviteCreate { name, expires_at: expires };
            let made: NewInvite = client.ask(Call::InviteCreate { input }).await?;
            if !out.json {
                let until = when::ahead(made.invite.expires_at, out.now);
                out.note(&format!(
                    "{}: lets one person in; expires {until}; this link is not shown again",
                    made.invite.id
                ));
            }
            out.show(&made, |_| made.link.clone())
        }
        InviteCommand::List => {
            let invites: Vec<Invite> = client.ask(Call::InviteList {}).await?;
            out.show(&invites, |out| table(&invites, out))
        }
        InviteCommand::Revoke { invite } => {
            let invite = pick::<Invite>(client, &invite).await?;
            client.ask::<()>(Call::InviteRevoke { invite }).await?;
            out.did("revoked", invite)
        }
    }
}

fn table(invites: &[Invite], out: &Output) -> String {
    let mut table = Table::new(&["ID", "FOR…", "MADE", "EXPIRES", "ACCEPTED BY…"], "no invitations");
    for invite in invites {
        table.row([
            invite.id.into(),
            (&invite.name).into(),
            when::relative(invite.created_at, out.now).into(),
            when::ahead(invite.expires_at, out.now).into(),
            invite.accepted_by.as_ref().map_or("nobody yet", |user| &user.name).into(),
        ]);
    }
    table.render(out)
}
