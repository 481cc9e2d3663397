//! The real Gemini CLI, offline, against a scripted model.

use agents::{Autonomy, Cause, Keys, Mode, Observation, Prompt, Recogniser, Seen, State, Typist, Usage, WaitingFor};
use testkit::model::Turn;

use crate::place::{Place, adapter, two_files};
use crate::tty::Tty;

/// One that is named: otherwise another model is asked which one to take.
const MODEL: &str = "gemini-2.5-pro";

fn seen(events: &str) -> Seen {
    let mut recogniser = Recogniser::new(adapter("gemini"), Mode::Headless);
    events.lines().map(|line| recogniser.line(line)).last().expect("there are events")
}

#[tokio::test]
async fn without_a_screen_it_works_reports_and_resumes() {
    let place = Place::new(two_files()).await;
    let gemini = adapter("gemini");
    let mut request = place.request(Mode::Headless, "Make two files, $(touch hacked)\n--and a second line");
    request.autonomy = Autonomy::Full;
    request.model = Some(MODEL.to_owned());
    request.system = Some("You work in a test.".to_owned());
    let ran = place.run(&gemini, &request).await;
    assert_eq!(ran.code, Some(0), "{}", ran.shown);
    assert_eq!((place.read("by-shell.txt").as_str(), place.read("new.txt").as_str()), ("from-the-shell\n", "hello\n"));
    assert!(!place.workspace().join("hacked").exists());
    assert!(ran.shown.contains("run_shell_command {") && ran.shown.contains("Both files are there."), "{}", ran.shown);

    let first = seen(&ran.events);
    assert_eq!((&first.state, first.model.as_deref()), (&Some(State::Finished), Some(MODEL)));
    assert_eq!(first.usage, Usage { input: 3300, cached: 2100, output: 60, cost: None });
    assert_eq!(first.said.as_deref(), Some("Both files are there."));
    let asked = place.model.asked().into_iter().find(|asked| asked.scripted).expect("it was asked").body.to_string();
    assert!(
        asked.contains("$(touch hacked)\\n--and a second line") && asked.contains("You work in a test."),
        "{asked}"
    );

    let mut again = place.request(Mode::Headless, "What did you do?");
    (again.conversation, again.model) = (first.conversation.clone(), Some(MODEL.to_owned()));
    let ran = place.run(&gemini, &again).await;
    assert_eq!(ran.code, Some(0), "{}", ran.shown);
    let resumed = seen(&ran.events);
    assert_eq!((resumed.said.as_deref(), resumed.conversation), (Some("Still known."), first.conversation));
    let last = place.model.asked().last().expect("it was asked").body.to_string();
    assert!(last.contains("Make two files") && last.contains("What did you do?"), "the conversation went on");
    assert_eq!((place.model.left(), place.outside()), (0, 0));
}

#[tokio::test]
async fn a_folder_that_nobody_approved_is_refused_with_its_reason() {
    let place = Place::new([Turn::say("never")]).await;
    let mut request = place.request(Mode::Headless, "go on");
    request.trusted = false;
    let ran = place.run(&adapter("gemini"), &request).await;
    assert_eq!(ran.code, Some(55), "{}", ran.shown);
    assert!(ran.shown.contains("not running in a trusted directory"), "{}", ran.shown);
    assert_eq!(place.model.left(), 1, "nothing was asked");
}

/// The causes that were told, one after the other, and whether one still holds it up at the end.
fn held_up(events: &str) -> (Vec<Cause>, bool) {
    let mut recogniser = Recogniser::new(adapter("gemini"), Mode::Headless);
    let seen: Vec<Seen> = events.lines().map(|line| recogniser.line(line)).collect();
    let mut causes: Vec<Cause> = seen.iter().filter_map(|seen| Some(seen.hold_up.as_ref()?.cause)).collect();
    causes.dedup();
    (causes, seen.last().is_some_and(|seen| seen.held_up))
}

#[tokio::test]
async fn failures_of_geminis_provider_are_recognised() {
    for (script, causes, to_the_end) in [
        (vec![Turn::refuse(401, None); 2], vec![Cause::Auth], true),
        (vec![Turn::say("I will do it at once.").broken()], vec![Cause::Network], true),
        // It tries again by itself, says so on its standard error only, and goes on.
        (vec![Turn::refuse(500, None), Turn::say("Done.")], vec![Cause::Overloaded], false),
    ] {
        let place = Place::new(script).await;
        let mut request = place.request(Mode::Headless, "go on");
        request.model = Some(MODEL.to_owned());
        let ran = place.run(&adapter("gemini"), &request).await;
        assert_eq!(held_up(&ran.events), (causes, to_the_end), "{}", ran.events);
    }
}

#[tokio::test]
async fn with_a_screen_it_is_prompted_and_asks() {
    let place = Place::new([Turn::run("touch asked.txt")]).await;
    let gemini = adapter("gemini");
    let mut request = place.request(Mode::Interactive, "First line of it\nand a second");
    (request.autonomy, request.trusted) = (Autonomy::Ask, false);
    request.model = Some(MODEL.to_owned());
    let (launch, env) = place.prepare(&gemini, &request);
    let Prompt::Paste(paste) = launch.prompt else { panic!("it is prompted by paste: {:?}", launch.prompt) };
    let (mut typist, mut recogniser) = (Typist::new(paste), Recogniser::new(gemini, Mode::Interactive));
    let mut tty = Tty::start(&launch.argv, &env, &place.workspace());
    let mut state = |seen: &Observation| recogniser.observe(seen).state;

    let trust = State::Waiting { on: WaitingFor::Trust, what: None };
    let before =
        tty.until("it asks for trust", |seen| (state(seen)? == trust && seen.quiet_ms > 1000).then(|| seen.clone()));
    assert_eq!(typist.observe(&before.await), Keys::Wait, "nothing is typed into a question");
    tty.send(b"\r").await;
    assert_eq!(tty.prompt(&mut typist).await, 2, "the prompt is pasted once and sent off once");

    let waiting = tty.until("it asks for permission", |seen| {
        Some(state(seen)?).filter(|state| matches!(state, State::Waiting { on: WaitingFor::Permission, .. }))
    });
    let State::Waiting { what, .. } = waiting.await else { panic!("it waits") };
    assert_eq!(what.as_deref(), Some("Allow execution of [Shell]"));
    assert!(!place.workspace().join("asked.txt").exists());
    let asked = place.model.asked().into_iter().find(|asked| asked.scripted).expect("it was asked").body.to_string();
    assert!(asked.contains("First line of it\\nand a second"), "{asked}");
    assert_eq!(place.outside(), 0);
    tty.kill().await;
}
