//! Who has a link, for how long, and what others see of it.

use domain::{SessionStatus, UserId};
use protocol::link::{FromRunner, RunnerTrouble};
use protocol::{Call, Change, FromHub, MessageText, PROTOCOL};
use tokio_tungstenite::tungstenite::Message;

use super::Fixture;
use super::facts::agent;
use crate::support::runner::{Heard, about, dial, register};
use crate::support::socket::change;
use crate::support::{Credential, FakeRunner, Socket, ann, ask, browser, call, observe, view};

#[tokio::test]
async fn only_a_runners_own_token_opens_a_link() {
    let mut fixture = Fixture::new().await;
    let url = fixture.hub.url().to_owned();
    assert_eq!(dial(&url, &Credential::None).await.err(), Some(401));
    assert_eq!(dial(&url, &Credential::Token("sf_nothing".into())).await.err(), Some(401));
    let agent = agent(&mut fixture).await;
    let (visitor, _) = observe(&fixture.hub, &fixture.olga, fixture.project).await;
    let login = browser(&fixture.hub, &fixture.olga).await;
    for credential in [&fixture.olga, &fixture.pete, &agent, &visitor, &login] {
        assert_eq!(dial(&url, credential).await.err(), Some(403), "{credential:?}");
    }
    // And a runner's token opens nothing else.
    let token = fixture.runner.token.clone();
    let content = MessageText { content: "hi".into() };
    for verb in [
        Call::ChatSend { project: fixture.project, input: content },
        Call::SessionSpawn { input: super::plan(fixture.project, "by a runner") },
        Call::SessionStop { session: fixture.session.id, input: Default::default() },
        Call::RunnerRemove { runner: fixture.runner.id },
        Call::Me {},
        Call::ProjectList {},
        Call::SessionShow { session: fixture.session.id },
        Call::LoginList {},
        Call::AuditList { page: Default::default() },
    ] {
        let reply = call(&fixture.hub, &token, &verb).await;
        assert_eq!(reply.status, 403, "{}", verb.verb());
        assert!(reply.text.contains("opens only the runner's link"), "{}", reply.text);
    }
    assert_eq!(Socket::connect(&url, &token).await.err(), Some(403), "not even to look");
}

#[tokio::test]
async fn a_link_that_does_not_begin_with_hello_ends() {
    let fixture = Fixture::new().await;
    let open = async || {
        let made = register(&fixture.hub, &fixture.olga, &format!("r{}", UserId::generate())).await;
        let token = Credential::Token(made.secret);
        let stream = dial(fixture.hub.url(), &token).await.expect("let in");
        (stream, token)
    };
    let hello =
        |protocol| FromRunner::Hello { protocol, journal: domain::JournalId::generate(), about: about(1), name: None };
    let text = |frame: &FromRunner| Message::text(serde_json::to_string(frame).expect("JSON"));
    for first in [
        text(&FromRunner::Heartbeat { silent: Vec::new(), trouble: None }),
        text(&hello(PROTOCOL + 1)),
        Message::text("{}"),
        Message::text("nonsense"),
        Message::binary(vec![1, 2, 3]),
    ] {
        use futures_util::{SinkExt, StreamExt};
        let (mut stream, _) = open().await;
        stream.send(first.clone()).await.expect("sent");
        let answer = stream.next().await;
        let code = match answer {
            Some(Ok(Message::Close(Some(frame)))) => u16::from(frame.code),
            other => panic!("{first:?} was answered with {other:?}"),
        };
        assert_eq!(code, 1002, "{first:?}");
    }
}

#[tokio::test]
async fn a_newer_link_takes_over_and_the_runner_stays_connected() {
    let mut fixture = Fixture::new().await;
    let mut watcher = Socket::live(fixture.hub.url(), &fixture.pete).await;
    watcher.early.clear();
    // The older one is half open: nobody reads it, and nothing is said on it.
    let older = fixture.runner.again(fixture.hub.url()).await;
    fixture.runner.hello(8).await;
    let mut older = FakeRunner { stream: older, ..FakeRunner::start(&fixture.hub, &fixture.pete, "unused").await };
    assert_eq!(older.until_closed().await, Some(1001));
    let runners = view!(&fixture.hub, &fixture.pete, Runners, Call::RunnerList {});
    assert!(runners.iter().any(|runner| runner.id == fixture.runner.id && runner.connected));
    fixture.runner.at(fixture.session.id, SessionStatus::Working).await;
    let working = |frame: &FromHub| match change(frame) {
        Some(Change::Session { session }) => session.state.status == SessionStatus::Working,
        _ => false,
    };
    let frames = watcher.until("it works", working).await;
    let gone = |frame: &&FromHub| match change(frame) {
        Some(Change::Runner { runner }) => runner.id == fixture.runner.id && !runner.connected,
        _ => false,
    };
    assert_eq!(frames.iter().filter(gone).count(), 0, "nobody thought that it was gone");
}

