//! Applies the hub's desired state: journaled first, then executed.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::{SessionId, SessionStatus};
use protocol::SessionState;
use protocol::link::{DesiredCheck, DesiredMerge, DesiredSession, FactBody, ProjectForks, Retention, WishAnswer};

use crate::JournalError;
use crate::approvals::Approvals;
use crate::checks::Checker;
use crate::clock::now;
use crate::folders::Folders;
use crate::journal::{Change, Journal, Memory, SessionRow, Step};
use crate::merges::Merger;
use crate::reconcile::{Action, Phase, Wish, reconcile};
use crate::recordings::Recordings;
use crate::sessions::{Order, Sessions, Supervisor, lease_of, left_a_trace, lost};
use crate::workspaces::Workspaces;

const NOT_HERE: &str = "its runner does not know it: the runner was started with another data directory, or its data directory was deleted";

/// The hub's desired state of this runner.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) generation: u64,
    pub(crate) sessions: Vec<DesiredSession>,
    pub(crate) keep: Vec<SessionId>,
    pub(crate) checks: Vec<DesiredCheck>,
    pub(crate) merges: Vec<DesiredMerge>,
    pub(crate) retention: Vec<Retention>,
    pub(crate) answers: Vec<WishAnswer>,
    pub(crate) forks: Vec<ProjectForks>,
}

/// Applies the hub's desired state.
#[derive(Debug)]
pub(crate) struct Reconciler {
    pub(crate) journal: Arc<Journal>,
    pub(crate) folders: Folders,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) supervisor: Arc<Supervisor>,
    pub(crate) checker: Arc<Checker>,
    pub(crate) merger: Arc<Merger>,
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) recordings: Arc<Recordings>,
    pub(crate) workspaces: Arc<Workspaces>,
}

impl Reconciler {
    /// Applies the desired state, or starts to. Safe to repeat.
    pub(crate) async fn take_in(&self, wanted: &Wanted) -> Result<(), JournalError> {
        let journal = &self.journal;
        let ids: Vec<_> = wanted.sessions.iter().map(|desired| desired.session).collect();
        let rows: BTreeMap<_, _> = journal.known(&ids).await?.into_iter().map(|row| (row.session, row)).collect();
        let mut known = BTreeMap::new();
        for row in rows.values() {
            known.insert(row.session, self.phase(row).await?);
        }
        let wishes = wanted.sessions.iter().map(|desired| (desired.session, self.wish(desired))).collect();
        let actions = match reconcile(journal.head().await?.generation, wanted.generation, &wishes, &known) {
            Ok(actions) => actions,
            Err(older) => {
                tracing::warn!(%older, "refused an older desired state");
                return Ok(());
            }
        };
        let (mut changes, mut facts) = (vec![Change::Generation(wanted.generation)], Vec::new());
        for desired in &wanted.sessions {
            changes.push(Change::Desired(Box::new(desired.clone()), Step::Accepted));
        }
        changes.push(Change::Keep(wanted.keep.clone()));
        changes.extend(wanted.checks.iter().map(|check| Change::Check(Box::new(check.clone()))));
        changes.push(Change::OnlyChecks(wanted.checks.iter().map(|check| check.report).collect()));
        changes.extend(wanted.merges.iter().map(|merge| Change::Merge(Box::new(merge.clone()))));
        changes.push(Change::OnlyMerges(wanted.merges.iter().map(|merge| merge.run).collect()));
        for action in &actions {
            match action {
                Action::Decline(session) => {
                    let state = over("it was stopped before it started");
                    changes.push(Change::Step(*session, Step::Ended));
                    changes.push(remember(*session, &state));
                    facts.push(FactBody::SessionState { session: *session, state });
                }
                Action::Miss(session) => {
                    tracing::warn!(%session, "the session was started, but not in this data directory: it is lost");
                    let state = lost(NOT_HERE);
                    changes.push(Change::Step(*session, Step::Ended));
                    changes.push(remember(*session, &state));
                    facts.push(FactBody::SessionState { session: *session, state });
                }
                Action::TellAgain(session) => {
                    let state = rows.get(session).and_then(|row| row.memory.state.clone());
                    let state = state.unwrap_or_else(|| over("how it exited is unknown"));
                    facts.push(FactBody::SessionState { session: *session, state });
                }
                Action::Start(_) | Action::Stop { .. } => {}
            }
        }
        journal.write(&changes, &facts).await;
        failpoint::pass("runner.accepted");
        // Only now is it known what to keep.
        let retention: BTreeMap<_, _> = wanted.retention.iter().map(|of| (of.project, of.days)).collect();
        self.recordings.retain(retention);
        self.approvals.take_in(&wanted.answers);
        self.workspaces.compare_with(&wanted.forks).await?;
        for desired in &wanted.sessions {
            self.sessions.lease(desired.session, lease_of(desired));
        }
        for session in &wanted.keep {
            self.sessions.order(*session, Order::Keep);
        }
        for action in actions {
            match action {
                Action::Start(session) => {
                    if let Some(row) = journal.session(session).await? {
                        self.supervisor.begin(row);
                    }
                }
                Action::Stop { session, force } => self.sessions.stop(session, force),
                Action::Decline(_) | Action::Miss(_) | Action::TellAgain(_) => {}
            }
        }
        self.merger.take_in(&wanted.merges).await?;
        self.checker.take_in(&wanted.checks).await
    }

    async fn phase(&self, row: &SessionRow) -> Result<Phase, JournalError> {
        Ok(match row.step {
            Step::Ended => Phase::Ended { owed: self.journal.owes(row.session).await? },
            _ => self.sessions.stopping(row.session).map_or(Phase::Active, |force| Phase::Stopping { force }),
        })
    }

    /// The hub's wish for a session. A session that was started and left traces here is found by them, even without the
    /// journal.
    fn wish(&self, desired: &DesiredSession) -> Wish {
        match desired.run {
            true if desired.begun && !left_a_trace(&self.folders.session(desired.session)) => Wish::GoOn,
            true => Wish::Run,
            false => Wish::Stop { force: desired.force },
        }
    }
}

fn over(why: &str) -> SessionState {
    let detail = Some(why.to_owned());
    SessionState { status: SessionStatus::Exited, detail, code: None, signal: None, since: now() }
}

fn remember(session: SessionId, state: &SessionState) -> Change {
    Change::Memory(session, Box::new(Memory { state: Some(state.clone()), ..Memory::default() }))
}
