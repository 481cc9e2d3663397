//! Screens of every agent, in `tests/screens`: what they mean, and that nothing is typed where nothing may be.
//!
//! The first line of each says what is expected: `# working`, `# waiting permission: what it asks`, `# idle, ready`.
//! Those called hostile are an idle agent whose output imitates its own controls.

use std::path::Path;

use agents::{Keys, Mode, Observation, Prompt, Recogniser, Request, State, Typist, launch};

use crate::place::adapter;

struct Case {
    name: String,
    expected: String,
    screen: Observation,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/screens");
    let files = std::fs::read_dir(folder).expect("the screens are there").map(|entry| entry.expect("a file").path());
    let mut cases: Vec<_> = files.map(|file| case(&file)).collect();
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    cases
}

fn case(file: &Path) -> Case {
    let text = std::fs::read_to_string(file).expect("a screen is text");
    let (expected, text) = text.split_once('\n').expect("a screen has a first line");
    let name = file.file_stem().expect("a file has a name").to_string_lossy().into_owned();
    let screen = Observation { text: text.to_owned(), quiet_ms: 1000, ..Observation::default() };
    Case { name, expected: expected.trim_start_matches("# ").to_owned(), screen }
}

impl Case {
    fn agent(&self) -> &str {
        self.name.split('-').next().expect("a name has a first word")
    }

    fn typist(&self) -> Typist {
        let here = Path::new("/w");
        let mut request = Request::new(Mode::Interactive, here, here, here);
        request.prompt = Some("do it\x1b[201~\nnow".to_owned());
        match launch(&adapter(self.agent()), &request).expect("it can be started").prompt {
            Prompt::Paste(paste) => Typist::new(paste),
            other => panic!("{} is not prompted by paste: {other:?}", self.agent()),
        }
    }
}

fn words(state: Option<State>) -> String {
    match state {
        None => "nothing".to_owned(),
        Some(State::Waiting { on, what }) => {
            let on = format!("{on:?}").to_lowercase();
            what.map_or_else(|| format!("waiting {on}"), |what| format!("waiting {on}: {what}"))
        }
        Some(state) => format!("{state:?}").to_lowercase(),
    }
}

#[test]
fn every_screen_is_recognised() {
    let mut wrong = Vec::new();
    for case in cases() {
        let state = Recogniser::new(adapter(case.agent()), Mode::Interactive).observe(&case.screen).state;
        let (found, expected) = (words(state), case.expected.trim_end_matches(", ready"));
        if found != expected {
            wrong.push(format!("{}: {found}, expected {expected}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_is_typed_but_on_a_screen_that_is_ready() {
    let mut wrong = Vec::new();
    for case in cases() {
        let mut typist = case.typist();
        let types = typist.observe(&case.screen) != Keys::Wait;
        if types != case.expected.ends_with(", ready") {
            wrong.push(format!("{}: {}", case.name, if types { "typed" } else { "nothing typed" }));
        }
        if types {
            assert_eq!(
                typist.observe(&case.screen),
                Keys::Wait,
                "{}: not sent off before it is on the screen",
                case.name
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_prompt_is_typed_once_as_one_paste_and_never_into_a_question_that_comes_up() {
    let cases = cases();
    let of = |name: &str| cases.iter().find(|case| case.name == name).expect("it is there");
    let (ready, asks) = (of("codex-ready"), of("codex-permission"));
    let mut typist = ready.typist();
    let drawing = Observation { quiet_ms: 10, ..ready.screen.clone() };
    assert_eq!(typist.observe(&drawing), Keys::Wait, "a screen that is being drawn is not ready");
    let Keys::Type(pasted) = typist.observe(&ready.screen) else { panic!("it is ready") };
    assert_eq!(pasted, b"\x1b[200~do it[201~\rnow\x1b[201~", "the prompt cannot end the paste");
    assert_eq!(typist.observe(&asks.screen), Keys::Wait, "Enter would answer the question");
    let mut shown = ready.screen.clone();
    shown.text = shown.text.replace("Ask Codex to do anything", "do it[201~");
    assert_eq!(typist.observe(&shown), Keys::Type(b"\r".to_vec()));
    for screen in [&shown, &ready.screen, &asks.screen] {
        assert_eq!(typist.observe(screen), Keys::Done);
    }
}

#[test]
fn a_bell_of_an_agent_that_reports_its_state_is_ignored() {
    let mut codex = Recogniser::new(adapter("codex"), Mode::Interactive);
    codex.line(r#"{"type":"event_msg","payload":{"type":"task_complete"}}"#);
    let seen = codex.observe(&Observation { bells: 1, quiet_ms: 5000, ..Observation::default() });
    assert_eq!((seen.state, seen.attention), (Some(State::Idle), false));
}

#[test]
fn a_bell_asks_for_attention_once_and_a_quiet_shell_is_idle() {
    let mut shell = Recogniser::new(adapter("shell"), Mode::Interactive);
    let mut screen = Observation { text: "$ ".to_owned(), bells: 1, quiet_ms: 5000, ..Observation::default() };
    let seen = shell.observe(&screen);
    assert_eq!((seen.state, seen.attention), (Some(State::Idle), true));
    screen.quiet_ms = 100;
    let seen = shell.observe(&screen);
    assert_eq!((seen.state, seen.attention), (Some(State::Working), false));
}
