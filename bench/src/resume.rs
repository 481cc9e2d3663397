//! Resume: a client that is 10,000 events behind catches up, filtered.

use std::time::Instant;

use anyhow::Context;
use client::Socket;
use domain::Seq;
use futures_util::future::try_join_all;
use protocol::{Call, FromHub, MessageText, Project, ProjectCreate};

use crate::hub::Hub;
use crate::report::{Goal, Report, Row, section};

const EVENTS: usize = 10_000;
const WRITERS: usize = 50;

/// Half of the events are of a project that the client may not see.
pub(crate) async fn measure(report: &mut Report) -> anyhow::Result<()> {
    section("Resume: 10,000 events behind, half of them not for this client");
    let folder = tempfile::tempdir()?;
    let hub = Hub::start(folder.path(), None).await?;
    let open = hub.project().await?;
    let input = ProjectCreate { content: "Private".into(), ..ProjectCreate::default() };
    let hidden: Project = hub.client()?.ask(Call::ProjectCreate { input }).await?;
    let peer = peer(&hub).await?;

    let mut socket = Socket::connect(&hub.url, &peer).await?;
    socket.hello(None, None, "bench").await?;
    let (database, since) = position(&mut socket).await?;
    socket.close().await;

    let client = hub.client()?;
    try_join_all((0..WRITERS).map(|writer| {
        let client = client.clone();
        let projects = [open.id, hidden.id];
        async move {
            for number in (writer..EVENTS).step_by(WRITERS) {
                let input = MessageText { content: format!("message {number}") };
                client.call(Call::ChatSend { project: projects[number % 2], input }).await?;
            }
            anyhow::Ok(())
        }
    }))
    .await?;

    let begun = Instant::now();
    let mut socket = Socket::connect(&hub.url, &peer).await?;
    socket.hello(Some(database), Some(since), "bench").await?;
    let mut deltas = 0;
    loop {
        match socket.next().await?.context("the hub closed")? {
            FromHub::Welcome { resumed, .. } => anyhow::ensure!(resumed, "the hub did not resume"),
            FromHub::Delta(_) => deltas += 1,
            FromHub::Live { .. } => break,
            _ => {}
        }
    }
    let took = begun.elapsed().as_secs_f64() * 1e3;
    anyhow::ensure!(deltas == EVENTS / 2, "{deltas} deltas came instead of {}", EVENTS / 2);
    let goal = Some(Goal::AtMost(1000.0));
    report.add(Row { what: "hello → live".into(), ours: took, baseline: None, unit: "ms", goal });
    hub.stop().await
}

async fn position(socket: &mut Socket) -> anyhow::Result<(domain::HubId, Seq)> {
    let mut database = None;
    loop {
        match socket.next().await?.context("the hub closed")? {
            FromHub::Welcome { hub, .. } => database = Some(hub),
            FromHub::Live { seq } => return Ok((database.context("welcome comes first")?, seq)),
            _ => {}
        }
    }
}

/// The token of a second person: an invitation is accepted over plain HTTP, as a browser would.
async fn peer(hub: &Hub) -> anyhow::Result<String> {
    testkit::join(&hub.url, &hub.client()?, "bo").await
}
