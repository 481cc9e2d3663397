//! Hub and runner processes that die at a named place, or are killed.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use testkit::{HubProcess, RunnerProcess};

/// Where a process is to die: a place and its passage.
pub(crate) type Armed = Option<String>;

/// A named place, or none.
fn arm(random: &mut StdRng, places: &[&str]) -> Armed {
    let place = places.choose(random)?;
    random.random_ratio(3, 4).then(|| format!("{place}:{}", random.random_range(1..=6)))
}

/// Waits until a process has ended by itself, at most this long.
async fn ends(moment: Duration, mut has_ended: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + moment;
    loop {
        if has_ended() {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Notes the place at which a process has ended; what happened, in words.
fn noted(what: &str, armed: Armed, by_itself: bool, reached: &mut BTreeSet<String>) -> String {
    match armed {
        Some(place) if by_itself => {
            reached.insert(place.split(':').next().unwrap_or_default().to_owned());
            format!("{what} died at {place}")
        }
        _ => format!("killed {what}"),
    }
}

pub(crate) struct OneHub {
    pub(crate) data: PathBuf,
    pub(crate) database: String,
    pub(crate) port: u16,
    pub(crate) process: Option<HubProcess>,
    armed: Armed,
}

impl OneHub {
    pub(crate) fn new(data: PathBuf, database: String, port: u16) -> Self {
        Self { data, database, port, process: None, armed: None }
    }

    /// Starts it; a hub that dies while it starts is started again.
    pub(crate) async fn start(&mut self, armed: Armed, reached: &mut BTreeSet<String>) -> String {
        let spawn =
            |armed: &Armed| HubProcess::spawn_armed(&self.data, &self.database, self.port, &[], armed.as_deref());
        let mut hub = spawn(&armed);
        self.armed = armed;
        let url = match hub.up().await {
            Some(url) => url,
            None => {
                assert!(self.armed.is_some(), "the hub ended before it was up:\n{}", hub.log_text());
                noted("a hub", self.armed.take(), true, reached);
                hub = spawn(&None);
                hub.ready().await
            }
        };
        self.process = Some(hub);
        url
    }

    /// Lets it die at its place, or kills it when the moment has passed; starts it again.
    pub(crate) async fn kill(
        &mut self,
        random: &mut StdRng,
        (moment, places): (Duration, &[&str]),
        reached: &mut BTreeSet<String>,
    ) -> String {
        let mut hub = self.process.take().unwrap();
        let by_itself = ends(moment, || hub.has_ended()).await;
        hub.kill().await;
        let done = noted("a hub", self.armed.take(), by_itself, reached);
        self.start(arm(random, places), reached).await;
        done
    }

    /// Starts it again without a place to die at, if it has one.
    pub(crate) async fn disarm(&mut self) {
        if self.armed.take().is_some() {
            self.process.take().unwrap().kill().await;
            self.start(None, &mut BTreeSet::new()).await;
        }
    }
}

pub(crate) struct OneRunner {
    pub(crate) data: PathBuf,
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) name: String,
    pub(crate) process: Option<RunnerProcess>,
    pub(crate) armed: Armed,
    /// Its owner's environment.
    pub(crate) env: Vec<(String, String)>,
}

impl OneRunner {
    pub(crate) fn start(&mut self, armed: Armed) {
        let mut env = self.env.clone();
        env.extend(armed.iter().map(|place| ("SHOPFLOOR_FAILPOINT".to_owned(), place.clone())));
        self.armed = armed;
        self.process = Some(RunnerProcess::spawn_with(&self.data, &self.url, &self.token, &self.name, &env));
    }

    /// Lets it die at its place, or kills it when the moment has passed; starts it again.
    pub(crate) async fn kill(
        &mut self,
        random: &mut StdRng,
        (moment, places): (Duration, &[&str]),
        reached: &mut BTreeSet<String>,
    ) -> String {
        let mut runner = self.process.take().unwrap();
        let by_itself = ends(moment, || runner.has_ended()).await;
        runner.kill().await;
        let done = noted(&self.name, self.armed.take(), by_itself, reached);
        self.start(arm(random, places));
        done
    }

    /// Starts it again without a place to die at, if it has one.
    pub(crate) async fn disarm(&mut self) {
        if self.armed.take().is_some() {
            self.process.take().unwrap().kill().await;
            self.start(None);
        }
    }
}
