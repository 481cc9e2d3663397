//! Pushes: while somebody waits for one, asks a runner where the branches of the repositories are.
//!
//! What was seen is in the database: of several hubs and runners that see the same push, one counts it. Nobody is asked
//! while nobody waits.

use std::sync::Arc;
use std::time::Duration;

use domain::RunnerId;
use futures_util::future::join_all;
use protocol::Runner;
use protocol::link::{RunnerAnswer, RunnerAsk};
use store::{Caller, ForgetTips, SeeTips, StoreError, Watched};
use tokio::time::{Instant, sleep};

use crate::hub::Hub;

/// How often a repository is asked.
const LOOK: Duration = Duration::from_secs(15);
/// Minimum interval: who begins to wait now also looks now.
const SOON: Duration = Duration::from_secs(1);

/// Works until the hub stops.
pub(super) async fn run(hub: Arc<Hub>) {
    let mut looked: Vec<(Watched, Instant)> = Vec::new();
    loop {
        if let Err(error) = look(&hub, &mut looked).await {
            tracing::warn!(%error, "could not look for pushes");
        }
        sleep(SOON).await;
        tokio::select! {
            () = hub.live.executions.waits_changed() => {}
            () = sleep(LOOK) => {}
        }
    }
}

async fn look(hub: &Arc<Hub>, looked: &mut Vec<(Watched, Instant)>) -> Result<(), StoreError> {
    let (watched, others) = hub.store.watched_repositories().await?;
    let caller = Caller::hub("pushes");
    if others {
        hub.store.write(&caller, None, ForgetTips {}).await?;
    }
    looked.retain(|(one, at)| watched.contains(one) && at.elapsed() < LOOK);
    let due: Vec<Watched> = watched.into_iter().filter(|one| looked.iter().all(|(before, _)| before != one)).collect();
    if due.is_empty() {
        return Ok(());
    }
    let runners = hub.store.runners(&caller).await?;
    let seen = join_all(due.iter().map(|one| ask(hub, one, &runners))).await;
    for (one, seen) in due.into_iter().zip(seen) {
        if let Some(seen) = seen {
            looked.push((one, Instant::now()));
            if let Some(news) = hub.store.new_tips(seen).await? {
                let project = news.project;
                let pushes = hub.store.write(&caller, None, news).await?.value;
                tracing::info!(%project, pushes, "looked at the branches of a repository");
            }
        }
    }
    Ok(())
}

/// Asks the first runner that answers; `None`: no runner can.
async fn ask(hub: &Hub, one: &Watched, runners: &[Runner]) -> Option<SeeTips> {
    for runner in near(hub, one, runners) {
        let asked = RunnerAsk::Tips { location: one.repository.clone() };
        match hub.links.ask(runner, asked).await {
            Ok(RunnerAnswer::Tips(tips)) => {
                let (project, repository) = (one.project, one.repository.clone());
                return Some(SeeTips { project, repository, tips: tips.branches, base: tips.default_branch });
            }
            Ok(_) => tracing::info!(%runner, "unexpected answer from a runner: update it"),
            Err(error) => {
                let why = error.into_problem().detail;
                tracing::info!(%runner, why, "a runner could not look for pushes");
            }
        }
    }
    None
}

/// The runners of the project's owner that this hub reaches.
fn near(hub: &Hub, one: &Watched, runners: &[Runner]) -> Vec<RunnerId> {
    let own = runners.iter().filter(|runner| runner.owner.id == one.owner).map(|runner| runner.id);
    own.filter(|id| hub.links.reachable(*id).is_ok()).collect()
}