#[tokio::test]
async fn a_second_process_with_a_connected_runners_token_is_refused() {
    let mut fixture = Fixture::new().await;
    let first = fixture.runner.again(fixture.hub.url()).await;
    let mut second = FakeRunner { stream: first, ..FakeRunner::start(&fixture.hub, &fixture.pete, "unused").await };
    std::mem::swap(&mut fixture.runner.stream, &mut second.stream);
    let (protocol, journal) = (PROTOCOL, domain::JournalId::generate());
    second.tell(&FromRunner::Hello { protocol, journal, about: about(8), name: None }).await;
    assert_eq!(second.until_closed().await, Some(4409));
    fixture.runner.at(fixture.session.id, SessionStatus::Working).await;
    // One that lost its memory, and whose older link is going, is let in.
    let older = fixture.runner.again(fixture.hub.url()).await;
    (fixture.runner.journal, fixture.runner.number) = (journal, 0);
    drop(older);
    assert_eq!(fixture.runner.hello(8).await, 0);
    let (_, sessions, _) = fixture.runner.desired("its session", |sessions| !sessions.is_empty()).await;
    assert!(sessions[0].begun, "it must not begin again");
}

/// Waits until a watcher learns whether the runner is connected.
async fn until(watcher: &mut Socket, runner: domain::RunnerId, connected: bool) -> protocol::Runner {
    let told = |frame: &FromHub| match change(frame) {
        Some(Change::Runner { runner: told }) => told.id == runner && told.connected == connected,
        _ => false,
    };
    let frames = watcher.until("the runner", told).await;
    match frames.last().and_then(change) {
        Some(Change::Runner { runner }) => runner.clone(),
        _ => unreachable!(),
    }
}

#[tokio::test]
async fn a_runner_shows_as_disconnected_however_its_link_ended() {
    let mut fixture = Fixture::new().await;
    let mut watcher = Socket::live(fixture.hub.url(), &fixture.pete).await;
    watcher.early.clear();
    let listed = async |fixture: &Fixture, id| {
        let runners = view!(&fixture.hub, &fixture.pete, Runners, Call::RunnerList {});
        runners.into_iter().find(|runner| runner.id == id).map(|runner| runner.connected)
    };
    // It goes by itself.
    let mut runner = FakeRunner::start(&fixture.hub, &fixture.olga, "goes").await;
    until(&mut watcher, runner.id, true).await;
    drop(runner.stream.close(None).await);
    let gone = until(&mut watcher, runner.id, false).await;
    assert!(gone.last_seen_at.is_some() && gone.about.is_some());
    assert_eq!(listed(&fixture, runner.id).await, Some(false));
    // It speaks nonsense.
    let mut runner = FakeRunner::start(&fixture.hub, &fixture.olga, "nonsense").await;
    until(&mut watcher, runner.id, true).await;
    use futures_util::SinkExt;
    runner.stream.send(Message::text("{\"type\":\"surprise\"}")).await.expect("sent");
    assert_eq!(runner.until_closed().await, Some(1002));
    until(&mut watcher, runner.id, false).await;
    // Its owner is disabled: the credential ends.
    let pete = super::id(&fixture.hub, &fixture.pete).await;
    let mut runner = FakeRunner::start(&fixture.hub, &fixture.pete, "pete's").await;
    drop(watcher);
    let mut watcher = Socket::live(fixture.hub.url(), &fixture.olga).await;
    watcher.early.clear();
    ask(&fixture.hub, &ann(&fixture.hub), Call::UserDisable { user: pete }).await;
    assert_eq!(runner.until_closed().await, Some(4401));
    until(&mut watcher, runner.id, false).await;
    assert_eq!(dial(fixture.hub.url(), &runner.token).await.err(), Some(401));
    // It is removed: its token ends, and with it the link.
    fixture.runner.at(fixture.session.id, SessionStatus::Exited).await;
    ask(&fixture.hub, &fixture.olga, Call::RunnerRemove { runner: fixture.runner.id }).await;
    assert_eq!(fixture.runner.until_closed().await, Some(4401));
    assert_eq!(dial(fixture.hub.url(), &fixture.runner.token).await.err(), Some(401));
}

