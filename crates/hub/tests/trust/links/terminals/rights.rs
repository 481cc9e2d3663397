//! Who may look and who may type, at every moment.

use domain::Visibility;
use protocol::link::ToRunner;
use protocol::terminal::TerminalFrame;
use protocol::{Call, FromHub, ProblemKind, ProjectUpdate, ToHub};
use tokio_tungstenite::tungstenite::Message;

use super::super::facts::agent;
use super::super::{Fixture, id, share, spawn};
use super::{data, screen, settled, watch};
use crate::support::runner::Heard;
use crate::support::socket::Shown;
use crate::support::{FakeRunner, Socket, ann, join, observe, view};

#[tokio::test]
async fn only_the_owners_keys_reach_the_terminal() {
    let mut fixture = Fixture::new().await;
    let session = fixture.session.id;
    let agent = agent(&mut fixture).await;
    let (visitor, _) = observe(&fixture.hub, &fixture.olga, fixture.project).await;
    let hub_owner = ann(&fixture.hub);
    let input = |bytes: &str| TerminalFrame::Input { channel: 7, bytes: bytes.as_bytes().to_vec() };
    let mut others = Vec::new();
    for who in [&fixture.pete, &visitor, &agent, &hub_owner] {
        let mut socket = Socket::live(fixture.hub.url(), who).await;
        socket.watch(7, session, None).await;
        assert_eq!(socket.shown().await, Shown::Watching { channel: 7, may_type: false, reachable: true });
        socket.frame(&input("rm -rf /\r")).await;
        socket.send(&ToHub::Resize { channel: 7, cols: 99, rows: 33, take: true }).await;
        others.push(socket);
    }
    let mut owner = watch(&fixture.hub, &fixture.olga, session, None).await;
    let (channel, _) = fixture.runner.watched(session).await;
    owner.frame(&TerminalFrame::Input { channel: 8, bytes: b"elsewhere".to_vec() }).await;
    owner.frame(&input("ls\r")).await;
    let typed = fixture.runner.sent("keys", |frame| matches!(frame, TerminalFrame::Input { .. })).await;
    assert_eq!(typed, TerminalFrame::Input { channel, bytes: b"ls\r".to_vec() });
    let user = id(&fixture.hub, &fixture.olga).await;
    fixture.runner.told("who types", |frame| *frame == ToRunner::Driver { channel, user, lent_to: None }).await;
    for socket in &mut others {
        socket.frame(&input("again")).await;
        if let Err(problem) = socket.ask(Call::ProjectList {}).await {
            panic!("{problem:?}");
        }
    }
    let heard = fixture.runner.sync().await;
    let typed = |heard: &&Heard| {
        matches!(
            heard,
            Heard::Frame(TerminalFrame::Input { .. }) | Heard::Told(ToRunner::Resize { .. } | ToRunner::Driver { .. })
        )
    };
    assert_eq!(heard.iter().filter(typed).count(), 0, "{heard:?}");
}

#[tokio::test]
async fn unsharing_ends_the_views_of_others_and_keeps_the_owners() {
    for private in [false, true] {
        let mut fixture = Fixture::new().await;
        let mut petes = FakeRunner::start(&fixture.hub, &fixture.pete, "pete's").await;
        let (hers, his) = (fixture.session.id, spawn(&fixture.hub, &fixture.pete, fixture.project, "his").await.id);
        let quin = join(&fixture.hub, "quin").await;
        let (visitor, _) = observe(&fixture.hub, &fixture.olga, fixture.project).await;
        let mut olga = watch(&fixture.hub, &fixture.olga, hers, None).await;
        let mut pete = watch(&fixture.hub, &fixture.pete, hers, None).await;
        pete.watch(8, his, None).await;
        assert!(matches!(pete.shown().await, Shown::Watching { channel: 8, may_type: true, .. }));
        let mut quins = watch(&fixture.hub, &quin, hers, None).await;
        let mut visitors = watch(&fixture.hub, &visitor, hers, None).await;
        let (channel, _) = fixture.runner.watched(hers).await;
        fixture.runner.frame(screen(channel, 0, 80, "open")).await;
        for socket in [&mut olga, &mut pete, &mut quins, &mut visitors] {
            assert_eq!(socket.terminal().await, screen(7, 0, 80, "open"));
        }
        match private {
            false => share(&fixture.hub, &fixture.olga, fixture.project, false).await,
            true => {
                let input = ProjectUpdate { visibility: Some(Visibility::Private), ..Default::default() };
                view!(&fixture.hub, &fixture.olga, Project, Call::ProjectUpdate { project: fixture.project, input });
            }
        }
        // The owner of the project was answered: from now on nothing reaches the others.
        fixture.runner.frame(data(channel, 0, "secret")).await;
        settled(&mut fixture.runner).await;
        assert_eq!(olga.terminal().await, data(7, 0, "secret"));
        assert_eq!(pete.shown().await, Shown::Unwatched(7, ProblemKind::NotFound));
        assert_eq!(quins.shown().await, Shown::Unwatched(7, ProblemKind::NotFound));
        // An observer's link shows a project whatever its visibility, but not what is not shared.
        match private {
            false => assert_eq!(visitors.shown().await, Shown::Unwatched(7, ProblemKind::NotFound)),
            true => assert_eq!(visitors.terminal().await, data(7, 0, "secret")),
        }
        // His own goes on; hers cannot be opened again, and is not told from what does not exist.
        let (own, _) = petes.watched(his).await;
        petes.frame(screen(own, 0, 80, "his")).await;
        assert_eq!(pete.terminal().await, screen(8, 0, 80, "his"));
        quins.watch(7, hers, None).await;
        assert_eq!(quins.shown().await, Shown::Unwatched(7, ProblemKind::NotFound));
        quins.watch(7, domain::SessionId::generate(), None).await;
        assert_eq!(quins.shown().await, Shown::Unwatched(7, ProblemKind::NotFound));
        fixture.runner.frame(data(channel, 6, "more")).await;
        assert_eq!(olga.terminal().await, data(7, 6, "more"));
        for socket in [&mut pete, &mut quins] {
            socket.ask(Call::Me {}).await.expect("it goes on");
            assert!(socket.shown.is_empty(), "{:?}", socket.shown);
        }
    }
}

