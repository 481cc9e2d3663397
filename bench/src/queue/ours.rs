//! Our queue, through the store's verbs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use domain::{ProjectId, TaskId, Timestamp};
use protocol::{ProjectCreate, Taken, TakenTask, TaskAdd, TaskReport, TaskTake, TaskTurn, TasksAdd, TurnedIn, verbs};
use store::{Caller, EnterHubOwner, Store};
use tokio::sync::Notify;

/// How many tasks a batch takes and reports at once.
const BATCH: usize = 500;

/// A project's queue in a store.
#[derive(Clone)]
pub(super) struct Queue {
    store: Arc<Store>,
    caller: Caller,
    project: ProjectId,
    committed: Arc<Notify>,
}

fn task(description: String, deps: Vec<String>) -> TaskAdd {
    TaskAdd {
        id: None,
        description,
        context: String::new(),
        acceptance: Vec::new(),
        files: Vec::new(),
        deps,
        priority: None,
        needs: Vec::new(),
        labels: Vec::new(),
        activity: None,
    }
}

fn take(worker: String) -> TaskTake {
    TaskTake { task: None, worker: Some(worker), abilities: Vec::new(), wait_seconds: None }
}

fn done(fence: u64) -> TaskReport {
    let (deliverables, context_score, usage, failed) = (None, None, None, None);
    TaskReport { fence, summary: "done".into(), deliverables, context_score, usage, failed }
}

/// Runs all of them at once, each in a task of its own as the hub does; the sum of what they counted.
async fn all<F>(work: impl Iterator<Item = F>) -> anyhow::Result<usize>
where
    F: Future<Output = anyhow::Result<usize>> + Send + 'static,
{
    let tasks: Vec<_> = work.map(tokio::spawn).collect();
    let mut sum = 0;
    for task in tasks {
        sum += task.await??;
    }
    Ok(sum)
}

/// How many per second.
fn rate(count: usize, begun: Instant) -> f64 {
    count as f64 / begun.elapsed().as_secs_f64()
}

impl Queue {
    pub(super) async fn open(url: &str) -> anyhow::Result<Self> {
        let now = || Timestamp::from_millis(jiff::Timestamp::now().as_millisecond());
        let committed = Arc::new(Notify::new());
        let heard = committed.clone();
        let store = Store::open(url, now, move |_| heard.notify_waiters()).await?;
        let ada = store.write(&Caller::hub("bench"), None, EnterHubOwner { name: "Ada".into() }).await?.value;
        let caller = Caller::user(ada.id, true, "Ada", "bench");
        let input = ProjectCreate { content: "Bench".into(), ..ProjectCreate::default() };
        let project = store.write(&caller, None, verbs::ProjectCreate { input }).await?.value.id;
        Ok(Self { store: Arc::new(store), caller, project, committed })
    }

    pub(super) async fn close(self) {
        self.store.close().await;
    }

