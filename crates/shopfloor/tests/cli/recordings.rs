//! Recordings: listed, exported, searched, played, kept.

use std::path::Path;

use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::pseudo_terminal::PseudoTerminal;

/// The output of asciinema when it plays a file.
fn played(fixture: &Fixture, file: &Path) -> String {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/bin/asciinema");
    assert!(program.exists(), "asciinema is missing: run scripts/tools");
    let args = ["play", "--speed", "100", "--idle-time-limit", "1", file.to_str().unwrap()];
    let (code, shown) = PseudoTerminal::run_program(program.as_os_str(), fixture, &args, 120, 32).ended();
    assert_eq!(code, Some(0), "{shown}");
    shown
}

#[test]
fn an_exported_recording_plays_like_the_original() {
    let fixture = Fixture::at_work();
    let session = fixture.spawn(r"printf '\033[1mbold\033[0m\n'; for i in $(seq 1 500); do echo line $i; done; exit 2");
    fixture.wait_for(&session, "exited");
    let id = session["id"].as_str().unwrap();
    let detail = fixture.json(&["recording", "show", id]);
    assert_eq!((detail["session"]["id"].as_str(), detail["cols"].as_u64()), (Some(id), Some(120)));
    assert!(fixture.text(&["recording", "list"]).contains(id));
    let file = fixture.path("out.cast");
    fixture.text(&["recording", "export", id, "--output", file.to_str().unwrap()]);
    let cast = std::fs::read_to_string(&file).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600, "what a terminal showed is for nobody else on this machine");
    assert_eq!(fixture.text(&["recording", "export", id]), cast, "to standard output, too");
    let mut lines = cast.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let header = lines.next().unwrap();
    assert_eq!((header["version"].as_u64(), header["term"]["cols"].as_u64()), (Some(3), Some(120)), "{header}");
    let (mut output, mut codes) = (String::new(), Vec::new());
    for event in lines {
        assert!(event[0].as_f64().unwrap() >= 0.0, "intervals: {event}");
        codes.push(event[1].as_str().unwrap().to_owned());
        if event[1] == "o" {
            output.push_str(event[2].as_str().unwrap());
        }
    }
    let expected: String = (1..=500).map(|line| format!("line {line}\r\n")).collect();
    assert_eq!(output, format!("\x1b[1mbold\x1b[0m\r\n{expected}"), "every byte once");
    assert_eq!(codes.last().map(String::as_str), Some("x"), "{codes:?}");
    let older = fixture.text(&["recording", "export", id, "--asciicast", "2"]);
    let times: Vec<f64> =
        older.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap()[0].as_f64().unwrap()).collect();
    assert!(older.starts_with("{\"") && older.contains("\"version\":2") && times.is_sorted(), "{older}");
    let shown = played(&fixture, &file);
    assert!(shown.contains(&output), "asciinema shows what there was: {shown}");
    std::fs::write(&file, &older).unwrap();
    assert!(played(&fixture, &file).contains(&output), "asciinema reads the older version, too");
    assert!(fixture.text(&["recording", "play", id]).ends_with("line 499\nline 500\n"), "plain without a terminal");
    let found = fixture.json(&["recording", "search", id, "LINE 377"]);
    assert_eq!((&found["hits"][0]["line"], &found["truncated"]), (&json!("line 377"), &json!(false)), "{found}");
    let found = fixture.json(&["recording", "search", id, "line"]);
    assert_eq!((found["hits"].as_array().unwrap().len(), &found["truncated"]), (200, &json!(true)));
    let said = fixture.run(&["recording", "search", id, "line"]);
    assert!(said.code == 0 && said.stderr.contains("the first 200"), "{}", said.stderr);
    assert_eq!(fixture.json(&["recording", "keep", id])["recording"]["keep"], true);
    assert_eq!(fixture.json(&["recording", "keep", id, "--no"])["recording"]["keep"], false);
}

#[test]
fn a_session_without_output_is_recorded_too() {
    let fixture = Fixture::at_work();
    let session = fixture.spawn("exit 0");
    fixture.wait_for(&session, "exited");
    let id = session["id"].as_str().unwrap();
    assert!(fixture.text(&["recording", "list"]).contains(id));
    assert_eq!(fixture.text(&["recording", "play", id]), "");
}

#[test]
fn an_export_sends_no_queries_to_the_player() {
    let fixture = Fixture::at_work();
    let session = fixture.spawn(r"printf 'before\033]52;c;c2VjcmV0\007\033[c\033[6nafter\n'; exit 0");
    fixture.wait_for(&session, "exited");
    let id = session["id"].as_str().unwrap();
    for version in ["2", "3"] {
        let cast = fixture.text(&["recording", "export", id, "--asciicast", version]);
        let events = cast.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
        let output: String =
            events.filter(|event| event[1] == "o").map(|event| event[2].as_str().unwrap().to_owned()).collect();
        assert!(output.starts_with("beforeafter"), "{output:?}");
        assert!(!["\x1b]52", "c2VjcmV0", "\x1b[c", "\x1b[6n"].iter().any(|asks| output.contains(asks)), "{output:?}");
    }
}

#[test]
fn json_of_a_recording_is_harmless_to_a_terminal() {
    let fixture = Fixture::at_work();
    let session = fixture.spawn(r"printf 'red \302\23331m \033[0m\177 end\n'; exit 0");
    fixture.wait_for(&session, "exited");
    let id = session["id"].as_str().unwrap();
    let play = &["recording", "play", id, "--json"][..];
    // Exports have the same in seven bits.
    for (args, red) in [(play, "red \u{9b}31m"), (&["recording", "export", id], "red \u{1b}[31m")] {
        let text = fixture.text(args);
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
        let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let output: String = events
            .filter_map(|event| Some(event.get("data").or(event.get(2))?.as_str()?.to_owned()))
            .filter(|data| data.contains("red"))
            .collect();
        assert!(output.contains(red) && output.contains("\u{7f} end"), "nothing is lost: {text}");
    }
}
