//! A done task is reopened with words: the real agent continues its conversation in the same workspace.

use domain::{TaskId, TaskStatus};
use protocol::{AddedTasks, Call, SessionDetail, TaskDetail, TasksAdd, Worker, WorkerStart};
use serde_json::{Value, json};
use testkit::model::{Model, Turn};
use testkit::wait_until;

use crate::agents::open;
use crate::fixture::Fixture;

const WORDS: &str = "Now also wave at the moon";

async fn done(fixture: &Fixture, model: &Model, task: TaskId, attempts: usize) -> TaskDetail {
    let last = std::cell::RefCell::new(String::new());
    let waited = wait_until("the task is done", async || {
        let found: TaskDetail = fixture.ann.ask(Call::TaskShow { task }).await.ok()?;
        assert!(found.escalations.is_empty(), "nobody is asked: {:?}", found.escalations);
        *last.borrow_mut() = format!("{:?} {:?} {:?}", found.task.status, found.attempts, found.reports);
        (found.task.status == TaskStatus::Done && found.attempts.len() == attempts).then_some(found)
    });
    tokio::select! {
        found = waited => found,
        () = tokio::time::sleep(std::time::Duration::from_secs(58)) => {
            let asked: Vec<String> = model.asked().iter().map(|asked| asked.path.clone()).collect();
            panic!("{}\n{} turns left, {asked:?}", last.borrow(), model.left())
        }
    }
}

async fn session(fixture: &Fixture, detail: &TaskDetail, attempt: usize) -> SessionDetail {
    let session = detail.attempts[attempt].sessions[0];
    fixture.ann.ask(Call::SessionShow { session }).await.unwrap()
}

#[tokio::test]
async fn a_reopened_codex_continues_its_conversation_in_its_workspace() {
    let model = Model::start([Turn::write("hello.txt", "hello\n"), Turn::say("The greeting is written.")]).await;
    let fixture = open(&model).await;
    std::fs::write(fixture.home().join(".gitconfig"), "[user]\n\tname = Ann\n\temail = ann@example.com\n").unwrap();
    let project = fixture.project(&fixture.repository()).await;
    let input = WorkerStart { agent: "codex".into(), ..Default::default() };
    let _: Vec<Worker> = fixture.ann.ask(Call::WorkerStart { project: project.id, input }).await.unwrap();
    let accept = json!([{ "kind": "file_exists", "path": "hello.txt" }]);
    let tasks = json!([{ "description": "Say hello to the world", "acceptance": accept }]);
    let call = Call::TaskAdd { project: project.id, input: TasksAdd { tasks: serde_json::from_value(tasks).unwrap() } };
    let added: AddedTasks = fixture.ann.ask(call).await.unwrap();
    let task = added.tasks[0].id;
    done(&fixture, &model, task, 1).await;
    let asked_before = model.asked().len();

    model.then([Turn::write("moon.txt", "wave\n"), Turn::say("The moon is greeted, too.")]);
    let _: Value = fixture.cli(&["task", "reopen", &added.tasks[0].short, WORDS]).await;
    let detail = done(&fixture, &model, task, 2).await;
    let (first, second) = (session(&fixture, &detail, 0).await, session(&fixture, &detail, 1).await);
    assert_ne!(first.session.id, second.session.id);
    assert_eq!(first.workspace.id, second.workspace.id, "the same workspace");
    // The model hears its own earlier words and the person's new ones.
    let later: Vec<Value> =
        model.asked().into_iter().skip(asked_before).filter(|asked| asked.scripted).map(|asked| asked.body).collect();
    let heard = later[0].to_string();
    for words in ["Say hello to the world", "The greeting is written.", WORDS] {
        assert!(heard.contains(words), "{words}: {heard}");
    }
    let folder = second.workspace.path.unwrap();
    for (file, text) in [("hello.txt", "hello\n"), ("moon.txt", "wave\n")] {
        assert_eq!(std::fs::read_to_string(std::path::Path::new(&folder).join(file)).unwrap(), text);
    }
    let summaries: Vec<&str> = detail.reports.iter().map(|report| report.summary.as_str()).collect();
    assert_eq!(summaries, ["The greeting is written.", "The moon is greeted, too."]);
    fixture.close().await;
}