    /// Adds tasks one by one, with `at_once` writers; returns tasks per second.
    pub(super) async fn enqueue(&self, count: usize, at_once: usize) -> anyhow::Result<f64> {
        let (next, begun) = (Arc::new(AtomicUsize::new(0)), Instant::now());
        let adders: Vec<_> = (0..at_once)
            .map(|_| {
                let (store, caller, project, next) =
                    (self.store.clone(), self.caller.clone(), self.project, next.clone());
                tokio::spawn(async move {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        if at >= count {
                            return anyhow::Ok(());
                        }
                        let input = TasksAdd { tasks: vec![task(format!("Task number {at}"), Vec::new())] };
                        store.write(&caller, None, verbs::TaskAdd { project, input }).await?;
                    }
                })
            })
            .collect();
        for adder in adders {
            adder.await??;
        }
        Ok(rate(count, begun))
    }

    /// Adds many tasks quickly.
    async fn enqueue_many(&self, count: usize) -> anyhow::Result<()> {
        self.add(count, 1000, |_, _| Vec::new()).await.map(|_| ())
    }

    /// Adds tasks in batches of `at_once`; `deps` gives the earlier tasks that each waits for.
    pub(super) async fn add(
        &self,
        count: usize,
        at_once: usize,
        deps: impl Fn(usize, &[TaskId]) -> Vec<String>,
    ) -> anyhow::Result<Vec<TaskId>> {
        let mut ids: Vec<TaskId> = Vec::with_capacity(count);
        while ids.len() < count {
            let from = ids.len();
            let some = (from..count.min(from + at_once)).map(|at| task(format!("Task number {at}"), deps(at, &ids)));
            let input = TasksAdd { tasks: some.collect() };
            let added =
                self.store.write(&self.caller, None, verbs::TaskAdd { project: self.project, input }).await?.value;
            ids.extend(added.tasks.iter().map(|task| task.id));
        }
        Ok(ids)
    }

    async fn take(&self, worker: &str) -> anyhow::Result<Taken> {
        let command = verbs::TaskTake { project: self.project, input: take(worker.into()) };
        Ok(self.store.write(&self.caller, None, command).await?.value)
    }

    /// Hands back what these workers hold, and takes the next tasks for them.
    async fn turn(&self, workers: &[String], held: Vec<TakenTask>) -> anyhow::Result<Vec<TakenTask>> {
        let report = |held: TakenTask| TurnedIn { task: held.task.id, report: done(held.lease.fence) };
        let reports = held.into_iter().map(report).collect();
        let input = TaskTurn { reports, takes: workers.iter().cloned().map(take).collect() };
        let turned =
            self.store.write(&self.caller, None, verbs::TaskTurn { project: self.project, input }).await?.value;
        if let Some(refused) = turned.reports.into_iter().find_map(|report| report.refused) {
            anyhow::bail!("{refused}");
        }
        Ok(turned.taken.into_iter().filter_map(|taken| taken.taken).collect())
    }

    /// Takes and reports one task; `false`: there was none.
    pub(super) async fn once(&self, worker: &str) -> anyhow::Result<bool> {
        let Some(held) = self.take(worker).await?.taken else { return Ok(false) };
        let command = verbs::TaskReport { task: held.task.id, input: done(held.lease.fence) };
        self.store.write(&self.caller, None, command).await?;
        Ok(true)
    }

    /// Takes one task; how long that took.
    pub(super) async fn claim(&self, worker: &str) -> anyhow::Result<Duration> {
        let begun = Instant::now();
        self.take(worker).await?.taken.context("a task is ready")?;
        Ok(begun.elapsed())
    }

    /// Lets `workers` workers take, report and take the next, one by one, until nothing is left; returns tasks per second.
    pub(super) async fn complete(&self, workers: usize) -> anyhow::Result<f64> {
        self.complete_by(workers, 1).await
    }

    /// The same for `tasks` more tasks in batches: each of two clients acts for many workers at once, and the workers are
    /// known already.
    pub(super) async fn complete_batched(&self, tasks: usize) -> anyhow::Result<f64> {
        self.complete_by(2, BATCH).await?;
        self.enqueue_many(tasks).await?;
        self.complete_by(2, BATCH).await
    }

    async fn complete_by(&self, clients: usize, workers: usize) -> anyhow::Result<f64> {
        let begun = Instant::now();
        let work = |client| {
            let queue = self.clone();
            let names: Vec<String> = (0..workers).map(|at| format!("c{client}of{clients}w{at}")).collect();
            async move {
                let (mut count, mut held) = (0, queue.turn(&names, Vec::new()).await?);
                while !held.is_empty() {
                    count += held.len();
                    held = queue.turn(&names, held).await?;
                }
                anyhow::Ok(count)
            }
        };
        let count = all((0..clients).map(work)).await?;
        Ok(rate(count, begun))
    }

    /// From enqueue to start, in milliseconds, when nothing else goes on: a worker waits for commits, and for what is
    /// about to be added, as the hub's `task.take` does.
    pub(super) async fn waits(&self) -> anyhow::Result<Vec<f64>> {
        let mut waits = Vec::new();
        for _ in 0..200 {
            let queue = self.clone();
            // In a task of its own, as the hub's are.
            let waiter = tokio::spawn(async move {
                loop {
                    let committed = queue.committed.notified();
                    let mut coming = queue.store.coming();
                    let taken = queue.take("waiter").await?;
                    if let Some(held) = taken.taken {
                        return anyhow::Ok((Instant::now(), held));
                    }
                    tokio::select! {
                        () = committed => {}
                        said = coming.recv() => drop(said?),
                    }
                }
            });
            let adder = async {
                tokio::time::sleep(Duration::from_millis(10)).await;
                let begun = Instant::now();
                self.add(1, 1, |_, _| Vec::new()).await?;
                anyhow::Ok(begun)
            };
            let begun = adder.await?;
            let (started, held) = waiter.await??;
            waits.push(started.duration_since(begun).as_secs_f64() * 1000.0);
            let command = verbs::TaskReport { task: held.task.id, input: done(held.lease.fence) };
            self.store.write(&self.caller, None, command).await?;
        }
        Ok(waits)
    }
}
