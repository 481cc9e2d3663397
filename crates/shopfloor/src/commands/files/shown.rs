//! Files in `pending/` for tasks that others added, up to a limit.

use std::time::{Duration, Instant};

use domain::TaskId;

use super::paper::{Paper, plain_name};
use super::tree::Folder;
use super::{Desk, Trouble};
use crate::commands::words;

/// Minimum time between two counts of tasks without a file.
const RECOUNT: Duration = Duration::from_secs(2);

/// Tasks that have no file here, because there are too many.
#[derive(Debug, Default)]
pub(super) struct Showing {
    left_out: usize,
    /// Whether the number may have changed.
    stale: bool,
    due: Option<Instant>,
}

impl Showing {
    /// Whether there are open tasks without a file here.
    pub(super) fn leaves_out(&self) -> bool {
        self.left_out > 0
    }

    /// Whether it is time to count again.
    pub(super) fn is_due(&self) -> bool {
        self.stale && self.due.is_none_or(|due| due <= Instant::now())
    }

    /// A shown task is finished: its place is free.
    pub(super) fn make_room(&mut self) {
        self.stale |= self.left_out > 0;
    }
}

impl Desk<'_> {
    /// How many more tasks of others can be shown.
    pub(super) fn room(&self) -> usize {
        let is_shown = |(folder, paper): &&(Folder, Paper)| *folder == Folder::Pending && paper.mark.shown;
        self.args.show.saturating_sub(self.papers.values().filter(is_shown).count())
    }

    /// Creates a file for a task that others added.
    pub(super) async fn show(&mut self, task: TaskId) -> Result<(), Trouble> {
        if self.room() == 0 {
            self.showing.stale = true;
            return Ok(());
        }
        let Some(detail) = self.detail(task).await?.filter(|detail| !detail.task.status.is_over()) else {
            return Ok(());
        };
        let title = detail.task.description.lines().next().unwrap_or_default();
        let name = self.free_name(&plain_name(title));
        self.place(&name, Folder::Pending, Paper::shown(&detail.task))
    }

    /// Writes into the folder how many open tasks have no file; `took` is how long counting took.
    pub(super) fn leave_out(&mut self, many: usize, took: Duration) -> Result<(), Trouble> {
        let path = self.tree.more();
        let before = std::mem::replace(&mut self.showing.left_out, many);
        // Counting a long queue is slow: count rarely.
        self.showing.due = Some(Instant::now() + RECOUNT.max(took * 20));
        self.showing.stale = false;
        match many {
            0 => self.tree.remove(&path)?,
            _ if many == before => {}
            _ => {
                let tasks = words::counted(many, "more task has", "more tasks have");
                let text = format!(
                    "{tasks} no file here: pending/ shows at most {} tasks that others added (--show), oldest first. \
                     The others follow.\n",
                    self.args.show
                );
                self.tree.write(&path, &text)?;
            }
        }
        Ok(())
    }
}
