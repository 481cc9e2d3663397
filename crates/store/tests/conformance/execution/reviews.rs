//! Reviews of workspaces that no task works in.

use domain::{Actor, AuthorKind, SessionStatus, ThreadStatus, Visibility};
use protocol::{
    Project, ReviewComment, ReviewOf, ReviewReply, ReviewResolve, ReviewSendBack, ReviewThread, Session, verbs,
};
use store::{Caller, StoreError};

use super::{Memory, in_project, project, runner, spawn};
use crate::fixture::{Fixture, id};
use crate::tasks::{conflict, invalid};

both!(
    comments_on_a_workspace_go_to_its_session_and_stay,
    comments_stay_open_while_no_session_takes_them,
    a_review_of_a_workspace_is_execution,
);

/// A session of Ada's that works, with what its runner reported.
async fn working(fixture: &Fixture, visibility: Visibility, share: bool) -> (Project, Session, Memory) {
    let made = project(fixture, visibility, share).await;
    let runner = runner(fixture, &fixture.ada, &format!("box {visibility} {share}"), 4).await;
    let session = fixture.done(&fixture.ada, spawn(in_project(&made, "tidy up"), &[runner])).await;
    let mut memory = Memory::new(runner);
    memory.at(fixture, session.id, SessionStatus::Working).await;
    (made, session, memory)
}

fn commenting(session: &Session, text: &str) -> verbs::WorkspaceComment {
    let (path, quote) = ("out.txt".into(), Some("secret line".into()));
    let input = ReviewComment { path, line: 2, end_line: Some(3), quote, text: text.into(), ..Default::default() };
    verbs::WorkspaceComment { workspace: session.workspace, input }
}

fn sending(session: &Session, text: Option<&str>) -> verbs::WorkspaceSendBack {
    let input = ReviewSendBack { text: text.map(str::to_owned) };
    verbs::WorkspaceSendBack { workspace: session.workspace, input }
}

fn replying(thread: &ReviewThread, text: &str) -> verbs::ReviewReply {
    verbs::ReviewReply { thread: thread.id, input: ReviewReply { text: text.into() } }
}

fn resolving(thread: &ReviewThread) -> verbs::ReviewResolve {
    verbs::ReviewResolve { thread: thread.id, input: ReviewResolve::default() }
}

async fn comments_on_a_workspace_go_to_its_session_and_stay(fixture: Fixture) {
    let (project, session, _memory) = working(&fixture, Visibility::Private, false).await;
    let ada = fixture.ada.clone();
    let nothing = fixture.refused(&ada, sending(&session, None)).await;
    assert!(invalid(&nothing).contains("comment on lines"), "{nothing}");
    let thread = fixture.done(&ada, commenting(&session, "Name it better")).await;
    let of = ReviewOf::Workspace { workspace: session.workspace };
    assert_eq!((thread.of, thread.status, thread.quote.as_deref()), (of, ThreadStatus::Open, Some("secret line")));
    let sent = fixture.done(&ada, sending(&session, Some("Nearly there"))).await;
    assert_eq!(sent.say.session, session.id);
    for part in ["Nearly there", "out.txt:2-3", "> secret line", "Ada: Name it better", &thread.id.to_string()] {
        assert!(sent.say.text.contains(part), "`{part}` is not in:\n{}", sent.say.text);
    }
    assert!(!sent.say.text.contains("report again"), "{}", sent.say.text);
    assert_eq!(sent.review.threads[0].status, ThreadStatus::Sent);
    let actor = Actor::Agent { user: id(&ada), project: project.id, session: session.id };
    let agent = Caller::bearer(actor, "Ada", "192.0.2.9");
    let answered = fixture.done(&agent, replying(&thread, "Renamed it")).await;
    assert_eq!((answered.status, answered.comments[1].author_kind), (ThreadStatus::Sent, AuthorKind::Agent));
    let said = fixture.refused(&agent, sending(&session, Some("Go on"))).await;
    assert!(matches!(said, StoreError::Forbidden(_)), "{said}");
    assert_eq!(fixture.done(&ada, replying(&thread, "Not yet")).await.status, ThreadStatus::Open);
    assert_eq!(fixture.done(&ada, resolving(&thread)).await.status, ThreadStatus::Resolved);
    let review = fixture.store.workspace_review(&ada, session.workspace).await.unwrap();
    assert_eq!((review.threads.len(), review.threads[0].comments.len(), review.approval), (1, 3, None));
}

async fn comments_stay_open_while_no_session_takes_them(fixture: Fixture) {
    let (_, session, mut memory) = working(&fixture, Visibility::Private, false).await;
    let ada = fixture.ada.clone();
    fixture.done(&ada, commenting(&session, "Name it better")).await;
    memory.at(&fixture, session.id, SessionStatus::Exited).await;
    let ended = fixture.refused(&ada, sending(&session, None)).await;
    assert!(conflict(&ended).contains("session resume"), "{ended}");
    let review = fixture.store.workspace_review(&ada, session.workspace).await.unwrap();
    assert_eq!(review.threads[0].status, ThreadStatus::Open);
}

async fn a_review_of_a_workspace_is_execution(fixture: Fixture) {
    for (visibility, share) in [
        (Visibility::Private, false),
        (Visibility::ReadOnly, false),
        (Visibility::ReadOnly, true),
        (Visibility::ReadWrite, false),
        (Visibility::ReadWrite, true),
    ] {
        let (_, session, _memory) = working(&fixture, visibility, share).await;
        let thread = fixture.done(&fixture.ada, commenting(&session, "Name it better")).await;
        let about = format!("{visibility} {share}");
        let bo = &fixture.bo;
        let sees = share && visibility != Visibility::Private;
        let writes = share && visibility == Visibility::ReadWrite;
        assert_eq!(fixture.store.workspace_review(bo, session.workspace).await.is_ok(), sees, "{about}");
        let check = |error: StoreError, noun: &str| match sees {
            true => assert!(matches!(error, StoreError::Forbidden(_)), "{about}: {error}"),
            false => assert_eq!(error.to_string(), format!("{noun} not found"), "{about}"),
        };
        if writes {
            fixture.done(bo, commenting(&session, "And this")).await;
            fixture.done(bo, replying(&thread, "I agree")).await;
        } else {
            check(fixture.refused(bo, commenting(&session, "And this")).await, "workspace");
            check(fixture.refused(bo, replying(&thread, "I agree")).await, "review thread");
            check(fixture.refused(bo, resolving(&thread)).await, "review thread");
        }
        check(fixture.refused(bo, sending(&session, Some("Go on"))).await, "workspace");
    }
}
