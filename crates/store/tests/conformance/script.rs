//! Random verbs, for property tests.

use std::sync::{Arc, Mutex};

use domain::{ActivityId, ActivityStatus, MessageId, ProjectId, RunnerId, Visibility};
use proptest::prelude::*;
use protocol::{ActivityCreate, ActivityUpdate, MarkRead, MessageText, ProjectUpdate, Rename, RunnerCreate, verbs};
use store::{Caller, Command, Store, StoreError};

use crate::fixture::{create_project, send};

/// One step: which of two people, on which earlier object, and which verb.
#[derive(Debug, Clone)]
pub(crate) struct Op {
    who: usize,
    which: usize,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    Create(Visibility),
    Write(u8),
    Open(Visibility),
    Delete,
    Start,
    Move(ActivityStatus),
    Say(&'static str),
    Edit(&'static str),
    Unsay,
    Read(u32),
    Rename(u8),
    AddRunner(u8),
    RemoveRunner,
}

/// The objects created so far.
#[derive(Default)]
pub(crate) struct Known {
    projects: Mutex<Vec<ProjectId>>,
    activities: Mutex<Vec<ActivityId>>,
    messages: Mutex<Vec<MessageId>>,
    runners: Mutex<Vec<RunnerId>>,
}

pub(crate) fn op() -> impl Strategy<Value = Op> {
    let visibility = || prop::sample::select(Visibility::ALL);
    let text = || prop::sample::select(vec!["hello", "@ada look", "@bo look", "@Ada and @Bo"]);
    let what = prop_oneof![
        3 => visibility().prop_map(What::Create),
        2 => any::<u8>().prop_map(What::Write),
        3 => visibility().prop_map(What::Open),
        1 => Just(What::Delete),
        3 => Just(What::Start),
        2 => prop::sample::select(ActivityStatus::ALL).prop_map(What::Move),
        6 => text().prop_map(What::Say),
        2 => text().prop_map(What::Edit),
        1 => Just(What::Unsay),
        2 => (0..20_u32).prop_map(What::Read),
        1 => (0..4_u8).prop_map(What::Rename),
        1 => (0..4_u8).prop_map(What::AddRunner),
        1 => Just(What::RemoveRunner),
    ];
    (0..2_usize, 0..6_usize, what).prop_map(|(who, which, what)| Op { who, which, what })
}

/// Runs a verb that may be refused.
async fn attempt<C: Command>(store: &Store, who: &Caller, command: C) -> Option<C::Output> {
    match store.write(who, None, command).await {
        Ok(done) => Some(done.value),
        Err(
            StoreError::NotFound(_) | StoreError::Forbidden(_) | StoreError::Conflict(_) | StoreError::Taken { .. },
        ) => None,
        Err(other) => panic!("{}: {other:?}", C::VERB),
    }
}

fn pick<T: Copy>(known: &Mutex<Vec<T>>, which: usize) -> Option<T> {
    let known = known.lock().unwrap();
    // Prefer the newest.
    known.len().checked_sub(1 + which).map(|index| known[index])
}

fn add<T>(known: &Mutex<Vec<T>>, made: Option<T>) {
    known.lock().unwrap().extend(made);
}

/// Runs a script as fast as possible.
pub(crate) async fn play(store: Arc<Store>, people: [Caller; 2], known: Arc<Known>, script: Vec<Op>) {
    for Op { who, which, what } in script {
        step(&store, &people[who], &known, which, what).await;
    }
}

async fn step(store: &Store, who: &Caller, known: &Known, which: usize, what: What) -> Option<()> {
    let project = || pick(&known.projects, which);
    let update = |project, input| verbs::ProjectUpdate { project, input };
    match what {
        What::Create(visibility) => {
            let made =
                attempt(store, who, create_project(&format!("new {}", domain::ProjectId::generate()), visibility))
                    .await;
            add(&known.projects, made.map(|made| made.id));
        }
        What::Write(text) => {
            let content = Some(format!("text {text}"));
            attempt(store, who, update(project()?, ProjectUpdate { content, ..Default::default() })).await?;
        }
        What::Open(visibility) => {
            let visibility = Some(visibility);
            attempt(store, who, update(project()?, ProjectUpdate { visibility, ..Default::default() })).await?;
        }
        What::Delete => attempt(store, who, verbs::ProjectDelete { project: project()? }).await?,
        What::Start => {
            let input = ActivityCreate { content: "work".into(), ..Default::default() };
            let made = attempt(store, who, verbs::ActivityCreate { project: project()?, input }).await;
            add(&known.activities, made.map(|made| made.id));
        }
        What::Move(status) => {
            let input = ActivityUpdate { status: Some(status), ..Default::default() };
            attempt(store, who, verbs::ActivityUpdate { activity: pick(&known.activities, which)?, input }).await?;
        }
        What::Say(text) => {
            let made = attempt(store, who, send(project()?, text)).await;
            add(&known.messages, made.map(|made| made.id));
        }
        What::Edit(text) => {
            let input = MessageText { content: text.into() };
            attempt(store, who, verbs::ChatEdit { message: pick(&known.messages, which)?, input }).await?;
        }
        What::Unsay => {
            attempt(store, who, verbs::ChatDelete { message: pick(&known.messages, which)? }).await?;
        }
        What::Read(number) => {
            attempt(store, who, verbs::ChatRead { project: project()?, input: MarkRead { number } }).await?;
        }
        What::Rename(name) => {
            attempt(store, who, verbs::MeRename { input: Rename { name: format!("name {name}") } }).await?;
        }
        What::AddRunner(name) => {
            let made =
                attempt(store, who, verbs::RunnerCreate { input: RunnerCreate { name: format!("r{name}") } }).await;
            add(&known.runners, made.map(|made| made.runner.id));
        }
        What::RemoveRunner => {
            attempt(store, who, verbs::RunnerRemove { runner: pick(&known.runners, which)? }).await?;
        }
    }
    Some(())
}
