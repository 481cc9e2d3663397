//! Real hosts with real programs: watching, typing, resizing, ending.

#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use support::{View, eventually, runs, shell, start};
use terminal::recording::Recording;
use terminal::{Adopted, Event, Exit, FinalScreen, HostLink, Limit, LinkError};

#[tokio::test]
async fn a_session_from_its_start_to_its_end() {
    let mut session = start(&shell("printf 'hello \\033[31mred\\033[0m'; read line; echo \"got $line\"; exit 3")).await;
    session.link.watch(None).unwrap();
    let mut view = View::new();
    session.until(&mut view, "a greeting", |view| view.text().contains("hello red")).await;
    session.link.input("typed\r").unwrap();
    session.until(&mut view, "the end", |view| view.exit.is_some()).await;
    assert_eq!(view.exit, Some((Some(3), None)));
    assert!(view.text().contains("got typed"), "{}", view.text());
    eventually("the host is gone", || !session.path().join("host.sock").exists()).await;
    let exit = Exit::read(session.path()).unwrap().unwrap();
    assert_eq!((exit.code, exit.signal, exit.offset), (Some(3), None, view.offset));
    let screen = FinalScreen::read(session.path()).unwrap().unwrap();
    assert_eq!(screen.text, view.text());
    assert!(matches!(HostLink::adopt(session.path()).await.unwrap(), Adopted::Ended(ended) if ended == exit));
}

