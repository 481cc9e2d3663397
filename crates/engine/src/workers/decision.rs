//! Decisions about tasks and workers, as the work log shows them.

use std::fmt;

use domain::{EscalationKind, Timestamp, WorkDecision};

/// The first line of a reason, short enough to be part of another.
pub fn first_line(reason: &str) -> String {
    domain::text::plain(reason.trim().lines().next().unwrap_or_default().trim_end_matches('.'), 300)
}

/// Why a worker lost its lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silence {
    /// Its runner was not heard from until the lease ended.
    Runner {
        /// How the worker is called.
        worker: String,
        /// When the lease ended.
        until: Timestamp,
    },
    /// The worker was not heard from until the lease ended.
    Worker {
        /// How the worker is called.
        worker: String,
        /// When the lease ended.
        until: Timestamp,
    },
    /// The worker had the task for as long as the project allows.
    TooLong {
        /// How the worker is called.
        worker: String,
        /// How many minutes that is.
        minutes: u32,
    },
    /// Heartbeats did not come.
    Heartbeats {
        /// How many in a row.
        missed: u32,
    },
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runner { worker, until } => {
                write!(f, "the runner of {worker} was not heard from until the lease ended at {until}")
            }
            Self::Worker { worker, until } => {
                write!(f, "{worker} was not heard from until its lease ended at {until}")
            }
            Self::TooLong { worker, minutes } => {
                write!(f, "{worker} had the task for {minutes} min, the longest allowed")
            }
            Self::Heartbeats { missed } => write!(f, "{missed} heartbeats in a row did not come"),
        }
    }
}

/// Why a worker takes tasks again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resume {
    /// Its pause is over.
    PauseOver,
    /// Its agent makes progress again.
    Progress,
    /// One task shows whether its agent can work again.
    Probe {
        /// What held it up.
        reason: String,
    },
    /// The outage is over.
    OutageOver {
        /// How.
        why: String,
    },
    /// Somebody raised its budget.
    Budget {
        /// Who.
        by: String,
    },
}

impl fmt::Display for Resume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PauseOver => f.write_str("the pause is over"),
            Self::Progress => f.write_str("its agent makes progress again"),
            Self::Probe { reason } => write!(f, "{reason}: one task shows whether it can work again"),
            Self::OutageOver { why } => f.write_str(why),
            Self::Budget { by } => write!(f, "{by} raised its budget: it takes tasks again"),
        }
    }
}

/// Whose workers somebody froze or thawed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// This worker.
    Worker,
    /// All of theirs, none of which is in the project.
    NoneHere,
}

/// What was decided, with the facts that its reason names.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant's sentence names its fields")]
pub enum Decision {
    /// A lease ended; `task` names the task where the entry's reader does not see it.
    LeaseLost { task: Option<String>, silence: Silence },
    /// A session is gone, for this reason.
    SessionLost { why: String },
    /// A report was refused for the `times`th of `most` times.
    SentBack { times: u32, most: u32, why: String },
    /// A worker gave up, as `tried` of `most` did.
    ToAnother { why: String, tried: u32, most: u32 },
    /// A worker may not continue.
    LetGo { why: String },
    /// A session ended with this question.
    WaitsForAnswer { question: String },
    /// A person is asked.
    Escalated { kind: EscalationKind, question: String },
    /// A person is asked something else than before, because of `why`.
    AskedAgain { why: String, question: String },
    /// Another try of the same agent is useless.
    Stuck { why: String },
    /// Somebody took a task over, perhaps `from` a worker; its work may stay on a runner that is `away`.
    TakenOver { by: String, from: Option<String>, away: bool },
    /// The work comes along from another runner.
    WorkMoves,
    /// How the move of the work ended.
    WorkMoved { note: String },
    /// Another runner checks the branch.
    CheckMoved { why: String },
    /// An output was not compared with others.
    NotCompared { why: String },
    /// Another output counts no more.
    ConflictGone { why: String },
    /// A lost worker's runner is back.
    RunnerBack,
    /// Somebody restarted a worker.
    Restarted { by: String },
    /// Somebody stopped a worker.
    Stopped { by: String, force: bool },
    /// Somebody stopped the session of a worker.
    SessionStopped { by: String },
    /// A worker failed too often.
    BreakerOpen { failures: u32, last: String },
    /// A worker that cooled down tries one task.
    BreakerTrial,
    /// A worker's own budget is spent.
    BudgetSpent { why: String },
    /// The project's budget is spent.
    ProjectBudgetSpent { why: String },
    /// A worker with a budget whose agent reports no cost.
    BudgetBlind { worker: String, agent: String },
    /// A worker pauses.
    Paused { why: String },
    /// An agent cannot work.
    Outage { why: String },
    /// A worker takes tasks again.
    Resumed(Resume),
    /// There are more workers.
    ScaledUp { why: String },
    /// There are fewer workers.
    ScaledDown { why: String },
    /// Somebody stopped everything of theirs.
    Frozen { by: String, scope: Scope },
    /// Somebody let their workers continue.
    Thawed { by: String, scope: Scope },
}

/// What the next worker is told when the work could not come along.
pub const WORK_AWAY: &str = "the runner that has the work is away, so the task starts over";

