//! Our executions, through the store's verbs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::ensure;
use domain::{ExecutionId, ProjectId, RecipeFormat, RecipeId, Timestamp};
use protocol::{ExecutionAnswer, ExecutionStart, ProjectCreate, RecipeText, verbs};
use store::{Caller, EnterHubOwner, SaveRecipe, Store};

/// Three steps whose results come from outside.
const ANSWERED: &str = "
name: answered
outputs: {last: steps.c.output.data}
steps:
  - {id: a, approve: {question: 'a?'}}
  - {id: b, approve: {question: 'b?'}}
  - {id: c, approve: {question: 'c?'}}
";
/// Three steps that the hub performs itself, in one transaction.
const TOLD: &str = "
name: told
steps:
  - {id: a, notify: {to: chat, text: a}}
  - {id: b, notify: {to: chat, text: b}}
  - {id: c, notify: {to: chat, text: c}}
";
/// One step that waits for a time.
const WAITS: &str = "
name: waits
inputs: {until: {type: string}}
steps:
  - {id: a, wait: {until: '{{ inputs.until }}'}}
";

/// A project with recipes in a store.
#[derive(Clone)]
pub(super) struct Recipes {
    store: Arc<Store>,
    caller: Caller,
    answered: RecipeId,
    told: RecipeId,
    waits: RecipeId,
}

impl Recipes {
    pub(super) async fn open(url: &str) -> anyhow::Result<Self> {
        let now = || Timestamp::from_millis(jiff::Timestamp::now().as_millisecond());
        let store = Store::open(url, now, |_| ()).await?;
        let ada = store.write(&Caller::hub("bench"), None, EnterHubOwner { name: "Ada".into() }).await?.value;
        let caller = Caller::user(ada.id, true, "Ada", "bench");
        let input = ProjectCreate { content: "Bench".into(), ..ProjectCreate::default() };
        let project = store.write(&caller, None, verbs::ProjectCreate { input }).await?.value.id;
        let save = async |text| save(&store, &caller, project, text).await;
        let (answered, told, waits) = (save(ANSWERED).await?, save(TOLD).await?, save(WAITS).await?);
        Ok(Self { store: Arc::new(store), caller, answered, told, waits })
    }

    pub(super) async fn close(self) {
        self.store.close().await;
    }

    async fn start(&self, recipe: RecipeId, inputs: serde_json::Value) -> anyhow::Result<ExecutionId> {
        let input = ExecutionStart { inputs: serde_json::from_value(inputs)?, version: None };
        Ok(self.store.write(&self.caller, None, verbs::ExecutionStart { recipe, input }).await?.value.id)
    }

    /// One execution whose three results come from outside.
    async fn answer_all(&self) -> anyhow::Result<()> {
        let execution = self.start(self.answered, serde_json::json!({})).await?;
        let mut status = None;
        for path in ["a", "b", "c"] {
            let input = ExecutionAnswer { path: path.into(), approve: true, data: None, comment: String::new() };
            let verb = verbs::ExecutionAnswer { execution, input };
            status = Some(self.store.write(&self.caller, None, verb).await?.value.status);
        }
        ensure!(status == Some(domain::ExecutionStatus::Completed), "an execution is {status:?}");
        Ok(())
    }

    /// Runs executions whose results come from outside; how many per second.
    pub(super) async fn answered(&self, count: usize, at_once: usize) -> anyhow::Result<f64> {
        let recipes = self.clone();
        rate(count, at_once, move || {
            let recipes = recipes.clone();
            async move { recipes.answer_all().await }
        })
        .await
    }

    /// Runs executions of three messages; how many per second.
    pub(super) async fn told(&self, count: usize, at_once: usize) -> anyhow::Result<f64> {
        let recipes = self.clone();
        rate(count, at_once, move || {
            let recipes = recipes.clone();
            async move { recipes.start(recipes.told, serde_json::json!({})).await.map(drop) }
        })
        .await
    }

    /// Starts executions that wait until a time.
    pub(super) async fn wait_until(&self, count: usize, until: Timestamp) -> anyhow::Result<()> {
        let (recipes, until) = (self.clone(), jiff::Timestamp::from_millisecond(until.as_millis())?.to_string());
        rate(count, 50, move || {
            let (recipes, until) = (recipes.clone(), until.clone());
            async move { recipes.start(recipes.waits, serde_json::json!({ "until": until })).await.map(drop) }
        })
        .await
        .map(drop)
    }
}

async fn save(store: &Store, caller: &Caller, project: ProjectId, text: &str) -> anyhow::Result<RecipeId> {
    let read = recipes::read(text, RecipeFormat::Yaml).map_err(|wrong| anyhow::anyhow!("{wrong:?}"))?;
    let verb = verbs::RecipeAdd { project, input: RecipeText { text: text.into(), format: None } };
    let saved = SaveRecipe { verb, model: read.recipe, version: read.hash };
    Ok(store.write(caller, None, saved).await?.value.id)
}

/// Runs `once` `count` times, at most `at_once` at a time, each in its own task; returns runs per second.
async fn rate<F>(count: usize, at_once: usize, once: impl Fn() -> F + Clone + Send + 'static) -> anyhow::Result<f64>
where
    F: Future<Output = anyhow::Result<()>> + Send,
{
    let (next, begun) = (Arc::new(AtomicUsize::new(0)), Instant::now());
    let workers: Vec<_> = (0..at_once)
        .map(|_| {
            let (next, once) = (next.clone(), once.clone());
            tokio::spawn(async move {
                while next.fetch_add(1, Ordering::Relaxed) < count {
                    once().await?;
                }
                anyhow::Ok(())
            })
        })
        .collect();
    for worker in workers {
        worker.await??;
    }
    Ok(count as f64 / begun.elapsed().as_secs_f64())
}
