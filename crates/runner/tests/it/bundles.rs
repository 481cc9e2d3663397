//! Work moves from one runner to another in pieces, and is accepted only when complete.

use base64::Engine as _;
use domain::WorkspaceId;
use protocol::link::{DesiredWorkspace, RunnerAnswer, RunnerAsk, StartFrom};

use crate::hub::FakeHub;
use crate::support::{TestRunner, fixture, repository, shell};

#[tokio::test]
async fn another_runner_continues_the_branch_and_uncommitted_work() {
    let origin = fixture(&[("README.md", "one\n")]);
    let (old, new) = (FakeHub::start().await, FakeHub::start().await);
    let (_first, _second) = (TestRunner::start(&old), TestRunner::start(&new));
    old.connected(1).await;
    new.connected(1).await;
    let mut session = shell(
        "echo committed > README.md; git -c user.name=a -c user.email=a@b.c commit -qam work; \
         head -c 1500000 /dev/urandom > large; echo open > open",
    );
    session.workspace.repository = Some(repository(origin.path()));
    old.desire(vec![session.clone()]);
    assert_eq!(old.over(session.session).await.code, Some(0));
    let workspace = session.workspace.workspace;
    let Ok(RunnerAnswer::Bundle(bundle)) = old.ask(RunnerAsk::Bundle { workspace }).await else { panic!("no bundle") };
    assert!(bundle.bytes > 1_500_000 && bundle.head.is_some() && bundle.base.is_some());
    let take = |offset, data: String| RunnerAsk::BundleTake {
        bundle: bundle.bundle.clone(),
        bytes: bundle.bytes,
        offset,
        data,
    };
    let (mut offset, mut parts) = (0, 0);
    while offset < bundle.bytes {
        let ask = RunnerAsk::BundlePart { bundle: bundle.bundle.clone(), offset };
        let Ok(RunnerAnswer::BundlePart(part)) = old.ask(ask).await else { panic!("no part") };
        // A piece that comes too early is refused; a repeated one is not.
        if parts == 1 {
            let gap = base64::engine::general_purpose::STANDARD.encode("x");
            assert!(new.ask(take(offset + 1, gap)).await.unwrap_err().detail.contains("bytes so far"));
            assert_eq!(new.ask(take(offset, part.data.clone())).await.unwrap(), RunnerAnswer::Done);
        }
        assert_eq!(new.ask(take(offset, part.data)).await.unwrap(), RunnerAnswer::Done);
        (offset, parts) = (part.next, parts + 1);
    }
    assert!(parts > 2, "{parts}");
    let mut goes_on =
        shell("cat README.md open; git status --porcelain; git --no-pager log --format=%s; wc -c < large");
    goes_on.workspace = DesiredWorkspace {
        workspace: WorkspaceId::generate(),
        from: Some(StartFrom::Bundle { bundle: bundle.bundle.clone(), contained: None }),
        ..session.workspace.clone()
    };
    new.desire(vec![goes_on.clone()]);
    assert_eq!(new.over(goes_on.session).await.code, Some(0));
    new.log_has(goes_on.session, "committed\nopen\n?? large\n?? open\nwork\nfirst\n1500000").await;
}

#[tokio::test]
async fn an_incomplete_bundle_fails_the_workspace_with_a_reason() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let bundle = "ab".repeat(32);
    let data = base64::engine::general_purpose::STANDARD.encode("not what the name says");
    let take = RunnerAsk::BundleTake { bundle: bundle.clone(), bytes: 22, offset: 0, data: data.clone() };
    assert!(hub.ask(take).await.unwrap_err().detail.contains("was damaged in transfer"));
    for (name, bytes) in [("../../x".to_owned(), 22), (bundle.clone(), u64::MAX), (bundle.clone(), 3)] {
        let ask = RunnerAsk::BundleTake { bundle: name, bytes, offset: 0, data: data.clone() };
        assert!(hub.ask(ask).await.is_err());
    }
    let mut session = shell("true");
    session.workspace.from = Some(StartFrom::Bundle { bundle, contained: None });
    hub.desire(vec![session.clone()]);
    let end = hub.over(session.session).await;
    assert!(end.detail.as_deref().is_some_and(|why| why.contains("did not arrive")), "{end:?}");
}
