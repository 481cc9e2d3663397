//! Removes execution details from views for receivers who may not see them: one place for each view.
//!
//! `domain::can` decides who may see them. Opaque ids of sessions and workspaces count as details: a hidden thing must
//! look like a missing one.

use domain::{EscalationKind, LinkKind, UserId, WorkerId};

use crate::{
    ActedBy, Activity, Attempt, AuditEntry, Change, CriterionResult, Escalation, Execution, Handover, Message, Report,
    Task, TaskDetail, TaskLine, Version, Worker, WorkerDetail,
};

/// Replaces a text that the receiver may not see.
pub const NOT_SHARED: &str = "not shown: the project does not share execution";

/// A reason starts with what happened. In earlier releases, program output followed.
pub fn only_first_line(reason: &mut Option<String>) {
    if let Some(text) = reason
        && let Some(end) = text.find(['\n', '\r'])
    {
        text.truncate(end);
    }
}

/// A view with execution details.
pub trait Veil {
    /// Removes them.
    fn veil(&mut self);

    /// The view without them.
    fn veiled(mut self) -> Self
    where
        Self: Sized,
    {
        self.veil();
        self
    }
}

impl Veil for TaskLine {
    fn veil(&mut self) {
        self.session = None;
        only_first_line(&mut self.reason);
    }
}

impl Veil for Task {
    fn veil(&mut self) {
        self.session = None;
        only_first_line(&mut self.reason);
    }
}

impl Task {
    /// Removes the session of the agent that added it: that is the author's, regardless of its worker.
    pub fn veil_author(&mut self) {
        self.author_session = None;
    }
}

impl Veil for Worker {
    fn veil(&mut self) {
        self.session = None;
    }
}

impl Veil for Attempt {
    fn veil(&mut self) {
        self.sessions.clear();
        self.workspace = None;
        only_first_line(&mut self.reason);
    }
}

impl Veil for WorkerDetail {
    fn veil(&mut self) {
        self.worker.veil();
        self.attempts.iter_mut().for_each(|one| one.attempt.veil());
    }
}

impl Report {
    /// Removes what was read off the terminal. What a worker wrote itself, it wrote for the project.
    pub fn veil_summary(&mut self) {
        if self.collected {
            self.summary = NOT_SHARED.to_owned();
        }
    }

    /// Removes what the checks printed and read; whether each criterion is met stays. `open` replaces what was found,
    /// and `reason` why the report was refused.
    pub fn veil_results(&mut self, open: impl Fn(&CriterionResult) -> String, reason: Option<String>) {
        for result in &mut self.results {
            result.reason = open(result);
        }
        self.reason = reason;
    }
}

impl Veil for Handover {
    fn veil(&mut self) {
        self.session = None;
        self.workspace = None;
        only_first_line(&mut self.reason);
    }
}

impl Escalation {
    /// Removes the changes of the other of two conflicting outputs: they are another worker's.
    pub fn veil_other(&mut self) {
        self.context.other_diff = None;
    }
}

impl Veil for Escalation {
    fn veil(&mut self) {
        self.session = None;
        let context = &mut self.context;
        context.screen = None;
        context.diff = None;
        context.missing = None;
        // A question and its context are for people; the hub names conflicting outputs.
        let words =
            matches!(self.kind, EscalationKind::Question | EscalationKind::SameLines | EscalationKind::Contradiction);
        if !words && !context.text.is_empty() {
            context.text = NOT_SHARED.to_owned();
        }
    }
}

impl Veil for Execution {
    fn veil(&mut self) {
        // Expressions and errors can repeat what a program printed, also in the first line.
        if let Some(reason) = &mut self.reason {
            NOT_SHARED.clone_into(reason);
        }
    }
}

impl Veil for Activity {
    fn veil(&mut self) {
        self.links.retain(|link| !of_execution(link.kind));
    }
}

/// Whether a link of this kind names an execution.
pub fn of_execution(kind: LinkKind) -> bool {
    matches!(kind, LinkKind::Session | LinkKind::Workspace)
}

impl Veil for Message {
    fn veil(&mut self) {
        self.author_session = None;
    }
}

impl Veil for Version {
    fn veil(&mut self) {
        self.author_session = None;
    }
}

impl Veil for AuditEntry {
    fn veil(&mut self) {
        if let Some(ActedBy::Agent { session }) = &mut self.via {
            *session = None;
        }
    }
}

impl TaskDetail {
    /// Removes what the receiver may not see of related tasks.
    pub fn veil_lines(&mut self, looks: impl Fn(Option<WorkerId>) -> bool) {
        for line in self.deps.iter_mut().chain(&mut self.dependants).filter(|line| !looks(line.assigned_to)) {
            line.veil();
        }
    }
}

impl Change {
    /// Removes what its receiver may not see. `owner` is a worker's owner, as far as known; `looks` says whether the
    /// receiver may see what that person, or an unknown one, runs.
    pub fn veil(&mut self, owner: impl Fn(WorkerId) -> Option<UserId>, looks: impl Fn(Option<UserId>) -> bool) {
        let by = |worker: Option<WorkerId>| looks(worker.and_then(&owner));
        match self {
            Self::Tasks { tasks } => tasks.iter_mut().filter(|task| !by(task.assigned_to)).for_each(Veil::veil),
            Self::Workers { workers } => {
                workers.iter_mut().filter(|worker| !looks(Some(worker.owner.id))).for_each(Veil::veil);
            }
            Self::Escalation { escalation } => {
                if !by(escalation.worker) {
                    escalation.veil();
                }
                if !looks(None) {
                    escalation.veil_other();
                }
            }
            Self::Message { message, .. } if !looks(Some(message.author.id)) => message.veil(),
            Self::Activity { activity } if !looks(None) => activity.veil(),
            Self::Execution { execution } if !looks(Some(execution.started_by.id)) => execution.veil(),
            _ => {}
        }
    }

    /// Whether it has any execution details.
    pub fn has_execution(&self) -> bool {
        match self {
            Self::Tasks { tasks } => {
                let lines = |reason: &String| reason.contains('\n');
                tasks.iter().any(|task| task.session.is_some() || task.reason.as_ref().is_some_and(lines))
            }
            Self::Workers { workers } => workers.iter().any(|worker| worker.session.is_some()),
            Self::Message { message, .. } => message.author_session.is_some(),
            Self::Activity { activity } => activity.links.iter().any(|link| of_execution(link.kind)),
            Self::Execution { execution } => execution.reason.is_some(),
            Self::Escalation { .. } => true,
            _ => false,
        }
    }

    /// The owners of its execution details, as far as known.
    pub fn executions(&self, owner: impl Fn(WorkerId) -> Option<UserId>) -> Vec<UserId> {
        match self {
            Self::Tasks { tasks } => tasks.iter().filter_map(|task| task.assigned_to.and_then(&owner)).collect(),
            Self::Workers { workers } => workers.iter().map(|worker| worker.owner.id).collect(),
            Self::Escalation { escalation } => escalation.worker.and_then(&owner).into_iter().collect(),
            Self::Message { message, .. } => vec![message.author.id],
            Self::Execution { execution } => vec![execution.started_by.id],
            _ => Vec::new(),
        }
    }
}
