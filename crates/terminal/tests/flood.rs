//! Much output: nobody waits for anybody, memory stays flat, and Ctrl-C works.
#![allow(clippy::unwrap_used)]

mod support;

use support::{View, eventually, shell, start};
use terminal::{Event, HostLink};

fn resident_kilobytes(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_flood_passes_with_flat_memory_and_a_stalled_watcher_catches_up() {
    let bytes = 64 << 20;
    let mut spec = shell(&format!(
        "yes 'a line of the flood, neither short nor very long' | head -c {bytes}; echo; echo over; read line"
    ));
    spec.recording_limit = 8 << 20;
    let mut session = start(&spec).await;
    let pid = session.host_pid();
    // This one never says that it has read anything.
    let (stalled, mut stalled_events) = HostLink::connect(session.path()).await.unwrap();
    stalled.watch(None).unwrap();
    let mut stalled_view = View::new();
    session.link.watch(None).unwrap();
    let mut view = View::new();
    let mut most = 0;
    while !view.text().ends_with("over") {
        let event = session.next().await.unwrap();
        view.take(event);
        view.bytes.clear();
        session.link.credit(view.offset).unwrap();
        most = most.max(resident_kilobytes(pid));
    }
    assert!(view.offset > bytes as u64);
    assert!(most < 20 << 10, "the host took {most} kB");
    println!("resident memory of the host in the flood: {most} kB at most");
    // Now it reads, and says so: it is shown the screen as it is, although nothing new comes.
    while stalled_view.offset < view.offset {
        let event = support::next(&mut stalled_events).await.unwrap();
        stalled_view.take(event);
        stalled.credit(stalled_view.offset).unwrap();
    }
    assert!(stalled_view.snapshots >= 2, "{} snapshots", stalled_view.snapshots);
    assert_eq!(stalled_view.text(), view.text());
    let recording = session.path().join("recording");
    session.link.input("\r").unwrap();
    session.until(&mut view, "the end", |view| view.exit.is_some()).await;
    eventually("it is over", || session.path().join("exit.json").exists()).await;
    assert_eq!(terminal::recording::Recording::open(&recording).unwrap().verify().unwrap(), view.offset);
}

#[tokio::test]
async fn memory_of_a_host_with_full_scrollback() {
    let script = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); printf '\\033[3%dm%0110d\\033[0m\\n' $((i%8)) $i; done; echo over; read line";
    let mut session = start(&shell(script)).await;
    session.link.watch(None).unwrap();
    let mut view = View::new();
    session.until(&mut view, "over", |view| view.text().ends_with("over")).await;
    let kilobytes = resident_kilobytes(session.host_pid());
    println!("resident memory of a host with full scrollback: {kilobytes} kB");
    assert!(kilobytes < 16 << 10, "{kilobytes} kB");
}

#[tokio::test]
async fn ctrl_c_works_in_a_flood() {
    let mut session = start(&shell("exec yes 'flood flood flood flood'")).await;
    session.link.watch(None).unwrap();
    let mut view = View::new();
    session.until(&mut view, "a flood", |view| view.offset > 4 << 20).await;
    session.link.input("\x03").unwrap();
    session.until(&mut view, "the end", |view| view.exit.is_some()).await;
    assert_eq!(view.exit, Some((None, Some(2))));
}

#[tokio::test]
async fn ctrl_c_works_when_the_program_reads_nothing() {
    let mut session = start(&shell("echo ready; exec sleep 1005")).await;
    session.link.watch(None).unwrap();
    let mut view = View::new();
    session.until(&mut view, "ready", |view| view.text().contains("ready")).await;
    session.link.input("x".repeat(200_000)).unwrap();
    session.link.input("\x03").unwrap();
    session.until(&mut view, "the end", |view| view.exit.is_some()).await;
    assert_eq!(view.exit, Some((None, Some(2))));
}

#[tokio::test]
async fn a_single_byte_of_output_is_sent_at_once() {
    let mut session = start(&shell("stty -echo; echo ready; while read line; do printf x; done")).await;
    session.link.watch(None).unwrap();
    let mut view = View::new();
    session.until(&mut view, "ready", |view| view.text().contains("ready")).await;
    for _ in 0..20 {
        session.link.input("\r").unwrap();
        let Some(Event::Data { offset, bytes }) = session.next().await else { panic!("only output was asked for") };
        assert_eq!(bytes, b"x");
        view.take(Event::Data { offset, bytes });
    }
}