impl Decision {
    /// The word of the log entry.
    pub fn what(&self) -> WorkDecision {
        match self {
            Self::LeaseLost { .. } => WorkDecision::LeaseLost,
            Self::SessionLost { .. } => WorkDecision::SessionLost,
            Self::SentBack { .. } => WorkDecision::SentBack,
            Self::ToAnother { .. } => WorkDecision::ToAnother,
            Self::LetGo { .. } => WorkDecision::LetGo,
            Self::WaitsForAnswer { .. } => WorkDecision::WaitsForAnswer,
            Self::Escalated { .. } | Self::AskedAgain { .. } => WorkDecision::Escalated,
            Self::Stuck { .. } => WorkDecision::Stuck,
            Self::TakenOver { .. } => WorkDecision::TakenOver,
            Self::WorkMoves | Self::WorkMoved { .. } => WorkDecision::WorkMoves,
            Self::CheckMoved { .. } => WorkDecision::CheckMoved,
            Self::NotCompared { .. } => WorkDecision::NotCompared,
            Self::ConflictGone { .. } => WorkDecision::ConflictGone,
            Self::RunnerBack | Self::Restarted { .. } => WorkDecision::Restarted,
            Self::Stopped { .. } | Self::SessionStopped { .. } => WorkDecision::Stopped,
            Self::BreakerOpen { .. } => WorkDecision::BreakerOpen,
            Self::BreakerTrial => WorkDecision::BreakerTrial,
            Self::BudgetSpent { .. } | Self::ProjectBudgetSpent { .. } => WorkDecision::BudgetSpent,
            Self::BudgetBlind { .. } => WorkDecision::BudgetBlind,
            Self::Paused { .. } => WorkDecision::Paused,
            Self::Outage { .. } => WorkDecision::Outage,
            Self::Resumed(_) => WorkDecision::Resumed,
            Self::ScaledUp { .. } => WorkDecision::ScaledUp,
            Self::ScaledDown { .. } => WorkDecision::ScaledDown,
            Self::Frozen { .. } => WorkDecision::Frozen,
            Self::Thawed { .. } => WorkDecision::Thawed,
        }
    }
}

/// The reason, in words for everybody who sees the project.
impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeaseLost { task: Some(task), silence } => write!(f, "{task}: {silence}"),
            Self::LeaseLost { task: None, silence } => write!(f, "{silence}"),
            Self::SessionLost { why } => {
                write!(f, "{why}: the task goes back into the queue, and the worker is not blamed")
            }
            Self::SentBack { times, most, why } => {
                write!(f, "not accepted, back to its worker after {times} of {most} tries: {why}")
            }
            Self::ToAnother { why, tried, most } => {
                write!(f, "{why}: it goes to another worker, after {tried} of {most}")
            }
            Self::WaitsForAnswer { question } => write!(f, "its session ended with a question: {question}"),
            Self::Escalated { kind, question } => write!(f, "{}: {question}", kind.word().replace('_', " ")),
            Self::AskedAgain { why, question } => write!(f, "{why}; {question}"),
            Self::TakenOver { by, from, away } => {
                let from = from.as_ref().map(|name| format!(" from `{name}`")).unwrap_or_default();
                let away = if *away { format!("; {WORK_AWAY}") } else { String::new() };
                write!(f, "{by} took it over{from}{away}")
            }
            Self::WorkMoves => f.write_str("its work is on another runner and comes along"),
            Self::WorkMoved { note } => f.write_str(note),
            Self::CheckMoved { why } => write!(f, "{why}: another runner checks the branch"),
            Self::NotCompared { why } => write!(f, "it was not compared with other outputs: {why}"),
            Self::ConflictGone { why } => write!(f, "{why}, and it conflicts with nothing else"),
            Self::RunnerBack => f.write_str("its runner is back"),
            Self::Restarted { by } => write!(f, "{by} restarted it"),
            Self::Stopped { by, force } => {
                let how = if *force { " by force" } else { "" };
                write!(f, "{by} stopped it{how}: it takes no tasks until it is restarted")
            }
            Self::SessionStopped { by } => {
                write!(f, "{by} stopped its session: it takes no tasks until it is restarted")
            }
            Self::BreakerOpen { failures, last } => write!(f, "{failures} failures in a row; the last: {last}"),
            Self::BreakerTrial => f.write_str("its cool-down is over: one task shows whether it works again"),
            Self::ProjectBudgetSpent { why } => write!(f, "the project's budget is spent: {why}"),
            Self::BudgetBlind { worker, agent } => write!(
                f,
                "`{worker}` has a budget, but its agent `{agent}` reports tokens and no cost: until it reports a cost, no \
                 budget stops it"
            ),
            Self::Outage { why } => {
                write!(f, "{why}: no attempt counts, and its workers pause until one of them can work again")
            }
            Self::Resumed(why) => write!(f, "{why}"),
            Self::Frozen { by, scope: Scope::Worker } => {
                write!(f, "{by} stopped everything: it takes no tasks until {by} thaws it")
            }
            Self::Frozen { by, scope: Scope::NoneHere } => {
                write!(f, "{by} stopped everything of theirs: no worker takes tasks until {by} thaws it")
            }
            Self::Thawed { by, scope: Scope::Worker } => write!(f, "{by} thawed it: it takes tasks again"),
            Self::Thawed { by, scope: Scope::NoneHere } => {
                write!(f, "{by} thawed what they had stopped: none of their workers waited for it")
            }
            Self::LetGo { why }
            | Self::Stuck { why }
            | Self::BudgetSpent { why }
            | Self::Paused { why }
            | Self::ScaledUp { why }
            | Self::ScaledDown { why } => f.write_str(why),
        }
    }
}
