//! `attach` on a real terminal: keys, sizes, and detaching without leftovers.

use crate::fixture::Fixture;
use crate::process::{Running, signal};
use crate::pseudo_terminal::PseudoTerminal;

/// Answers each line; `size` with the terminal's size.
const TALK: &str =
    "echo ready; while read line; do case $line in size) stty size;; end) exit 5;; *) echo got $line;; esac; done";

#[test]
fn a_person_types_resizes_and_leaves() {
    let fixture = Fixture::at_work();
    let session = fixture.spawn(TALK);
    let id = session["id"].as_str().unwrap();
    let terminal = PseudoTerminal::run(&fixture, &["attach", id], 100, 30);
    terminal.wait_for("Ctrl-\\ d detaches");
    terminal.wait_for("ready");
    assert!(terminal.is_raw());
    terminal.type_keys("size\r");
    terminal.wait_for("30 100");
    terminal.resize(90, 20);
    crate::process::wait_until("the session has the new size", || {
        let mark = terminal.mark();
        terminal.type_keys("size\r");
        terminal.wait_after(mark, &["20 90", "30 100"]) == "20 90"
    });
    terminal.type_keys("hello\r");
    terminal.wait_for("got hello");
    terminal.type_keys("\x1c");
    terminal.type_keys("d");
    let (code, shown) = terminal.ended();
    assert_eq!(code, Some(0));
    assert!(shown.contains(&format!("detached; the session continues: shopfloor attach {id}")), "{shown:?}");
    assert!(shown.contains("\x1b[?2004l") && shown.contains("\x1b[?25h"), "modes are given back");
    let again = PseudoTerminal::run(&fixture, &["attach", id, "--exit-code", "--detach-key", "ctrl-]"], 90, 20);
    again.wait_for("Ctrl-] d detaches");
    again.wait_for("got hello");
    again.type_keys("end\r");
    let (code, shown) = again.ended();
    assert_eq!(code, Some(5), "{shown:?}");
    assert!(shown.contains("the session failed (exit 5)"), "{shown:?}");
}

#[test]
fn the_session_has_the_size_of_the_terminal_that_types() {
    let fixture = Fixture::at_work();
    let session = fixture.spawn(TALK);
    let id = session["id"].as_str().unwrap();
    let first = PseudoTerminal::run(&fixture, &["attach", id], 100, 30);
    first.wait_for("ready");
    first.type_keys("size\r");
    first.wait_for("30 100");
    let second = PseudoTerminal::run(&fixture, &["attach", id], 90, 20);
    second.wait_for("100×30 in 90×20");
    let mark = first.mark();
    first.type_keys("size\r");
    assert_eq!(first.wait_after(mark, &["20 90", "30 100"]), "30 100", "a view changes nothing");
    let (mark, others) = (second.mark(), first.mark());
    second.type_keys("size\r");
    second.wait_after(mark, &["20 90"]);
    first.wait_after(others, &["90×20 in 100×30"]);
    second.type_keys("\x1cd");
    assert_eq!(second.ended().0, Some(0));
    let mark = first.mark();
    first.type_keys("size\r");
    // The screen still shows the sizes of before.
    first.wait_after(mark, &["30 100"]);
}

#[test]
fn a_signal_leaves_the_terminal_as_it_was() {
    let fixture = Fixture::at_work();
    let session = fixture.spawn(TALK);
    for name in ["TERM", "HUP", "QUIT"] {
        let terminal = PseudoTerminal::run(&fixture, &["attach", session["id"].as_str().unwrap()], 80, 24);
        terminal.wait_for("ready");
        assert!(terminal.is_raw());
        signal(terminal.pid(), name);
        let (code, _) = terminal.ended();
        assert_eq!(code, Some(0), "{name}");
    }
}

#[test]
fn queries_and_the_clipboard_stay_in_the_session() {
    let fixture = Fixture::at_work();
    let session = fixture.spawn(
        r"printf '\033[c\033[6n\033]52;c;ZXZpbA==\007\033]0;evil\007\033]11;?\007begin'; read x; printf '\033[5n\033]52;c;ZXZpbA==\007end'; read x",
    );
    let terminal = PseudoTerminal::run(&fixture, &["attach", session["id"].as_str().unwrap()], 80, 24);
    // Earlier output is in the first screen; later output arrives as it is written.
    terminal.wait_for("begin");
    terminal.type_keys("\r");
    terminal.wait_for("end");
    let shown = terminal.shown();
    for forbidden in ["\x1b[c", "\x1b[6n", "\x1b[5n", "\x1b]52;", "\x1b]0;", "\x1b]11;"] {
        assert!(!shown.contains(forbidden), "{forbidden:?} came through: {shown:?}");
    }
    let log = || fixture.text(&["session", "log", session["id"].as_str().unwrap()]);
    crate::process::wait_until("the last answer is echoed", || log().contains("[0n"));
    assert_eq!(log().matches("[?62;22c").count(), 1, "the host answers, once: {}", log());
}

