//! Criteria that could never be checked are refused when a task is added, with their place.

use domain::Visibility;
use protocol::{Call, ProblemKind};
use serde_json::{Value, json};
use testkit::TestHub;

use crate::links::project;
use crate::support::Credential;

#[tokio::test]
async fn what_cannot_be_checked_is_not_added() {
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
        (schema(json!({ "type": "objekt" })), "`tasks[1].acceptance[1].json_schema`: it is not a JSON Schema"),
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
