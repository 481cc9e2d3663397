//! Reviews of tasks' changes: comments, approvals, and the way back to the agent.

use domain::{AnswerAct, AuthorKind, EscalationKind, SessionStatus, TaskId, TaskStatus, ThreadStatus};
use protocol::link::{Changes, FactBody};
use protocol::{
    Criterion, CriterionResult, EscalationAnswer, Review, ReviewApprove, ReviewComment, ReviewReply, ReviewResolve,
    ReviewSendBack, ReviewThread, TaskAdd, TaskReopen, verbs,
};
use store::{Caller, ChangesFrom};

use super::{Shop, plain};
use crate::fixture::Fixture;
use crate::tasks::{conflict, invalid};

both!(
    a_person_must_approve_the_changes,
    an_approval_is_of_the_tree_that_was_seen,
    comments_reach_the_next_worker_and_its_answers_stay_in_the_thread,
    an_answer_to_the_question_sends_the_comments_too,
    a_retried_or_reopened_task_has_its_comments,
    only_people_who_may_write_take_part_and_only_people_decide,
    quotes_are_for_those_who_may_see_the_work,
    work_that_nobody_can_take_back_says_why,
    the_workspace_of_a_task_is_reviewed_with_the_task,
);

/// A task that needs approval.
fn approved(description: &str) -> TaskAdd {
    let acceptance = vec![Criterion::FileExists { path: "out.txt".into() }, Criterion::Approved {}];
    TaskAdd { acceptance, ..plain(description) }
}

impl Shop {
    /// Adds a task that needs approval, and lets a worker report it.
    async fn reported(&mut self, tree: &str) -> TaskId {
        let task = self.add(vec![approved("Write out.txt")]).await[0];
        self.dispatch().await;
        self.reports_again(task, tree).await;
        task
    }

    async fn reports_again(&mut self, task: TaskId, tree: &str) {
        let session = self.session(task).await;
        self.costs(session, 1).await;
        self.ends(task, &format!("Wrote {tree}.")).await;
        let report = self.pending(task).await;
        // A runner that claims an approval is not believed.
        let met = |criterion| CriterionResult { criterion, passed: Some(true), reason: "it is there".into() };
        let results = vec![met(0), met(1)];
        let changes = Changes { base: "b0".into(), head: "h1".into(), tree: tree.into(), ..Changes::default() };
        self.memory.happened(&self.fixture, FactBody::Checked { report, results, changes: Some(changes) }).await;
    }

    async fn review(&self, task: TaskId) -> Review {
        self.fixture.store.review(&self.fixture.ada, task).await.unwrap()
    }

    async fn comments(&self, task: TaskId, text: &str) -> ReviewThread {
        self.fixture.done(&self.fixture.ada, commenting(task, text)).await
    }
}

fn commenting(task: TaskId, text: &str) -> verbs::ReviewComment {
    let input = ReviewComment {
        path: "out.txt".into(),
        line: 2,
        end_line: Some(3),
        quote: Some("secret line".into()),
        text: text.into(),
        ..Default::default()
    };
    verbs::ReviewComment { task, input }
}

fn replying(thread: &ReviewThread, text: &str) -> verbs::ReviewReply {
    verbs::ReviewReply { thread: thread.id, input: ReviewReply { text: text.into() } }
}

fn approving(task: TaskId, tree: Option<&str>) -> verbs::ReviewApprove {
    verbs::ReviewApprove { task, input: ReviewApprove { tree: tree.map(str::to_owned) } }
}

fn sending_back(task: TaskId, text: &str) -> verbs::ReviewSendBack {
    let text = (!text.is_empty()).then(|| text.to_owned());
    verbs::ReviewSendBack { task, input: ReviewSendBack { text } }
}

async fn a_person_must_approve_the_changes(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.reported("t1").await;
    let detail = shop.detail(task).await;
    assert_eq!(detail.task.status, TaskStatus::Escalated, "{:?}", detail.task.reason);
    let asked = &detail.escalations[0];
    assert_eq!(
        (asked.kind, asked.question.as_str()),
        (EscalationKind::Review, "Review the changes of `Write out.txt`.")
    );
    let labels: Vec<&str> = asked.options.iter().map(|option| option.label.as_str()).collect();
    assert_eq!(labels, ["Approve", "Send back", "Mark failed", "Cancel task"]);
    assert_eq!(shop.review(task).await.tree.as_deref(), Some("t1"));
    let after = shop.fixture.done(&shop.fixture.ada, approving(task, Some("t1"))).await;
    assert_eq!(after.status, TaskStatus::Done);
    let detail = shop.detail(task).await;
    let result = &detail.reports[0].results[1];
    assert_eq!((result.passed, result.reason.as_str()), (Some(true), "approved by Ada"));
    assert!(detail.escalations[0].answered_at.is_some());
    let approval = shop.review(task).await.approval.unwrap();
    assert_eq!((approval.tree.as_deref(), approval.by.name.as_str()), (Some("t1"), "Ada"));
}