#[tokio::test]
async fn a_runner_speaks_on_its_own_channels_only() {
    let mut fixture = Fixture::new().await;
    let mut petes = FakeRunner::start(&fixture.hub, &fixture.pete, "pete's").await;
    let mut owner = watch(&fixture.hub, &fixture.olga, fixture.session.id, None).await;
    let (channel, _) = fixture.runner.watched(fixture.session.id).await;
    for frame in [
        screen(channel, 0, 80, "forged"),
        data(channel, 0, "forged"),
        TerminalFrame::Exit { channel, offset: 0, code: Some(0), signal: None },
    ] {
        petes.frame(frame).await;
    }
    let problem = protocol::Problem::new(ProblemKind::NotFound, "forged");
    petes.tell(&protocol::link::FromRunner::Unwatched { channel, problem }).await;
    settled(&mut petes).await;
    fixture.runner.frame(screen(channel, 0, 80, "true")).await;
    assert_eq!(owner.terminal().await, screen(7, 0, 80, "true"));
    settled(&mut fixture.runner).await;
    owner.ask(Call::Me {}).await.expect("it goes on");
    assert!(owner.shown.is_empty(), "{:?}", owner.shown);
}

#[tokio::test]
async fn garbage_from_a_runner_disturbs_no_watcher() {
    use futures_util::SinkExt;
    let mut fixture = Fixture::new().await;
    let mut owner = watch(&fixture.hub, &fixture.olga, fixture.session.id, None).await;
    let (channel, _) = fixture.runner.watched(fixture.session.id).await;
    let mut head = vec![1];
    head.extend(channel.to_be_bytes());
    head.extend(0u64.to_be_bytes());
    let garbage: [Vec<u8>; 8] = [
        vec![],
        vec![0; 12],
        vec![9; 13],
        head.clone(),
        [head.clone(), vec![0, 80, 0, 24, 255, 255]].concat(),
        [head.clone(), vec![0, 80, 0, 24, 0, 2, 0xff, 0xfe]].concat(),
        [vec![3], head[1..].to_vec(), vec![1, 2]].concat(),
        [vec![5], head[1..].to_vec(), vec![1]].concat(),
    ];
    for bytes in &garbage {
        fixture.runner.stream.send(Message::binary(bytes.clone())).await.expect("the link goes on");
    }
    // What only a hub sends, channels that there are not, offsets that make no sense.
    for frame in [
        TerminalFrame::Input { channel, bytes: b"x".to_vec() },
        TerminalFrame::Credit { channel, offset: 1 },
        data(channel.wrapping_add(1000), 0, "x"),
        TerminalFrame::Data { channel, offset: u64::MAX, bytes: b"xyz".to_vec() },
        data(channel, 0, ""),
        TerminalFrame::Exit { channel, offset: u64::MAX, code: None, signal: Some(9) },
    ] {
        fixture.runner.frame(frame).await;
    }
    fixture.runner.frame(screen(channel, u64::MAX, 0, "mad")).await;
    settled(&mut fixture.runner).await;
    fixture.runner.frame(screen(channel, 50, 80, "sane")).await;
    fixture.runner.frame(data(channel, 50, "and on")).await;
    loop {
        if owner.terminal().await == data(7, 50, "and on") {
            break;
        }
    }
    // A client's garbage is answered, up to a limit, and reaches nobody.
    for bytes in &garbage {
        owner.raw(Message::binary(bytes.clone())).await;
        owner.until("a refusal", |frame| matches!(frame, FromHub::Error { id: None, .. })).await;
    }
    for frame in [screen(7, 0, 80, "x"), data(7, 0, "x")] {
        owner.frame(&frame).await;
        owner.until("a refusal", |frame| matches!(frame, FromHub::Error { id: None, .. })).await;
    }
    owner.frame(&TerminalFrame::Credit { channel: 4000, offset: 1 }).await;
    owner.frame(&TerminalFrame::Credit { channel: 7, offset: u64::MAX }).await;
    owner.ask(Call::Me {}).await.expect("it goes on");
}
