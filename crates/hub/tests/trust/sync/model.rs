//! Random changes, visibilities, disconnects and resumes: at the end every client's state is what a fresh sync says.

use domain::{ActivityId, ProjectId, SessionId, SessionStatus, UserId, Visibility};
use futures_util::{FutureExt, StreamExt};
use protocol::link::FactBody;
use protocol::{
    ActivityCreate, ActivityUpdate, Answer, Call, MarkRead, MessageText, ProjectCreate, ProjectUpdate, RecordingKeep,
    Rename, RunnerCreate, Session, SessionSpawn, SessionStop,
};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use testkit::TestHub;
use tokio_tungstenite::tungstenite::Message;

use super::{project, say};
use crate::links::plan;
use crate::support::runner::{Serving, state};
use crate::support::state::Follower;
use crate::support::{Credential, FakeRunner, Socket, ask, call, join, observe};

const STEPS: u32 = 250;

/// A client that comes and goes.
struct Tab {
    credential: Credential,
    follower: Follower,
    socket: Option<Socket>,
    resumed: u32,
}

impl Tab {
    async fn connect(&mut self, hub: &TestHub) {
        let mut socket = Socket::connect(hub.url(), &self.credential).await.expect("let in");
        socket.hello(self.follower.seen).await;
        self.socket = Some(socket);
    }

    /// Applies what has come already, at most `count` frames.
    fn read_some(&mut self, count: usize) {
        let Some(socket) = &mut self.socket else { return };
        for _ in 0..count {
            match socket.stream.next().now_or_never() {
                Some(Some(Ok(Message::Text(text)))) => {
                    let frame = serde_json::from_str(text.as_str()).expect("readable");
                    self.resumed += u32::from(matches!(frame, protocol::FromHub::Welcome { resumed: true, .. }));
                    self.follower.apply(&frame);
                }
                Some(Some(Ok(_))) => {}
                Some(other) => panic!("the hub ended a client: {other:?}"),
                None => return,
            }
        }
    }

    async fn finish(&mut self, last: &str) {
        let mut socket = self.socket.take().expect("connected at the end");
        for frame in socket.until_message(last).await {
            self.follower.apply(&frame);
        }
    }
}

struct World {
    rng: StdRng,
    people: Vec<(Credential, UserId)>,
    projects: Vec<ProjectId>,
    activities: Vec<ActivityId>,
    messages: Vec<domain::MessageId>,
    sessions: Vec<Session>,
    /// One for each person.
    runners: Vec<Serving>,
}

impl World {
    /// A random verb by a random person; most of them are allowed.
    fn step(&mut self) -> (Credential, Call) {
        let rng = &mut self.rng;
        let person = self.people.choose(rng).expect("people").0.clone();
        let project = *self.projects.choose(rng).expect("projects");
        let activity = self.activities.choose(rng).copied().unwrap_or_else(ActivityId::generate);
        let message = self.messages.choose(rng).copied().unwrap_or_else(domain::MessageId::generate);
        let word = format!("word {}", rng.random_range(0..1_000_000));
        let visibility = *Visibility::ALL.choose(rng).expect("three");
        let session = self.sessions.choose(rng).map_or_else(SessionId::generate, |session| session.id);
        let call = match rng.random_range(0..34) {
            0..=4 => {
                let input = ProjectUpdate { visibility: Some(visibility), ..Default::default() };
                Call::ProjectUpdate { project, input }
            }
            5..=6 => {
                let input = ProjectUpdate { content: Some(word), ..Default::default() };
                Call::ProjectUpdate { project, input }
            }
            7..=10 => {
                let input = ActivityCreate { content: word, ..Default::default() };
                Call::ActivityCreate { project, input }
            }
            11..=13 => {
                let input = ActivityUpdate { content: Some(word), ..Default::default() };
                Call::ActivityUpdate { activity, input }
            }
            14..=15 => Call::ChatSend { project, input: MessageText { content: word } },
            16 => Call::ChatEdit { message, input: MessageText { content: word } },
            17 => Call::ChatDelete { message },
            18 => Call::ChatRead { project, input: MarkRead { number: rng.random_range(0..20) } },
            19 => {
                let input = ProjectCreate { content: word, visibility: Some(visibility), ..Default::default() };
                Call::ProjectCreate { input }
            }
            20 if rng.random_bool(0.5) => Call::ProjectDelete { project },
            20 => Call::MeRename { input: Rename { name: word } },
            21 => Call::RunnerCreate { input: RunnerCreate { name: word } },
            22..=25 => Call::SessionSpawn { input: plan(project, &word) },
            26 => {
                let activity = Some(activity);
                Call::SessionSpawn { input: SessionSpawn { activity, project: None, ..plan(project, &word) } }
            }
            27..=28 => Call::SessionStop { session, input: SessionStop { force: rng.random_bool(0.5) } },
            29 => Call::RecordingKeep { session, input: RecordingKeep { keep: rng.random_bool(0.5) } },
            _ => {
                let input = ProjectUpdate { share_execution: Some(rng.random_bool(0.5)), ..Default::default() };
                Call::ProjectUpdate { project, input }
            }
        };
        (person, call)
    }

