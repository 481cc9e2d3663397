//! `shopfloor attach` and `shopfloor session watch`: a session in your own terminal.

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

/// Arguments of `attach`.
#[derive(Debug, Args)]
pub(crate) struct AttachArgs {
    /// The session's id or title
    session: String,
    /// The detach key: press it, then d, to detach; press it twice to send it [default: ctrl-\] [env:
    /// SHOPFLOOR_DETACH_KEY]
    #[arg(long, value_name = "KEY")]
    detach_key: Option<String>,
    /// Exit with the session's exit code when it exits
    #[arg(long)]
    exit_code: bool,
}

/// Arguments of `session watch`.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// The session's id or title
    session: String,
    /// Print plain text even on a terminal
    #[arg(long)]
    plain: bool,
    /// Exit with the session's exit code when it exits
    #[arg(long)]
    exit_code: bool,
}

/// Why attaching or watching ended.
pub(crate) enum Left {
    /// The person detached; the session continues.
    Detached,
    /// The session exited.
    Ended {
        /// Its exit code.
        code: Option<i32>,
        /// The signal that killed it.
        signal: Option<i32>,
        /// The same for people.
        how: String,
    },
    /// The session has exited, and its terminal does not report how.
    Over(String),
    /// This process received a signal to end.
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

/// Watches.
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

/// A session that exited may be refused because it never had a terminal; then show why it exited.
async fn settled(client: &Client, session: SessionId, left: Result<Left, Failure>) -> Result<Left, Failure> {
    let Err(failure) = left else { return left };
    match Standing::ask(client, session).await {
        Ok(standing) if standing.ended() => Ok(Left::Over(standing.words())),
        _ => Err(failure),
    }
}

/// Refuses to attach without a terminal.
pub(crate) fn no_terminal() -> Failure {
    Failure::usage("attach needs a terminal on standard input and output")
        .advise("without one, use `shopfloor session watch` or `shopfloor session log`")
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
        Left::Detached => out.note(&format!("detached; the session continues: shopfloor attach {session}")),
        Left::Told => {}
        Left::Over(state) => out.note(&format!("the session ended: {state}")),
        Left::Ended { how, .. } => out.note(&format!("the session {how}")),
    }
    match left {
        Left::Ended { code, signal, .. } if exit_code => Exit::Session(code_of(*code, *signal)),
        Left::Over(_) => Exit::Other,
        _ => Exit::Done,
    }
}

/// The exit code in the convention of shells.
fn code_of(code: Option<i32>, signal: Option<i32>) -> u8 {
    let code = code.or(signal.map(|signal| 128 + signal)).unwrap_or(1);
    u8::try_from(code & 0xff).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_follow_the_convention_of_shells() {
        assert_eq!((code_of(Some(3), None), code_of(None, Some(9)), code_of(None, None)), (3, 137, 1));
    }
}
