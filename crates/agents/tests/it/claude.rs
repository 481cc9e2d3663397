//! The real Claude Code, offline, against a scripted model. It is large: `make test-claude` installs it and runs these.

use std::time::SystemTime;

use agents::{Autonomy, Keys, Mode, Observation, Prompt, Recogniser, Seen, State, Typist, Usage, WaitingFor, find_log};
use testkit::model::Turn;

use crate::place::{Place, adapter, two_files};
use crate::tty::Tty;

fn seen(events: &str) -> Vec<Seen> {
    let mut recogniser = Recogniser::new(adapter("claude"), Mode::Headless);
    events.lines().map(|line| recogniser.line(line)).collect()
}

fn tokens(usage: &Usage) -> (u64, u64, u64) {
    (usage.input, usage.cached, usage.output)
}

#[tokio::test]
#[ignore = "needs Claude Code: make test-claude"]
async fn without_a_screen_it_works_reports_and_resumes() {
    let place = Place::new(two_files()).await;
    let claude = adapter("claude");
    let mut request = place.request(Mode::Headless, "Make two files, $(touch hacked)\n--and a second line");
    request.trusted = false;
    request.system = Some("You work in a test.".to_owned());
    request.mcp = vec![place.canary()];
    let ran = place.run(&claude, &request).await;
    assert_eq!(ran.code, Some(0), "{}", ran.shown);
    assert_eq!((place.read("by-shell.txt").as_str(), place.read("new.txt").as_str()), ("from-the-shell\n", "hello\n"));
    assert_eq!(place.read("mcp-started"), "sft_only_by_env", "the MCP server was started with its variable");
    assert!(!place.workspace().join("hacked").exists());
    assert!(ran.shown.contains("Bash {") && ran.shown.contains("Both files are there."), "{}", ran.shown);
    assert!(!ran.events.contains("content_block_delta"), "parts of messages are not kept");

    let all = seen(&ran.events);
    let (last, before) = all.split_last().expect("there are events");
    assert_eq!((&last.state, tokens(&last.usage)), (&Some(State::Finished), (3300, 2100, 60)));
    let cost = last.usage.cost.expect("Claude Code knows what it cost");
    assert!(cost > 0.0, "{cost}");
    let before = before.last().expect("there are events before the last");
    assert_eq!((&before.state, tokens(&before.usage)), (&Some(State::Working), (3300, 2100, 60)), "known as it goes");
    assert_eq!(before.usage.cost, None);
    let first = all.iter().find(|seen| seen.usage.output > 0).expect("the first answer is counted");
    assert_eq!(tokens(&first.usage), (1000, 200, 30));
    let asked = place.model.asked().into_iter().find(|asked| asked.scripted).expect("it was asked").body.to_string();
    assert!(
        asked.contains("$(touch hacked)\\n--and a second line") && asked.contains("You work in a test."),
        "{asked}"
    );

    let mut again = place.request(Mode::Headless, "What did you do?");
    again.conversation = last.conversation.clone();
    let ran = place.run(&claude, &again).await;
    assert_eq!(ran.code, Some(0), "{}", ran.shown);
    let only_new: Vec<_> = ran.events.lines().skip(all.len()).collect();
    let resumed = seen(&only_new.join("\n")).pop().expect("there are new events");
    assert_eq!((tokens(&resumed.usage), &resumed.conversation), ((2000, 1500, 5), &last.conversation));
    let whole = seen(&ran.events).pop().expect("there are events").usage;
    assert_eq!(tokens(&whole), (5300, 3600, 65), "one session may have several runs");
    let of_run = resumed.usage.cost.expect("it has a cost, too");
    assert!((whole.cost.expect("both have a cost") - cost - of_run).abs() < 1e-9, "no run is counted twice: {whole:?}");
    let last = place.model.asked().last().expect("it was asked").body.to_string();
    assert!(last.contains("Make two files") && last.contains("What did you do?"), "the conversation went on");
    assert_eq!((place.model.left(), place.outside()), (0, 0));
}

#[tokio::test]
#[ignore = "needs Claude Code: make test-claude"]
async fn rate_limits_are_reported_and_retried() {
    let place = Place::new([Turn::refuse(429, Some(1)), Turn::say("At last.")]).await;
    let ran = place.run(&adapter("claude"), &place.request(Mode::Headless, "go on")).await;
    assert_eq!(ran.code, Some(0), "{}", ran.shown);
    assert!(ran.shown.contains("it tries again, 1 of") && ran.shown.contains("At last."), "{}", ran.shown);
}

#[tokio::test]
#[ignore = "needs Claude Code: make test-claude"]
async fn with_a_screen_it_is_prompted_asks_and_becomes_idle() {
    let script =
        [Turn::run("touch asked.txt").tokens(1000, 200, 30), Turn::say("All is done.").held().tokens(1100, 900, 20)];
    let place = Place::new(script).await;
    let claude = adapter("claude");
    let mut request = place.request(Mode::Interactive, "First line of it\nand a second");
    (request.autonomy, request.trusted) = (Autonomy::Ask, false);
    let since = SystemTime::now();
    let (launch, env) = place.prepare(&claude, &request);
    let Prompt::Paste(paste) = launch.prompt else { panic!("it is prompted by paste: {:?}", launch.prompt) };
    let (mut typist, mut recogniser) = (Typist::new(paste), Recogniser::new(claude.clone(), Mode::Interactive));
    let mut tty = Tty::start(&launch.argv, &env, &place.workspace());
    let mut state = |seen: &Observation| recogniser.observe(seen).state;

    let trust = State::Waiting { on: WaitingFor::Trust, what: None };
    let before =
        tty.until("it asks for trust", |seen| (state(seen)? == trust && seen.quiet_ms > 1000).then(|| seen.clone()));
    assert_eq!(typist.observe(&before.await), Keys::Wait, "nothing is typed into a question");
    tty.send(b"\x1b[B").await;
    tty.until("the answer is chosen", |seen| seen.text.contains("❯ Yes, I trust").then_some(())).await;
    tty.send(b"\r").await;
    assert_eq!(tty.prompt(&mut typist).await, 2, "the prompt is pasted once and sent off once");

    let waiting = tty.until("it asks for permission", |seen| {
        Some(state(seen)?).filter(|state| matches!(state, State::Waiting { on: WaitingFor::Permission, .. }))
    });
    let what = Some("Do you want to proceed".to_owned());
    assert_eq!(waiting.await, State::Waiting { on: WaitingFor::Permission, what });
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

    let of_log = tty.until("its log tells what it used", |_| {
        let log = find_log(&claude, &place.person(), &place.workspace(), since)?;
        let mut recogniser = Recogniser::new(claude.clone(), Mode::Interactive);
        let text = std::fs::read_to_string(log).ok()?;
        text.lines().map(|line| recogniser.line(line)).last().filter(|seen| seen.usage.output == 50)
    });
    let of_log = of_log.await;
    assert_eq!((tokens(&of_log.usage), of_log.conversation), ((2100, 1100, 50), launch.conversation));
    assert_eq!(of_log.said.as_deref(), Some("All is done."));
    assert_eq!(place.outside(), 0);
    tty.kill().await;
}
