//! This process becomes a runner, until it is told to end.

use std::path::{Path, PathBuf};
use std::time::Duration;

use client::Token;

use super::hidden::note;
use super::noted::Noted;
use super::options::{RunArgs, dir, token_file};
use super::registration::Registration;
use crate::commands::serve_args::Log;
use crate::commands::up::{Stop, log};
use crate::failure::chain;
use crate::settings::Origin;
use crate::{Context, Exit, Failure};

/// How often it is looked whether the runner's folder is still there.
const LOOK: Duration = Duration::from_secs(10);

/// Runs a runner. Its sessions outlive it.
pub(super) async fn run(args: RunArgs, context: &Context) -> Result<(), Failure> {
    let hub = context.hub()?.to_owned();
    let dir = dir(context)?;
    let log_form =
        context.layers.text("log", None)?.filter(|form| form.value == "json").map_or(Log::Human, |_| Log::Json);
    log::start(log_form);
    if let Some(noted) = Noted::of_running(&dir)? {
        return Err(Failure::conflict(format!("a runner ({}) runs in {} already", noted.process(), dir.display()))
            .advise("stop that one first, or give this one its own folder with --data-dir DIR"));
    }
    let token = token(&args, context, &dir).await?;
    if let Err(error) = rlimit::increase_nofile_limit(u64::MAX) {
        tracing::warn!(%error, "the number of open files could not be raised");
    }
    let mut stop = Stop::listen()?;
    let own: Vec<PathBuf> =
        std::iter::once(dir.clone()).chain(token_file(context).filter(|file| file.is_file())).collect();
    note(context, &own);
    let options = args.options(context, &hub, token)?;
    if let Err(failure) = (Noted { pid: std::process::id(), hub: hub.clone() }).write(&dir) {
        // Only those who look for this process need it; on a full disk the runner looks after its sessions without.
        tracing::warn!("{}", failure.render(false));
    }
    let name = options.name.as_ref().map(|name| format!("{name} ")).unwrap_or_default();
    context.out.note(&format!("runner {name}of {hub}; stop with Ctrl-C, sessions go on"));
    let end = async {
        tokio::select! {
            () = stop.asked() => {}
            () = deleted(&dir) => tracing::warn!(dir = %dir.display(), "the folder of this runner was deleted: ending"),
        }
    };
    let ended = ::runner::run(options, end).await;
    ended.map_err(|error| Failure::other(format!("the runner cannot run: {}", chain(&error))))
}

/// Waits until nothing is left to work in: nobody could find such a runner, and it would knock for ever.
async fn deleted(dir: &Path) {
    while dir.exists() {
        tokio::time::sleep(LOOK).await;
    }
}

/// The runner's own token: as given, as remembered, or by registering as the person's.
async fn token(args: &RunArgs, context: &Context, dir: &Path) -> Result<String, Failure> {
    let given = context.settings.token.as_ref().filter(|token| token.origin == Origin::Flag);
    match given.map(|token| &token.value) {
        Some(Token::Given(secret)) => return Ok(secret.clone()),
        Some(Token::File(path)) => {
            let text = std::fs::read_to_string(path)
                .map_err(|error| Failure::usage(format!("could not read {}: {error}", path.display())))?;
            return Ok(text.trim().to_owned());
        }
        None => {}
    }
    if let Some(token) = context.layers.variable("SHOPFLOOR_RUNNER_TOKEN") {
        return Ok(token);
    }
    if context.settings.token.is_none() {
        let missing = || {
            Failure::not_allowed("there is no token for this runner")
                .advise("pass --token-file FILE with what `shopfloor runner create NAME` prints")
        };
        return Registration::read(dir)?.map(|known| known.secret).ok_or_else(missing);
    }
    match Registration::ensure(&context.client()?, dir, &args.name()).await {
        Ok(registration) => Ok(registration.secret),
        // A hub that is away now is waited for, as by any runner.
        Err(failure) if failure.exit() == Exit::Unreachable => {
            Registration::read(dir)?.map(|known| known.secret).ok_or(failure)
        }
        Err(failure) => Err(failure),
    }
}
