//! Reports whose work is compared with that of other tasks.

use domain::{EscalationKind, ReportVerdict, TaskStatus};
use protocol::link::{ChangedFile, Changes, CheckTrouble, FactBody, FileFacts, LineFacts, WorkFacts};
use protocol::{Criterion, TaskAdd};

use super::{FORK, Shop, checked, edit, plain, work};
use crate::fixture::Fixture;

both!(
    conflicting_outputs_are_escalated,
    reports_that_wait_for_a_person_are_compared_too,
    reports_without_criteria_to_check_are_compared_too,
    a_report_that_cannot_be_compared_is_judged_without_it,
    only_what_git_cannot_merge_is_escalated,
    outputs_from_different_commits_are_compared_at_the_older_one,
    an_output_does_not_conflict_with_what_had_landed_before_it,
    an_output_does_not_conflict_with_one_that_it_builds_on,
);

/// Changed lines of a file, first and last.
pub(super) fn changes(tree: &str, lines: (u32, u32)) -> Changes {
    let hunk = (lines.0 - 1, lines.1, tree.to_owned());
    worked(tree, vec![work(FORK, vec![edit("src/a.rs", tree, vec![hunk])])])
}

fn worked(tree: &str, work: Vec<WorkFacts>) -> Changes {
    let base = work[0].against.clone();
    let file = |file: &FileFacts| {
        let content = file.after.as_ref().map(|after| after.content.clone());
        ChangedFile { path: file.path.clone(), content }
    };
    let files = work[0].files.iter().map(file).collect();
    let (head, patch) = (format!("h-{tree}"), format!("+{tree}"));
    Changes { base, head, tree: tree.into(), files, work, patch, ..Changes::default() }
}

async fn conflicting_outputs_are_escalated(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(2).await;
    let tasks = shop.add(vec![checked("Rename the function"), checked("Rewrite its body")]).await;
    shop.dispatch().await;
    for (index, task) in tasks.iter().enumerate() {
        shop.finishes(*task, "Done.").await;
        let change = changes(&format!("t{index}"), (10, 12));
        shop.found(*task, true, "fine", Some(change)).await;
    }
    assert_eq!(shop.task(tasks[0]).await.status, TaskStatus::Done);
    let second = shop.detail(tasks[1]).await;
    assert_eq!(second.task.status, TaskStatus::Escalated);
    let asked = &second.escalations[0];
    assert_eq!(asked.kind, EscalationKind::SameLines);
    assert_eq!(asked.context.other_task, Some(tasks[0]));
    let patches = (asked.context.diff.as_deref(), asked.context.other_diff.as_deref());
    assert_eq!(patches, (Some("+t1"), Some("+t0")));
    assert!(asked.context.places[0].starts_with("src/a.rs:10-12"), "{:?}", asked.context.places);
}

async fn reports_that_wait_for_a_person_are_compared_too(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(2).await;
    let mut judged = checked("Rename the function");
    judged.acceptance.push(Criterion::Text { text: "The name is a good one".into() });
    let tasks = shop.add(vec![judged, checked("Rewrite its body")]).await;
    shop.dispatch().await;
    for (index, task) in tasks.iter().enumerate() {
        shop.finishes(*task, "Done.").await;
        shop.found(*task, true, "fine", Some(changes(&format!("t{index}"), (10, 12)))).await;
    }
    assert_eq!(shop.detail(tasks[0]).await.escalations[0].kind, EscalationKind::Judgement);
    let second = shop.detail(tasks[1]).await;
    assert_eq!(second.escalations[0].kind, EscalationKind::SameLines);
    assert_eq!(second.escalations[0].context.other_task, Some(tasks[0]));
}

