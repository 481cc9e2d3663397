//! Steps that others carry out: runners, workers, other recipes.

use domain::{ExecutionStatus, SessionStatus, StepStatus};
use serde_json::json;

use super::{at, save, shown, started, status, step, tend};
use crate::fixture::Fixture;
use crate::workers::Shop;

both! {
    a_command_runs_in_a_session_and_leaves_its_output,
    a_command_that_fails_is_retried_and_then_fails_the_execution,
    a_lost_agent_is_interrupted_and_never_run_again_silently,
    steps_share_a_workspace,
    a_rewound_execution_goes_on_where_the_first_one_worked,
    tasks_are_added_and_waited_for,
    an_agent_with_criteria_works_on_a_task_of_its_own,
    a_called_recipe_hands_its_outputs_back,
    work_waits_for_a_runner_and_says_so,
}

const RUN: &str = "name: build\noutputs: {text: steps.make.output.text}\nsteps:\n  - id: make\n    run: [make, \"{{ inputs.target }}\"]\n  - id: check\n    run: [make, check]\ninputs:\n  target: {type: string, default: all}\n";

async fn a_command_runs_in_a_session_and_leaves_its_output(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let made = started(&shop, RUN, json!({ "target": "a b; rm -rf /" })).await;
    assert_eq!(made.status, ExecutionStatus::Running);
    let (sessions, _) = shop.desired().await;
    let [session] = &sessions[..] else { panic!("{sessions:?}") };
    assert_eq!(session.argv, ["make", "a b; rm -rf /"], "an input stays one argument");
    let desired = session.step.clone().expect("it works on a step");
    assert_eq!((desired.execution, desired.path.as_str(), desired.attempt), (made.id, "make", 1));
    let first = session.session;
    shop.says(first, "built").await;
    shop.exits(first, 0).await;
    tend(&shop).await;
    let output = step(&shop, made.id, "make").await.output.expect("an output");
    assert_eq!((&output["exit"], &output["text"]), (&json!(0), &json!("built")));
    let (sessions, _) = shop.desired().await;
    let second = sessions.iter().find(|one| one.session != first).expect("the next step runs").session;
    shop.exits(second, 0).await;
    tend(&shop).await;
    let done = shown(&shop, made.id).await;
    assert_eq!(done.execution.status, ExecutionStatus::Completed);
    assert_eq!(done.outputs, Some(json!({ "text": "built" })));
    assert_eq!(done.attempts.len(), 2);
    assert!(done.attempts.iter().all(|one| one.state == "succeeded" && one.ended_at.is_some()));
}

async fn a_command_that_fails_is_retried_and_then_fails_the_execution(fixture: Fixture) {
    let text = "name: flaky\nsteps:\n  - id: test\n    run: [make, test]\n    retry: {attempts: 2, first: 10s, backoff: fixed, jitter: 0}\n";
    let mut shop = Shop::open(fixture).await;
    let made = started(&shop, text, json!({})).await;
    let first = shop.desired().await.0[0].session;
    shop.says(first, "1 test failed").await;
    shop.exits(first, 2).await;
    tend(&shop).await;
    let failed = step(&shop, made.id, "test").await;
    assert_eq!(failed.status, StepStatus::Retrying);
    assert!(failed.reason.unwrap().contains("1 test failed"));
    assert!(shop.desired().await.0.is_empty(), "it waits for its next attempt");
    shop.fixture.pass(10_000);
    tend(&shop).await;
    let second = shop.desired().await.0[0].clone();
    assert_eq!(second.step.unwrap().attempt, 2);
    shop.exits(second.session, 2).await;
    tend(&shop).await;
    let done = shown(&shop, made.id).await.execution;
    assert_eq!(done.status, ExecutionStatus::Failed);
    assert!(done.reason.unwrap().contains("exited with 2"));
    assert!(done.ended_at.is_some());
}

async fn a_lost_agent_is_interrupted_and_never_run_again_silently(fixture: Fixture) {
    let text = "name: fix\nsteps:\n  - id: fix\n    agent: {agent: codex, prompt: Fix it}\n    retry: {attempts: 3}\n";
    let mut shop = Shop::open(fixture).await;
    let made = started(&shop, text, json!({})).await;
    let session = shop.desired().await.0[0].session;
    shop.at(session, SessionStatus::Lost).await;
    tend(&shop).await;
    let lost = shown(&shop, made.id).await;
    assert_eq!(lost.steps[0].status, StepStatus::Interrupted);
    assert!(lost.execution.needs_person);
    assert!(shop.desired().await.0.is_empty(), "it does not run again by itself");
}

async fn steps_share_a_workspace(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let made = started(&shop, RUN, json!({})).await;
    let first = shop.desired().await.0[0].clone();
    shop.exits(first.session, 0).await;
    tend(&shop).await;
    let second = shop.desired().await.0[0].clone();
    assert_eq!(first.workspace.workspace, second.workspace.workspace);
    assert_eq!(first.activity, second.activity);
    assert_eq!(shown(&shop, made.id).await.attempts[1].workspace, Some(first.workspace.workspace));
}

