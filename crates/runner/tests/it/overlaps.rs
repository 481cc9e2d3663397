//! The description of the work in a workspace, uncommitted changes included.

use protocol::link::{FactBody, LineFacts, ProjectForks, RunnerAsk, WorkFacts};

use crate::hub::FakeHub;
use crate::support::{TestRunner, fixture, git, repository, shell, stopped};

/// The newest description that `wanted` accepts.
async fn described(hub: &FakeHub, what: &str, wanted: impl Fn(&[WorkFacts]) -> bool) -> Vec<WorkFacts> {
    hub.fact(what, |fact| match fact {
        FactBody::WorkspaceWork { work, .. } if wanted(work) => Some(work.clone()),
        _ => None,
    })
    .await
}

#[tokio::test]
async fn uncommitted_work_is_described_without_its_content() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let origin = fixture(&[("file.txt", "one\ntwo\nthree\n"), ("sum.py", "class Sum:\n    def add(self): base()\n")]);
    let old = git(origin.path(), &["rev-parse", "HEAD"]).trim().to_owned();
    std::fs::write(origin.path().join("file.txt"), "zero\none\ntwo\nthree\n").unwrap();
    git(origin.path(), &["commit", "-qam", "more"]);
    let new = git(origin.path(), &["rev-parse", "HEAD"]).trim().to_owned();
    let mut session = shell(
        "echo ready; read line; sed -i s/two/secretword/ file.txt; sed -i s/base/secretword/ sum.py; echo written; \
         read line; git checkout -q .; echo reverted; read line",
    );
    session.workspace.repository = Some(repository(origin.path()));
    hub.desire(vec![session.clone()]);
    hub.log_has(session.session, "ready").await;
    let say = RunnerAsk::Send { session: session.session, text: String::new(), submit: true };
    let none = described(&hub, "that nothing is changed", |work| work.iter().all(|one| one.files.is_empty())).await;
    assert_eq!((none.len(), none[0].against.as_str()), (1, new.as_str()));

    testkit::wait_until("the session can be talked to", || async { hub.ask(say.clone()).await.ok() }).await;
    let work = described(&hub, "the changed lines", |work| {
        // `sed` has a file of its own for a moment.
        work[0].files.iter().map(|file| file.path.as_str()).eq(["file.txt", "sum.py"])
    })
    .await;
    let file = &work[0].files[0];
    assert_eq!((file.path.as_str(), file.before.as_deref()), ("file.txt", Some("100644")));
    let LineFacts::Changed { hunks } = &file.lines else { panic!("{file:?}") };
    assert_eq!((hunks.len(), hunks[0].0, hunks[0].1), (1, 2, 3));
    let symbols = &work[0].files[1].symbols;
    assert_eq!(symbols.iter().map(|symbol| symbol.name.as_str()).collect::<Vec<_>>(), ["Sum.add"], "{work:?}");
    assert!(symbols[0].before.is_some() && symbols[0].after.is_some() && symbols[0].before != symbols[0].after);
    assert!(!serde_json::to_string(&work).unwrap().contains("secretword"), "{work:?}");

    // The hub names an older commit, one that is no part of the history, and its own one.
    let unknown = "1".repeat(40);
    let forks = vec![unknown, new.clone(), old.clone()];
    hub.name_forks(vec![ProjectForks { project: session.project, forks }]);
    let work = described(&hub, "the work against the older commit", |work| work.len() == 2).await;
    assert_eq!([&work[0].against, &work[1].against], [&new, &old]);
    let LineFacts::Changed { hunks } = &work[1].files[0].lines else { panic!("{work:?}") };
    let places: Vec<(u32, u32)> = hunks.iter().map(|(first, end, _)| (*first, *end)).collect();
    assert_eq!(places, [(0, 0), (1, 2)], "what main brought, and the change");

    testkit::wait_until("the session can be talked to", || async { hub.ask(say.clone()).await.ok() }).await;
    hub.log_has(session.session, "reverted").await;
    described(&hub, "that it was reverted", |work| work.len() == 2 && work[0].files.is_empty()).await;
    hub.desire(vec![stopped(&session)]);
    hub.over(session.session).await;
}