async fn reports_without_criteria_to_check_are_compared_too(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(3).await;
    let judged = TaskAdd { acceptance: vec![Criterion::Text { text: "It reads well".into() }], ..plain("Reword it") };
    let tasks = shop.add(vec![plain("Rename the function"), plain("Rewrite its body"), judged]).await;
    shop.dispatch().await;
    for (index, task) in tasks.iter().enumerate() {
        shop.ends(*task, "Done.").await;
        assert_eq!(shop.task(*task).await.status, TaskStatus::Reported);
        shop.looked_at(*task, Some(changes(&format!("t{index}"), (10, 12)))).await;
    }
    assert_eq!(shop.task(tasks[0]).await.status, TaskStatus::Done);
    for task in &tasks[1..] {
        let detail = shop.detail(*task).await;
        assert_eq!(detail.task.status, TaskStatus::Escalated);
        assert_eq!(detail.escalations[0].kind, EscalationKind::SameLines);
    }
}

async fn a_report_that_cannot_be_compared_is_judged_without_it(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(2).await;
    let judged = TaskAdd { acceptance: vec![Criterion::Text { text: "It reads well".into() }], ..plain("Reword it") };
    let tasks = shop.add(vec![plain("Rename the function"), judged]).await;
    shop.dispatch().await;
    for task in &tasks {
        shop.ends(*task, "Done.").await;
        let report = shop.pending(*task).await;
        let fact = FactBody::CheckFailed { report, detail: "its disk is full".into(), cause: CheckTrouble::Other };
        shop.memory.happened(&shop.fixture, fact).await;
    }
    let first = shop.detail(tasks[0]).await;
    assert_eq!((first.task.status, first.reports[0].verdict), (TaskStatus::Done, ReportVerdict::Accepted));
    assert_eq!(shop.detail(tasks[1]).await.escalations[0].kind, EscalationKind::Judgement);
    let log = shop.log().await;
    let said: Vec<_> = log.iter().filter(|entry| entry.what.word() == "not_compared").collect();
    assert_eq!(said.len(), 2);
    assert!(said[0].reason.ends_with("its runner could not look at the work"), "{}", said[0].reason);
}

async fn only_what_git_cannot_merge_is_escalated(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(2).await;
    let hunk = |first, end, new: &str| (first, end, new.to_owned());
    let moved = |path: &str| FileFacts {
        path: "src/b.rs".into(),
        from: Some(path.into()),
        lines: LineFacts::Same {},
        ..edit(path, "as it was", vec![])
    };
    let cases = [
        ("a line between", vec![hunk(9, 12, "x")], edit("src/a.rs", "2", vec![hunk(13, 14, "y")]), false),
        ("moved", vec![hunk(9, 12, "x")], moved("src/a.rs"), false),
        ("alike", vec![hunk(9, 12, "x")], edit("src/a.rs", "2", vec![hunk(9, 12, "x"), hunk(40, 41, "y")]), false),
        ("adjacent", vec![hunk(9, 12, "x")], edit("src/a.rs", "2", vec![hunk(12, 13, "y")]), true),
    ];
    for (name, mine, theirs, conflict) in cases {
        let tasks = shop.add(vec![plain(&format!("One {name}")), plain(&format!("Other {name}"))]).await;
        shop.dispatch().await;
        for (task, file) in tasks.iter().zip([edit("src/a.rs", "1", mine), theirs]) {
            shop.ends(*task, "Done.").await;
            let work = vec![work(&other_commit(name), vec![file])];
            shop.looked_at(*task, Some(worked(&task.to_string(), work))).await;
        }
        assert_eq!(shop.task(tasks[0]).await.status, TaskStatus::Done, "{name}");
        let expected = if conflict { TaskStatus::Escalated } else { TaskStatus::Done };
        assert_eq!(shop.task(tasks[1]).await.status, expected, "{name}");
        if conflict {
            let asked = shop.detail(tasks[1]).await.escalations.remove(0);
            assert_eq!(asked.context.places, ["src/a.rs:10-13: both branches change these lines"]);
        }
    }
}

