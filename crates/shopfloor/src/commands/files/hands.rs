//! `assigned/`: takes, renews and returns tasks for the folder.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use client::{ClientError, View};
use domain::{TaskStatus, Timestamp};
use protocol::{Call, Lease, ProblemKind, Taken, TaskFilter, TaskHeartbeat, TaskLine, TaskRelease, TaskTake};

use super::paper::{Mark, Paper, plain_name};
use super::state::Taking;
use super::tree::Folder;
use super::{Desk, Trouble};
use crate::commands::words;

/// How long not to ask again after there was no task, unless something changes.
const PAUSE: Duration = Duration::from_secs(5);

/// How long a worker rests after it returned a task: nobody seems to work here, and others may want it.
const REST: Duration = Duration::from_secs(60);

/// What is due when.
#[derive(Debug, Default)]
pub(super) struct Hands {
    beats: HashMap<String, Instant>,
    nothing_until: Option<Instant>,
    /// Resting workers, and until when.
    resting: HashMap<String, Instant>,
}

impl Hands {
    /// Something changed: there may be a task now.
    pub(super) fn wake(&mut self) {
        self.nothing_until = None;
    }
}

impl Desk<'_> {
    /// Renews held tasks and returns those that nobody seems to work on.
    pub(super) async fn renew(&mut self) -> Result<(), Trouble> {
        let held: Vec<(String, Mark)> = self
            .papers
            .iter()
            .filter(|(_, (folder, _))| *folder == Folder::Assigned)
            .map(|(name, (_, paper))| (name.clone(), paper.mark.clone()))
            .collect();
        self.hands.beats.retain(|name, _| held.iter().any(|(held, _)| held == name));
        for (name, mark) in held {
            let Some(hold) = &mark.hold else { continue };
            if self.is_forgotten(&name, mark.status) {
                let minutes = words::counted(self.args.give_back, "minute", "minutes");
                let reason = Some(format!("no report for {minutes}"));
                let input = TaskRelease { fence: hold.fence, reason };
                self.lenient(Call::TaskRelease { task: mark.task, input }).await?;
                self.hands.resting.insert(hold.worker.clone(), Instant::now() + REST);
                self.news.look_at(mark.task);
                continue;
            }
            if self.hands.beats.get(&name).is_some_and(|due| *due > Instant::now()) {
                continue;
            }
            let input = TaskHeartbeat { fence: hold.fence, progress: None };
            if self.lenient(Call::TaskHeartbeat { task: mark.task, input }).await?.is_none() {
                // Lost, or being checked: the task's status on the hub decides.
                self.news.look_at(mark.task);
            }
            let every = Duration::from_secs(u64::from(hold.heartbeat_seconds.max(1)));
            self.hands.beats.insert(name, Instant::now() + every);
        }
        Ok(())
    }

    /// Sends a request that the hub may refuse because the task changed; then there is no answer.
    async fn lenient(&self, call: Call) -> Result<Option<Lease>, Trouble> {
        match self.client.call(call).await {
            Ok(answer) => Ok(Lease::from_answer(answer)),
            Err(ClientError::Problem(problem))
                if matches!(problem.kind, ProblemKind::Conflict | ProblemKind::NotFound) =>
            {
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Whether there was neither a report nor a change of the file for too long.
    fn is_forgotten(&self, name: &str, status: TaskStatus) -> bool {
        let works = matches!(status, TaskStatus::Assigned | TaskStatus::Running);
        let limit = Duration::from_secs(self.args.give_back.saturating_mul(60));
        let path = self.tree.path(Folder::Assigned, name);
        let touched = std::fs::symlink_metadata(path).and_then(|looks| looks.modified()).ok();
        works && touched.and_then(|at| at.elapsed().ok()).is_some_and(|age| age >= limit)
    }

    /// Takes tasks for free places in `assigned/`.
    pub(super) async fn take(&mut self) -> Result<(), Trouble> {
        if let Some(taking) = self.state.taking.clone() {
            self.take_for(taking).await?;
        }
        for place in 1..=self.args.assign {
            let worker = match self.args.assign {
                1 => self.worker.clone(),
                _ => format!("{}-{place}", self.worker),
            };
            let has = |paper: &Paper| paper.mark.hold.as_ref().is_some_and(|hold| hold.worker == worker);
            let busy = self.papers.values().any(|(folder, paper)| *folder == Folder::Assigned && has(paper));
            let rests = self.hands.resting.get(&worker).is_some_and(|until| *until > Instant::now());
            if busy || rests || self.hands.nothing_until.is_some_and(|until| until > Instant::now()) {
                continue;
            }
            if !self.is_anything_ready().await? {
                self.hands.nothing_until = Some(Instant::now() + PAUSE);
                return Ok(());
            }
            let taking = Taking { worker, key: self.state.next_key() };
            // Stored first: after a crash the same key returns the same task.
            self.state.taking = Some(taking.clone());
            self.state.save(&self.tree)?;
            self.take_for(taking).await?;
        }
        Ok(())
    }

    async fn is_anything_ready(&self) -> Result<bool, Trouble> {
        let filter = TaskFilter {
            project: Some(self.project),
            status: Some(TaskStatus::Ready),
            limit: Some(1),
            ..TaskFilter::default()
        };
        let lines: Vec<TaskLine> = self.client.ask(Call::TaskList { filter }).await?;
        Ok(!lines.is_empty())
    }

    async fn take_for(&mut self, taking: Taking) -> Result<(), Trouble> {
        let input = TaskTake { task: None, worker: Some(taking.worker.clone()), abilities: vec![], wait_seconds: None };
        let call = Call::TaskTake { project: self.project, input };
        let answer = match self.client.call_with_key(call, Some(&taking.key)).await {
            // The worker is stopped or frozen: it may take a task later, with another key.
            Err(ClientError::Problem(problem))
                if matches!(problem.kind, ProblemKind::Conflict | ProblemKind::Invalid) =>
            {
                self.out.note(&format!("no task taken: {}", problem.detail));
                None
            }
            other => Taken::from_answer(other?).and_then(|answer| answer.taken),
        };
        match answer {
            None => self.hands.nothing_until = Some(Instant::now() + PAUSE),
            Some(taken) => {
                let name = self.name_of(taken.task.id).unwrap_or_else(|| {
                    let title = taken.task.description.lines().next().unwrap_or_default();
                    self.free_name(&plain_name(title))
                });
                let known = self.papers.get(&name).cloned();
                let fresh = || {
                    let mark = Mark { task: taken.task.id, status: taken.task.status, shown: false, hold: None };
                    (Folder::Pending, Paper { mark, content: Default::default() })
                };
                let (folder, mut paper) = known.unwrap_or_else(fresh);
                let held = paper.mark.hold.as_ref().map(|hold| hold.fence);
                if held != Some(taken.lease.fence) && folder != Folder::Completed {
                    paper.give(&taken, &taking.worker, &name, now());
                    self.place(&name, folder, paper)?;
                }
                self.news.look_at(taken.task.id);
            }
        }
        self.state.taking = None;
        self.state.save(&self.tree)?;
        Ok(())
    }
}

fn now() -> Timestamp {
    Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
}