#[tokio::test]
async fn a_runner_with_live_sessions_is_not_removed() {
    let mut fixture = Fixture::new().await;
    let remove = Call::RunnerRemove { runner: fixture.runner.id };
    let reply = call(&fixture.hub, &fixture.olga, &remove).await;
    assert!(reply.status == 409 && reply.text.contains("stop them first"), "{}", reply.text);
    assert!(fixture.runner.sync().await.is_empty(), "and its link goes on");
}

#[tokio::test]
async fn a_silent_runner_is_shown_as_gone_and_comes_back() {
    let mut fixture = Fixture::with(|options| options.limits.runner_silence_seconds = 2).await;
    let mut watcher = Socket::live(fixture.hub.url(), &fixture.pete).await;
    watcher.early.clear();
    let code = fixture.runner.until_closed().await;
    assert_eq!(code, Some(1013), "it said nothing for too long");
    let gone = until(&mut watcher, fixture.runner.id, false).await;
    let heard = gone.last_seen_at.expect("it was there").as_millis();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    assert!(now >= u128::from(heard.unsigned_abs()) + 1_900, "not when its link ended: it was silent by then");
    let reply =
        call(&fixture.hub, &fixture.olga, &Call::SessionSpawn { input: super::plan(fixture.project, "x") }).await;
    assert!(reply.status == 409 && reply.text.contains("is not connected"), "{}", reply.text);
    assert_eq!(fixture.now().await.state.status, SessionStatus::Starting, "its sessions are as last seen");
    fixture.runner.again(fixture.hub.url()).await;
    fixture.runner.hello(8).await;
    until(&mut watcher, fixture.runner.id, true).await;
    // A heartbeat is sign enough.
    for _ in 0..3 {
        fixture.runner.tell(&FromRunner::Heartbeat { silent: Vec::new(), trouble: None }).await;
        assert!(fixture.runner.sync().await.iter().all(|heard| !matches!(heard, Heard::Closed(_))));
    }
}

#[tokio::test]
async fn a_hub_that_stops_says_so_to_its_runners() {
    let mut fixture = Fixture::new().await;
    fixture.hub.stop().await;
    assert_eq!(fixture.runner.until_closed().await, Some(1001));
}

#[tokio::test]
async fn a_runner_with_a_full_disk_is_shown_and_gets_no_work() {
    let mut fixture = Fixture::new().await;
    let mut watcher = Socket::live(fixture.hub.url(), &fixture.pete).await;
    watcher.early.clear();
    let trouble = |why: &str| {
        let trouble = RunnerTrouble { why: why.into(), lasts_ms: 1_000 };
        FromRunner::Heartbeat { silent: Vec::new(), trouble: Some(trouble) }
    };
    fixture.runner.tell(&trouble("its disk is full\nand more")).await;
    let told = until(&mut watcher, fixture.runner.id, true).await;
    assert_eq!(told.trouble.as_deref(), Some("its disk is full and more"));
    let listed = view!(&fixture.hub, &fixture.pete, Runners, Call::RunnerList {});
    assert!(listed.iter().any(|runner| runner.id == fixture.runner.id && runner.trouble == told.trouble));
    let health = client::Client::anonymous(fixture.hub.url()).unwrap().health().await.unwrap();
    assert_eq!((health.status.as_str(), health.runners_in_trouble), ("degraded", Some(1)));
    let spawn = Call::SessionSpawn { input: super::plan(fixture.project, "x") };
    let reply = call(&fixture.hub, &fixture.olga, &spawn).await;
    assert!(reply.status == 409 && reply.text.contains("cannot work now: its disk is full"), "{}", reply.text);
    fixture.runner.tell(&FromRunner::Heartbeat { silent: Vec::new(), trouble: None }).await;
    assert_eq!(until(&mut watcher, fixture.runner.id, true).await.trouble, None);
    let reply = call(&fixture.hub, &fixture.olga, &spawn).await;
    assert!(reply.status < 300, "{}", reply.text);
    let health = client::Client::anonymous(fixture.hub.url()).unwrap().health().await.unwrap();
    assert_eq!(health.runners_in_trouble, None);
}
