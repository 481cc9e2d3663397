//! This process becomes a runner until a signal ends it.

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

/// How often to check that the runner's folder still exists.
const LOOK: Duration = Duration::from_secs(10);

/// Runs a runner. Its sessions outlive it.
pub(super) async fn run(args: RunArgs, context: &Context) -> Result<(), Failure> {
    let hub = context.hub()?.to_owned();
    let dir = dir(context)?;
    let log_form =
        context.layers.text("log", None)?.filter(|form| form.value == "json").map_or(Log::Human, |_| Log::Json);
    log::start(log_form);
    if let Some(noted) = Noted::of_running(&dir)? {
        return Err(Failure::conflict(format!(
            "a runner ({}) is already running in {}",
            noted.process(),
            dir.display()
        ))
        .advise("stop it first, or give this one its own folder with --data-dir DIR"));
    }
    let token = token(&args, context, &dir).await?;
    if let Err(error) = rlimit::increase_nofile_limit(u64::MAX) {
        tracing::warn!(%error, "could not raise the limit of open files");
    }
    let mut stop = Stop::listen()?;
    let own: Vec<PathBuf> =
        std::iter::once(dir.clone()).chain(token_file(context).filter(|file| file.is_file())).collect();
    note(context, &own);
    let options = args.options(context, &hub, token)?;
    if let Err(failure) = (Noted { pid: std::process::id(), hub: hub.clone() }).write(&dir) {
        // Only `doctor` and `up` need this note; with a full disk, the runner works without it.
        tracing::warn!("{}", failure.render(false));
    }
    let name = options.name.as_ref().map(|name| format!("{name} ")).unwrap_or_default();
    context.out.note(&format!("runner {name}of {hub}; Ctrl-C stops it, and its sessions continue"));
    let end = async {
        tokio::select! {
            () = stop.asked() => {}
            () = deleted(&dir) => tracing::warn!(dir = %dir.display(), "this runner's folder was deleted; exiting"),
        }
    };
    let ended = ::runner::run(options, end).await;
    ended.map_err(|error| Failure::other(format!("the runner failed: {}", chain(&error))))
}

/// Waits until the runner's folder is deleted: nobody could find such a runner, and it would reconnect forever.
async fn deleted(dir: &Path) {
    while dir.exists() {
        tokio::time::sleep(LOOK).await;
    }
}

/// The runner's token: given, stored, or obtained by registering with the person's token.
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
            Failure::not_allowed("this runner has no token")
                .advise("pass --token-file FILE with the token that `shopfloor runner create NAME` printed")
        };
        return Registration::read(dir)?.map(|known| known.secret).ok_or_else(missing);
    }
    match Registration::ensure(&context.client()?, dir, &args.name()).await {
        Ok(registration) => Ok(registration.secret),
        // Wait for an unreachable hub, as every runner does.
        Err(failure) if failure.exit() == Exit::Unreachable => {
            Registration::read(dir)?.map(|known| known.secret).ok_or(failure)
        }
        Err(failure) => Err(failure),
    }
}