    /// Something that a runner says of one of its sessions.
    async fn happen(&mut self) {
        let Some(session) = self.sessions.choose(&mut self.rng) else { return };
        let Some(runner) = self.runners.iter().find(|runner| runner.id == session.runner) else { return };
        let (id, workspace) = (session.id, session.workspace);
        let body = match self.rng.random_range(0..5) {
            0..=2 => {
                let states =
                    [SessionStatus::Working, SessionStatus::Waiting, SessionStatus::Idle, SessionStatus::Exited];
                let status = *states.choose(&mut self.rng).expect("four");
                FactBody::SessionState { session: id, state: state(status) }
            }
            3 => {
                let output_bytes = self.rng.random_range(0..1_000_000);
                FactBody::Recorded { session: id, output_bytes, disk_bytes: 1, duration_ms: 2 }
            }
            _ => FactBody::WorkspaceReady { workspace, path: "/w".into(), branch: None, base: None, ports: None },
        };
        runner.fact(body).await;
    }

    fn learn(&mut self, answer: Answer) {
        match answer {
            Answer::Project(project) if !self.projects.contains(&project.id) => self.projects.push(project.id),
            Answer::Activity(activity) => self.activities.push(activity.id),
            Answer::Message(message) => self.messages.push(message.id),
            Answer::Session(session) if !self.sessions.iter().any(|known| known.id == session.id) => {
                self.sessions.push(session);
            }
            _ => {}
        }
    }
}

async fn run(seed: u64) {
    let hub = TestHub::start().await;
    let mut people = Vec::new();
    for name in ["olga", "pete", "quin"] {
        let person = join(&hub, name).await;
        let Answer::Me(me) = ask(&hub, &person, Call::Me {}).await else { panic!("me") };
        people.push((person, me.user.expect("a person").id));
    }
    let common = project(&hub, &people[2].0, "common", Visibility::ReadWrite).await;
    let mut projects = Vec::new();
    let mut tabs: Vec<Tab> = Vec::new();
    let tab = |credential| Tab { credential, follower: Follower::default(), socket: None, resumed: 0 };
    for (owner, _) in &people[..2] {
        let shown = project(&hub, owner, "a project", Visibility::ReadWrite).await;
        projects.push(shown);
    }
    // Observers of a project that is not deleted: its end would be theirs.
    tabs.push(tab(observe(&hub, &people[2].0, common).await.0));
    for (person, _) in people.iter().chain(&people) {
        tabs.push(tab(person.clone()));
    }
    for tab in &mut tabs {
        tab.connect(&hub).await;
    }
    let mut runners = Vec::new();
    for (person, _) in &people {
        runners.push(FakeRunner::start(&hub, person, "machine").await.serve());
    }
    let mut world = World {
        rng: StdRng::seed_from_u64(seed),
        people,
        projects,
        activities: Vec::new(),
        messages: Vec::new(),
        sessions: Vec::new(),
        runners,
    };
    let mut done = 0;
    for _ in 0..STEPS {
        let (person, verb) = world.step();
        let reply = call(&hub, &person, &verb).await;
        assert!(reply.status < 500, "{} {}", verb.verb(), reply.text);
        if reply.status < 300 {
            done += 1;
            world.learn(client::request(&verb).decode(reply.text.as_bytes()).expect("readable"));
        }
        if world.rng.random_bool(0.3) {
            world.happen().await;
        }
        for tab in &mut tabs {
            let count = world.rng.random_range(0..6);
            tab.read_some(count);
            match &tab.socket {
                Some(_) if world.rng.random_bool(0.05) => tab.socket = None,
                None if world.rng.random_bool(0.3) => tab.connect(&hub).await,
                _ => {}
            }
        }
    }
    assert!(done > STEPS / 4, "only {done} of {STEPS} verbs did anything");
    for tab in &mut tabs {
        if tab.socket.is_none() {
            tab.connect(&hub).await;
        }
    }
    say(&hub, &world.people[2].0, common, "the last word").await;
    let mut resumed = 0;
    for (index, tab) in tabs.iter_mut().enumerate() {
        tab.finish("the last word").await;
        resumed += tab.resumed;
        let mut fresh = Follower::default();
        let socket = Socket::live(hub.url(), &tab.credential).await;
        socket.early.iter().for_each(|frame| fresh.apply(frame));
        let wrong = tab.follower.state.differences(&fresh.state);
        assert!(wrong.is_empty(), "client {index} is out of step, seed {seed}: {wrong:#?}");
    }
    assert!(world.sessions.len() > 10, "only {} sessions", world.sessions.len());
    assert!(resumed > 10, "only {resumed} resumes");
}

#[tokio::test]
async fn every_client_ends_where_a_fresh_one_begins_1() {
    run(1).await;
}

#[tokio::test]
async fn every_client_ends_where_a_fresh_one_begins_2() {
    run(2).await;
}

/// A longer run: SHOPFLOOR_SEEDS says how many.
#[tokio::test]
async fn every_client_ends_where_a_fresh_one_begins_3() {
    let more = std::env::var("SHOPFLOOR_SEEDS").ok().and_then(|count| count.parse().ok()).unwrap_or(1);
    for seed in 3..3 + more {
        run(seed).await;
    }
}
