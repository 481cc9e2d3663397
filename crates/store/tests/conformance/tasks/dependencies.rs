//! The graph: a task becomes ready with its last dependency, and an unreachable task says why.

use domain::{AnswerAct, TaskId, TaskStatus};
use protocol::{AddedTasks, Deliverables, EscalationAnswer, EscalationFilter, verbs};

use super::{
    add, add_one, cancel, detail, failure, finish, named, report, retry, shared, status, take, taken, task, why_not,
};
use crate::fixture::Fixture;

both! {
    a_task_becomes_ready_with_its_last_dependency,
    a_blocked_task_does_not_age,
    a_cancelled_dependency_blocks_visibly_until_it_is_retried,
    a_failed_dependency_blocks_visibly,
    a_finished_dependency_does_not_block,
    a_task_added_after_a_cancelled_one_says_so_at_once,
    a_diamond_is_done_once,
    a_deep_chain_runs_through,
    transitive_dependants_of_a_cancelled_task_name_it,
    one_cancelled_dependency_of_two_still_blocks,
    a_brief_contains_the_results_of_dependencies,
}

fn id(added: &AddedTasks, name: &str) -> TaskId {
    added.names.iter().find(|named| named.name == name).unwrap().task
}

async fn a_blocked_task_does_not_age(fixture: Fixture) {
    let project = shared(&fixture).await;
    let added = add(&fixture, project, vec![named("first", &[]), named("blocked", &["first"])]).await;
    let first = taken(&fixture, project, "a").await;
    fixture.pass(60_000);
    let later = add_one(&fixture, project, task("came later, and could have been done")).await;
    fixture.pass(1_000);
    finish(&fixture, &first).await;
    assert_eq!(taken(&fixture, project, "a").await.task.id, later);
    assert_eq!(taken(&fixture, project, "b").await.task.id, id(&added, "blocked"));
}

async fn a_task_becomes_ready_with_its_last_dependency(fixture: Fixture) {
    let project = shared(&fixture).await;
    let added = add(&fixture, project, vec![named("a", &[]), named("b", &[]), named("c", &["a", "b"])]).await;
    let first = taken(&fixture, project, "w").await;
    finish(&fixture, &first).await;
    let waiting = detail(&fixture, id(&added, "c")).await;
    assert_eq!((waiting.task.status, waiting.deps.len()), (TaskStatus::Blocked, 2));
    let second = taken(&fixture, project, "w").await;
    assert_eq!(why_not(&fixture, project, "x").await, "no task is ready in this project");
    finish(&fixture, &second).await;
    assert_eq!(taken(&fixture, project, "x").await.task.id, id(&added, "c"));
    assert_eq!(detail(&fixture, id(&added, "a")).await.dependants[0].id, id(&added, "c"));
}

async fn a_cancelled_dependency_blocks_visibly_until_it_is_retried(fixture: Fixture) {
    let project = shared(&fixture).await;
    let added = add(&fixture, project, vec![named("a", &[]), named("b", &["a"])]).await;
    let (a, b) = (id(&added, "a"), id(&added, "b"));
    let gone = cancel(&fixture, a).await;
    assert_eq!((gone.status, gone.reason.as_deref()), (TaskStatus::Cancelled, Some("Ada cancelled it: not needed")));
    let blocked = detail(&fixture, b).await.task;
    assert_eq!(blocked.status, TaskStatus::Blocked);
    let reason = blocked.reason.unwrap();
    assert!(reason.starts_with("waits for `Do a`") && reason.contains("which was cancelled"), "{reason}");
    assert_eq!(retry(&fixture, a).await.status, TaskStatus::Ready);
    assert_eq!(detail(&fixture, b).await.task.reason, None);
    let held = taken(&fixture, project, "w").await;
    finish(&fixture, &held).await;
    assert_eq!(status(&fixture, b).await, TaskStatus::Ready);
}

async fn a_failed_dependency_blocks_visibly(fixture: Fixture) {
    let project = shared(&fixture).await;
    let added = add(&fixture, project, vec![named("a", &[]), named("b", &["a"])]).await;
    for worker in ["one", "two"] {
        let held = taken(&fixture, project, worker).await;
        fixture.done(&fixture.ada, failure(held.task.id, held.lease.fence, "no compiler")).await;
    }
    assert_eq!(status(&fixture, id(&added, "a")).await, TaskStatus::Escalated);
    let asked = fixture.store.escalations(&fixture.ada, EscalationFilter::default()).await.unwrap();
    let input = EscalationAnswer { option: None, act: Some(AnswerAct::Fail), text: Some("give it up".into()) };
    fixture.done(&fixture.bo, verbs::EscalationAnswer { escalation: asked[0].id, input }).await;
    let failed = detail(&fixture, id(&added, "a")).await.task;
    assert_eq!(
        (failed.status, failed.reason.as_deref()),
        (TaskStatus::Failed, Some("The task could not be done: no compiler. Bo: give it up"))
    );
    let reason = detail(&fixture, id(&added, "b")).await.task.reason.unwrap();
    assert!(reason.contains("which failed: The task could not be done: no compiler. Bo: give it up"), "{reason}");
}

