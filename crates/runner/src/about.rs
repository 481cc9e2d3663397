//! What a runner reports about itself: its machine and the installed agents.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agents::{Adapter, Mode, Prices};
use domain::SessionMode;
use protocol::{AgentMode, FoundAgent, RunnerAbout};
use tokio::sync::watch;

use crate::background::Background;
use crate::machine::Machine;
use crate::programs;

/// How often to check for installed, removed and added agents.
const LOOK: Duration = Duration::from_secs(20);

/// The runner's report about itself, now and whenever it changes. At first without the versions of its agents, which
/// can take seconds.
pub(crate) async fn follow(machine: &Arc<Machine>, background: &Background) -> watch::Receiver<RunnerAbout> {
    let mut installed = installed(machine).await;
    let about = watch::Sender::new(about(machine, machine.adapters.all().here(&machine.person)));
    let told = about.subscribe();
    let machine = machine.clone();
    background.spawn(async move {
        loop {
            let newest = self::about(&machine, machine.adapters.all().find(&machine.person).await);
            about.send_if_modified(|told| {
                let news = *told != newest;
                *told = newest;
                news
            });
            loop {
                tokio::time::sleep(LOOK).await;
                let known = machine.clone();
                let changed = tokio::task::spawn_blocking(move || known.adapters.read_again()).await.unwrap_or(false);
                let now = self::installed(&machine).await;
                if changed || now != installed {
                    installed = now;
                    break;
                }
            }
        }
    });
    told
}

/// Where the agents' programs are; cheaper than asking for their versions.
async fn installed(machine: &Arc<Machine>) -> BTreeMap<String, PathBuf> {
    let machine = machine.clone();
    let look = move || {
        let adapters = machine.adapters.all();
        let programs = adapters.iter().filter_map(|adapter| adapter.program());
        programs.filter_map(|name| Some((name.clone(), programs::find(&name, &machine.person)?))).collect()
    };
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

fn about(machine: &Machine, found: Vec<agents::FoundAgent>) -> RunnerAbout {
    let adapters = machine.adapters.all();
    let agents = found.into_iter().map(|found| {
        let adapter = adapters.get(&found.name);
        let here = found.path.is_some() || found.any;
        FoundAgent {
            modes: adapter.map(|adapter| modes(adapter, adapters.prices())),
            headless: adapter.is_some_and(|adapter| adapter.supports(Mode::Headless)),
            name: found.name,
            label: found.label,
            version: found.version.or_else(|| here.then(String::new)),
            install: found.install,
        }
    });
    RunnerAbout {
        machine: host_name(),
        version: machine.options.version.clone(),
        labels: machine.options.labels.clone(),
        capacity: machine.options.capacity,
        agents: agents.collect(),
    }
}

fn modes(adapter: &Adapter, prices: &Prices) -> Vec<AgentMode> {
    let both = [(Mode::Interactive, SessionMode::Interactive), (Mode::Headless, SessionMode::Headless)];
    let can = both.into_iter().filter(|(mode, _)| adapter.supports(*mode));
    let told = |(way, mode): (Mode, SessionMode)| AgentMode {
        mode,
        prompt: adapter.takes_prompt(way),
        resumes: adapter.resumes(way),
        counts: Some(adapter.counts(way)),
        costs: Some(adapter.tells_cost(way) || (adapter.counts(way) && prices.knows(&adapter.name.to_string()))),
        argv: Some(adapter.takes_argv(way)),
        asked: Some(way == Mode::Headless && adapter.can_be_asked()),
    };
    can.map(told).collect()
}

fn host_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name.is_empty() { "localhost".to_owned() } else { name }
}
