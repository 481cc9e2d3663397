//! The real opencode CLI, offline, against a scripted model.

use agents::{Autonomy, McpServer, Mode, Observation, Prompt, Recogniser, State, Typist, WaitingFor};
use testkit::model::Turn;

use crate::place::{Place, adapter};
use crate::tty::Tty;

#[tokio::test]
async fn without_a_screen_it_works_reports_and_resumes() {
    let script = [
        Turn::run("echo from-the-shell > by-shell.txt").tokens(1000, 200, 30),
        Turn::write("new.txt", "hello\n").tokens(1100, 900, 20),
        Turn::say("Both files are there.").tokens(1200, 1000, 10),
        Turn::say("Still known.").tokens(2000, 1500, 5),
    ];
    let place = Place::new(script).await;
    let opencode = adapter("opencode");
    let canary = place.workspace().join("mcp-started");
    let mut request = place.request(Mode::Headless, "Make two files, $(touch hacked)\n--and a second line");
    request.system = Some("You work in a test.".to_owned());
    request.mcp = vec![McpServer {
        name: "shopfloor".to_owned(),
        command: "/bin/sh".to_owned(),
        args: vec![
            "-c".to_owned(),
            "printf %s \"$SHOPFLOOR_TOKEN\" > \"$0\"".to_owned(),
            canary.to_string_lossy().into_owned(),
        ],
        env: vec![("SHOPFLOOR_TOKEN".to_owned(), "sft_only_by_env".to_owned())],
        passed: Vec::new(),
    }];
    let ran = place.run(&opencode, &request).await;
    assert_eq!(ran.code, Some(0), "{}", ran.shown);
    let read = |name: &str| std::fs::read_to_string(place.workspace().join(name)).unwrap_or_default();
    assert_eq!((read("by-shell.txt").as_str(), read("new.txt").as_str()), ("from-the-shell\n", "hello\n"));
    assert_eq!(read("mcp-started"), "sft_only_by_env", "the MCP server was started with its variable");
    assert!(!place.workspace().join("hacked").exists());
    assert!(ran.shown.contains("echo from-the-shell") && ran.shown.contains("Both files are there."), "{}", ran.shown);

    let mut recogniser = Recogniser::new(opencode.clone(), Mode::Headless);
    let seen = ran.events.lines().map(|line| recogniser.line(line)).last().unwrap();
    assert_eq!(seen.state, Some(State::Finished));
    assert_eq!((seen.usage.input, seen.usage.cached, seen.usage.output), (3300, 2100, 60));
    assert!(seen.usage.cost.is_some_and(|cost| cost > 0.001 && cost < 0.01), "{:?}", seen.usage);
    let conversation = seen.conversation.expect("the conversation can be resumed");
    let asked = place.model.asked();
    let first = asked.iter().find(|asked| asked.scripted).expect("it was asked").body.to_string();
    assert!(
        first.contains("Make two files, $(touch hacked)\\n--and a second line")
            && first.contains("You work in a test."),
        "{first}"
    );

    let mut again = place.request(Mode::Headless, "What did you do?");
    again.conversation = Some(conversation.clone());
    let ran = place.run(&opencode, &again).await;
    assert_eq!(ran.code, Some(0), "{}", ran.shown);
    assert!(ran.shown.contains("Still known."), "{}", ran.shown);
    let last = place.model.asked().last().expect("it was asked").body.to_string();
    assert!(last.contains("Make two files") && last.contains("What did you do?"), "the conversation went on");
    assert_eq!((place.model.left(), place.outside()), (0, 0));
}

#[tokio::test]
async fn with_a_screen_it_is_prompted_asks_and_becomes_idle() {
    let script = [Turn::run("echo asked > asked.txt"), Turn::say("All is done.").held()];
    let place = Place::new(script).await;
    let opencode = adapter("opencode");
    let mut request = place.request(Mode::Interactive, "First line of it\nand a second");
    request.autonomy = Autonomy::Ask;
    let (launch, env) = place.prepare(&opencode, &request);
    let Prompt::Paste(paste) = launch.prompt else { panic!("opencode is prompted by paste: {:?}", launch.prompt) };
    let mut recogniser = Recogniser::new(opencode, Mode::Interactive);
    let mut tty = Tty::start(&launch.argv, &env, &place.workspace());
    assert_eq!(tty.prompt(&mut Typist::new(paste)).await, 2);

    let mut state = |seen: &Observation| recogniser.observe(seen).state;
    let waiting = tty
        .until("it asks for permission", |seen| {
            Some(state(seen)?).filter(|state| matches!(state, State::Waiting { .. }))
        })
        .await;
    assert_eq!(waiting, State::Waiting { on: WaitingFor::Permission, what: Some("echo asked > asked.txt".to_owned()) });
    assert!(!place.workspace().join("asked.txt").exists());
    tty.until("the screen is still", |seen| (seen.quiet_ms > 500).then_some(())).await;
    tty.send(b"\r").await;
    tty.until("it works on", |seen| {
        (state(seen)? == State::Working && place.workspace().join("asked.txt").exists()).then_some(())
    })
    .await;
    place.model.release();
    tty.until("it is done", |seen| (state(seen)? == State::Idle && seen.text.contains("All is done.")).then_some(()))
        .await;
    let asked = place.model.asked().into_iter().find(|asked| asked.scripted).expect("it was asked").body.to_string();
    assert!(asked.contains("First line of it\\nand a second"), "{asked}");
    assert_eq!(place.outside(), 0);
    tty.kill().await;
}
