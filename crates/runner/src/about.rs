//! What a runner says about itself: its machine, and the agents that are installed there now.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use protocol::{FoundAgent, RunnerAbout};
use tokio::sync::watch;

use crate::floor::Floor;
use crate::programs;

/// How often it is looked whether an agent was installed or removed.
const LOOK: Duration = Duration::from_secs(20);

/// What the runner says about itself, now and whenever it changes.
pub(crate) async fn follow(floor: &Arc<Floor>) -> watch::Receiver<RunnerAbout> {
    let mut installed = installed(floor).await;
    let about = watch::Sender::new(about(floor).await);
    let told = about.subscribe();
    let shared = floor.clone();
    floor.spawn(async move {
        loop {
            tokio::time::sleep(LOOK).await;
            let now = self::installed(&shared).await;
            if now != installed {
                installed = now;
                let newest = self::about(&shared).await;
                about.send_if_modified(|told| {
                    let news = *told != newest;
                    *told = newest;
                    news
                });
            }
        }
    });
    told
}

/// Where the agents' programs are; cheaper than asking them for their versions.
async fn installed(floor: &Arc<Floor>) -> BTreeMap<String, PathBuf> {
    let shared = floor.clone();
    let look = move || {
        let programs = shared.adapters.iter().filter_map(|adapter| adapter.program());
        programs.filter_map(|name| Some((name.clone(), programs::find(&name, &shared.person)?))).collect()
    };
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

async fn about(floor: &Floor) -> RunnerAbout {
    let found = floor.adapters.find(&floor.person).await.into_iter();
    let agents = found.map(|found| {
        let adapter = floor.adapters.get(&found.name);
        let here = found.path.is_some() || found.any;
        FoundAgent {
            headless: adapter.is_some_and(|adapter| adapter.supports(agents::Mode::Headless)),
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

fn machine() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name.is_empty() { "localhost".to_owned() } else { name }
}
