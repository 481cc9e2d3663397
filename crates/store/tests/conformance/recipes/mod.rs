//! Recipes, executions and schedules: what people do, what runners report, and the time that passes.

mod awaited;
mod away;
mod executions;
mod people;
mod profiles;
mod pushes;
mod saved;
mod schedules;
mod steps;

use std::collections::BTreeMap;

use domain::{ExecutionId, ExecutionStatus, RecipeFormat, StepStatus};
use protocol::{Execution, ExecutionDetail, ExecutionStart, ExecutionStep, Recipe, RecipeText, verbs};
use serde_json::Value as Json;
use store::{Caller, SaveRecipe, TendExecution, TendSchedule};

use crate::workers::Shop;

/// The command that saves a recipe.
pub(crate) fn saving(shop: &Shop, text: &str) -> SaveRecipe {
    let read = recipes::read(text, RecipeFormat::Yaml).unwrap_or_else(|findings| panic!("{findings:#?}"));
    let input = RecipeText { text: text.into(), format: None };
    let verb = verbs::RecipeAdd { project: shop.project.id, input };
    SaveRecipe { verb, model: read.recipe, version: read.hash }
}

/// Saves a recipe of Ada's.
pub(crate) async fn save(shop: &Shop, text: &str) -> Recipe {
    shop.fixture.done(&shop.fixture.ada, saving(shop, text)).await
}

/// The command that starts an execution.
pub(crate) fn starting(recipe: &Recipe, inputs: Json) -> verbs::ExecutionStart {
    let inputs: BTreeMap<String, Json> = serde_json::from_value(inputs).expect("an object");
    verbs::ExecutionStart { recipe: recipe.id, input: ExecutionStart { inputs, version: None } }
}

/// Saves and starts a recipe of Ada's, and moves it as far as it can go.
pub(crate) async fn started(shop: &Shop, text: &str, inputs: Json) -> Execution {
    let recipe = save(shop, text).await;
    let started = shop.fixture.done(&shop.fixture.ada, starting(&recipe, inputs)).await;
    tend(shop).await;
    shown(shop, started.id).await.execution
}

/// Does what a hub's conductor does, until nothing is due.
pub(crate) async fn tend(shop: &Shop) {
    let store = &shop.fixture.store;
    for _ in 0..50 {
        let schedules = store.due_schedules(store.now()).await.unwrap().now;
        for schedule in schedules.iter().copied() {
            shop.fixture.done(&Caller::hub("schedule"), TendSchedule { schedule }).await;
        }
        let due = store.due_executions(store.now(), None).await.unwrap();
        let moving: Vec<ExecutionId> = due.now.into_iter().chain(due.waiting).collect();
        let before = shop.fixture.store.extent().await.unwrap().newest;
        for execution in moving {
            let command =
                TendExecution { execution, connected: vec![shop.runner], there: Vec::new(), away: Vec::new() };
            shop.fixture.done(&Caller::hub("execution"), command).await;
        }
        if schedules.is_empty() && shop.fixture.store.extent().await.unwrap().newest == before {
            return;
        }
    }
    panic!("the executions never come to rest");
}

/// An execution as Ada sees it.
pub(crate) async fn shown(shop: &Shop, id: ExecutionId) -> ExecutionDetail {
    shop.fixture.store.execution(&shop.fixture.ada, id).await.unwrap()
}

/// A step of an execution.
pub(crate) async fn step(shop: &Shop, id: ExecutionId, path: &str) -> ExecutionStep {
    let steps = shown(shop, id).await.steps;
    let names: Vec<String> = steps.iter().map(|step| step.path.clone()).collect();
    let found = steps.into_iter().find(|step| step.path == path);
    found.unwrap_or_else(|| panic!("{path} is not in {names:?}"))
}

/// The status of an execution.
pub(crate) async fn status(shop: &Shop, id: ExecutionId) -> ExecutionStatus {
    shown(shop, id).await.execution.status
}

/// The status of a step.
pub(crate) async fn at(shop: &Shop, id: ExecutionId, path: &str) -> StepStatus {
    step(shop, id, path).await.status
}
