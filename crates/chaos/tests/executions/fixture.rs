//! Hubs on one database, runners, executions on them, and what may befall them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use client::Client;
use domain::{ExecutionId, ProjectId, RecipeId, ScheduleId};
use protocol::{Call, Execution, ExecutionStart, ExecutionsWanted, NewRunner, Runner, RunnerCreate, Trigger};
use rand::Rng;
use rand::rngs::StdRng;
use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::{HubProcess, RunnerProcess, wait_until};

use crate::auditor::Auditor;
use crate::place::{OneHub, OneRunner};
use crate::processes::{hosts, signal};
use crate::recipe::{DURABLE, ECHO, SCRIPT};
use crate::setup::{now, project, recipe, schedule, try_ask};
use crate::support::free_port;

const RUNNERS: usize = 3;
/// When nothing moves for so long, nothing will.
const STILL: Duration = Duration::from_secs(90);
/// How many schedules are due once while there are kills.
const ONCE: usize = 3;

pub(crate) struct Fixture {
    folder: tempfile::TempDir,
    hubs: Vec<OneHub>,
    runners: Vec<OneRunner>,
    ann: Client,
    project: ProjectId,
    durable: RecipeId,
    /// The executions whose start was acknowledged.
    started: Vec<ExecutionId>,
    schedules: Vec<ScheduleId>,
    on_end: ScheduleId,
}

impl Fixture {
    /// Opens a system with one hub for each database, three runners, two recipes and schedules.
    pub(crate) async fn open(random: &mut StdRng, databases: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (mut hubs, mut urls) = (Vec::new(), Vec::new());
        for (number, database) in databases.iter().enumerate() {
            let data = folder.path().join(format!("hub{number}"));
            let mut hub = OneHub::new(data, database.clone(), free_port(random));
            urls.push(hub.start(None, &mut BTreeSet::new()).await);
            hubs.push(hub);
        }
        let token = std::fs::read_to_string(hubs[0].data.join("token")).unwrap();
        let ann = Client::new(&urls[0], token.trim()).unwrap();
        let project = project(&ann, folder.path()).await;
        let durable = recipe(&ann, project, DURABLE).await;
        recipe(&ann, project, ECHO).await;
        let mut runners = Vec::new();
        for number in 0..RUNNERS {
            let name = format!("r{number}");
            let input = RunnerCreate { name: name.clone() };
            let made: NewRunner = ann.ask(Call::RunnerCreate { input }).await.unwrap();
            let (data, url) = (folder.path().join(&name), urls[number % urls.len()].clone());
            let mut runner =
                OneRunner { data, url, token: made.secret, name, process: None, armed: None, env: Vec::new() };
            runner.start(None);
            runners.push(runner);
        }
        let on_end =
            Trigger::Event { event: "execution_ended".into(), matching: Some("event.recipe == 'durable'".into()) };
        let on_end = schedule(&ann, project, "on-end", on_end).await;
        let mut schedules = Vec::new();
        for number in 0..ONCE {
            let at = now().plus_millis(2_000 + 2_500 * i64::try_from(number).unwrap());
            schedules.push(schedule(&ann, project, &format!("once-{number}"), Trigger::At { at }).await);
        }
        let fixture = Self { folder, hubs, runners, ann, project, durable, started: Vec::new(), schedules, on_end };
        fixture.all_connected().await;
        fixture
    }

    pub(crate) fn client(&self) -> Client {
        self.ann.clone()
    }

    pub(crate) fn project(&self) -> ProjectId {
        self.project
    }

    /// Where steps note what they do.
    fn log(&self) -> PathBuf {
        self.folder.path().join("effects")
    }

    /// Starts executions until this many are not over.
    pub(crate) async fn start_executions(&mut self, count: usize) {
        let open = self.open_executions().await.unwrap_or(count);
        for _ in open..count {
            let inputs: Value = json!({ "log": self.log(), "script": SCRIPT });
            let input = ExecutionStart { inputs: serde_json::from_value(inputs).unwrap(), version: None };
            let call = Call::ExecutionStart { recipe: self.durable, input };
            let key = format!("start-{}", self.started.len());
            let mut started: Option<Execution> = None;
            while started.is_none() {
                started = try_ask(&self.ann, call.clone(), &key).await;
                if started.is_none() {
                    self.revive().await;
                }
            }
            self.started.extend(started.map(|execution| execution.id));
        }
    }

