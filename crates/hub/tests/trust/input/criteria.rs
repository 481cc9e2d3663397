//! Criteria that could never be checked are refused when a task is added, with their place; plans are read with their errors.

use domain::Visibility;
use protocol::{Call, ProblemKind};
use serde_json::{Value, json};
use testkit::TestHub;

use crate::links::project;
use crate::support::Credential;

#[tokio::test]
async fn tasks_with_uncheckable_criteria_are_refused() {
    let hub = TestHub::start().await;
    let owner = hub.owner();
    let project = project(&hub, &Credential::of(&owner), Visibility::Private, false).await;
    let add = async |criterion: Value| {
        let fine = json!({ "description": "fine" });
        let task = json!({ "description": "x", "acceptance": [{ "kind": "committed" }, criterion] });
        let input = serde_json::from_value(json!({ "tasks": [fine, task] })).unwrap();
        owner.ask::<protocol::AddedTasks>(Call::TaskAdd { project, input }).await
    };
    let schema = |schema: Value| json!({ "kind": "file_matches", "path": "a.json", "json_schema": schema });
    for (criterion, said) in [
        (schema(json!({ "type": "objekt" })), "`tasks[1].acceptance[1].json_schema`: unusable JSON Schema"),
        (schema(json!({ "$ref": "https://example.org/x.json" })), "`tasks[1].acceptance[1].json_schema`"),
        (json!({ "kind": "file_matches", "path": "a", "regex": "(" }), "`tasks[1].acceptance[1].regex`"),
        (json!({ "kind": "only_touches", "globs": ["["] }), "`tasks[1].acceptance[1].globs`"),
    ] {
        let client::ClientError::Problem(problem) = add(criterion).await.unwrap_err() else { panic!("{said}") };
        assert!(problem.kind == ProblemKind::Invalid && problem.detail.contains(said), "{problem:?}");
    }
    assert_eq!(add(schema(json!({ "type": "object" }))).await.unwrap().tasks.len(), 2);
    hub.stop().await;
}

#[tokio::test]
async fn a_plan_is_read_with_its_errors_and_nothing_is_added() {
    let hub = TestHub::start().await;
    let owner = hub.owner();
    let project = project(&hub, &Credential::of(&owner), Visibility::Private, false).await;
    let check = async |text: &str| {
        owner.ask::<protocol::Plan>(Call::TaskCheck { project, input: protocol::PlanText { text: text.into() } }).await
    };
    let plan = check("- [x] a {#a}\n- [ ] b\n  - after: a\n  - priority: high\n  - only_touches: [\n").await.unwrap();
    let errors: Vec<_> = plan.errors.iter().map(|error| (error.line, error.path.as_str())).collect();
    assert_eq!(errors, [(Some(4), "tasks[0].priority"), (Some(5), "tasks[0].acceptance[0].globs")]);
    assert_eq!((plan.tasks.len(), plan.ticked), (1, 1));
    let plan = check(r#"[{"id": "a", "description": "x"}, {"description": "y", "deps": ["a"]}]"#).await.unwrap();
    assert_eq!((plan.errors, plan.tasks[1].deps.as_slice()), (vec![], &["a".to_owned()][..]));
    assert_eq!(check(&"- [ ]\n".repeat(100)).await.unwrap().errors.len(), 50, "nobody reads more");
    let client::ClientError::Problem(problem) = check(&"x".repeat(256 * 1024 + 1)).await.unwrap_err() else {
        panic!("a plan has an end");
    };
    assert!(problem.kind == ProblemKind::Invalid && problem.detail.contains("262144"), "{problem:?}");
    let filter = protocol::TaskFilter::default();
    assert_eq!(owner.ask::<Vec<protocol::TaskLine>>(Call::TaskList { filter }).await.unwrap(), []);
    hub.stop().await;
}