#[test]
fn an_attached_terminal_shows_a_lost_hub_and_reconnects() {
    let mut fixture = Fixture::at_work();
    let session = fixture.spawn(TALK);
    let terminal = PseudoTerminal::run(&fixture, &["attach", session["id"].as_str().unwrap()], 80, 24);
    terminal.wait_for("ready");
    let listen = fixture.url.strip_prefix("http://").unwrap().to_owned();
    let mark = terminal.mark();
    fixture.hub().kill();
    terminal.wait_after(mark, &["connection lost"]);
    let mark = terminal.mark();
    fixture.start(&listen);
    fixture.wait_until_connected();
    terminal.wait_after(mark, &["attached"]);
    terminal.type_keys("back\r");
    terminal.wait_for("got back");
}

#[test]
fn others_can_watch_but_not_type() {
    let fixture = Fixture::at_work();
    fixture.text(&["project", "update", "Parser", "--visibility", "read-only", "--share-execution"]);
    let session = fixture.spawn(TALK);
    let id = session["id"].as_str().unwrap();
    let invite = fixture.json(&["invite", "create", "bo"]);
    let secret = invite["link"].as_str().unwrap().split_once('#').unwrap().1.to_owned();
    let token = fixture.join(&secret, "bo");
    let terminal = PseudoTerminal::run(&fixture, &["attach", id, "--hub", &fixture.url, "--token", &token], 120, 32);
    terminal.wait_for("owns this session");
    terminal.wait_for("ready");
    terminal.type_keys("mischief\r");
    let watch = Running::spawn(fixture.command().args(["session", "watch", id]));
    let owner = PseudoTerminal::run(&fixture, &["attach", id], 120, 32);
    owner.wait_for("attached");
    owner.type_keys("honest\r");
    owner.wait_for("got honest");
    terminal.wait_for("got honest");
    assert!(!terminal.shown().contains("got mischief"));
    assert!(!fixture.text(&["session", "log", id]).contains("mischief"));
    while !watch.line().contains("got honest") {}
    terminal.type_keys("\x1cd");
    assert_eq!(terminal.ended().0, Some(0));
    let small = PseudoTerminal::run(&fixture, &["attach", id, "--hub", &fixture.url, "--token", &token], 60, 10);
    small.wait_for("120×32 in 60×10");
    small.wait_for("got honest");
    owner.type_keys("more\r");
    small.wait_for("got more");
    small.type_keys("\x1cd");
    assert_eq!(small.ended().0, Some(0));
}

#[test]
fn colours_are_shown_at_any_size_without_other_effects() {
    let fixture = Fixture::at_work();
    let session = fixture.spawn(
        r"printf '\033[1;31mred\033[0m \033]8;;https://x.example\033\\link\033]8;;\033\\ \033]52;c;ZXZpbA==\007\033]0;evil\007\033[6nend'; read x",
    );
    let watch = ["session", "watch", session["id"].as_str().unwrap()];
    let small = PseudoTerminal::run(&fixture, &watch, 60, 10);
    small.wait_for("in 60×10");
    small.wait_for("\x1b[1;31mred");
    small.wait_for("end");
    for forbidden in ["\x1b[6n", "\x1b]52;", "\x1b]0;", "x.example"] {
        assert!(!small.shown().contains(forbidden), "{forbidden:?} came through: {:?}", small.shown());
    }
    small.type_keys("q");
    assert_eq!(small.ended().0, Some(0));
    let command = fixture.command();
    let plainly = [&["NO_COLOR=1", command.get_program().to_str().unwrap()][..], &watch].concat();
    for size in [(60, 10), (80, 24), (120, 32)] {
        let plain = PseudoTerminal::run_program("env".as_ref(), &fixture, &plainly, size.0, size.1);
        plain.wait_for("red link end");
        assert!(!plain.shown().contains("\x1b[1;31m"), "{:?}", plain.shown());
    }
}

