//! `shopfloor invite`.

use clap::Subcommand;
use domain::Timestamp;
use protocol::{Call, Invite, InviteCreate, NewInvite};

use crate::confirm::{Yes, sure};
use crate::pick::pick_exact;
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
    /// Revoke an invitation, after asking
    Revoke {
        /// The invitation's id, or the person's exact name
        invite: String,
        #[command(flatten)]
        yes: Yes,
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
            if !out.json && is_local(&made.link) {
                out.note(
                    "this link works only on this machine, because the hub listens on a loopback address; to invite \
                     people elsewhere, start it with --listen and an address that they reach",
                );
            }
            out.show(&made, |_| made.link.clone())
        }
        InviteCommand::List => {
            let invites: Vec<Invite> = client.ask(Call::InviteList {}).await?;
            out.show(&invites, |out| table(&invites, out))
        }
        InviteCommand::Revoke { invite, yes } => {
            let named = invite;
            let invite = pick_exact::<Invite>(client, &named).await?;
            sure(yes.yes, "revoke", &format!("the invitation of `{named}` ({invite})"), "")?;
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

/// Whether a link works only on the machine that it names, because its host is a loopback address.
fn is_local(link: &str) -> bool {
    let rest = link.split_once("://").map_or(link, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(six) => six.split(']').next().unwrap_or_default(),
        None => authority.rsplit_once(':').map_or(authority, |(host, _)| host),
    };
    let host = host.to_ascii_lowercase();
    let named = host == "localhost" || host.ends_with(".localhost");
    named || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_loopback_addresses_are_local() {
        for link in
            ["http://127.0.0.1:4720/join#x", "http://[::1]:4720/join#x", "https://LOCALHOST/join", "http://127.9.9.9"]
        {
            assert!(is_local(link), "{link}");
        }
        for link in
            ["http://192.0.2.1:4720/#127.0.0.1", "https://floor.example.org", "http://localhost.example.org", ""]
        {
            assert!(!is_local(link), "{link}");
        }
    }
}
