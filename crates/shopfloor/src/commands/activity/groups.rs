//! Activities in groups: open work, what has ended without being closed, and finished ones.

use domain::WorkerStatus;
use engine::activities::{Group, Sessions, group};
use protocol::{Activity, Project, Session, Worker};

use crate::commands::words;
use crate::table::{Style, Table};
use crate::{Output, when};

/// Activities by group, in their given order.
pub(super) struct Grouped {
    open: Vec<Activity>,
    ended: Vec<Activity>,
    finished: Vec<Activity>,
}

impl Grouped {
    /// Groups activities by their sessions.
    pub(super) fn of(activities: Vec<Activity>, sessions: &[Session], workers: &[Worker]) -> Self {
        let mut grouped = Self { open: Vec::new(), ended: Vec::new(), finished: Vec::new() };
        for activity in activities {
            let own = sessions.iter().filter(|session| session.activity == activity.id);
            let up = |worker: &Worker| !matches!(worker.status, WorkerStatus::Stopped | WorkerStatus::Stopping);
            let works = || workers.iter().any(|worker| worker.project == activity.project && up(worker));
            let facts = own.fold(Sessions::default(), |facts, session| {
                let over = session.state.ended();
                Sessions {
                    running: facts.running + usize::from(!over),
                    ended: facts.ended + usize::from(over),
                    continues: facts.continues || (session.worker.is_some() && works()),
                }
            });
            match group(activity.status, facts) {
                Group::Open => grouped.open.push(activity),
                Group::Ended => grouped.ended.push(activity),
                Group::Finished => grouped.finished.push(activity),
            }
        }
        grouped
    }

    /// One table for each group that has any.
    pub(super) fn text(&self, projects: &[Project], out: &Output) -> String {
        let mut parts = Vec::new();
        if !self.open.is_empty() || self.ended.len() + self.finished.len() == 0 {
            parts.push(table(&self.open, projects, out));
        }
        if !self.ended.is_empty() {
            let head = Style::Bold.paint(&format!("Ended, not closed ({})", self.ended.len()), out.color);
            let hint = "close one with `shopfloor activity update ID --status completed` (or abandoned)";
            let hint = Style::Dim.paint(hint, out.color);
            parts.push(format!("{head}\n{}\n{hint}", table(&self.ended, projects, out)));
        }
        if !self.finished.is_empty() {
            let head = Style::Bold.paint(&format!("Finished ({})", self.finished.len()), out.color);
            parts.push(format!("{head}\n{}", table(&self.finished, projects, out)));
        }
        parts.join("\n\n")
    }
}

fn table(activities: &[Activity], projects: &[Project], out: &Output) -> String {
    let mut table = Table::new(&["ID", "STATUS", "NAME…", "PROJECT…", "OWNER…", "UPDATED"], "no activities");
    for activity in activities {
        let project = projects.iter().find(|project| project.id == activity.project);
        table.row([
            activity.id.into(),
            words::status_cell(activity.status),
            (&activity.name).into(),
            project.map_or_else(|| activity.project.to_string(), |project| project.name.clone()).into(),
            (&activity.owner.name).into(),
            when::relative(activity.updated_at, out.now).into(),
        ]);
    }
    table.render(out)
}
