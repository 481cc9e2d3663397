//! A flood of output: bounded memory, nobody waits for another, who fell behind skips and never stalls.

use protocol::link::ToRunner;
use protocol::terminal::{TerminalFrame, WATCH_WINDOW};

use super::super::Fixture;
use super::{screen, settled, watch};
use crate::support::runner::Heard;
use crate::support::{FakeRunner, Socket};

const CHUNK: usize = 32 * 1024;
/// How far a runner may be ahead of the hub's credit.
const AHEAD: u64 = 512 * 1024;

/// Sends output like a runner: not too far ahead of the hub's credit, and a screen whenever one is asked for.
struct Flood {
    channel: u32,
    at: u64,
    credit: u64,
    screens: u32,
}

impl Flood {
    async fn until(&mut self, runner: &mut FakeRunner, end: u64) {
        while self.at < end {
            while self.at - self.credit + CHUNK as u64 > AHEAD {
                let heard = runner.next().await;
                self.on(runner, heard).await;
            }
            let bytes = (0..CHUNK as u64).map(|i| ((self.at + i) % 251) as u8).collect();
            runner.frame(TerminalFrame::Data { channel: self.channel, offset: self.at, bytes }).await;
            self.at += CHUNK as u64;
        }
        for heard in runner.sync().await {
            self.on(runner, heard).await;
        }
    }

    async fn on(&mut self, runner: &mut FakeRunner, heard: Heard) {
        match heard {
            Heard::Frame(TerminalFrame::Credit { offset, .. }) => self.credit = self.credit.max(offset),
            Heard::Told(ToRunner::Snapshot { .. }) => {
                self.screens += 1;
                runner.frame(screen(self.channel, self.at, 80, "the screen")).await;
            }
            Heard::Closed(code) => panic!("the hub closed the link with {code:?}"),
            _ => {}
        }
    }
}

/// Takes frames in until `end`, giving credit for each; returns how many bytes came as output.
async fn take(socket: &mut Socket, end: u64) -> u64 {
    let (mut at, mut bytes_taken) = (None, 0);
    loop {
        match socket.terminal().await {
            TerminalFrame::Snapshot { offset, .. } => at = Some(offset),
            TerminalFrame::Data { offset, bytes, .. } => {
                assert_eq!(at.unwrap_or(offset), offset, "no gap without a screen");
                let right = |(i, byte): (usize, &u8)| *byte == ((offset + i as u64) % 251) as u8;
                assert!(bytes.iter().enumerate().all(right), "every byte is the terminal's");
                bytes_taken += bytes.len() as u64;
                at = Some(offset + bytes.len() as u64);
            }
            other => panic!("{other:?}"),
        }
        let offset = at.unwrap_or(0);
        socket.frame(&TerminalFrame::Credit { channel: 7, offset }).await;
        if offset >= end {
            return bytes_taken;
        }
    }
}

fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages: u64 = statm.split_whitespace().nth(1).expect("two fields").parse().expect("a number");
    pages * 4096
}

#[tokio::test]
async fn a_stalled_watcher_gets_the_screen_even_without_new_output() {
    const END: u64 = 40 * 1024 * 1024;
    let mut fixture = Fixture::new().await;
    let session = fixture.session.id;
    let mut fast = watch(&fixture.hub, &fixture.olga, session, Some(0)).await;
    let mut stalled = watch(&fixture.hub, &fixture.pete, session, Some(0)).await;
    let (channel, _) = fixture.runner.watched(session).await;
    let mut flood = Flood { channel, at: 0, credit: 0, screens: 0 };
    let runner = &mut fixture.runner;
    // Some first, so that buffers have the size that they get.
    tokio::select! {
        _ = take(&mut fast, 2 * 1024 * 1024) => {}
        () = async {
            flood.until(runner, 2 * 1024 * 1024).await;
            loop {
                let heard = runner.next().await;
                flood.on(runner, heard).await;
            }
        } => unreachable!(),
    }
    let before = resident();
    let driving = async {
        flood.until(runner, END).await;
        // A reader that was overtaken at the very end asks for a screen after the last byte.
        loop {
            let heard = runner.next().await;
            flood.on(runner, heard).await;
        }
    };
    // It may be overtaken by the flood and skip; it never waits for who is stalled.
    let taken = tokio::select! {
        taken = take(&mut fast, END) => taken,
        () = driving => unreachable!(),
    };
    assert!(taken > 0);
    let grown = resident().saturating_sub(before);
    assert!(grown < 24 * 1024 * 1024, "{grown} bytes more after {END}");

    // The stalled one has got its window and no more.
    stalled.ask(protocol::Call::Me {}).await.expect("its socket goes on");
    let mut got = 0;
    while let Some(crate::support::socket::Shown::Frame(TerminalFrame::Data { bytes, .. })) = stalled.shown.pop_front()
    {
        got += bytes.len() as u64;
    }
    assert_eq!(got, WATCH_WINDOW, "what may be under way, and no more");
    let screens = flood.screens;
    stalled.frame(&TerminalFrame::Credit { channel: 7, offset: got }).await;
    // From memory, if a fresh one is there; otherwise the runner is asked.
    let answering = async {
        loop {
            let heard = fixture.runner.next().await;
            flood.on(&mut fixture.runner, heard).await;
        }
    };
    let frame = tokio::select! {
        frame = stalled.terminal() => frame,
        () = answering => unreachable!(),
    };
    assert_eq!(frame, screen(7, END, 80, "the screen"));
    assert!(screens < 500, "screens are asked for at a measured pace: {screens}");
}

#[tokio::test]
async fn a_requested_screen_is_kept_although_much_output_follows() {
    let mut fixture = Fixture::new().await;
    let session = fixture.session.id;
    let first = watch(&fixture.hub, &fixture.olga, session, Some(0)).await;
    let (channel, _) = fixture.runner.watched(session).await;
    let mut flood = Flood { channel, at: 0, credit: 0, screens: 0 };
    flood.until(&mut fixture.runner, 256 * 1024).await;
    let mut late = watch(&fixture.hub, &fixture.pete, session, None).await;
    fixture.runner.told("a screen", |frame| matches!(frame, ToRunner::Snapshot { .. })).await;
    // In one breath: the screen, and more after it than a screen is usually used for.
    let at = flood.at;
    fixture.runner.frame(screen(channel, at, 80, "here")).await;
    flood.until(&mut fixture.runner, at + 192 * 1024).await;
    assert_eq!(flood.screens, 0, "no other screen is asked for");
    assert_eq!(late.terminal().await, screen(7, at, 80, "here"));
    settled(&mut fixture.runner).await;
    drop(first);
}
