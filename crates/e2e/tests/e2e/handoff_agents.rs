//! Real Codex hands off to real opencode: Codex writes the document with its tool, and opencode quotes the hash.

use domain::{HandoffStatus, HandoffStep, HandoffWriter, SessionStatus};
use protocol::{Call, Handoff, HandoffBegin, HandoffDetail, Session, SessionStop};
use serde_json::json;
use testkit::model::{Model, Turn};
use testkit::wait_until;

use crate::agents::open;
use crate::fixture::Fixture;

async fn until(fixture: &Fixture, model: &Model, handoff: &Handoff, is: impl Fn(&Handoff) -> bool) -> HandoffDetail {
    let last = std::cell::RefCell::new(None);
    let call = || Call::HandoffShow { handoff: handoff.id };
    let waited = wait_until("the handoff is there", async || {
        let found: HandoffDetail = fixture.ann.ask(call()).await.ok()?;
        *last.borrow_mut() = Some(found.handoff.clone());
        is(&found.handoff).then_some(found)
    });
    tokio::select! {
        found = waited => found,
        () = tokio::time::sleep(std::time::Duration::from_secs(58)) => {
            let heard = model.asked().pop().map(|asked| asked.body.to_string()).unwrap_or_default();
            panic!("{:?}\n{} turns left; heard last: {heard}\n{}", last.borrow(), model.left(), fixture.runner_log())
        }
    }
}

#[tokio::test]
async fn codex_hands_off_to_opencode_which_quotes_the_hash() {
    let prose = json!({ "done": "The greeting is in greeting.txt.", "remaining": "Nobody has signed it.",
        "tried": "An echo: the shell ate the quotes.", "next": "Write signature.txt." });
    let model = Model::start([
        Turn::write("greeting.txt", "hello\nworld\n"),
        Turn::say("The greeting is written."),
        Turn::call("mcp__shopfloor__handoff_write", prose),
        Turn::say("The handoff is written."),
    ])
    .await;
    let fixture = open(&model).await;
    let project = fixture.project(&fixture.repository()).await.id.to_string();
    let spawn = ["session", "spawn", "--project", &project, "--agent", "codex", "--prompt", "Write a greeting"];
    let session: Session = fixture.cli(&spawn).await;
    let idle = |session: &Session| session.state.status == SessionStatus::Idle;
    wait_until("the greeting is written", async || (model.left() == 2).then_some(())).await;
    let first = fixture.until(session.id, "Codex is idle after its work", idle).await;
    let input = HandoffBegin {
        agent: Some("opencode".into()),
        goal: Some("Sign the greeting".into()),
        wait_seconds: Some(50),
        ..Default::default()
    };
    let handoff: Handoff = fixture.ann.ask(Call::HandoffBegin { session: session.id, input }).await.unwrap();
    let sealed = until(&fixture, &model, &handoff, |now| now.hash.is_some()).await;
    let hash = sealed.handoff.hash.clone().unwrap();
    model.then([
        Turn::call("shopfloor_handoff_ack", json!({ "hash": hash })),
        Turn::write("signature.txt", "opencode\n"),
        Turn::say("The greeting is signed."),
    ]);
    until(&fixture, &model, &handoff, |now| now.step == HandoffStep::Acknowledge).await;
    // It takes its time until it has started its tools.
    let asked = model.asked().len();
    wait_until("opencode asks its model", async || (model.asked().len() > asked).then_some(())).await;
    let done = until(&fixture, &model, &handoff, |now| now.status == HandoffStatus::Done).await;
    assert_eq!(done.written_by, Some(HandoffWriter::Agent));
    let steps: Vec<HandoffStep> = done.handoff.steps.iter().map(|step| step.step).collect();
    assert_eq!(steps, HandoffStep::ALL);
    let document = done.document.as_deref().unwrap();
    for part in ["agent: \"codex\"", "uncommitted: [\"greeting.txt\"]", "## Done\n\nThe greeting is in greeting.txt."] {
        assert!(document.contains(part), "`{part}` is not in {document}");
    }
    let successor = done.handoff.successor.unwrap();
    let fresh = fixture.until(successor, "opencode is idle after its work", |now| model.left() == 0 && idle(now)).await;
    assert_eq!((fresh.session.agent.as_str(), fresh.workspace.id), ("opencode", first.workspace.id));
    let folder = std::path::PathBuf::from(fresh.workspace.path.unwrap());
    for (file, text) in [("greeting.txt", "hello\nworld\n"), ("signature.txt", "opencode\n")] {
        assert_eq!(std::fs::read_to_string(folder.join(file)).unwrap(), text);
    }
    // What the model of opencode heard first: the goal as its instruction, and the document as quoted lines.
    let heard: Vec<String> =
        model.asked().into_iter().filter(|asked| asked.scripted).map(|asked| asked.body.to_string()).collect();
    assert!(heard[2].contains("hands this session off"), "{}", heard[2]);
    for part in ["## Your instruction\\n\\nSign the greeting", "> Nobody has signed it.", &format!("> hash: {hash}")] {
        assert!(heard[4].contains(part), "`{part}` is not in {}", heard[4]);
    }
    let stop = Call::SessionStop { session: successor, input: SessionStop { force: true } };
    let _: Session = fixture.ann.ask(stop).await.unwrap();
    fixture.until(successor, "opencode has ended", |now| now.state.ended()).await;
    fixture.close().await;
}