async fn outputs_from_different_commits_are_compared_at_the_older_one(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(3).await;
    let tasks = shop.add(vec![plain("Rename the function"), plain("Rewrite its body"), plain("Move it")]).await;
    shop.dispatch().await;
    let file = |new: &str, first| edit("src/a.rs", new, vec![(first, first + 3, new.to_owned())]);
    let (apart, newer) = ("2".repeat(40), "3".repeat(40));
    let outputs = [
        vec![work(FORK, vec![file("x", 9)])],
        vec![work(&apart, vec![file("y", 9)])],
        vec![work(&newer, vec![file("z", 109)]), work(FORK, vec![file("z", 9)])],
    ];
    for (index, (task, output)) in tasks.iter().zip(outputs).enumerate() {
        shop.ends(*task, "Done.").await;
        let (_, checks) = shop.desired().await;
        let wanted = checks.into_iter().find(|check| check.task == *task).unwrap();
        let known = [vec![], vec![FORK.to_owned()], vec![apart.clone(), FORK.to_owned()]];
        assert_eq!(wanted.forks, known[index], "the newest first");
        shop.fixture.pass(1_000);
        shop.looked_at(*task, Some(worked(&format!("t{index}"), output))).await;
    }
    assert_eq!(
        shop.task(tasks[1]).await.status,
        TaskStatus::Done,
        "the line numbers of another version do not conflict"
    );
    let asked = shop.detail(tasks[2]).await.escalations.remove(0);
    assert_eq!((asked.kind, asked.context.other_task), (EscalationKind::SameLines, Some(tasks[0])));
    assert!(asked.context.places[0].starts_with("src/a.rs:10-12"), "{:?}", asked.context.places);
}

async fn an_output_does_not_conflict_with_what_had_landed_before_it(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(3).await;
    let tasks = shop.add(vec![plain("Rename two functions"), plain("Rewrite one"), plain("Rename one again")]).await;
    shop.dispatch().await;
    let file = |new: &str, first: &[u32]| {
        edit("src/a.rs", new, first.iter().map(|first| (*first, first + 3, new.to_owned())).collect())
    };
    let landed = "4".repeat(40);
    let outputs = [
        vec![work(FORK, vec![file("x", &[9, 59])])],
        vec![work(FORK, vec![file("y", &[9])])],
        vec![work(&landed, vec![file("z", &[59])]), work(FORK, vec![file("z", &[59])])],
    ];
    for (index, (task, output)) in tasks.iter().zip(outputs).enumerate() {
        shop.ends(*task, "Done.").await;
        shop.looked_at(*task, Some(worked(&format!("t{index}"), output))).await;
        if index == 0 {
            let (project, report) = (shop.project.id, shop.detail(*task).await.reports[0].id);
            let (runner, owner) = (shop.runner, crate::fixture::id(&shop.fixture.ada));
            let landing = domain::LandingId::generate();
            let row = format!(
                "'{landing}', '{project}', '{report}', '{runner}', '{owner}', 'x', 'x', 'x', 0, 'landed', '{landed}', \
                 1, 9000000000000"
            );
            let columns = "id, project, report, runner, owner, title, location, branch, push_only, state, landed, \
                           created_at, updated_at";
            shop.fixture.raw().await.run(&format!("INSERT INTO landings ({columns}) VALUES ({row})")).await;
        }
    }
    let asked = shop.detail(tasks[1]).await.escalations.remove(0);
    assert_eq!((asked.kind, asked.context.other_task), (EscalationKind::SameLines, Some(tasks[0])), "it landed later");
    assert_eq!(shop.task(tasks[2]).await.status, TaskStatus::Done, "its work contains the landed one");
}

async fn an_output_does_not_conflict_with_one_that_it_builds_on(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(2).await;
    let tasks = shop.add(vec![plain("Rename the function"), plain("Rename it again")]).await;
    shop.dispatch().await;
    shop.ends(tasks[0], "Done.").await;
    shop.looked_at(tasks[0], Some(changes("t0", (10, 12)))).await;
    shop.ends(tasks[1], "Done.").await;
    let commits = vec!["h-t0".into(), "h-t1".into()];
    shop.looked_at(tasks[1], Some(Changes { commits, ..changes("t1", (10, 12)) })).await;
    assert_eq!(shop.task(tasks[1]).await.status, TaskStatus::Done);
}

/// The hash of a commit: works against different ones are not compared.
fn other_commit(name: &str) -> String {
    name.bytes()
        .map(|byte| format!("{byte:02x}"))
        .collect::<String>()
        .chars()
        .chain("0".repeat(40).chars())
        .take(40)
        .collect()
}