async fn a_rewound_execution_goes_on_where_the_first_one_worked(fixture: Fixture) {
    let text = "name: two\nsteps:\n  - id: make\n    run: {argv: [make], workspace: new}\n  - id: check\n    run: {argv: [make, check], workspace: {of: make}}\n";
    let mut shop = Shop::open(fixture).await;
    let made = started(&shop, text, json!({})).await;
    let first = shop.desired().await.0[0].clone();
    shop.exits(first.session, 0).await;
    tend(&shop).await;
    let check = shop.desired().await.0[0].session;
    shop.exits(check, 1).await;
    tend(&shop).await;
    assert_eq!(status(&shop, made.id).await, ExecutionStatus::Failed);
    let input = protocol::ExecutionAt { path: "check".into(), ..Default::default() };
    let rewind = protocol::verbs::ExecutionRewind { execution: made.id, input };
    let again = shop.fixture.done(&shop.fixture.ada, rewind).await;
    tend(&shop).await;
    let next = shop.desired().await.0.into_iter().find(|one| one.session != check).expect("the check runs again");
    assert_eq!(next.step.map(|step| step.execution), Some(again.id));
    assert_eq!(next.workspace.workspace, first.workspace.workspace);
}

async fn tasks_are_added_and_waited_for(fixture: Fixture) {
    let text = "name: plan\nsteps:\n  - id: work\n    task:\n      tasks:\n        - {id: a, description: First}\n        - {id: b, description: Second, after: [a]}\n";
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let made = started(&shop, text, json!({})).await;
    let tasks = shown(&shop, made.id).await.attempts[0].tasks.clone();
    assert_eq!(tasks.len(), 2);
    for task in tasks {
        shop.dispatch().await;
        shop.finishes(task, "done").await;
        tend(&shop).await;
    }
    assert_eq!(status(&shop, made.id).await, ExecutionStatus::Completed);
    let output = step(&shop, made.id, "work").await.output.unwrap();
    assert_eq!(output["tasks"].as_array().unwrap().len(), 2);
    assert_eq!(output["tasks"][0]["status"], "done");
}

async fn a_called_recipe_hands_its_outputs_back(fixture: Fixture) {
    let inner = "name: inner\ninputs:\n  who: {type: string}\noutputs: {greeting: \"{{ 'Hello ' ~ inputs.who }}\"}\nsteps:\n  - id: tell\n    notify: {to: chat, text: \"Hello {{ inputs.who }}\"}\n";
    let outer = "name: outer\noutputs: {said: steps.sub.output.greeting}\nsteps:\n  - id: sub\n    call: {recipe: inner, inputs: {who: Bo}}\n";
    let shop = Shop::open(fixture).await;
    save(&shop, inner).await;
    let made = started(&shop, outer, json!({})).await;
    let done = shown(&shop, made.id).await;
    assert_eq!(done.execution.status, ExecutionStatus::Completed, "{:?}", done.execution.reason);
    assert_eq!(done.outputs, Some(json!({ "said": "Hello Bo" })));
    let called = done.attempts[0].called.expect("the called execution");
    assert_eq!(shown(&shop, called).await.execution.parent, Some(made.id));
}

async fn work_waits_for_a_runner_and_says_so(fixture: Fixture) {
    let text = "name: gpu\nsteps:\n  - id: train\n    run: [train]\n    needs: [gpu]\n";
    let shop = Shop::open(fixture).await;
    let made = started(&shop, text, json!({})).await;
    assert_eq!(at(&shop, made.id, "train").await, StepStatus::Waiting);
    let why = step(&shop, made.id, "train").await.reason.expect("a reason");
    assert!(why.contains("gpu"), "{why}");
}

async fn an_agent_with_criteria_works_on_a_task_of_its_own(fixture: Fixture) {
    let text = "name: fix\noutputs: {branch: steps.fix.output.branch}\nsteps:\n  - id: fix\n    agent: {agent: codex, prompt: Fix the parser, accept: [\"the parser is fixed\"]}\n  - id: check\n    run: [make, test]\n";
    let mut shop = Shop::open(fixture).await;
    let made = started(&shop, text, json!({})).await;
    let task = shown(&shop, made.id).await.attempts[0].tasks[0];
    let workers = shop.fixture.store.workers(&shop.fixture.ada, Default::default()).await.unwrap();
    assert_eq!(workers.len(), 1, "a worker was started for it");
    shop.finishes(task, "fixed").await;
    let escalation = shop.fixture.store.escalations(&shop.fixture.ada, Default::default()).await.unwrap().remove(0);
    let input = protocol::EscalationAnswer { act: Some(domain::AnswerAct::Accept), ..Default::default() };
    let answer = protocol::verbs::EscalationAnswer { escalation: escalation.id, input };
    shop.fixture.done(&shop.fixture.ada, answer).await;
    tend(&shop).await;
    let output = step(&shop, made.id, "fix").await.output.expect("an output");
    assert_eq!(output["status"], "done");
    let workers = shop.fixture.store.workers(&shop.fixture.ada, Default::default()).await.unwrap();
    assert!(workers.is_empty(), "it leaves when the task is over: {workers:?}");
    let next = shop.desired().await.0.into_iter().find(|one| one.step.is_some()).expect("the check runs");
    assert_eq!(json!(next.workspace.workspace), output["workspace"], "it runs where the work is");
}
