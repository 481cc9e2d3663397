//! What a runner reports about itself: its machine and the installed agents.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agents::{Adapter, Mode, Prices};
use domain::SessionMode;
use protocol::{AgentMode, FoundAgent, RunnerAbout};
use tokio::sync::watch;

use crate::floor::Floor;
use crate::programs;

/// How often to check for installed, removed and added agents.
const LOOK: Duration = Duration::from_secs(20);

/// The runner's report about itself, now and whenever it changes. At first without the versions of its agents, which
/// can take seconds.
pub(crate) async fn follow(floor: &Arc<Floor>) -> watch::Receiver<RunnerAbout> {
    let mut installed = installed(floor).await;
    let about = watch::Sender::new(about(floor, floor.adapters.all().here(&floor.person)));
    let told = about.subscribe();
    let shared = floor.clone();
    floor.spawn(async move {
        loop {
            let newest = self::about(&shared, shared.adapters.all().find(&shared.person).await);
            about.send_if_modified(|told| {
                let news = *told != newest;
                *told = newest;
                news
            });
            loop {
                tokio::time::sleep(LOOK).await;
                let floor = shared.clone();
                let changed = tokio::task::spawn_blocking(move || floor.adapters.read_again()).await.unwrap_or(false);
                let now = self::installed(&shared).await;
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
async fn installed(floor: &Arc<Floor>) -> BTreeMap<String, PathBuf> {
    let shared = floor.clone();
    let look = move || {
        let adapters = shared.adapters.all();
        let programs = adapters.iter().filter_map(|adapter| adapter.program());
        programs.filter_map(|name| Some((name.clone(), programs::find(&name, &shared.person)?))).collect()
    };
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

fn about(floor: &Floor, found: Vec<agents::FoundAgent>) -> RunnerAbout {
    let adapters = floor.adapters.all();
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
        machine: machine(),
        version: floor.options.version.clone(),
        labels: floor.options.labels.clone(),
        capacity: floor.options.capacity,
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
    };
    can.map(told).collect()
}

fn machine() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name.is_empty() { "localhost".to_owned() } else { name }
}