async fn an_approval_is_of_the_tree_that_was_seen(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.reported("t1").await;
    shop.fixture.done(&shop.fixture.ada, sending_back(task, "Add tests")).await;
    shop.dispatch().await;
    let early = shop.fixture.refused(&shop.fixture.ada, approving(task, None)).await;
    assert!(conflict(&early).contains("no checked report"), "{early}");
    shop.reports_again(task, "t2").await;
    let stale = shop.fixture.refused(&shop.fixture.ada, approving(task, Some("t1"))).await;
    assert!(conflict(&stale).contains("changed since you looked"), "{stale}");
    assert_eq!(shop.task(task).await.status, TaskStatus::Escalated);
    let after = shop.fixture.done(&shop.fixture.ada, approving(task, Some("t2"))).await;
    assert_eq!(after.status, TaskStatus::Done);
}

async fn comments_reach_the_next_worker_and_its_answers_stay_in_the_thread(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.reported("t1").await;
    let place = shop.detail(task).await.attempts[0].workspace;
    let nothing = shop.fixture.refused(&shop.fixture.ada, sending_back(task, "")).await;
    assert!(invalid(&nothing).contains("comment on lines"), "{nothing}");
    let thread = shop.comments(task, "Name it better").await;
    assert_eq!((thread.status, thread.line, thread.end_line), (ThreadStatus::Open, 2, 3));
    let after = shop.fixture.done(&shop.fixture.ada, sending_back(task, "Nearly there")).await;
    assert!(after.say.is_none());
    assert_eq!(after.task.status, TaskStatus::Ready);
    assert_eq!(after.task.reason.as_deref(), Some("Ada sent it back with 1 comment: Nearly there"));
    assert_eq!(shop.review(task).await.threads[0].status, ThreadStatus::Sent);
    shop.dispatch().await;
    let session = shop.session(task).await;
    let (sessions, _) = shop.desired().await;
    let plan = sessions.iter().find(|plan| plan.session == session).unwrap();
    for part in ["Nearly there", "out.txt:2-3", "> secret line", "Ada: Name it better", &thread.id.to_string()] {
        assert!(plan.prompt.contains(part), "`{part}` is not in:\n{}", plan.prompt);
    }
    assert_eq!(Some(plan.workspace.workspace), place, "it continues in the same workspace");
    assert_eq!(plan.conversation.as_deref(), Some("thread-1"), "and in the same conversation");
    let agent = super::filled_in::agent(&shop, session);
    let answered = shop.fixture.done(&agent, replying(&thread, "Renamed it")).await;
    assert_eq!((answered.status, answered.comments[1].author_kind), (ThreadStatus::Sent, AuthorKind::Agent));
    let again = shop.fixture.done(&shop.fixture.ada, replying(&thread, "Still not good")).await;
    assert_eq!(again.status, ThreadStatus::Open, "a person's reply is sent next time");
    let resolve = |reopen| verbs::ReviewResolve { thread: thread.id, input: ReviewResolve { reopen } };
    assert_eq!(shop.fixture.done(&shop.fixture.ada, resolve(false)).await.status, ThreadStatus::Resolved);
    assert_eq!(shop.fixture.done(&shop.fixture.ada, resolve(true)).await.status, ThreadStatus::Open);
}

async fn an_answer_to_the_question_sends_the_comments_too(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.reported("t1").await;
    shop.comments(task, "Name it better").await;
    let escalation = shop.detail(task).await.escalations[0].id;
    let input = EscalationAnswer { option: Some("Send back".into()), ..Default::default() };
    let answered = shop.fixture.done(&shop.fixture.ada, verbs::EscalationAnswer { escalation, input }).await;
    assert_eq!(answered.act, Some(AnswerAct::Retry));
    assert_eq!(shop.review(task).await.threads[0].status, ThreadStatus::Sent);
    shop.dispatch().await;
    let (sessions, _) = shop.desired().await;
    assert!(sessions.iter().any(|plan| plan.prompt.contains("Ada: Name it better")));
    shop.reports_again(task, "t2").await;
    let escalation = shop.detail(task).await.escalations[1].id;
    let input = EscalationAnswer { option: Some("Approve".into()), ..Default::default() };
    shop.fixture.done(&shop.fixture.ada, verbs::EscalationAnswer { escalation, input }).await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Done);
    assert_eq!(shop.review(task).await.approval.unwrap().tree.as_deref(), Some("t2"));
}

