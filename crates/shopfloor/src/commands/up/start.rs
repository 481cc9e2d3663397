//! Starts a hub from its settings and runs it until a signal stops it.

use std::path::PathBuf;

use hub::StartError;
use store::OpenError;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::already::Already;
use super::runner::Beside as RunnerBeside;
use super::{browser, log, person};
use crate::commands::runner::{note, of_hub};
use crate::commands::serve_args::{ServeArgs, ServeSettings};
use crate::failure::chain;
use crate::{Context, Failure, Output};

/// What `up` starts with the hub.
pub(crate) struct Beside {
    /// How the person gets in.
    pub(crate) greeting: Greeting,
    /// A runner on this machine.
    pub(crate) runner: bool,
    /// Whether a hub that already runs is as good.
    pub(crate) shared: bool,
}

/// How the person gets in.
pub(crate) enum Greeting {
    /// By a printed link, which a browser opens.
    Link { browser: bool },
    /// Not through this process: a log is no place for a link that logs in.
    None,
}

/// Leaves the terminal that started this process, so that closing it does not end the hub.
pub(crate) fn own_session() {
    // A service manager has done so already.
    let _ = rustix::process::setsid();
}

/// The data directory's absolute path.
pub(crate) fn data_dir(context: &Context) -> Result<PathBuf, Failure> {
    std::path::absolute(&context.settings.data_dir.value)
        .map_err(|error| Failure::usage(format!("could not resolve the data directory: {error}")))
}

/// Runs a hub until a signal stops it.
pub(crate) async fn run(args: ServeArgs, beside: Beside, context: &Context) -> Result<(), Failure> {
    let out = &context.out;
    let data_dir = data_dir(context)?;
    let settings = args.settle(&context.layers, &data_dir)?;
    log::start(settings.log.value);
    // Each connection is a file: raise the limit as far as the system allows.
    if let Err(error) = rlimit::increase_nofile_limit(u64::MAX) {
        tracing::warn!(%error, "could not raise the limit of open files");
    }
    let mut stop = Stop::listen()?;
    let hidden = of_hub(&settings, &data_dir);
    note(context, &hidden);
    let running = hub::start(options(&settings, data_dir.clone()).await?).await;
    let mut running = match running {
        Ok(running) => running,
        Err(error) => {
            // It may have started at the same moment.
            let already = match error {
                StartError::Listen(..) | StartError::Open(OpenError::Held(_)) => Already::look(&data_dir).await,
                _ => None,
            };
            return match already {
                Some(already) if beside.shared => already.show(beside.greeting.opens(), false, context),
                Some(already) => Err(already.refusal()),
                None => Err(refused(error)),
            };
        }
    };
    if let Greeting::Link { browser } = beside.greeting {
        greet(&running, browser, out).await?;
    }
    out.line(&format!("shopfloor is up: {}", running.url()))?;
    let runner = beside.runner.then(|| RunnerBeside::start(running.url(), &data_dir, hidden));
    tokio::select! {
        () = stop.asked() => {}
        () = running.stopped() => return Err(Failure::other("the hub stopped by itself; its log says why")),
    }
    out.note("stopping; press Ctrl-C again to stop at once");
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

impl Greeting {
    fn opens(&self) -> bool {
        matches!(self, Self::Link { browser: true })
    }
}

async fn greet(running: &hub::Running, browser: bool, out: &Output) -> Result<(), Failure> {
    // A hub that cannot write still serves its data to logged-in people.
    match running.login_link().await {
        Ok(link) => {
            out.line(&format!("log in once: {link}"))?;
            if browser {
                browser::open(&link, out);
            }
        }
        Err(error) => out.note(&format!(
            "could not create a login link: {}; logged-in browsers and the CLI can read; run `shopfloor login` later \
             for a link",
            chain(&error)
        )),
    }
    Ok(())
}

async fn options(settings: &ServeSettings, data_dir: PathBuf) -> Result<hub::Options, Failure> {
    let mut options = hub::Options::new(data_dir);
    options.listen = settings.listen.value;
    options.database = settings.database.value.clone();
    options.public_url = settings.public_url.as_ref().map(|url| url.value.clone());
    options.behind_proxy = settings.behind_proxy.value;
    options.tls = settings.tls().map(|(cert, key)| hub::TlsFiles { cert, key });
    options.allow_origins = settings.allow_origin.value.clone();
    options.allow_hosts = settings.allow_host.value.clone();
    options.key_file = settings.key_file.value.clone();
    options.notify_allow_hosts = settings.notify_allow_host.value.clone();
    options.github = settings.github()?.map(|login| hub::GithubOptions {
        client_id: login.client_id,
        client_secret: login.client_secret,
        allow: settings.github_allow.value.clone(),
        url: settings.github_url.value.clone(),
        api_url: settings.github_api_url.value.clone(),
    });
    options.local_owner = true;
    let name = match &settings.owner_name {
        Some(given) => Some(given.value.clone()),
        None => person::name().await,
    };
    if let Some(name) = name {
        options.owner_name = name;
    }
    Ok(options)
}

fn refused(error: StartError) -> Failure {
    match error {
        StartError::Doors(_) | StartError::Tls(..) | StartError::Github(_) => Failure::usage(error.to_string()),
        other => Failure::other(other.to_string()),
    }
}

/// The two signals that stop a process.
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
