//! From settings to a running hub, until somebody stops it.

use hub::StartError;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::runner::Beside as RunnerBeside;
use super::{browser, log};
use crate::commands::runner::{note, of_hub};
use crate::commands::serve_args::{ServeArgs, ServeSettings};
use crate::failure::chain;
use crate::{Context, Failure};

/// What comes with the hub.
pub(crate) struct Beside {
    /// Its page in the person's browser.
    pub(crate) browser: bool,
    /// A runner of this machine.
    pub(crate) runner: bool,
}

/// Runs a hub until it is told to stop.
pub(crate) async fn run(args: ServeArgs, beside: Beside, context: &Context) -> Result<(), Failure> {
    let out = &context.out;
    let data_dir = std::path::absolute(&context.settings.data_dir.value)
        .map_err(|error| Failure::usage(format!("could not find the data directory: {error}")))?;
    let settings = args.settle(&context.layers, &data_dir)?;
    log::start(settings.log.value);
    // A connection is a file: take as many as the system gives.
    if let Err(error) = rlimit::increase_nofile_limit(u64::MAX) {
        tracing::warn!(%error, "the number of open files could not be raised");
    }
    let mut stop = Stop::listen()?;
    let hidden = of_hub(&settings, &data_dir);
    note(context, &hidden);
    let mut running = hub::start(options(&settings, data_dir.clone())?).await.map_err(refused)?;
    // A hub that cannot write still shows what it has, to those who are logged in.
    match running.login_link().await {
        Ok(link) => {
            out.line(&format!("log in once: {link}"))?;
            if beside.browser {
                browser::open(&link, out);
            }
        }
        Err(error) => out.note(&format!(
            "could not make a login link: {}; browsers that are logged in and the CLI can read, `shopfloor login` \
             makes a link later",
            chain(&error)
        )),
    }
    out.line(&format!("shopfloor is up: {}", running.url()))?;
    let runner = beside.runner.then(|| RunnerBeside::start(running.url(), &data_dir, hidden));
    tokio::select! {
        () = stop.asked() => {}
        () = running.stopped() => return Err(Failure::other("the hub stopped by itself; its log says why")),
    }
    out.note("stopping; once more to stop at once");
    let end = async {
        if let Some(runner) = runner {
            runner.stop().await;
        }
        running.stop().await;
    };
    tokio::select! {
        () = end => Ok(()),
        () = stop.asked() => Err(Failure::other("stopped without waiting for open connections")),
    }
}

fn options(settings: &ServeSettings, data_dir: std::path::PathBuf) -> Result<hub::Options, Failure> {
    let mut options = hub::Options::new(data_dir);
    options.listen = settings.listen.value;
    options.database = settings.database.value.clone();
    options.public_url = settings.public_url.as_ref().map(|url| url.value.clone());
    options.behind_proxy = settings.behind_proxy.value;
    options.tls = settings.tls().map(|(cert, key)| hub::TlsFiles { cert, key });
    options.allow_origins = settings.allow_origin.value.clone();
    options.allow_hosts = settings.allow_host.value.clone();
    options.github = settings.github()?.map(|login| hub::GithubOptions {
        client_id: login.client_id,
        client_secret: login.client_secret,
        allow: settings.github_allow.value.clone(),
        url: settings.github_url.value.clone(),
        api_url: settings.github_api_url.value.clone(),
    });
    options.local_owner = true;
    Ok(options)
}

fn refused(error: StartError) -> Failure {
    match error {
        StartError::Doors(_) | StartError::Tls(..) | StartError::Github(_) => Failure::usage(error.to_string()),
        other => Failure::other(other.to_string()),
    }
}

/// The two ways in which a process is asked to stop.
pub(crate) struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

impl Stop {
    /// Begins to listen.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let on = |kind| signal(kind).map_err(|error| Failure::other(format!("could not listen for signals: {error}")));
        Ok(Self { interrupt: on(SignalKind::interrupt())?, terminate: on(SignalKind::terminate())? })
    }

    /// Waits for either.
    pub(crate) async fn asked(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
