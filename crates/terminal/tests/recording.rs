//! Recordings: nothing is missing, whatever happens to the one who writes them.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use support::{View, eventually, runs, shell, start};
use terminal::Screen;
use terminal::recording::{Happening, Header, Recorder, Recording};

fn header() -> Header {
    Header { cols: 80, rows: 24, title: "a title".into(), started_at: 1_700_000_000 }
}

fn record(dir: &Path, pieces: &[Vec<u8>], limit: u64) -> Screen {
    let mut screen = Screen::new(80, 24, 100);
    let mut recorder = Recorder::create(dir, &header(), limit, &mut screen).unwrap();
    for piece in pieces {
        screen.feed(piece);
        recorder.output(piece, &mut screen);
    }
    recorder.finish(0).unwrap();
    screen
}

fn output(recording: &Recording) -> Vec<u8> {
    recording.output(0..u64::MAX).unwrap()
}

/// Lines that compress badly, so that files fill up.
fn noisy(line: usize) -> Vec<u8> {
    let mut state = (line as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let noise: String = (0..60)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b'!' + (state >> 33) as u8 % 90)
        })
        .collect();
    format!("{line:08} {noise}\r\n").into_bytes()
}

#[test]
fn playing_begins_anywhere_with_the_screen_of_that_time() {
    let dir = tempfile::tempdir().unwrap();
    let pieces: Vec<Vec<u8>> = (0..30_000).map(noisy).collect();
    let whole = pieces.concat();
    let dir = dir.path().join("recording");
    record(&dir, &pieces, 1 << 30);
    let recording = Recording::open(&dir).unwrap();
    assert_eq!(recording.verify().unwrap(), whole.len() as u64);
    assert_eq!(recording.offsets().unwrap(), 0..whole.len() as u64);
    assert_eq!(output(&recording), whole);
    assert_eq!(recording.output(1_000_000..1_000_100).unwrap(), &whole[1_000_000..1_000_100]);
    for offset in [0, 1, 300_000, 1_048_576, 2_000_000, whole.len() as u64] {
        let mut play = recording.play_from_offset(offset).unwrap();
        let begin = play.start.screen.offset;
        assert!(begin <= offset && offset - begin < 600_000, "{begin} is near {offset}");
        let mut screen = Screen::new(80, 24, 0);
        screen.feed(&play.start.screen.bytes);
        for moment in play.by_ref() {
            if let Happening::Output(bytes) = moment.unwrap().happening {
                screen.feed(&bytes);
            }
        }
        let mut straight = Screen::new(80, 24, 0);
        straight.feed(&whole);
        assert_eq!(screen.text(), straight.text());
    }
}

#[test]
fn over_its_limit_the_oldest_output_goes_unless_it_is_kept() {
    let pieces: Vec<Vec<u8>> = (0..40_000).map(noisy).collect();
    let whole = pieces.concat();
    let dir = tempfile::tempdir().unwrap();
    let limit = 800_000;
    record(&dir.path().join("recording"), &pieces, limit);
    let recording = Recording::open(&dir.path().join("recording")).unwrap();
    let offsets = recording.offsets().unwrap();
    assert!(offsets.start > 0 && offsets.end == whole.len() as u64, "{offsets:?}");
    assert_eq!(recording.verify().unwrap(), whole.len() as u64);
    assert_eq!(output(&recording), &whole[offsets.start as usize..]);
    assert!(recording.size().unwrap() < limit + limit / 2, "{}", recording.size().unwrap());
    assert!(recording.markers().unwrap().iter().any(|marker| marker.kind == "dropped"));

    let dir = dir.path().join("kept");
    let mut screen = Screen::new(80, 24, 100);
    let mut recorder = Recorder::create(&dir, &header(), limit, &mut screen).unwrap();
    recorder.keep();
    for piece in &pieces {
        screen.feed(piece);
        recorder.output(piece, &mut screen);
    }
    recorder.finish(0).unwrap();
    let recording = Recording::open(&dir).unwrap();
    assert!(recording.kept());
    assert_eq!(output(&recording), whole);
}

#[test]
fn a_recording_that_was_torn_anywhere_reads_up_to_there() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("recording");
    let pieces: Vec<Vec<u8>> = (0..8000).map(noisy).collect();
    let whole = pieces.concat();
    record(&dir, &pieces, 1 << 30);
    let file = dir.join("00000001.zst");
    let bytes = std::fs::read(&file).unwrap();
    let mut longest = 0;
    for cut in (0..bytes.len()).step_by(997).chain([bytes.len() - 1, bytes.len()]) {
        std::fs::write(&file, &bytes[..cut]).unwrap();
        let recording = Recording::open(&dir).unwrap();
        let Ok(read) = recording.output(0..u64::MAX) else {
            assert!(cut < 2000, "even the first screen is torn");
            continue;
        };
        assert!(whole.starts_with(&read), "cut at {cut}");
        assert!(read.len() >= longest, "more of the file is never less of the output");
        assert_eq!(recording.verify().unwrap(), read.len() as u64);
        longest = read.len();
    }
    assert_eq!(longest, whole.len());
    // A flipped bit is found by the checksum of its frame.
    let mut flipped = bytes.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x10;
    std::fs::write(&file, &flipped).unwrap();
    let read = Recording::open(&dir).unwrap().output(0..u64::MAX).unwrap();
    assert!(whole.starts_with(&read) && read.len() < whole.len());
}

