//! The life of executions: timers, approvals, history, and what two hubs see.

use domain::{ExecutionStatus, StepStatus};
use protocol::{ExecutionLogPage, ExecutionsWanted, MessagePage, verbs};
use serde_json::json;
use store::{Caller, StoreError, TendExecution};

use super::people::{answer, at_path};
use super::{at, save, shown, started, starting, status, tend};
use crate::fixture::Fixture;
use crate::workers::Shop;

both! {
    messages_are_sent_in_one_transaction_and_once,
    a_wait_ends_when_its_time_has_come,
    two_hubs_move_an_execution_once,
    wrong_inputs_start_nothing,
    a_history_decides_the_same_again,
    an_execution_survives_a_restart,
    strangers_see_no_execution,
    old_histories_are_deleted_unless_something_live_refers_to_them,
    each_waiting_execution_gets_its_turn,
}

const TALK: &str = "name: talk\nsteps:\n  - id: a\n    notify: {to: chat, text: one}\n  - id: b\n    notify: {to: chat, text: two}\n  - id: c\n    notify: {to: chat, text: three}\n";
const WAIT: &str =
    "name: wait\nsteps:\n  - id: pause\n    wait: {for: 90s}\n  - id: tell\n    notify: {to: chat, text: over}\n";

async fn said(shop: &Shop) -> Vec<String> {
    let page = shop.fixture.store.messages(&shop.fixture.ada, shop.project.id, MessagePage::default()).await.unwrap();
    page.into_iter().map(|message| message.content).collect()
}

async fn messages_are_sent_in_one_transaction_and_once(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let recipe = save(&shop, TALK).await;
    let made = shop.fixture.done(&shop.fixture.ada, starting(&recipe, json!({}))).await;
    assert_eq!(made.status, ExecutionStatus::Completed);
    tend(&shop).await;
    assert_eq!(said(&shop).await, ["one", "two", "three"]);
}

async fn a_wait_ends_when_its_time_has_come(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let made = started(&shop, WAIT, json!({})).await;
    assert_eq!(made.status, ExecutionStatus::Waiting);
    let due = shop.fixture.store.due_executions(shop.fixture.store.now(), None).await.unwrap();
    assert_eq!((due.now, due.waiting), (vec![], vec![]), "waiting costs nothing");
    assert_eq!(due.next, Some(shop.fixture.store.now().plus_millis(90_000)));
    shop.fixture.pass(89_999);
    tend(&shop).await;
    assert_eq!(status(&shop, made.id).await, ExecutionStatus::Waiting);
    shop.fixture.pass(1);
    tend(&shop).await;
    assert_eq!(status(&shop, made.id).await, ExecutionStatus::Completed);
    assert_eq!(said(&shop).await, ["over"]);
}

async fn two_hubs_move_an_execution_once(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let made = started(&shop, WAIT, json!({})).await;
    let Shop { fixture, .. } = &shop;
    fixture.pass(90_000);
    let second = match fixture.place {
        crate::fixture::Place::Postgres(_) => fixture.second_store().await,
        crate::fixture::Place::Sqlite(_) => fixture.store.clone(),
    };
    let tend = || TendExecution { execution: made.id, connected: Vec::new(), there: Vec::new(), away: Vec::new() };
    let hub = Caller::hub("execution");
    let (one, two) = tokio::join!(fixture.store.write(&hub, None, tend()), second.write(&hub, None, tend()));
    one.unwrap();
    two.unwrap();
    assert_eq!(said(&shop).await, ["over"]);
    assert_eq!(status(&shop, made.id).await, ExecutionStatus::Completed);
}

async fn wrong_inputs_start_nothing(fixture: Fixture) {
    let text = "name: typed\ninputs:\n  issue: {type: integer}\nsteps:\n  - id: tell\n    notify: {to: chat, text: \"{{ inputs.issue }}\"}\n";
    let shop = Shop::open(fixture).await;
    let recipe = save(&shop, text).await;
    for (inputs, what) in [(json!({}), "issue"), (json!({ "issue": "x" }), "issue"), (json!({ "isue": 1 }), "isue")] {
        let refused = shop.fixture.refused(&shop.fixture.ada, starting(&recipe, inputs)).await;
        assert!(matches!(refused, StoreError::Invalid { field: "inputs", .. }), "{refused}");
        assert!(refused.to_string().contains(what), "{refused}");
    }
    let listed = shop.fixture.store.executions(&shop.fixture.ada, shop.project.id, ExecutionsWanted::default()).await;
    assert!(listed.unwrap().is_empty());
}

