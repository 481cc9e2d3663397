//! `shopfloor attach` and `shopfloor session watch`: a session's terminal on the person's own.

mod banner;
mod cut;
mod plain;
mod setup;
mod standing;
mod view;
mod writer;

use clap::Args;
use client::Client;
use domain::SessionId;

use self::standing::Standing;
use super::session;
use crate::tty::{self, Prefix};
use crate::{Context, Exit, Failure};

/// Which session to attach to.
#[derive(Debug, Args)]
pub(crate) struct AttachArgs {
    /// Its id or title
    session: String,
    /// The key that, followed by d, leaves the session; twice, it is sent [default: ctrl-\] [env: SHOPFLOOR_DETACH_KEY]
    #[arg(long, value_name = "KEY")]
    detach_key: Option<String>,
    /// When the session ends, end with its exit code
    #[arg(long)]
    exit_code: bool,
}

/// Which session to look into.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Its id or title
    session: String,
    /// Print plain text, also on a terminal
    #[arg(long)]
    plain: bool,
    /// When the session ends, end with its exit code
    #[arg(long)]
    exit_code: bool,
}

/// How a look into a session ended.
pub(crate) enum Left {
    /// The person left; the session goes on.
    Detached,
    /// The session ended.
    Ended {
        /// Its exit code.
        code: Option<i32>,
        /// The signal that killed it.
        signal: Option<i32>,
        /// The same in words.
        how: String,
    },
    /// The session is over, and its terminal has nothing to say about it.
    Over(String),
    /// We were told to end.
    Told,
}

/// Attaches.
pub(crate) async fn run(args: AttachArgs, context: &Context) -> Result<Exit, Failure> {
    let prefix = prefix(context, args.detach_key)?;
    if !tty::is_here() {
        return Err(no_terminal());
    }
    let client = context.client()?;
    let session = session::id(&client, &args.session).await?;
    let left = view::show(&client, session, view::Kind::Attach(prefix), context.out.color).await;
    Ok(say(context, session, &settled(&client, session, left).await?, args.exit_code))
}

/// Attaches to a session that was just spawned.
pub(crate) async fn attach_to(session: SessionId, context: &Context) -> Result<Exit, Failure> {
    let prefix = prefix(context, None)?;
    let client = context.client()?;
    let left = view::show(&client, session, view::Kind::Attach(prefix), context.out.color).await;
    Ok(say(context, session, &settled(&client, session, left).await?, false))
}

/// Looks on.
pub(crate) async fn watch(args: WatchArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client()?;
    let session = session::id(&client, &args.session).await?;
    let left = if args.plain || context.out.json || !tty::is_here() {
        plain::show(&client, session, &context.out).await
    } else {
        view::show(&client, session, view::Kind::Watch, context.out.color).await
    };
    Ok(say(context, session, &settled(&client, session, left).await?, args.exit_code))
}

/// A session that is over may be refused because it never had a terminal: why is what the person wants to know.
async fn settled(client: &Client, session: SessionId, left: Result<Left, Failure>) -> Result<Left, Failure> {
    let Err(failure) = left else { return left };
    match Standing::ask(client, session).await {
        Ok(standing) if standing.ended() => Ok(Left::Over(standing.words())),
        _ => Err(failure),
    }
}

/// Attaching needs a person.
pub(crate) fn no_terminal() -> Failure {
    Failure::usage("attaching needs a terminal on standard input and output")
        .advise("`shopfloor session watch` and `shopfloor session log` work without one")
}

fn prefix(context: &Context, flag: Option<String>) -> Result<Prefix, Failure> {
    match context.layers.text("detach_key", flag)? {
        Some(given) => Ok(given.try_map("detach_key", |text| text.parse())?.value),
        None => tty::STANDARD.parse().map_err(Failure::usage),
    }
}

fn say(context: &Context, session: SessionId, left: &Left, exit_code: bool) -> Exit {
    let out = &context.out;
    match left {
        Left::Detached => out.note(&format!("detached; it goes on: shopfloor attach {session}")),
        Left::Told => {}
        Left::Over(state) => out.note(&format!("the session is over: {state}")),
        Left::Ended { how, .. } => out.note(&format!("the session {how}")),
    }
    match left {
        Left::Ended { code, signal, .. } if exit_code => Exit::Session(code_of(*code, *signal)),
        Left::Over(_) => Exit::Other,
        _ => Exit::Done,
    }
}

/// As shells say it.
fn code_of(code: Option<i32>, signal: Option<i32>) -> u8 {
    let code = code.or(signal.map(|signal| 128 + signal)).unwrap_or(1);
    u8::try_from(code & 0xff).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_said_as_shells_do() {
        assert_eq!((code_of(Some(3), None), code_of(None, Some(9)), code_of(None, None)), (3, 137, 1));
    }
}
