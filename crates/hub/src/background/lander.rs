//! The lander: has runners publish the branches of work that lands, and deletes workspaces that are no longer needed.
//!
//! What is to be published is stored in the database, so that any hub continues after a restart. Publishing a branch
//! twice changes nothing.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use domain::{LandingId, WorkspaceId};
use protocol::ProblemKind;
use protocol::link::{RunnerAnswer, RunnerAsk};
use store::{Caller, PublishEnded, PublishResult, Publishing};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::AppError;
use crate::hub::Hub;

/// How long to wait before a runner is asked again.
const AGAIN: Duration = Duration::from_secs(2);
/// How often to look for workspaces that can be deleted.
const SWEEP: Duration = Duration::from_secs(60);
/// How long a workspace with unfinished work is left alone.
const LATER: Duration = Duration::from_secs(3600);

/// Works until the hub stops.
pub(super) async fn run(hub: Arc<Hub>) {
    let mut publishing: HashMap<LandingId, JoinHandle<()>> = HashMap::new();
    let mut left: HashMap<WorkspaceId, Instant> = HashMap::new();
    let mut swept = Instant::now();
    loop {
        publishing.retain(|_, task| !task.is_finished());
        match hub.store.publishing().await {
            Ok(wanted) => {
                for one in wanted.into_iter().filter(|one| hub.links.reachable(one.runner).is_ok()) {
                    let shared = hub.clone();
                    publishing.entry(one.landing).or_insert_with(|| tokio::spawn(publish(shared, one)));
                }
            }
            Err(error) => tracing::warn!(%error, "could not read what is to be published"),
        }
        if swept.elapsed() >= SWEEP || hub.live.landings.landed() {
            swept = Instant::now();
            left.retain(|_, since| since.elapsed() < LATER);
            sweep(&hub, &mut left).await;
        }
        tokio::select! {
            () = hub.live.landings.changed() => {}
            () = sleep(AGAIN), if !publishing.is_empty() => {}
            () = sleep(SWEEP) => {}
        }
    }
}

/// Publishes one branch, and stores what became of it.
async fn publish(hub: Arc<Hub>, wanted: Publishing) {
    let landing = wanted.landing;
    let result = match ask(&hub, wanted).await {
        Ok(done) => done,
        Err(error) => {
            let problem = error.into_problem();
            tracing::info!(%landing, why = problem.detail, "could not publish a branch");
            // The runner will be back; everything else is for a person.
            if problem.kind == ProblemKind::Unavailable {
                return;
            }
            PublishResult::Refused { why: problem.detail }
        }
    };
    if let Err(error) = hub.store.write(&Caller::hub("lander"), None, PublishEnded { landing, result }).await {
        tracing::warn!(%error, %landing, "could not store what became of a publication");
    }
}

async fn ask(hub: &Hub, wanted: Publishing) -> Result<PublishResult, AppError> {
    let Publishing { runner, location, work, branch, replaces, pull_request, .. } = wanted;
    let ask = RunnerAsk::Publish { location: location.clone(), work, branch: branch.clone(), replaces };
    let RunnerAnswer::Published(done) = hub.links.ask(runner, ask).await? else { return Err(unexpected()) };
    let Some(text) = pull_request else {
        let (commit, default_branch) = (done.commit, done.default_branch);
        return Ok(PublishResult::Done { commit, pull_request: None, default_branch });
    };
    let default_branch = done.default_branch;
    let Some(target) = text.target.or(default_branch.clone()) else {
        let why = "the repository has no branch that a pull request could be merged into".to_owned();
        return Ok(PublishResult::Refused { why });
    };
    let ask = RunnerAsk::PullRequest { location, branch, target, title: text.title, body: text.body };
    match hub.links.ask(runner, ask).await? {
        RunnerAnswer::PullRequest(address) => {
            Ok(PublishResult::Done { commit: done.commit, pull_request: Some(address), default_branch })
        }
        _ => Err(unexpected()),
    }
}

fn unexpected() -> AppError {
    AppError::new(ProblemKind::Invalid, "unexpected answer from a runner: update it")
}

/// Deletes the workspaces of finished tasks that landed or are old; one with unsaved work stays.
async fn sweep(hub: &Hub, left: &mut HashMap<WorkspaceId, Instant>) {
    let found = match hub.store.finished_workspaces().await {
        Ok(found) => found,
        Err(error) => return tracing::warn!(%error, "could not read finished workspaces"),
    };
    let linked: HashSet<_> = hub.links.linked().into_iter().collect();
    for (workspace, runner) in found.into_iter().filter(|(_, runner)| linked.contains(runner)) {
        if left.contains_key(&workspace) {
            continue;
        }
        if let Err(error) = delete(hub, workspace, runner).await {
            tracing::info!(%workspace, why = error.into_problem().detail, "a finished workspace stays for now");
            left.insert(workspace, Instant::now());
        }
    }
}

async fn delete(hub: &Hub, workspace: WorkspaceId, runner: domain::RunnerId) -> Result<(), AppError> {
    hub.links.ask(runner, RunnerAsk::Clean { workspace }).await.map(|_| ())
}
