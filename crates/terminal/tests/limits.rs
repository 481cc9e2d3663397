//! What a session may take of its machine: a lower priority than its host, and no more than it was allowed.

#![allow(clippy::unwrap_used)]

mod support;

use support::{View, eventually, shell, start};
use terminal::{Exit, Limits};

/// The priority of a process, as `/proc` has it.
fn nice(pid: &str) -> i32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat[stat.rfind(')').unwrap() + 1..].split_whitespace().nth(16).unwrap().parse().unwrap()
}

#[tokio::test]
async fn an_agent_has_a_lower_priority_than_its_host() {
    let mut spec = shell("sh -c 'cut -d\" \" -f19 /proc/self/stat'; read line");
    spec.nice = 7;
    let mut session = start(&spec).await;
    session.link.watch(None).unwrap();
    let mut view = View::new();
    let own = nice("self");
    let wanted = (own + 7).min(19).to_string();
    session.until(&mut view, "its priority", |view| view.text().lines().any(|line| line == wanted)).await;
    assert_eq!(nice(&session.host_pid().to_string()), own, "the host is as it was");
}

/// Starts a script with limits, and waits until its host has ended it: what it says.
async fn ended(script: &str, limits: Limits) -> String {
    let mut spec = shell(script);
    spec.limits = limits;
    let mut session = start(&spec).await;
    session.link.watch(None).unwrap();
    let mut view = View::new();
    session.until(&mut view, "the end", |view| view.exit.is_some()).await;
    eventually("the end is written down", || Exit::read(session.path()).unwrap().is_some()).await;
    let exit = Exit::read(session.path()).unwrap().unwrap();
    let why = exit.limit.unwrap();
    let text = view.text().replace('\n', "");
    assert!(text.contains(&format!("shopfloor: {why}")), "{why} in\n{text}");
    why
}

#[tokio::test]
async fn a_session_with_too_many_processes_is_ended() {
    let limits = Limits { processes: Some(5), ..Limits::default() };
    let why = ended("for i in 1 2 3 4 5 6 7 8 9; do sleep 600 & done; wait", limits).await;
    assert_eq!(why, "stopped: it had 10 processes; the limit (session_processes) is 5");
}

#[tokio::test]
async fn a_session_that_takes_too_much_memory_is_ended() {
    let limits = Limits { memory: Some(64 << 20), ..Limits::default() };
    let why = ended("x=$(head -c 200000000 /dev/zero | tr '\\0' a); sleep 600", limits).await;
    assert!(why.ends_with("MiB of memory; the limit (session_memory) is 64 MiB"), "{why}");
}

#[tokio::test]
async fn a_session_that_takes_too_much_processor_time_is_ended() {
    let limits = Limits { cpu_seconds: Some(1), ..Limits::default() };
    // Also what children used that have ended counts.
    let why = ended("while :; do sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'; done", limits).await;
    assert!(why.ends_with("s of processor time; the limit (session_cpu_seconds) is 1 s"), "{why}");
}
