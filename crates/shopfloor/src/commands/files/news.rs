//! Changes of tasks on the hub, applied to their files.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use client::watch::Event;
use client::{Client, ClientError};
use domain::{ProjectId, ReportVerdict, TaskId, TaskStatus};
use protocol::{Call, Change, FromHub, ProblemKind, TaskDetail, TaskFilter, TaskLine};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::arrivals::beside;
use super::tree::Folder;
use super::{Desk, Trouble};

const PAGE: u32 = 1000;

/// Changes since the last round.
#[derive(Default)]
struct Heap {
    tasks: HashSet<TaskId>,
    /// Whether anything may have changed.
    all: bool,
    /// Whether any task of the project has changed, ours or not.
    any: bool,
}

/// Changes as the hub reports them.
pub(super) struct News {
    heap: Arc<Mutex<Heap>>,
    bell: Arc<Notify>,
    listener: JoinHandle<()>,
}

impl News {
    pub(super) fn start(client: &Client, project: ProjectId) -> Self {
        let heap = Arc::new(Mutex::new(Heap { all: true, any: true, ..Heap::default() }));
        let bell = Arc::new(Notify::new());
        let mut watch = client.watch().named("files");
        let (to, ring) = (heap.clone(), bell.clone());
        let listener = tokio::spawn(async move {
            // The next request meets a final error, too, and reports it.
            while let Ok(event) = watch.next().await {
                let mut heap = to.lock().unwrap_or_else(PoisonError::into_inner);
                match event {
                    Event::Frame(FromHub::Delta(delta)) => {
                        let Change::Tasks { tasks } = delta.change else { continue };
                        heap.tasks.extend(tasks.iter().filter(|line| line.project == project).map(|line| line.id));
                        heap.any = true;
                    }
                    Event::Frame(FromHub::Live { .. }) => (heap.all, heap.any) = (true, true),
                    _ => continue,
                }
                ring.notify_one();
            }
        });
        Self { heap, bell, listener }
    }

    /// Waits for a change.
    pub(super) async fn come(&self) {
        self.bell.notified().await;
    }

    /// Marks a task for the next round.
    pub(super) fn look_at(&self, task: TaskId) {
        self.heap().tasks.insert(task);
    }

    /// Whether no task is marked.
    pub(super) fn is_quiet(&self) -> bool {
        let heap = self.heap();
        heap.tasks.is_empty() && !heap.all
    }

    fn heap(&self) -> std::sync::MutexGuard<'_, Heap> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for News {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

impl Desk<'_> {
    /// Applies changed tasks to their files.
    pub(super) async fn hear(&mut self) -> Result<(), Trouble> {
        let Heap { mut tasks, all, any } = std::mem::take(&mut *self.news.heap());
        let all = all || self.showing.is_due();
        if any {
            self.hands.wake();
        }
        let heard = self.hear_of(&mut tasks, all).await;
        if heard.is_err() {
            let mut heap = self.news.heap();
            heap.tasks.extend(tasks);
            heap.all |= all;
        }
        heard
    }

    async fn hear_of(&mut self, tasks: &mut HashSet<TaskId>, all: bool) -> Result<(), Trouble> {
        if all {
            self.compare(tasks).await?;
        }
        for task in tasks.clone() {
            match self.name_of(task) {
                Some(name) => self.follow(&name, task).await?,
                None => self.show(task).await?,
            }
            tasks.remove(&task);
        }
        Ok(())
    }

    /// Marks every task whose file differs from the hub, or is missing.
    async fn compare(&mut self, tasks: &mut HashSet<TaskId>) -> Result<(), Trouble> {
        let (begun, room) = (Instant::now(), self.room());
        let (mut without, mut after) = (0, None);
        // Always check held tasks: a lease may be a new one under the same status.
        tasks.extend(
            self.papers.values().filter(|(folder, _)| *folder == Folder::Assigned).map(|(_, paper)| paper.mark.task),
        );
        loop {
            let filter = TaskFilter { project: Some(self.project), after, limit: Some(PAGE), ..TaskFilter::default() };
            let lines: Vec<TaskLine> = self.client.ask(Call::TaskList { filter }).await?;
            let known: std::collections::HashMap<TaskId, TaskStatus> =
                self.papers.values().map(|(_, paper)| (paper.mark.task, paper.mark.status)).collect();
            let differs = |line: &&TaskLine| known.get(&line.id).is_some_and(|status| *status != line.status);
            tasks.extend(lines.iter().filter(differs).map(|line| line.id));
            for line in lines.iter().filter(|line| !known.contains_key(&line.id) && !line.status.is_over()) {
                without += 1;
                if without <= room {
                    tasks.insert(line.id);
                }
            }
            match lines.last() {
                Some(last) if lines.len() as u32 >= PAGE => after = Some(last.id),
                _ => break,
            }
        }
        self.leave_out(without.saturating_sub(room), begun.elapsed())
    }

    /// The hub's view of a task, if it exists.
    pub(super) async fn detail(&self, task: TaskId) -> Result<Option<TaskDetail>, Trouble> {
        match self.client.ask(Call::TaskShow { task }).await {
            Ok(detail) => Ok(Some(detail)),
            Err(ClientError::Problem(problem)) if problem.kind == ProblemKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Applies the hub's view of a task to its file.
    async fn follow(&mut self, name: &str, task: TaskId) -> Result<(), Trouble> {
        let Some((folder, mut paper)) = self.papers.get(name).cloned() else { return Ok(()) };
        // The task is gone, perhaps with its project: its file stays as it is.
        let Some(detail) = self.detail(task).await? else { return Ok(()) };
        let before = paper.clone();
        paper.describe(&detail.task);
        let lease = detail.task.lease.as_ref().map(|lease| lease.fence);
        // While a report is checked there is no lease; it returns under the same fence if the report is refused.
        let judged = matches!(detail.task.status, TaskStatus::Reported | TaskStatus::Validating);
        if paper.mark.hold.is_some() && !judged && paper.mark.hold.as_ref().map(|hold| hold.fence) != lease {
            paper.give_back();
        }
        if let Some(report) = detail.reports.last() {
            paper.keep_report(report);
            if report.verdict == ReportVerdict::Refused && paper.mark.hold.is_some() {
                let reasons: Vec<&str> = report
                    .results
                    .iter()
                    .filter(|result| result.passed == Some(false))
                    .map(|result| result.reason.as_str())
                    .chain(report.reason.as_deref())
                    .collect();
                let text = reasons.join("\n");
                if paper.content.get("refused").and_then(|text| text.as_str()) != Some(text.as_str()) {
                    let note = beside(&self.tree.reports().join(format!("{name}.json")), "refused");
                    self.tree.write(&note, &format!("{text}\n\nFix it and write reports/{name}.json again.\n"))?;
                    paper.set("refused", Some(text.into()));
                }
            }
        }
        if paper.mark.hold.is_none() {
            self.tree.remove(&beside(&self.tree.reports().join(format!("{name}.json")), "refused"))?;
        }
        if paper != before {
            if paper.mark.shown && paper.mark.status.is_over() {
                self.showing.make_room();
            }
            self.place(name, folder, paper)?;
        }
        Ok(())
    }
}
