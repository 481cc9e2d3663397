//! The hub, the runners, their links and sessions, and what may befall them.

use std::path::PathBuf;
use std::time::Duration;

use client::Client;
use domain::{SessionId, SessionStatus};
use protocol::{
    Call, NewRunner, Project, ProjectCreate, RecordingPart, RecordingRange, Runner, RunnerCreate, Session,
    SessionDetail, SessionSpawn,
};
use rand::rngs::StdRng;
use rustix::process::{Pid, Signal, kill_process};
use terminal::Screen;
use testkit::{HubProcess, RunnerProcess, wait_until};
use tokio::task::JoinHandle;

use crate::link::{Fault, Link};
use crate::support::free_port;
use crate::watcher::{self, Seen};

pub(crate) const RUNNERS: usize = 3;
const SESSIONS: usize = 12;

/// Writes numbered lines in bursts until it is stopped; then prints how many there were.
const WRITER: &str = r#"
i=0
while [ ! -e "$1" ]; do
    n=0
    while [ $n -lt 20 ]; do i=$((i+1)); n=$((n+1)); echo "line $i of $2"; done
    sleep 0.2
done
echo "last $i of $2"
"#;

struct Place {
    link: Link,
    data: PathBuf,
    token: String,
    name: String,
    process: Option<RunnerProcess>,
}

impl Place {
    fn start(&mut self) {
        self.process = Some(RunnerProcess::spawn(&self.data, &self.link.url(), &self.token, &self.name));
    }

    fn process(&self) -> &RunnerProcess {
        self.process.as_ref().expect("it runs between rounds")
    }
}

pub(crate) struct Fixture {
    folder: tempfile::TempDir,
    hub: Option<HubProcess>,
    port: u16,
    allowed: Vec<String>,
    ann: Client,
    places: Vec<Place>,
    sessions: Vec<(SessionId, JoinHandle<Seen>)>,
}

