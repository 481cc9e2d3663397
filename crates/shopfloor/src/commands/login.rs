//! `shopfloor login`.

use clap::{Args, Subcommand};
use domain::LoginId;
use domain::text::counted;
use protocol::{Call, Login, LoginLink};

use crate::confirm::{Yes, sure};
use crate::table::Table;
use crate::{Context, Failure, Output, when};

/// Arguments of `login`.
#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    #[command(subcommand)]
    command: Option<LoginCommand>,
}

/// Subcommands for browsers that are logged in.
#[derive(Debug, Subcommand)]
pub(crate) enum LoginCommand {
    /// List your logged-in browsers
    List,
    /// Log one of them out
    Revoke {
        /// The login's id
        login: LoginId,
    },
    /// Log all of them out, after asking
    RevokeAll {
        #[command(flatten)]
        yes: Yes,
    },
}

/// Runs the subcommand.
pub(crate) async fn run(args: LoginArgs, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match args.command {
        None => {
            let link: LoginLink = client.ask(Call::LoginLink {}).await?;
            if !out.json {
                out.note(&format!("works once; expires {}", when::ahead(link.expires_at, out.now)));
            }
            out.show(&link, |_| link.link.clone())
        }
        Some(LoginCommand::List) => {
            let logins: Vec<Login> = client.ask(Call::LoginList {}).await?;
            out.show(&logins, |out| table(&logins, out))
        }
        Some(LoginCommand::Revoke { login }) => {
            client.ask::<()>(Call::LoginRevoke { login }).await?;
            out.note(&format!("logged out {login}"));
            Ok(())
        }
        Some(LoginCommand::RevokeAll { yes }) => {
            if !yes.yes {
                let logins: Vec<Login> = client.ask(Call::LoginList {}).await?;
                let what = format!("all your browsers ({}) out", counted(logins.len(), "login", "logins"));
                sure(false, "log", &what, "")?;
            }
            client.ask::<()>(Call::LoginRevokeAll {}).await?;
            out.note("logged out all your browsers");
            Ok(())
        }
    }
}

fn table(logins: &[Login], out: &Output) -> String {
    let mut table = Table::new(&["ID", "BROWSER…", "FROM…", "SINCE", "LAST USED"], "no browser is logged in");
    for login in logins {
        table.row([
            login.id.into(),
            (&login.client).into(),
            (&login.address).into(),
            when::relative(login.created_at, out.now).into(),
            when::relative(login.last_used_at, out.now).into(),
        ]);
    }
    table.render(out)
}