/// Everything that a person sees on a terminal, including the scrollback, which changed its size at the mark.
fn found(shown: &str, mark: usize, (cols, rows): (u16, u16), later: (u16, u16)) -> String {
    let mut screen = terminal::Screen::new(cols, rows, 1000);
    // This emulator keeps erased content; others do not.
    let erased = |text: &str| text.replace("\x1b[2J", "\x1b[1J\x1b[J");
    screen.feed(erased(&shown[..mark]).as_bytes());
    screen.resize(later.0, later.1);
    screen.feed(erased(&shown[mark..]).as_bytes());
    screen.take_lines().join("\n")
}

#[test]
fn earlier_terminal_content_stays_in_the_scrollback() {
    let fixture = Fixture::at_work();
    let programs = [
        ("a program that prints", "echo ready; read x; echo bye; read x"),
        ("`clear`", r"echo ready; read x; printf '\033[H\033[2J\033[3Jbye'; read x"),
        ("a reset", r"echo ready; read x; printf '\033cbye'; read x"),
        ("the alternate screen", r"printf '\033[?1049h\033[Hready'; read x; printf '\033[2Jbye'; read x"),
        ("the way back from it", r"printf '\033[?1049h\033[Hready'; read x; printf '\033[?1049lbye'; read x"),
    ];
    for (what, program) in programs {
        let session = fixture.spawn(program);
        let command = fixture.command();
        let script = format!(
            "i=0; while [ $i -lt 20 ]; do i=$((i+1)); echo earlier $i.; done; {} attach {}; echo after",
            command.get_program().to_str().unwrap(),
            session["id"].as_str().unwrap()
        );
        let terminal = PseudoTerminal::run_program("sh".as_ref(), &fixture, &["-c", &script], 80, 24);
        terminal.wait_for("ready");
        let mark = terminal.resize_at_rest(80, 30);
        terminal.wait_after(mark, &["ready"]);
        terminal.type_keys("\r");
        terminal.wait_for("bye");
        terminal.type_keys("\x1cd");
        let (_, shown) = terminal.ended();
        let found = found(&shown, mark, (80, 24), (80, 30));
        let missing: Vec<u8> = (1..=20).filter(|line| !found.contains(&format!("earlier {line}."))).collect();
        assert!(missing.is_empty(), "with {what}, these lines are gone: {missing:?}\n{found}");
        assert!(found.contains("detached; the session continues") && found.ends_with("after"), "with {what}: {found}");
    }
}

#[test]
fn a_setup_is_shown_while_it_runs_and_read_later() {
    let fixture = Fixture::at_work();
    let go = fixture.data_dir().join("go");
    let setup = format!("echo fetching; until [ -e '{}' ]; do sleep 0.05; done; echo fetched", go.display());
    fixture.text(&["project", "update", "Parser", "--setup", &setup]);
    let session = fixture.spawn("echo ready; read x");
    let id = session["id"].as_str().unwrap();
    let terminal = PseudoTerminal::run(&fixture, &["attach", id], 80, 24);
    terminal.wait_for("starting: the setup of its workspace runs");
    terminal.wait_for("fetching");
    let log = fixture.run(&["session", "log", id]);
    assert_eq!(log.stdout, "fetching\n", "{}", log.stderr);
    assert!(log.stderr.contains("the output of its workspace's setup"), "{}", log.stderr);
    std::fs::write(&go, "").unwrap();
    terminal.wait_for("ready");
    assert_eq!(fixture.text(&["session", "log", id, "--setup"]), "fetching\nfetched\n");
    assert_eq!(fixture.json(&["session", "log", id, "--setup"])["setup"], true);
    assert_eq!(fixture.json(&["session", "log", id])["setup"], false);
}

#[test]
fn a_session_that_cannot_start_says_why() {
    let fixture = Fixture::at_work();
    fixture.text(&["project", "update", "Parser", "--setup", "echo no luck; exit 9"]);
    let args = ["session", "spawn", "--project", "Parser", "--agent", "shell", "--attach"];
    let terminal = PseudoTerminal::run(&fixture, &args, 100, 30);
    terminal.wait_for("the session ended: did not start");
    let (code, shown) = terminal.ended();
    assert_eq!(code, Some(1));
    assert!(shown.contains("no luck"), "{shown:?}");
    let watched = fixture.run(&["session", "watch", "shell"]);
    assert_eq!(watched.code, 1, "{}", watched.stderr);
    assert!(watched.stderr.contains("no luck"), "{}", watched.stderr);
}