impl Fixture {
    pub(crate) async fn open(random: &mut StdRng) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port(random);
        let mut links = Vec::new();
        for _ in 0..RUNNERS {
            links.push(Link::start(port).await);
        }
        let allowed: Vec<String> =
            links.iter().flat_map(|link| ["--allow-host".to_owned(), format!("127.0.0.1:{}", link.port)]).collect();
        let (data, database) = hub_files(&folder);
        let mut hub = HubProcess::spawn_with(&data, &database, port, &allowed);
        let url = hub.ready().await;
        let token = std::fs::read_to_string(data.join("token")).unwrap();
        let ann = Client::new(&url, token.trim()).unwrap();
        let mut places = Vec::new();
        for (number, link) in links.into_iter().enumerate() {
            let name = format!("r{number}");
            let made: NewRunner =
                ann.ask(Call::RunnerCreate { input: RunnerCreate { name: name.clone() } }).await.unwrap();
            let data = folder.path().join(&name);
            let mut place = Place { link, data, token: made.secret, name, process: None };
            place.start();
            places.push(place);
        }
        let mut fixture = Self { folder, hub: Some(hub), port, allowed, ann, places, sessions: Vec::new() };
        fixture.all_connected().await;
        fixture.spawn_sessions().await;
        fixture
    }

    async fn spawn_sessions(&mut self) {
        let input = ProjectCreate { content: "chaos".into(), ..Default::default() };
        let project: Project = self.ann.ask(Call::ProjectCreate { input }).await.unwrap();
        let runners: Vec<Runner> = self.ann.ask(Call::RunnerList {}).await.unwrap();
        for number in 0..SESSIONS {
            let (end, number_text) = (self.end().display().to_string(), number.to_string());
            let argv = ["sh", "-c", WRITER, "writer", &end, &number_text];
            let input = SessionSpawn {
                project: Some(project.id),
                agent: "command".into(),
                argv: argv.map(str::to_owned).to_vec(),
                runner: Some(runners[number % RUNNERS].id),
                ..Default::default()
            };
            let session: Session = self.ann.ask(Call::SessionSpawn { input }).await.unwrap();
            self.sessions.push((session.id, watcher::start(&self.ann, session.id)));
        }
        for (session, _) in &self.sessions {
            self.until(*session, "it runs", |session| session.state.status != SessionStatus::Starting).await;
        }
    }

    /// The file that tells the writers to end.
    fn end(&self) -> PathBuf {
        self.folder.path().join("end")
    }

    pub(crate) async fn kill_hub(&mut self) -> String {
        self.hub.take().unwrap().kill().await;
        self.start_hub().await;
        "killed the hub".to_owned()
    }

    async fn start_hub(&mut self) {
        let (data, database) = hub_files(&self.folder);
        let mut hub = HubProcess::spawn_with(&data, &database, self.port, &self.allowed);
        hub.ready().await;
        self.hub = Some(hub);
    }

    /// Hub and runner are down together; only the hosts of the sessions are left.
    pub(crate) async fn kill_both(&mut self, which: usize, pause: Duration) -> String {
        self.hub.take().unwrap().kill().await;
        self.places[which].process.take().unwrap().kill().await;
        tokio::time::sleep(pause).await;
        self.places[which].start();
        self.start_hub().await;
        format!("killed the hub and runner {which}, both down for {pause:?}")
    }

    pub(crate) async fn stop_hub_for(&mut self, pause: Duration) -> String {
        stopped(self.hub.as_ref().unwrap().pid().unwrap(), pause).await;
        format!("stopped the hub for {pause:?}")
    }

    pub(crate) async fn kill_runner(&mut self, which: usize) -> String {
        self.places[which].process.take().unwrap().kill().await;
        self.places[which].start();
        format!("killed runner {which}")
    }

    pub(crate) async fn stop_runner_for(&mut self, which: usize, pause: Duration) -> String {
        stopped(self.places[which].process().pid().unwrap(), pause).await;
        format!("stopped runner {which} for {pause:?}")
    }

    pub(crate) async fn disturb(&mut self, which: usize, fault: Fault, pause: Duration) -> String {
        self.places[which].link.set(fault);
        tokio::time::sleep(pause).await;
        self.places[which].link.set(Fault::None);
        format!("{fault:?} on the link of runner {which} for {pause:?}")
    }

    async fn all_connected(&self) {
        wait_until("every runner is connected", async || {
            let runners: Vec<Runner> = self.ann.ask(Call::RunnerList {}).await.ok()?;
            (runners.len() == RUNNERS && runners.iter().all(|runner| runner.connected)).then_some(())
        })
        .await;
    }

    async fn until(&self, session: SessionId, reason: &str, is: impl Fn(&Session) -> bool) -> Session {
        wait_until(reason, async || {
            let found: SessionDetail = self.ann.ask(Call::SessionShow { session }).await.ok()?;
            assert_ne!(found.session.state.status, SessionStatus::Lost, "{:?}", found.session.state);
            is(&found.session).then_some(found.session)
        })
        .await
    }

    /// Lets every session end, and checks what is left of it.
    pub(crate) async fn close(mut self) {
        self.all_connected().await;
        std::fs::write(self.end(), "").unwrap();
        let (mut lines, mut snapshots, mut losses) = (0, 0, 0);
        for (number, (session, watcher)) in std::mem::take(&mut self.sessions).into_iter().enumerate() {
            let ended = self.until(session, "the session ended", |session| session.state.ended()).await;
            assert_eq!(ended.state.code, Some(0), "{:?}", ended.state);
            let output = self.recorded(session).await;
            lines += check_lines(&output, number);
            let mut screen = Screen::new(120, 32, 0);
            screen.feed(output.as_bytes());
            let seen = watcher.await.unwrap();
            assert_eq!(seen.text.trim_end(), screen.text().trim_end(), "what the watcher of session {number} sees");
            snapshots += seen.snapshots;
            losses += seen.losses;
        }
        eprintln!("{lines} lines recorded once each; watchers lost {losses} connections, took {snapshots} snapshots");
        for place in &mut self.places {
            place.process.take().unwrap().kill().await;
        }
        self.hub.take().unwrap().kill().await;
    }

    async fn recorded(&self, session: SessionId) -> String {
        let mut output = String::new();
        let mut from_ms = Some(0);
        while from_ms.is_some() {
            let range = RecordingRange { from_ms };
            let part: RecordingPart = self.ann.ask(Call::RecordingPart { session, range }).await.unwrap();
            output.extend(part.events.iter().filter(|event| event.code == "o").map(|event| event.data.as_str()));
            from_ms = part.next_ms;
        }
        output
    }
}

/// Every line once, in order, and the last one says how many there were.
fn check_lines(output: &str, number: usize) -> u64 {
    let mut lines = output.lines();
    let mut count = 0;
    for line in lines.by_ref() {
        if line.trim_end() != format!("line {} of {number}", count + 1) {
            assert_eq!(line.trim_end(), format!("last {count} of {number}"), "after line {count}");
            break;
        }
        count += 1;
    }
    assert_eq!(lines.next(), None, "nothing follows the last line");
    assert!(count > 0);
    count
}

fn hub_files(folder: &tempfile::TempDir) -> (PathBuf, String) {
    let data = folder.path().join("hub");
    let database = format!("sqlite:{}", data.join("shopfloor.db").display());
    (data, database)
}

/// Stops a process for a while, as a machine that sleeps does.
async fn stopped(pid: u32, pause: Duration) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    tokio::time::sleep(pause).await;
    kill_process(pid, Signal::CONT).unwrap();
}