#[test]
fn a_recordings_log_is_readable_text() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("recording");
    let mut screen = Screen::new(40, 5, 100);
    let header = Header { cols: 40, rows: 5, ..header() };
    let mut recorder = Recorder::create(&dir, &header, 1 << 30, &mut screen).unwrap();
    let mut say = |recorder: &mut Recorder, text: &str| {
        screen.feed(text.as_bytes());
        recorder.output(text.as_bytes(), &mut screen);
    };
    for line in 0..10 {
        say(&mut recorder, &format!("\x1b[3{}mline {line}\x1b[0m\r\n", line % 8));
    }
    recorder.mark("state", "waiting");
    say(&mut recorder, &format!("{}\r\n", "long ".repeat(12)));
    say(&mut recorder, "progress 1%\rprogress 2%\rprogress 100%\r\n");
    say(&mut recorder, "\x1b[?1049h\x1b[2Jfull screen \x1b[1mEditor\x1b[0m\x1b[?1049l");
    recorder.input(b"typed");
    recorder.resize(50, 6);
    say(&mut recorder, "\x1b[1mdone\x1b[0m: ä€🦀");
    recorder.finish(7).unwrap();

    let recording = Recording::open(&dir).unwrap();
    let mut log = Vec::new();
    recording.log(&mut log).unwrap();
    let log = String::from_utf8(log).unwrap();
    let expected = (0..10).map(|line| format!("line {line}\n")).collect::<String>();
    assert!(log.starts_with(&expected), "{log}");
    assert!(log.contains("long ".repeat(12).trim_end()), "a wrapped line is one line:\n{log}");
    assert!(log.contains("progress 100%") && !log.contains("progress 1%\n") && !log.contains('\x1b'), "{log}");
    assert!(log.ends_with("done: ä€🦀\n"), "{log}");

    let found = recording.search("EDITOR", 10).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].line, "full screen Editor");
    assert_eq!(recording.search("line", 3).unwrap().len(), 3);
    let markers = recording.markers().unwrap();
    assert_eq!((markers[0].kind.as_str(), markers[0].text.as_str()), ("state", "waiting"));

    let happened: Vec<Happening> =
        recording.play_from(Duration::ZERO).unwrap().map(|moment| moment.unwrap().happening).collect();
    assert!(happened.contains(&Happening::Input(b"typed".to_vec())) && happened.contains(&Happening::Resize(50, 6)));
    assert_eq!(happened.last(), Some(&Happening::Exit(7)));
}

/// What a search for `warning` finds on a terminal of 40×5 with this output.
fn warnings(text: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("recording");
    let mut screen = Screen::new(40, 5, 100);
    let header = Header { cols: 40, rows: 5, ..header() };
    let mut recorder = Recorder::create(&dir, &header, 1 << 30, &mut screen).unwrap();
    screen.feed(text.as_bytes());
    recorder.output(text.as_bytes(), &mut screen);
    recorder.finish(0).unwrap();
    let found = Recording::open(&dir).unwrap().search("warning", 1000).unwrap();
    found.into_iter().map(|hit| hit.line).collect()
}

#[test]
fn lines_that_say_the_same_are_all_found() {
    assert_eq!(warnings(&"warning: unused\r\n".repeat(101)).len(), 101);
    assert_eq!(warnings(&"warning: unused\r\nfine\r\n".repeat(101)).len(), 101);
    let later = format!("{}{}", "warning\r\n".repeat(3), "\x1b[H\x1b[2Jmake\r\n\n\n\n\n\nwarning\r\nwarning\r\n");
    assert_eq!(warnings(&later).len(), 5, "what scrolls after a jump is new");
}

