//! Answers of verbs that change something, and of agents' tools, show no more of what runs than reading does. Nor does a
//! session that failed, in anything that colleagues and observers read of it.

use domain::{AnswerAct, SessionStatus, TaskId, Visibility};
use protocol::link::FactBody;
use protocol::{
    Call, EscalationAnswer, EscalationFilter, ExecutionStart, NOT_SHARED, RecipeText, SessionState, TaskAdd,
    TaskFilter, TaskReason, TaskTake, TasksAdd, WorkConfigure,
};
use reqwest::Method;
use serde_json::json;
use testkit::TestHub;

use super::fields::agent;
use crate::links::{project, spawn};
use crate::support::runner::state;
use crate::support::{Credential, FakeRunner, Socket, begin, call, join, observe, send, view};
use crate::work::{Shop, plain};

/// A colleague's answer to a call that works.
async fn told(hub: &TestHub, who: &Credential, what: Call) -> String {
    let verb = what.verb();
    let reply = call(hub, who, &what).await;
    assert!(reply.status < 300, "{verb}: {} {}", reply.status, reply.text);
    reply.text
}

/// An agent's tool, by MCP.
async fn tool(hub: &TestHub, who: &Credential, name: &str, arguments: serde_json::Value) -> String {
    let params = json!({ "name": name, "arguments": arguments });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let request = begin(hub, Method::POST, "/mcp").headers(who.headers(hub.url()));
    let request =
        request.header("content-type", "application/json").header("accept", "application/json, text/event-stream");
    let reply = send(request.body(body)).await;
    assert!(reply.status < 300 && !reply.text.contains("\"isError\":true"), "{name}: {}", reply.text);
    reply.text
}

/// A project of Olga's that does not share execution.
async fn closed() -> (Shop, Credential) {
    let mut shop = Shop::new().await;
    let pete = join(&shop.hub, "pete").await;
    shop.project = project(&shop.hub, &shop.olga, Visibility::ReadWrite, false).await;
    (shop, pete)
}

#[tokio::test]
async fn only_people_with_access_see_which_agent_added_a_task() {
    let (mut shop, pete) = closed().await;
    let session = spawn(&shop.hub, &shop.olga, shop.project, "plan the work").await.id;
    let own = agent(&mut shop.runner, session).await;
    let mut theirs = FakeRunner::start(&shop.hub, &pete, "pete's").await;
    let guest = spawn(&shop.hub, &pete, shop.project, "a guest").await.id;
    let guest = agent(&mut theirs, guest).await;
    let add = |tasks: Vec<TaskAdd>| Call::TaskAdd { project: shop.project, input: TasksAdd { tasks } };
    let added = view!(&shop.hub, &own, AddedTasks, add(vec![plain("by an agent"), plain("another by an agent")])).tasks;
    let (task, other): (TaskId, TaskId) = (added[0].id, added[1].id);
    let shown = view!(&shop.hub, &shop.olga, TaskDetail, Call::TaskShow { task });
    assert_eq!(shown.task.author_session, Some(session), "its author sees it");
    let hub = &shop.hub;
    let taking = TaskTake { task: Some(task), worker: Some("petes".into()), abilities: vec![], wait_seconds: None };
    let mut texts = vec![
        told(hub, &pete, Call::TaskTake { project: shop.project, input: taking }).await,
        told(hub, &pete, Call::TaskShow { task }).await,
        told(hub, &pete, Call::TaskExport { filter: TaskFilter::default() }).await,
        told(hub, &pete, Call::TaskCancel { task, input: TaskReason::default() }).await,
        told(hub, &pete, Call::TaskCancel { task, input: TaskReason::default() }).await,
        told(hub, &pete, Call::TaskRetry { task, input: TaskReason::default() }).await,
        told(hub, &pete, Call::WorkMetrics { project: shop.project, page: Default::default() }).await,
        tool(hub, &guest, "take_task", json!({ "task": other.to_string() })).await,
        tool(hub, &guest, "list_tasks", json!({})).await,
        tool(hub, &guest, "who_is_doing_what", json!({})).await,
    ];
    assert!(texts[0].contains("by an agent") && texts[7].contains("another by an agent"));
    texts.retain(|text| text.contains(&session.to_string()));
    assert_eq!(texts, Vec::<String>::new(), "the session of Olga's agent is hers");
    shop.hub.stop().await;
}