async fn a_history_decides_the_same_again(fixture: Fixture) {
    let text = "name: ask\nsteps:\n  - id: ask\n    approve: {question: \"Go on?\"}\n  - id: pause\n    wait: {for: 5s}\n  - id: tell\n    notify: {to: chat, text: \"{{ steps.ask.output.by }}\"}\n";
    let shop = Shop::open(fixture).await;
    let made = started(&shop, text, json!({})).await;
    assert!(shown(&shop, made.id).await.execution.needs_person);
    shop.fixture.done(&shop.fixture.ada, answer(made.id, "ask", true)).await;
    shop.fixture.pass(5_000);
    tend(&shop).await;
    assert_eq!(status(&shop, made.id).await, ExecutionStatus::Completed);
    let again = shop.fixture.store.execution_replay(&shop.fixture.ada, made.id).await.unwrap();
    assert_eq!(again.differences, Vec::<String>::new());
    let log = shop.fixture.store.execution_log(&shop.fixture.ada, made.id, ExecutionLogPage::default()).await.unwrap();
    assert_eq!(log.len(), again.events as usize);
    assert!(log.iter().any(|entry| entry.by.as_ref().is_some_and(|by| by.name == "Ada")));
}

async fn an_execution_survives_a_restart(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let made = started(&shop, WAIT, json!({})).await;
    shop.fixture = shop.fixture.reopened().await;
    shop.fixture.pass(90_000);
    tend(&shop).await;
    assert_eq!(at(&shop, made.id, "pause").await, StepStatus::Succeeded);
    assert_eq!(status(&shop, made.id).await, ExecutionStatus::Completed);
}

async fn strangers_see_no_execution(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.project = shop.fixture.project(domain::Visibility::Private).await;
    let made = started(&shop, WAIT, json!({})).await;
    let bo = &shop.fixture.bo;
    let hidden = shop.fixture.store.execution(bo, made.id).await;
    assert!(matches!(hidden, Err(StoreError::NotFound("execution"))), "{hidden:?}");
    let input = at_path("pause");
    let refused = shop.fixture.refused(bo, verbs::ExecutionRetry { execution: made.id, input }).await;
    assert!(matches!(refused, StoreError::NotFound("execution")), "{refused}");
}

async fn history(shop: &Shop, id: domain::ExecutionId) -> usize {
    let page = ExecutionLogPage::default();
    shop.fixture.store.execution_log(&shop.fixture.ada, id, page).await.unwrap().len()
}

async fn old_histories_are_deleted_unless_something_live_refers_to_them(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    save(&shop, "name: quick\nsteps:\n  - id: tell\n    notify: {to: chat, text: hi}\n").await;
    let calls =
        "name: calls\nsteps:\n  - id: sub\n    call: {recipe: quick}\n  - id: pause\n    approve: {question: \"?\"}\n";
    let alone =
        started(&shop, "name: alone\nsteps:\n  - id: tell\n    notify: {to: chat, text: hi}\n", json!({})).await;
    let parent = started(&shop, calls, json!({})).await;
    let called = shown(&shop, parent.id).await.attempts.iter().find_map(|one| one.called).expect("it called one");
    assert!(history(&shop, alone.id).await > 0 && history(&shop, called).await > 0);
    let compact = || store::Compact { keep: 1_000_000 };
    shop.fixture.done(&Caller::hub("upkeep"), compact()).await;
    assert!(history(&shop, alone.id).await > 0, "it ended just now");
    shop.fixture.pass(91 * crate::fixture::DAY);
    shop.fixture.done(&Caller::hub("upkeep"), compact()).await;
    assert_eq!(history(&shop, alone.id).await, 0);
    assert_eq!(status(&shop, alone.id).await, ExecutionStatus::Completed);
    assert_eq!(shown(&shop, alone.id).await.attempts.len(), 1, "the attempts stay");
    let replay = shop.fixture.store.execution_replay(&shop.fixture.ada, alone.id).await;
    assert!(matches!(replay, Err(StoreError::Conflict(_))), "{replay:?}");
    assert!(history(&shop, called).await > 0, "the one that called it is not over");
    shop.fixture.done(&shop.fixture.ada, answer(parent.id, "pause", true)).await;
    shop.fixture.done(&Caller::hub("upkeep"), compact()).await;
    assert_eq!(history(&shop, called).await, 0);
    assert!(history(&shop, parent.id).await > 0, "it ended just now");
}

async fn each_waiting_execution_gets_its_turn(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let text = "name: far\nsteps:\n  - id: go\n    run: [make]\n    needs: [moon]\n";
    let recipe = save(&shop, text).await;
    let starts = (0..510).map(|_| shop.fixture.done(&shop.fixture.ada, starting(&recipe, json!({}))));
    futures_util::future::join_all(starts).await;
    let store = &shop.fixture.store;
    let first = store.due_executions(store.now(), None).await.unwrap();
    let rest = store.due_executions(store.now(), first.after).await.unwrap();
    assert_eq!((first.waiting.len(), rest.waiting.len(), rest.after), (500, 10, None));
    assert!(rest.waiting.iter().all(|id| !first.waiting.contains(id)));
}