#[test]
fn a_line_that_is_drawn_again_is_found_once() {
    assert_eq!(warnings(&"\rwarning: slow".repeat(50)), ["warning: slow"]);
    let whole = "\x1b[H\x1b[2Jtitle\r\nwarning\r\nstatus";
    assert_eq!(warnings(&whole.repeat(50)), ["warning"], "a screen from its top");
    let bottom = "\x1b[1;1Htitle\x1b[5;1Hwarning";
    assert_eq!(warnings(&bottom.repeat(50)), ["warning"], "the last row");
    let above = format!("one\r\nwarning\r\nthree\r\n{}", "\x1b[2Awarning\r\nthree\r\n".repeat(50));
    assert_eq!(warnings(&above), ["warning"], "a few rows up");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_recording_returns_all_bytes_in_any_pieces(pieces in prop::collection::vec(any::<Vec<u8>>(), 0..40)) {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("recording");
        record(&dir, &pieces, 1 << 30);
        let recording = Recording::open(&dir).unwrap();
        prop_assert_eq!(output(&recording), pieces.concat());
        let mut log = Vec::new();
        recording.log(&mut log).unwrap();
        recording.search("x", 5).unwrap();
    }

    #[test]
    fn a_recording_with_damaged_bytes_can_be_read(rubbish in any::<Vec<u8>>(), at in any::<prop::sample::Index>()) {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("recording");
        record(&dir, &(0..200).map(noisy).collect::<Vec<_>>(), 1 << 30);
        let file = dir.join("00000001.zst");
        let mut bytes = std::fs::read(&file).unwrap();
        let at = at.index(bytes.len());
        let end = (at + rubbish.len()).min(bytes.len());
        bytes[at..end].copy_from_slice(&rubbish[..end - at]);
        std::fs::write(&file, &bytes).unwrap();
        let recording = Recording::open(&dir).unwrap();
        let _ = recording.output(0..u64::MAX);
        let _ = recording.verify();
        let _ = recording.log(&mut Vec::new());
    }
}

/// Numbered lines in what was recorded, each once and in order.
fn numbered(bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    let mut expected = 1;
    for line in text.lines().filter(|line| line.starts_with("number ")) {
        if line.ends_with('.') {
            assert_eq!(line, format!("number {expected}."));
            expected += 1;
        }
    }
    expected - 1
}

/// The number of the last whole line.
fn last_number(bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    let mut whole = text.lines().filter_map(|line| line.strip_prefix("number ")?.strip_suffix('.')?.parse().ok());
    whole.next_back().unwrap_or(0)
}

#[tokio::test]
async fn the_host_goes_on_recording_when_nobody_is_there() {
    let session = start(&shell("i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo number $i.; done")).await;
    let dir = session.path().to_owned();
    session.link.watch(None).unwrap();
    let host = session.host_pid();
    // The connection breaks in the middle, as if its runner had been killed.
    let keep = session.abandon();
    eventually("the session has ended by itself", || dir.join("exit.json").exists()).await;
    eventually("its host too", || !runs(host)).await;
    let recording = Recording::open(&dir.join("recording")).unwrap();
    let offset = terminal::Exit::read(&dir).unwrap().unwrap().offset;
    assert_eq!(recording.verify().unwrap(), offset);
    assert_eq!(numbered(&output(&recording)), 3000);
    drop(keep);
}

#[tokio::test]
async fn a_killed_host_has_lost_a_second_at_most() {
    let mut session = start(&shell("i=0; while :; do i=$((i+1)); echo number $i.; sleep 0.02; done")).await;
    session.link.watch(None).unwrap();
    let mut view = View::new();
    let recording = session.path().join("recording");
    let read = || Recording::open(&recording).and_then(|recording| recording.output(0..u64::MAX)).unwrap_or_default();
    eventually("the first frame is on disk", || numbered(&read()) > 0).await;
    let before = view.bytes.len();
    session.until(&mut view, "more", |view| view.bytes.len() > before + 200).await;
    let pid = session.host_pid();
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::KILL).unwrap();
    eventually("it is dead", || !runs(pid)).await;
    while let Some(event) = session.events.next().await {
        view.take(event);
    }
    let recorded = output(&Recording::open(&recording).unwrap());
    let last_seen = last_number(&view.bytes).max(numbered(&recorded));
    let missing = last_seen - numbered(&recorded);
    // Fifty lines would be a second; a busy machine writes fewer.
    assert!(missing <= 60, "{missing} lines of {last_seen} are missing");
    assert!(Recording::open(&recording).unwrap().verify().is_ok());
    assert!(Recording::open(&recording).unwrap().duration().unwrap() > Duration::ZERO);
}

#[tokio::test]
async fn input_is_recorded_only_if_it_was_asked_for() {
    for record_input in [false, true] {
        let mut spec = shell("stty -echo; echo ready; read line; echo got it");
        spec.record_input = record_input;
        let mut session = start(&spec).await;
        session.link.watch(None).unwrap();
        let mut view = View::new();
        session.until(&mut view, "ready", |view| view.text().contains("ready")).await;
        session.link.mark("prompt", "sent").unwrap();
        session.link.input("private words\r").unwrap();
        session.until(&mut view, "the end", |view| view.exit.is_some()).await;
        eventually("it is over", || session.path().join("exit.json").exists()).await;
        let recording = Recording::open(&session.path().join("recording")).unwrap();
        let typed = recording
            .play_from(Duration::ZERO)
            .unwrap()
            .any(|moment| matches!(moment.unwrap().happening, Happening::Input(bytes) if bytes == b"private words\r"));
        assert_eq!(typed, record_input);
        assert_eq!(recording.markers().unwrap()[0].text, "sent");
    }
}
