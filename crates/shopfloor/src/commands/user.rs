//! `shopfloor user`.

use clap::Subcommand;
use client::Client;
use domain::UserId;
use protocol::{Call, Rename, User};

use super::words;
use crate::confirm::{Yes, sure};
use crate::pick::{pick, pick_exact};
use crate::table::{Cell, Style, Table, fields};
use crate::{Context, Failure, Output, when};

/// Subcommands for people.
#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// List all people on this hub
    List,
    /// Show one person
    Show {
        /// The user's id or name
        user: String,
    },
    /// Change your own name
    Rename {
        /// The new name, unique on this hub
        name: String,
    },
    /// Disable a person at once: they can no longer use the hub
    Disable {
        /// The user's id or name
        user: String,
    },
    /// Enable a disabled person
    Enable {
        /// The user's id or name
        user: String,
    },
    /// Remove a disabled person who left nothing on the hub, after asking; takes the exact name or id
    Remove {
        /// The user's id or name
        user: String,
        #[command(flatten)]
        yes: Yes,
    },
}

/// Runs the subcommand.
pub(crate) async fn run(command: UserCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    let call = match command {
        UserCommand::List => {
            let users: Vec<User> = client.ask(Call::UserList {}).await?;
            return out.show(&users, |out| table(&users, out));
        }
        UserCommand::Remove { user, yes } => {
            let named = user;
            let user = pick_exact::<User>(client, &named).await?;
            sure(yes.yes, "remove", &format!("the person `{named}`"), "")?;
            client.ask::<()>(Call::UserRemove { user }).await?;
            return out.did("removed", user);
        }
        UserCommand::Show { user } => Call::UserShow { user: id(client, &user).await? },
        UserCommand::Rename { name } => Call::MeRename { input: Rename { name } },
        UserCommand::Disable { user } => Call::UserDisable { user: pick_exact::<User>(client, &user).await? },
        UserCommand::Enable { user } => Call::UserEnable { user: id(client, &user).await? },
    };
    let user: User = client.ask(call).await?;
    out.show(&user, |out| details(&user, out))
}

async fn id(client: &Client, text: &str) -> Result<UserId, Failure> {
    pick::<User>(client, text).await
}

fn table(users: &[User], out: &Output) -> String {
    let mut table = Table::new(&["ID", "NAME…", "HERE", "LAST SEEN", "JOINED", ""], "no people");
    for user in users {
        table.row([
            user.id.into(),
            (&user.name).into(),
            here(user),
            when::relative_or(user.last_seen_at, out.now, "never").into(),
            when::relative(user.created_at, out.now).into(),
            role(user),
        ]);
    }
    table.render(out)
}

fn details(user: &User, out: &Output) -> String {
    let pairs = [
        ("id", user.id.into()),
        ("name", (&user.name).into()),
        ("here", here(user)),
        ("last seen", when::relative_or(user.last_seen_at, out.now, "never").into()),
        ("joined", when::relative(user.created_at, out.now).into()),
        ("hub owner", words::yes(user.hub_owner).into()),
        ("disabled", words::yes(user.disabled).into()),
    ];
    fields(out, &pairs)
}

fn here(user: &User) -> Cell {
    Cell::styled(words::yes(user.connected), if user.connected { Style::Green } else { Style::Dim })
}

fn role(user: &User) -> Cell {
    match (user.disabled, user.hub_owner) {
        (true, _) => Cell::styled("disabled", Style::Red),
        (false, true) => "hub owner".into(),
        (false, false) => "".into(),
    }
}