#[tokio::test]
async fn a_failed_setup_shows_colleagues_nothing_about_the_machine() {
    let (mut shop, pete) = closed().await;
    let (visitor, _) = observe(&shop.hub, &shop.olga, shop.project).await;
    let mut sockets = Vec::new();
    for who in [&pete, &visitor] {
        sockets.push(Socket::live(shop.hub.url(), who).await);
    }
    shop.configure(WorkConfigure { workers_per_task: Some(1), ..Default::default() }).await;
    let worker = shop.start(1).await[0].id;
    let task = shop.add(vec![plain("open-title")]).await[0];
    let plan = shop.session_of(task, &[]).await;
    let workspace = plan.workspace.workspace;
    let detail = format!("`canary-line` ended with 2; its output is in /home/olga/{workspace}/setup.log");
    shop.runner.fact(FactBody::WorkspaceFailed { workspace, detail: detail.clone() }).await;
    let over = SessionState { detail: Some(detail.clone()), code: None, ..state(SessionStatus::Exited) };
    shop.runner.fact(FactBody::SessionState { session: plan.session, state: over }).await;
    let asked = shop.asked(task, |_| true).await;
    assert!(asked.context.text.contains(&detail), "its owner reads why: {asked:?}");
    let filter = EscalationFilter { project: Some(shop.project), answered: Some(true) };
    let looks = || {
        vec![
            Call::TaskShow { task },
            Call::TaskList { filter: TaskFilter::default() },
            Call::WorkerShow { worker },
            Call::WorkLog { project: shop.project, page: Default::default() },
            Call::WorkDoing { project: shop.project },
            Call::EscalationList { filter },
            Call::EscalationShow { escalation: asked.id },
        ]
    };
    let mut texts = Vec::new();
    for who in [&pete, &visitor] {
        for look in looks() {
            texts.push(told(&shop.hub, who, look).await);
        }
    }
    let input = EscalationAnswer { act: Some(AnswerAct::Cancel), ..Default::default() };
    texts.push(told(&shop.hub, &pete, Call::EscalationAnswer { escalation: asked.id, input }).await);
    let say =
        |text: &str| Call::ChatSend { project: shop.project, input: protocol::MessageText { content: text.into() } };
    view!(&shop.hub, &shop.olga, Message, say("the last word"));
    for mut socket in sockets {
        let heard = socket.until_message("the last word").await;
        texts.push(serde_json::to_string(&heard).expect("frames are JSON"));
    }
    assert!(texts[0].contains("its workspace could not be made"), "{}", texts[0]);
    for hidden in ["canary-line", "/home/olga", &workspace.to_string(), &plan.session.to_string()] {
        let leaks: Vec<&String> = texts.iter().filter(|text| text.contains(hidden)).collect();
        assert!(leaks.is_empty(), "{hidden}: {leaks:?}");
    }
    shop.hub.stop().await;
}

#[tokio::test]
async fn the_reason_of_a_failed_execution_needs_access() {
    let (shop, pete) = closed().await;
    let (hub, project) = (&shop.hub, shop.project);
    let (visitor, _) = observe(hub, &shop.olga, project).await;
    let mut sockets = Vec::new();
    for who in [&pete, &visitor] {
        sockets.push(Socket::live(hub.url(), who).await);
    }
    let inputs = json!({ "word": { "type": "string", "default": "nothing" } });
    let steps = json!([{ "id": "stop", "end": { "success": false, "reason": "{{ inputs.word }}" } }]);
    let text = json!({ "name": "ending", "inputs": inputs, "steps": steps }).to_string();
    let input = RecipeText { text, format: None };
    let recipe = view!(hub, &shop.olga, Recipe, Call::RecipeAdd { project, input }).id;
    let start = |word: &str| {
        let inputs = [("word".to_owned(), json!(word))].into();
        Call::ExecutionStart { recipe, input: ExecutionStart { inputs, version: None } }
    };
    let list = || Call::ExecutionList { project, filter: Default::default() };
    let hers = view!(hub, &shop.olga, Execution, start("canary-hers"));
    assert!(hers.reason.is_some_and(|reason| reason.contains("canary-hers")), "she sees why");
    assert!(told(hub, &pete, start("his-own")).await.contains("his-own"), "who started it sees why");
    let mut texts = vec![told(hub, &pete, list()).await, told(hub, &visitor, list()).await];
    assert!(texts[0].contains("his-own") && !texts[1].contains("his-own"));
    assert!(texts.iter().all(|text| text.contains(NOT_SHARED)), "{texts:?}");
    for who in [&pete, &visitor] {
        let mut again = Socket::live(hub.url(), who).await;
        texts.push(serde_json::to_string(again.early.make_contiguous()).expect("frames are JSON"));
    }
    let input = protocol::MessageText { content: "the last word".into() };
    view!(hub, &shop.olga, Message, Call::ChatSend { project, input });
    for mut socket in sockets {
        texts.push(serde_json::to_string(&socket.until_message("the last word").await).expect("frames are JSON"));
    }
    for (at, text) in texts.iter().enumerate() {
        assert!(text.contains(&hers.id.to_string()), "{at}: the execution itself is for everybody");
        assert!(!text.contains("canary-hers"), "{at}: {text}");
    }
    assert!(told(hub, &shop.olga, list()).await.contains("canary-hers"));
    shop.hub.stop().await;
}
