//! A task that builds on another: what the first left, and where, is known and told.

use domain::{TaskId, TaskStatus};
use protocol::{AddedTasks, Call, Report, TaskDetail, TaskReport, TasksAdd, Worker, WorkerStart};
use serde_json::json;
use testkit::wait_until;

use crate::fixture::Fixture;

/// Commits on a branch of its own choosing. The first one says what it did and ends; the other keeps its brief outside and
/// stays until it may end, so that it can be reported for.
const AGENT: &str = r#"
commit() { git add "$1"; git -c user.name=a -c user.email=a@b commit -qm "$1"; }
if [ ! -e "$1" ]; then
    echo 1 > "$1"; git switch -qc elsewhere; echo one > one.txt; commit one.txt
    echo "Wrote one."
else
    git switch -qc further; echo two > two.txt; commit two.txt
    cp "$SHOPFLOOR_PROMPT_FILE" "$2.part"; mv "$2.part" "$2"
    while [ -e "$1" ] && [ ! -e "$3" ]; do sleep 0.05; done
fi
"#;

async fn is(fixture: &Fixture, task: TaskId, status: TaskStatus) -> TaskDetail {
    wait_until(&format!("it is {status}"), async || {
        let detail: TaskDetail = fixture.ann.ask(Call::TaskShow { task }).await.ok()?;
        (detail.task.status == status).then_some(detail)
    })
    .await
}

#[tokio::test]
async fn a_dependants_prompt_names_the_branch_and_result_it_builds_on() {
    let fixture = Fixture::open(&[], async |port| port).await;
    let project = fixture.project(&fixture.repository()).await;
    let tasks = json!([{ "id": "one", "description": "Write one" }, { "description": "Write two", "deps": ["one"] }]);
    let input = TasksAdd { tasks: serde_json::from_value(tasks).unwrap() };
    let added: AddedTasks = fixture.ann.ask(Call::TaskAdd { project: project.id, input }).await.unwrap();
    let (one, two) = (added.tasks[0].id, added.tasks[1].id);
    let outside = |name: &str| fixture.folder.path().join(name);
    let [begun, brief, go] = ["begun", "brief", "go"].map(|name| outside(name).display().to_string());
    let argv = ["sh", "-c", AGENT, "agent", &begun, &brief, &go].map(str::to_owned).to_vec();
    let input = WorkerStart { agent: "command".into(), argv, ..Default::default() };
    let _: Vec<Worker> = fixture.ann.ask(Call::WorkerStart { project: project.id, input }).await.unwrap();

    let first = is(&fixture, one, TaskStatus::Done).await;
    let made = &first.reports[0].deliverables;
    assert!(first.reports[0].collected);
    assert_eq!((made.branch.as_deref(), made.files.as_slice()), (Some("elsewhere"), ["one.txt".to_owned()].as_slice()));
    assert_eq!(first.attempts[0].branch.as_deref(), Some("elsewhere"));

    let told = wait_until("the other has its brief", async || std::fs::read_to_string(outside("brief")).ok()).await;
    for part in ["> Wrote one.", "Branch: `elsewhere`", &format!("Commits: `{}`", made.commits[0]), "Files: `one.txt`"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }

    // Reported without a word about files, branch or commits.
    let fence = is(&fixture, two, TaskStatus::Running).await.task.lease.unwrap().fence;
    let (deliverables, context_score, usage, failed) = (None, None, None, None);
    let input = TaskReport { fence, summary: "Wrote two.".into(), deliverables, context_score, usage, failed };
    let _: Report = fixture.ann.ask(Call::TaskReport { task: two, input }).await.unwrap();
    let second = is(&fixture, two, TaskStatus::Done).await;
    let made = &second.reports[0].deliverables;
    assert!(!second.reports[0].collected);
    assert_eq!((made.branch.as_deref(), made.files.as_slice()), (Some("further"), ["two.txt".to_owned()].as_slice()));
    assert_eq!(made.commits.len(), 1);
    std::fs::write(go, "").unwrap();
    let session = second.attempts[0].sessions[0];
    fixture.until(session, "its session is over", |session| session.state.ended()).await;
    fixture.close().await;
}
