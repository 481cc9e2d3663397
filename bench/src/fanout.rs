//! Fan-out: how long from the writer's acknowledgement until the last of 200 clients has the change.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use futures_util::{SinkExt, StreamExt};
use protocol::{Call, MessageText, ToHub};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Bytes, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::hub::Hub;
use crate::report::{Goal, Report, Row, percentile, section};

const CLIENTS: usize = 200;
const RATE: u64 = 500;
const CHANGES: usize = 5_000;
const WARM_UP: usize = 500;

type Stream = WebSocketStream<TcpStream>;

/// When each change was seen by how many clients, and last.
struct Seen {
    begun: Instant,
    count: Vec<AtomicUsize>,
    last: Vec<AtomicU64>,
}

impl Seen {
    fn new() -> Arc<Self> {
        let zeros = || (0..CHANGES).map(|_| AtomicU64::new(0)).collect();
        let count = (0..CHANGES).map(|_| AtomicUsize::new(0)).collect();
        Arc::new(Self { begun: Instant::now(), count, last: zeros() })
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn mark(&self, text: &[u8]) {
        if let Some(number) = number_in(text) {
            self.last[number].fetch_max(self.now(), Ordering::Relaxed);
            self.count[number].fetch_add(1, Ordering::Release);
        }
    }

    async fn complete(&self) -> anyhow::Result<()> {
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.count.iter().any(|count| count.load(Ordering::Acquire) < CLIENTS) {
            anyhow::ensure!(Instant::now() < deadline, "a client missed a change");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }
}

/// The number in `change-NNNNN`, found without reading the rest.
fn number_in(text: &[u8]) -> Option<usize> {
    const MARK: &[u8] = b"change-";
    let at = text.windows(MARK.len()).position(|window| window == MARK)? + MARK.len();
    std::str::from_utf8(text.get(at..at + 5)?).ok()?.parse().ok()
}

/// Measures ours beside the relay.
pub(crate) async fn measure(report: &mut Report) -> anyhow::Result<()> {
    section(&format!("Fan-out: {CLIENTS} clients, {RATE} changes/s, from acknowledgement to the last client"));
    let (mut relay_ack, mut relay_all) = relay().await?;
    let (mut ours_ack, mut ours_all) = ours().await?;
    let mut add = |what: &str, ours: f64, baseline: f64, goal| {
        report.add(Row { what: what.into(), ours, baseline: Some(baseline), unit: "ms", goal });
    };
    add("acknowledged → last client, p50", percentile(&mut ours_ack, 0.5), percentile(&mut relay_ack, 0.5), None);
    let goal = Some(Goal::RatioAtMost(2.0));
    add("acknowledged → last client, p99", percentile(&mut ours_ack, 0.99), percentile(&mut relay_ack, 0.99), goal);
    add("sent → last client, p50", percentile(&mut ours_all, 0.5), percentile(&mut relay_all, 0.5), None);
    add("sent → last client, p99", percentile(&mut ours_all, 0.99), percentile(&mut relay_all, 0.99), None);
    Ok(())
}

async fn ours() -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
    let folder = tempfile::tempdir()?;
    let hub = Hub::start(folder.path(), None).await?;
    let project = hub.project().await?;
    let address = hub.url.trim_start_matches("http://").to_owned();
    let hello =
        serde_json::to_string(&ToHub::Hello { protocol: protocol::PROTOCOL, hub: None, since: None, client: None })?;
    let seen = Seen::new();
    for _ in 0..CLIENTS {
        let mut stream = connect(&address, "/api/ws", Some(&hub.token)).await?;
        stream.send(Message::text(hello.clone())).await?;
        while !next(&mut stream).await?.windows(13).any(|window| window == b"\"type\":\"live\"") {}
        watch(stream, seen.clone());
    }
    let mut writer = connect(&address, "/api/ws", Some(&hub.token)).await?;
    writer.send(Message::text(hello)).await?;
    while !next(&mut writer).await?.windows(13).any(|window| window == b"\"type\":\"live\"") {}
    let frame = |number: usize| {
        let input = MessageText { content: content(number) };
        let call = Call::ChatSend { project: project.id, input };
        let key = Some(format!("bench-{number}"));
        serde_json::to_string(&ToHub::Request { id: u32::try_from(number).unwrap_or(0), key, call })
    };
    let samples = write(writer, &seen, frame, |text| text.starts_with(b"{\"type\":\"answer\"")).await?;
    hub.stop().await?;
    Ok(samples)
}

async fn relay() -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
    let mut command = Command::new(std::env::current_exe()?);
    let mut child = command.arg("relay").stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    let mut lines = BufReader::new(child.stdout.take().context("the relay has an output")?).lines();
    let line = lines.next_line().await?.context("the relay says where it is")?;
    let address = line.trim_start_matches("relay ").to_owned();
    let seen = Seen::new();
    for _ in 0..CLIENTS {
        watch(connect(&address, "/read", None).await?, seen.clone());
    }
    let writer = connect(&address, "/write", None).await?;
    // As long as our deltas are, so that both move the same bytes.
    let padding = "x".repeat(560);
    let frame = |number: usize| Ok(format!("{} {padding}", content(number)));
    let samples = write(writer, &seen, frame, |text| text == b"ok").await?;
    child.kill().await?;
    Ok(samples)
}

fn content(number: usize) -> String {
    format!("change-{number:05} of the bench")
}

/// Writes at the rate, whatever the answers take; gives the milliseconds from answer and from sending to the last client.
async fn write(
    stream: Stream,
    seen: &Seen,
    frame: impl Fn(usize) -> serde_json::Result<String>,
    is_answer: impl Fn(&[u8]) -> bool + Send + 'static,
) -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
    let (mut sink, mut source) = stream.split();
    let begun = seen.begun;
    let answers = tokio::spawn(async move {
        let mut times = Vec::with_capacity(CHANGES);
        while times.len() < CHANGES {
            match source.next().await {
                Some(Ok(Message::Text(text))) if is_answer(text.as_bytes()) => times.push(begun.elapsed()),
                Some(Ok(_)) => {}
                _ => break,
            }
        }
        times
    });
    let mut sent = Vec::with_capacity(CHANGES);
    let mut tick = tokio::time::interval(Duration::from_micros(1_000_000 / RATE));
    for number in 0..CHANGES {
        tick.tick().await;
        sent.push(begun.elapsed());
        sink.send(Message::text(frame(number)?)).await?;
    }
    let answered = answers.await?;
    anyhow::ensure!(answered.len() == CHANGES, "{} of {CHANGES} changes were answered", answered.len());
    seen.complete().await?;
    let last = |number: usize| seen.last[number].load(Ordering::Relaxed) as f64 / 1e6;
    let after = |times: &[Duration]| {
        let numbers = WARM_UP..CHANGES;
        numbers.map(|number| (last(number) - times[number].as_secs_f64() * 1e3).max(0.0)).collect()
    };
    Ok((after(&answered), after(&sent)))
}

async fn connect(address: &str, path: &str, token: Option<&str>) -> anyhow::Result<Stream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut request = format!("ws://{address}{path}").into_client_request()?;
    if let Some(token) = token {
        request.headers_mut().insert("authorization", format!("Bearer {token}").parse()?);
    }
    Ok(client_async(request, stream).await?.0)
}

async fn next(stream: &mut Stream) -> anyhow::Result<Bytes> {
    Ok(stream.next().await.context("the server closed")??.into_data())
}

fn watch(mut stream: Stream, seen: Arc<Seen>) {
    tokio::spawn(async move {
        while let Some(Ok(message)) = stream.next().await {
            seen.mark(&message.into_data());
        }
    });
}