async fn a_retried_or_reopened_task_has_its_comments(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.reported("t1").await;
    let brief = async |shop: &Shop| {
        shop.dispatch().await;
        let session = shop.session(task).await;
        let (sessions, _) = shop.desired().await;
        sessions.into_iter().find(|plan| plan.session == session).unwrap().prompt
    };
    shop.comments(task, "Name it better").await;
    shop.fixture.done(&shop.fixture.ada, verbs::TaskRetry { task, input: Default::default() }).await;
    assert!(brief(&shop).await.contains("Ada: Name it better"));
    shop.reports_again(task, "t2").await;
    shop.fixture.done(&shop.fixture.ada, approving(task, None)).await;
    shop.comments(task, "And a test").await;
    let input = TaskReopen { text: "Now also this".into() };
    shop.fixture.done(&shop.fixture.ada, verbs::TaskReopen { task, input }).await;
    assert!(brief(&shop).await.contains("Ada: And a test"));
}

async fn only_people_who_may_write_take_part_and_only_people_decide(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.reported("t1").await;
    let session = shop.detail(task).await.attempts[0].sessions[0];
    let agent = super::filled_in::agent(&shop, session);
    let thread = shop.fixture.done(&agent, commenting(task, "I am not sure here")).await;
    assert_eq!(thread.comments[0].author_kind, AuthorKind::Agent);
    let said = shop.fixture.refused(&agent, approving(task, None)).await;
    assert!(said.to_string().contains("a person must"), "{said}");
    let said = shop.fixture.refused(&agent, sending_back(task, "No")).await;
    assert!(said.to_string().contains("a person must"), "{said}");
    assert_eq!(shop.task(task).await.status, TaskStatus::Escalated);
}

async fn quotes_are_for_those_who_may_see_the_work(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.reported("t1").await;
    shop.comments(task, "Name it better").await;
    let seen = |review: Review| (review.threads[0].quote.clone(), review.threads[0].comments[0].text.clone());
    let words = "Name it better".to_owned();
    assert_eq!(seen(shop.review(task).await), (Some("secret line".into()), words.clone()));
    let others = shop.fixture.store.review(&shop.fixture.bo, task).await.unwrap();
    assert_eq!(seen(others), (None, words), "the project does not share execution");
    let said = shop.fixture.store.changes_of(&shop.fixture.bo, task).await.unwrap_err();
    assert!(said.to_string().contains("task not found"), "{said}");
    let changes = shop.fixture.store.changes_of(&shop.fixture.ada, task).await.unwrap();
    assert!(matches!(changes.from, ChangesFrom::Workspace { tree: Some(tree), .. } if tree == "t1"));
}

async fn work_that_nobody_can_take_back_says_why(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.add(vec![plain("Write out.txt")]).await[0];
    let ada = shop.fixture.ada.clone();
    let why = |error: store::StoreError| conflict(&error).to_owned();
    assert!(why(shop.fixture.refused(&ada, sending_back(task, "No")).await).contains("nobody has changed anything"));
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.at(session, SessionStatus::Working).await;
    let said = why(shop.fixture.refused(&ada, sending_back(task, "No")).await);
    assert!(said.contains("takes no messages now"), "{said}");
    shop.finishes(task, "Done.").await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Done);
    let said = why(shop.fixture.refused(&ada, sending_back(task, "No")).await);
    assert!(said.contains("task reopen"), "{said}");
    let nobody = Caller::hub("nobody");
    assert!(shop.fixture.refused(&nobody, approving(task, None)).await.to_string().contains("observer"));
    let said = why(shop.fixture.refused(&ada, approving(task, None)).await);
    assert!(said.contains("no runner has seen its changes"), "{said}");
}

async fn the_workspace_of_a_task_is_reviewed_with_the_task(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.reported("t1").await;
    let workspace = shop.detail(task).await.attempts[0].workspace.unwrap();
    let verbs::ReviewComment { input, .. } = commenting(task, "Name it better");
    let said = shop.fixture.refused(&shop.fixture.ada, verbs::WorkspaceComment { workspace, input }).await;
    assert!(conflict(&said).contains(&task.to_string()), "{said}");
}