#[tokio::test]
async fn environment_directory_and_arguments_are_exact() {
    let mut spec = shell("env | sort; pwd; tty; stty size");
    spec.cwd = "/usr".into();
    spec.env.push(("EXTRA".into(), "with space".into()));
    (spec.cols, spec.rows) = (90, 20);
    let mut session = start(&spec).await;
    session.link.watch(None).unwrap();
    let mut view = View::new();
    session.until(&mut view, "the end", |view| view.exit.is_some()).await;
    let text = view.text();
    for line in ["EXTRA=with space", "PWD=/usr", "/usr", "20 90", "TERM=xterm-256color"] {
        assert!(text.lines().any(|shown| shown == line), "{line} in\n{text}");
    }
    assert!(text.contains("/dev/pts/"));
    assert!(!text.contains("CARGO"), "nothing is inherited:\n{text}");
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_an_end_with_a_reason() {
    let mut spec = shell("");
    spec.argv = vec!["/does/not/exist".into()];
    let mut session = start(&spec).await;
    session.link.watch(None).unwrap();
    let mut view = View::new();
    session.until(&mut view, "the end", |view| view.exit.is_some()).await;
    assert_eq!(view.exit, Some((Some(127), None)));
    assert!(view.text().contains("cannot start /does/not/exist"), "{}", view.text());
}

#[tokio::test]
async fn everybody_is_repainted_after_a_resize() {
    let mut session = start(&shell("trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done")).await;
    let (other, mut other_events) = HostLink::connect(session.path()).await.unwrap();
    let (mut view, mut other_view) = (View::new(), View::new());
    session.link.watch(None).unwrap();
    other.watch(None).unwrap();
    session.until(&mut view, "ready", |view| view.text().contains("ready")).await;
    support::until(&other, &mut other_events, &mut other_view, "ready", |view| view.text().contains("ready")).await;
    session.link.resize(77, 22).unwrap();
    session.until(&mut view, "the new size", |view| view.text().contains("22 77")).await;
    support::until(&other, &mut other_events, &mut other_view, "it", |view| view.text().contains("22 77")).await;
    assert_eq!(view.screen.size(), (77, 22));
    assert_eq!(other_view.screen.size(), (77, 22));
    let (link, mut events) = HostLink::connect(session.path()).await.unwrap();
    link.watch(Some(1)).unwrap();
    let Some(Event::Snapshot(snapshot)) = support::next(&mut events).await else {
        panic!("a stream is not resumed across a resize")
    };
    assert_eq!((snapshot.cols, snapshot.rows), (77, 22));
}

#[tokio::test]
async fn only_a_fresh_terminal_takes_a_first_size() {
    let mut session = start(&shell("trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done")).await;
    let mut view = View::new();
    session.link.watch(None).unwrap();
    session.until(&mut view, "ready", |view| view.text().contains("ready")).await;
    session.link.resize_if_fresh(101, 31).unwrap();
    session.until(&mut view, "the first size", |view| view.text().contains("31 101")).await;
    session.link.resize_if_fresh(42, 47).unwrap();
    session.link.resize(77, 22).unwrap();
    session.until(&mut view, "the new size", |view| view.text().contains("22 77")).await;
    session.link.resize_if_fresh(42, 47).unwrap();
    session.link.resize(78, 23).unwrap();
    session.until(&mut view, "the last size", |view| view.text().contains("23 78")).await;
    assert!(!view.text().contains("47 42"), "{}", view.text());
}

#[tokio::test]
async fn a_stream_is_resumed_by_position() {
    let mut session = start(&shell("for i in 1 2 3 4 5; do echo line $i; done; read line; echo more; read line")).await;
    session.link.watch(None).unwrap();
    let mut view = View::new();
    session.until(&mut view, "the lines", |view| view.text().contains("line 5")).await;
    session.link.unwatch().unwrap();
    session.link.input("\r").unwrap();
    let mut resumed = View { offset: view.offset, ..View::new() };
    resumed.screen.feed(&view.last_snapshot.clone().unwrap().bytes);
    resumed.screen.feed(&view.bytes);
    let (link, mut events) = HostLink::connect(session.path()).await.unwrap();
    link.watch(Some(view.offset)).unwrap();
    support::until(&link, &mut events, &mut resumed, "more", |view| view.text().contains("more")).await;
    assert_eq!(resumed.snapshots, 0, "resumed without a snapshot");
    let mut fresh = View::new();
    let (link, mut events) = HostLink::connect(session.path()).await.unwrap();
    link.watch(Some(u64::MAX / 4)).unwrap();
    support::until(&link, &mut events, &mut fresh, "more", |view| view.text().contains("more")).await;
    assert_eq!(fresh.snapshots, 1, "an impossible position gets a snapshot");
    assert_eq!(fresh.text(), resumed.text());
}

#[tokio::test]
async fn an_observer_gets_the_screen_without_the_output() {
    let mut session =
        start(&shell("printf '\\033]2;my title\\007\\007\\033]9;look here\\007'; echo visible; read line")).await;
    session.link.observe(Duration::from_millis(500)).unwrap();
    loop {
        let Some(Event::Observed(seen)) = session.next().await else { panic!("only observations were asked for") };
        if seen.text.contains("visible") && seen.quiet_ms >= 400 {
            assert_eq!((seen.title.as_str(), seen.bell, seen.notifications), ("my title", 1, 1));
            assert!(seen.cursor_visible);
            break;
        }
    }
}

#[tokio::test]
async fn stop_ends_the_tree_and_nobody_else() {
    let mut bystander = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let spec = shell(
        "echo bystander $PPID; (setsid sh -c 'trap \"\" HUP TERM; (sleep 1001 & echo orphan $!); echo stubborn $$; \
         while :; do sleep 1; done' &) ; sleep 1002 & echo child $!; wait",
    );
    let mut session = start(&spec).await;
    session.link.watch(None).unwrap();
    let mut view = View::new();
    let words = ["orphan ", "stubborn ", "child "];
    session.until(&mut view, "all", |view| words.iter().all(|word| view.text().contains(word))).await;
    let pids: Vec<i32> = words
        .iter()
        .map(|word| {
            let text = view.text();
            text[text.find(word).unwrap() + word.len()..].split_whitespace().next().unwrap().parse().unwrap()
        })
        .collect();
    assert!(pids.iter().all(|pid| runs(*pid)), "{pids:?}");
    session.link.stop(Some(Duration::from_millis(300))).unwrap();
    session.until(&mut view, "the end", |view| view.exit.is_some()).await;
    assert!(pids.iter().all(|pid| !runs(*pid)), "{pids:?}");
    assert!(runs(bystander.id() as i32), "not ours");
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

#[tokio::test]
async fn what_a_session_leaves_behind_ends_with_it() {
    let mut session = start(&shell("(setsid sleep 1003 >/dev/null 2>&1 & echo left $!); exit 0")).await;
    session.link.watch(None).unwrap();
    let mut view = View::new();
    session.until(&mut view, "the end", |view| view.exit.is_some()).await;
    let pid: i32 = view.text().trim().rsplit(' ').next().unwrap().parse().unwrap();
    assert!(!runs(pid));
}

#[tokio::test]
async fn a_second_host_is_refused_and_a_signal_stops_the_first() {
    let mut session = start(&shell("echo ready; sleep 1004")).await;
    session.link.watch(None).unwrap();
    let mut view = View::new();
    session.until(&mut view, "ready", |view| view.text().contains("ready")).await;
    let second = std::process::Command::new(support::exe()).arg("session-host").arg(session.path()).output().unwrap();
    assert_eq!(second.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&second.stderr).contains("already has a host"));
    let pid = rustix::process::Pid::from_raw(session.host_pid()).unwrap();
    for signal in [rustix::process::Signal::HUP, rustix::process::Signal::INT] {
        rustix::process::kill_process(pid, signal).unwrap();
    }
    assert!(matches!(HostLink::adopt(session.path()).await.unwrap(), Adopted::Running(..)));
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    session.until(&mut view, "the end", |view| view.exit.is_some()).await;
    eventually("the host has ended", || !runs(pid.as_raw_nonzero().get())).await;
    let error = HostLink::start(session.path(), &support::exe()).await.unwrap_err();
    assert!(matches!(error, LinkError::Ended(_)), "{error}");
}

#[tokio::test]
async fn a_killed_host_leaves_a_lost_session_and_its_socket_is_no_obstacle() {
    let mut session = start(&shell("echo ready; read line")).await;
    session.link.watch(None).unwrap();
    let mut view = View::new();
    session.until(&mut view, "ready", |view| view.text().contains("ready")).await;
    let pid = session.host_pid();
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::KILL).unwrap();
    eventually("it is dead", || !runs(pid)).await;
    assert!(session.path().join("host.sock").exists());
    assert!(matches!(HostLink::adopt(session.path()).await.unwrap(), Adopted::Gone));
    let spec = shell("echo again; read line");
    spec.write(session.path()).unwrap();
    let (link, mut events) = HostLink::start(session.path(), &support::exe()).await.unwrap();
    link.watch(None).unwrap();
    let mut view = View::new();
    support::until(&link, &mut events, &mut view, "again", |view| view.text().contains("again")).await;
    link.stop(Some(Duration::ZERO)).unwrap();
    support::until(&link, &mut events, &mut view, "the end", |view| view.exit.is_some()).await;
}