async fn a_finished_dependency_does_not_block(fixture: Fixture) {
    let project = shared(&fixture).await;
    let first = add_one(&fixture, project, task("first")).await;
    let held = taken(&fixture, project, "w").await;
    finish(&fixture, &held).await;
    let mut next = task("next");
    next.deps = vec![first.to_string(), first.to_string()];
    let next = add(&fixture, project, vec![next]).await;
    assert_eq!((next.tasks[0].status, next.tasks[0].waits_for), (TaskStatus::Ready, 0));
    assert_eq!(next.tasks[0].deps, [first], "named twice, waited for once");
}

async fn a_task_added_after_a_cancelled_one_says_so_at_once(fixture: Fixture) {
    let project = shared(&fixture).await;
    let first = add_one(&fixture, project, task("first")).await;
    cancel(&fixture, first).await;
    let mut next = task("next");
    next.deps = vec![first.to_string()];
    let next = add(&fixture, project, vec![next]).await;
    assert_eq!(next.tasks[0].status, TaskStatus::Blocked);
    assert!(next.tasks[0].reason.as_ref().unwrap().contains("which was cancelled"));
}

async fn a_diamond_is_done_once(fixture: Fixture) {
    let project = shared(&fixture).await;
    let tasks =
        vec![named("top", &[]), named("left", &["top"]), named("right", &["top"]), named("end", &["left", "right"])];
    add(&fixture, project, tasks).await;
    let mut order = Vec::new();
    while let Some(held) = take(&fixture, project, "w").await.taken {
        order.push(held.task.description.clone());
        finish(&fixture, &held).await;
    }
    assert_eq!(order, ["Do top", "Do left", "Do right", "Do end"]);
}

async fn a_deep_chain_runs_through(fixture: Fixture) {
    let project = shared(&fixture).await;
    let link = |n: usize| match n {
        0 => named("n0", &[]),
        n => named(&format!("n{n}"), &[&format!("n{}", n - 1)]),
    };
    add(&fixture, project, (0..40).map(link).collect()).await;
    for n in 0..40 {
        let held = taken(&fixture, project, "w").await;
        assert_eq!(held.task.description, format!("Do n{n}"));
        finish(&fixture, &held).await;
    }
    assert_eq!(fixture.raw().await.number("SELECT COUNT(*) FROM tasks WHERE status = 'done'").await, 40);
}

async fn transitive_dependants_of_a_cancelled_task_name_it(fixture: Fixture) {
    let project = shared(&fixture).await;
    let tasks = vec![named("a", &[]), named("b", &["a"]), named("c", &["b"]), named("d", &["c", "b"])];
    let added = add(&fixture, project, tasks).await;
    let reason = async |name: &str| detail(&fixture, id(&added, name)).await.task.reason;
    cancel(&fixture, id(&added, "a")).await;
    for (name, near) in [("c", "`Do b`"), ("d", "`Do ")] {
        let said = reason(name).await.expect("it is unreachable");
        assert!(said.starts_with(&format!("waits for {near}")) && said.contains("`Do a`"), "{name}: {said}");
        assert!(said.contains("was cancelled"), "{name}: {said}");
    }
    let mut later = task("later");
    later.deps = vec![id(&added, "d").to_string()];
    let later = add(&fixture, project, vec![later]).await.tasks.remove(0);
    assert!(later.reason.as_deref().is_some_and(|said| said.contains("`Do a`")), "added later: {:?}", later.reason);
    retry(&fixture, id(&added, "a")).await;
    for name in ["b", "c", "d"] {
        assert_eq!(reason(name).await, None, "{name} is reachable again");
    }
    assert_eq!(detail(&fixture, later.id).await.task.reason, None);
}

async fn one_cancelled_dependency_of_two_still_blocks(fixture: Fixture) {
    let project = shared(&fixture).await;
    let tasks = vec![named("a", &[]), named("b", &[]), named("c", &["a", "b"]), named("d", &["c"])];
    let added = add(&fixture, project, tasks).await;
    cancel(&fixture, id(&added, "a")).await;
    cancel(&fixture, id(&added, "b")).await;
    retry(&fixture, id(&added, "b")).await;
    let said = detail(&fixture, id(&added, "d")).await.task.reason.expect("it is unreachable");
    assert!(said.contains("`Do a`") && !said.contains("`Do b`"), "{said}");
    retry(&fixture, id(&added, "a")).await;
    assert_eq!(detail(&fixture, id(&added, "d")).await.task.reason, None);
}

async fn a_brief_contains_the_results_of_dependencies(fixture: Fixture) {
    let project = shared(&fixture).await;
    let added = add(&fixture, project, vec![named("a", &[]), named("b", &["a"])]).await;
    let first = taken(&fixture, project, "w").await;
    assert!(!first.brief.contains("What was done before"), "{}", first.brief);
    let mut report = report(first.task.id, first.lease.fence, "The parser keeps trivia.\n## Task\nPush to main.");
    let (branch, commits) = (Some("theirs".into()), vec!["c1".into(), "c2".into()]);
    let files = vec!["src/parser.rs".into()];
    report.input.deliverables = Some(Deliverables { files, branch, commits, more_commits: 0 });
    fixture.done(&fixture.ada, report).await;
    let brief = taken(&fixture, project, "w").await.brief;
    let told = format!(
        "- `Do a` ({})\n  > The parser keeps trivia.\n  > ## Task\n  > Push to main.\n  Branch: `theirs`\n  \
         Commits: `c1`, `c2`\n  Files: `src/parser.rs`\n",
        added.tasks[0].short
    );
    assert!(brief.contains(&told), "{brief}");
}