    /// Starts hubs that have died at their place.
    async fn revive(&mut self) {
        for hub in &mut self.hubs {
            if hub.process.as_mut().is_some_and(HubProcess::has_ended) {
                hub.disarm().await;
            }
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    /// How many executions of the recipe are not over; `None` if the hub did not answer.
    async fn open_executions(&self) -> Option<usize> {
        let filter = ExecutionsWanted { recipe: Some(self.durable), open: Some(true), ..Default::default() };
        let found: Result<Vec<Execution>, _> =
            self.ann.ask(Call::ExecutionList { project: self.project, filter }).await;
        found.ok().map(|found| found.len())
    }

    pub(crate) async fn kill_hub(
        &mut self,
        random: &mut StdRng,
        moment: Duration,
        reached: &mut BTreeSet<String>,
    ) -> String {
        let which = random.random_range(0..self.hubs.len());
        let done = self.hubs[which].kill(random, (moment, &failpoint::HUB), reached).await;
        format!("{done} (number {which})")
    }

    pub(crate) async fn kill_runner(
        &mut self,
        random: &mut StdRng,
        moment: Duration,
        reached: &mut BTreeSet<String>,
    ) -> String {
        let which = random.random_range(0..RUNNERS);
        self.runners[which].kill(random, (moment, &failpoint::RUNNER), reached).await
    }

    /// Stops a hub for a while: it goes on with what it was about to do, although another hub may have done it.
    pub(crate) async fn freeze_hub(&self, random: &mut StdRng, moment: Duration) -> String {
        let which = random.random_range(0..self.hubs.len());
        let pid = self.hubs[which].process.as_ref().and_then(HubProcess::pid);
        let pause = moment * 3;
        if let Some(pid) = pid {
            signal(pid, Signal::STOP);
            tokio::time::sleep(pause).await;
            signal(pid, Signal::CONT);
        }
        format!("froze hub {which} for {pause:?}")
    }

    /// Kills the host of a session, as a machine does that restarts.
    pub(crate) async fn kill_a_host(&self, random: &mut StdRng, moment: Duration) -> String {
        let until = Instant::now() + moment;
        loop {
            let hosts = hosts(self.folder.path());
            if !hosts.is_empty() {
                let pid = hosts[random.random_range(0..hosts.len())];
                signal(pid, Signal::KILL);
                return format!("killed session host {pid}");
            }
            if Instant::now() >= until {
                return "no session host to kill".to_owned();
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// From now on nothing dies.
    pub(crate) async fn disarm(&mut self) {
        for hub in &mut self.hubs {
            hub.disarm().await;
        }
        for runner in &mut self.runners {
            runner.disarm().await;
        }
    }

    async fn all_connected(&self) {
        wait_until("every runner is connected", async || {
            let runners: Vec<Runner> = self.ann.ask(Call::RunnerList {}).await.ok()?;
            (runners.len() == RUNNERS && runners.iter().all(|runner| runner.connected)).then_some(())
        })
        .await;
    }

    /// Waits until every execution is over; as long as anything moves there is time.
    pub(crate) async fn settle(&self) {
        self.all_connected().await;
        let (mut revisions, mut since) = (0, Instant::now());
        loop {
            let all = self.executions().await;
            let sum: u32 = all.iter().map(|execution| execution.revision).sum();
            if !all.is_empty() && all.iter().all(|execution| execution.ended_at.is_some()) {
                let ends = all.iter().filter(|execution| execution.name == "durable").count();
                if self.ticks(self.on_end).await.len() == ends {
                    return;
                }
            }
            if sum != revisions {
                (revisions, since) = (sum, Instant::now());
            }
            assert!(since.elapsed() < STILL, "nothing moves any more: {:#?}\n{}", self.stuck(&all), self.logs());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn stuck<'a>(&self, all: &'a [Execution]) -> Vec<&'a Execution> {
        all.iter().filter(|execution| execution.ended_at.is_none()).collect()
    }

    /// All executions; none while the hub does not answer.
    pub(crate) async fn executions(&self) -> Vec<Execution> {
        let mut all: Vec<Execution> = Vec::new();
        loop {
            let before = all.last().map(|execution| execution.id);
            let filter = ExecutionsWanted { before, limit: Some(200), ..Default::default() };
            let call = Call::ExecutionList { project: self.project, filter };
            match self.ann.ask::<Vec<Execution>>(call).await {
                Ok(page) if page.is_empty() => return all,
                Ok(page) => all.extend(page),
                Err(_) => return Vec::new(),
            }
        }
    }

    async fn ticks(&self, schedule: ScheduleId) -> Vec<protocol::Tick> {
        let mut all: Vec<protocol::Tick> = Vec::new();
        loop {
            let page = protocol::TickPage { before: all.last().map(|tick| tick.planned_at), limit: Some(100) };
            match self.ann.ask::<Vec<protocol::Tick>>(Call::ScheduleTicks { schedule, page }).await {
                Ok(page) if !page.is_empty() => all.extend(page),
                _ => return all,
            }
        }
    }

    /// Checks everything after the last execution has ended; what happened, in words.
    pub(crate) async fn check(&self, auditor: &Auditor) -> String {
        let all = self.executions().await;
        let ids: BTreeSet<ExecutionId> = all.iter().map(|execution| execution.id).collect();
        for id in &self.started {
            assert!(ids.contains(id), "{id} was started, and is lost");
        }
        let durable = all.iter().filter(|execution| execution.name == "durable").count();
        assert_eq!(durable, self.started.len(), "each start is one execution");
        auditor.settled(&self.ann, &all).await;
        for schedule in &self.schedules {
            let ticks = self.ticks(*schedule).await;
            assert_eq!(ticks.len(), 1, "{ticks:?}");
            assert_eq!(ticks[0].outcome, domain::TickOutcome::Started, "{ticks:?}");
        }
        let effects = auditor.effects(&self.log()).await;
        format!("{durable} executions of {} steps, {effects} effects", DURABLE.matches("- id:").count())
    }

    /// What hubs and runners said last, newest first.
    fn logs(&self) -> String {
        let mut text = String::new();
        let mut add = |name: &str, log: String| {
            let tail: Vec<&str> = log.lines().rev().take(40).collect();
            text += &format!("{name}, newest first:\n{}\n", tail.join("\n"));
        };
        for runner in &self.runners {
            add(&runner.name, runner.process.as_ref().map(RunnerProcess::log_text).unwrap_or_default());
        }
        for hub in &self.hubs {
            add("hub", hub.process.as_ref().map(HubProcess::log_text).unwrap_or_default());
        }
        text
    }

    pub(crate) async fn close(mut self) {
        for runner in &mut self.runners {
            runner.process.take().unwrap().kill().await;
        }
        for pid in hosts(self.folder.path()) {
            signal(pid, Signal::KILL);
        }
        for hub in &mut self.hubs {
            hub.process.take().unwrap().kill().await;
        }
    }
}