#[tokio::test]
async fn secrets_are_neither_shown_nor_left_on_disk() {
    let mut spec =
        shell("echo the token is $TOKEN; printf tok; printf en-12; printf '345\\n'; read line # token-12345");
    spec.env.push(("TOKEN".into(), "token-12345".into()));
    spec.masks = vec!["token-12345".into()];
    spec.title = "use token-12345".into();
    let mut session = start(&spec).await;
    session.link.watch(None).unwrap();
    let mut view = View::new();
    session.until(&mut view, "both", |view| view.text().matches('•').count() >= 18).await;
    assert!(view.text().contains("the token is •••••••••••"), "{}", view.text());
    assert!(!view.text().contains("12345"), "{}", view.text());
    let on_disk = std::fs::read_to_string(session.path().join("spec.json")).unwrap();
    assert!(!on_disk.contains("token-12345"), "{on_disk}");
    // What others say about it is kept out of the recording, too, also where a secret becomes known later.
    session.link.mark("prompt", "écris token-12345").unwrap();
    HostLink::mask(session.path(), "later-678").await.unwrap();
    session.link.mark("prompt", "later-678").unwrap();
    session.link.stop(Some(Duration::ZERO)).unwrap();
    session.until(&mut view, "the end", |view| view.exit.is_some()).await;
    eventually("it is over", || session.path().join("exit.json").exists()).await;
    let recording = terminal::recording::Recording::open(&session.path().join("recording")).unwrap();
    let marked: Vec<_> = recording.markers().unwrap().into_iter().map(|marker| marker.text).collect();
    assert_eq!(marked, ["écris •••••••••••", "•••••••••"]);
    assert_eq!(recording.header().title, "use •••••••••••");
}

#[tokio::test]
async fn a_session_whose_time_is_over_ends_by_itself_and_says_so() {
    let mut spec = shell("echo ready; sleep 1000");
    let far = Duration::from_secs(3600);
    spec.until = Some(Limit::after(far, far));
    let mut session = start(&spec).await;
    session.link.watch(None).unwrap();
    let mut view = View::new();
    session.until(&mut view, "ready", |view| view.text().contains("ready")).await;
    HostLink::until(session.path(), Some(Limit::after(Duration::ZERO, Duration::from_millis(100)))).await.unwrap();
    session.until(&mut view, "the end", |view| view.exit.is_some()).await;
    assert!(Exit::read(session.path()).unwrap().unwrap().overdue);
    let markers = Recording::open(&session.path().join("recording")).unwrap().markers().unwrap();
    assert!(markers.iter().any(|marker| marker.text.contains("another worker may have the task")), "{markers:?}");
}

#[tokio::test]
async fn a_session_whose_limit_is_extended_continues() {
    let mut spec = shell("read line; echo got $line");
    let limit = Limit::after(Duration::from_secs(5), Duration::ZERO);
    spec.until = Some(limit);
    let mut session = start(&spec).await;
    HostLink::until(session.path(), None).await.unwrap();
    let uptime = || {
        let text = std::fs::read_to_string("/proc/uptime").unwrap();
        text.split_whitespace().next().unwrap().parse::<f64>().unwrap() * 1000.0
    };
    eventually("its time would be over", || uptime() > limit.at_ms as f64).await;
    session.link.watch(None).unwrap();
    session.link.input("it\r").unwrap();
    let mut view = View::new();
    session.until(&mut view, "the end", |view| view.exit.is_some()).await;
    assert_eq!(view.exit, Some((Some(0), None)));
    assert!(!Exit::read(session.path()).unwrap().unwrap().overdue);
}
