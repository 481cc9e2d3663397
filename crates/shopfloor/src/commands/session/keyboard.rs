//! `shopfloor session keyboard`.

use clap::Subcommand;
use client::Client;
use protocol::{Call, Keyboard, KeyboardGive, Session, SessionDetail, User};

use super::id;
use crate::pick::pick;
use crate::{Context, Exit, Failure};

/// Subcommands for the keyboard of a session.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyboardCommand {
    /// Ask the owner of a session for its keyboard, to type into its terminal
    Request {
        /// The session's id or title
        session: String,
    },
    /// Hand the keyboard of one of your sessions to a person who watches it
    Give {
        /// The session's id or title
        session: String,
        /// The person's name or id [default: the one who asked first]
        #[arg(long, value_name = "PERSON")]
        to: Option<String>,
    },
    /// Take the keyboard of one of your sessions back, and dismiss requests for it
    Take {
        /// The session's id or title
        session: String,
    },
    /// Return a keyboard that was handed to you, or withdraw your request for it
    Return {
        /// The session's id or title
        session: String,
    },
}

/// Runs the subcommand.
pub(super) async fn run(command: KeyboardCommand, context: &Context) -> Result<Exit, Failure> {
    let (client, out) = (&context.client()?, &context.out);
    let call = match command {
        KeyboardCommand::Request { session } => Call::SessionKeyboardRequest { session: id(client, &session).await? },
        KeyboardCommand::Give { session, to } => give(client, &session, to.as_deref()).await?,
        KeyboardCommand::Take { session } => Call::SessionKeyboardTake { session: id(client, &session).await? },
        KeyboardCommand::Return { session } => Call::SessionKeyboardReturn { session: id(client, &session).await? },
    };
    let session: Session = client.ask(call).await?;
    out.show(&session, |_| format!("{}\n", who(&session)))?;
    Ok(Exit::Done)
}

async fn give(client: &Client, session: &str, to: Option<&str>) -> Result<Call, Failure> {
    let session = id(client, session).await?;
    let to = match to {
        Some(person) => pick::<User>(client, person).await?,
        None => {
            let detail: SessionDetail = client.ask(Call::SessionShow { session }).await?;
            let first = detail.session.keyboard.requests.first().map(|one| one.id);
            first.ok_or_else(|| Failure::usage("nobody asked for the keyboard; name a person with --to"))?
        }
    };
    Ok(Call::SessionKeyboardGive { session, input: KeyboardGive { to: Some(to) } })
}

/// Who types into a session, and who asked to.
pub(crate) fn who(session: &Session) -> String {
    let Keyboard { holder, requests } = &session.keyboard;
    let types = match holder {
        Some(holder) => format!("{} and {} can type", session.owner.name, holder.name),
        None => format!("only {} can type", session.owner.name),
    };
    let names: Vec<&str> = requests.iter().map(|one| one.name.as_str()).collect();
    if names.is_empty() { types } else { format!("{types}; asked for the keyboard: {}", names.join(", ")) }
}
