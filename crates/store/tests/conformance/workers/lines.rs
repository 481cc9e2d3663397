//! A task's own activity ends with the task; people's activities stay as they are.

use domain::{ActivityId, ActivityStatus, SessionStatus, TaskStatus};
use protocol::{ActivityCreate, ActivityUpdate, SessionSpawn, TaskAdd, verbs};

use super::{Shop, plain};
use crate::execution::spawn;
use crate::fixture::Fixture;
use crate::tasks::{cancel, report, retry};

both!(
    the_activity_of_a_task_ends_with_the_task,
    an_activity_ends_with_its_last_session_and_task,
    the_activity_of_a_cancelled_task_is_abandoned_until_a_retry,
    activities_that_people_created_or_changed_stay,
);

impl Shop {
    async fn line(&self, task: domain::TaskId) -> ActivityId {
        self.task(task).await.activity.expect("it was worked on")
    }

    async fn at_line(&self, activity: ActivityId) -> ActivityStatus {
        self.fixture.store.activity(&self.fixture.ada, activity).await.unwrap().status
    }
}

async fn the_activity_of_a_task_ends_with_the_task(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.add(vec![plain("Sweep the floor")]).await[0];
    shop.dispatch().await;
    let line = shop.line(task).await;
    assert_eq!(shop.at_line(line).await, ActivityStatus::Active);
    shop.finishes(task, "It is clean.").await;
    assert_eq!(shop.at_line(line).await, ActivityStatus::Completed);
}

async fn an_activity_ends_with_its_last_session_and_task(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.add(vec![plain("Sweep the floor")]).await[0];
    shop.dispatch().await;
    let (line, session) = (shop.line(task).await, shop.session(task).await);
    shop.at(session, SessionStatus::Working).await;
    let more = shop.add(vec![TaskAdd { activity: Some(line), ..plain("And the stairs") }]).await[0];
    let fence = shop.task(task).await.lease.unwrap().fence;
    shop.fixture.done(&shop.fixture.ada, report(task, fence, "It is clean.")).await;
    shop.looked_at(task, None).await;
    shop.exits(session, 0).await;
    assert_eq!(shop.at_line(line).await, ActivityStatus::Active, "another task belongs to it");
    let look = SessionSpawn { activity: Some(line), agent: "codex".into(), ..Default::default() };
    let mine = shop.fixture.done(&shop.fixture.ada, spawn(look, &[shop.runner])).await;
    shop.dispatch().await;
    shop.finishes(more, "They are, too.").await;
    assert_eq!(shop.task(more).await.status, TaskStatus::Done);
    assert_eq!(shop.at_line(line).await, ActivityStatus::Active, "a session still works in it");
    shop.exits(mine.id, 0).await;
    assert_eq!(shop.at_line(line).await, ActivityStatus::Completed);
}

async fn the_activity_of_a_cancelled_task_is_abandoned_until_a_retry(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.add(vec![plain("Sweep the floor")]).await[0];
    shop.dispatch().await;
    let (line, session) = (shop.line(task).await, shop.session(task).await);
    cancel(&shop.fixture, task).await;
    assert_eq!(shop.at_line(line).await, ActivityStatus::Active, "its session has not exited");
    shop.exits(session, 0).await;
    assert_eq!(shop.at_line(line).await, ActivityStatus::Abandoned);
    retry(&shop.fixture, task).await;
    shop.dispatch().await;
    assert_eq!((shop.line(task).await, shop.at_line(line).await), (line, ActivityStatus::Active));
    shop.finishes(task, "Now it is clean.").await;
    assert_eq!(shop.at_line(line).await, ActivityStatus::Completed);
}

async fn activities_that_people_created_or_changed_stay(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let input = ActivityCreate { content: "Spring cleaning".into(), ..Default::default() };
    let mine = shop.fixture.done(&shop.fixture.ada, verbs::ActivityCreate { project: shop.project.id, input }).await.id;
    let task = shop.add(vec![TaskAdd { activity: Some(mine), ..plain("Sweep the floor") }]).await[0];
    shop.dispatch().await;
    shop.finishes(task, "It is clean.").await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Done);
    assert_eq!(shop.at_line(mine).await, ActivityStatus::Active);
    let other = shop.add(vec![plain("Count the nails")]).await[0];
    shop.dispatch().await;
    let line = shop.line(other).await;
    let input = ActivityUpdate { status: Some(ActivityStatus::Blocked), ..Default::default() };
    shop.fixture.done(&shop.fixture.ada, verbs::ActivityUpdate { activity: line, input }).await;
    shop.finishes(other, "There are seven.").await;
    assert_eq!(shop.at_line(line).await, ActivityStatus::Blocked, "a person set its status");
}
