//! Decisions about tasks and workers, as the work log shows them.

use std::fmt;

use domain::{EscalationKind, Timestamp, WorkDecision};

/// The first line of a reason, cut to fit into another text.
pub fn first_line(reason: &str) -> String {
    domain::text::plain(reason.trim().lines().next().unwrap_or_default().trim_end_matches('.'), 300)
}

/// Why a worker lost its lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silence {
    /// The runner was silent until the lease ended.
    Runner {
        /// The worker's name.
        worker: String,
        /// When the lease ended.
        until: Timestamp,
    },
    /// The worker was silent until the lease ended.
    Worker {
        /// The worker's name.
        worker: String,
        /// When the lease ended.
        until: Timestamp,
    },
    /// The worker held the task for the project's maximum time.
    TooLong {
        /// The worker's name.
        worker: String,
        /// The maximum time in minutes.
        minutes: u32,
    },
    /// The worker missed heartbeats.
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
            Self::Heartbeats { missed } => write!(f, "{missed} heartbeats in a row were missed"),
        }
    }
}

/// Why a worker takes tasks again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resume {
    /// The pause ended.
    PauseOver,
    /// The agent makes progress again.
    Progress,
    /// The worker probes an outage with one task.
    Probe {
        /// The hold-up.
        reason: String,
    },
    /// The outage ended.
    OutageOver {
        /// The reason.
        why: String,
    },
    /// Somebody raised the budget.
    Budget {
        /// That person's name.
        by: String,
    },
}

impl fmt::Display for Resume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PauseOver => f.write_str("the pause is over"),
            Self::Progress => f.write_str("its agent makes progress again"),
            Self::Probe { reason } => write!(f, "{reason}: one task probes whether it can work again"),
            Self::OutageOver { why } => f.write_str(why),
            Self::Budget { by } => write!(f, "{by} raised its budget: it takes tasks again"),
        }
    }
}

/// The scope of a freeze or thaw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The entry's worker.
    Worker,
    /// All workers of the person, none of which is in the project.
    NoneHere,
}

/// A decision with the facts of its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant's sentence names its fields")]
pub enum Decision {
    /// A lease ended; `task` names the task where the reader of the entry does not see it.
    LeaseLost { task: Option<String>, silence: Silence },
    /// A session was lost.
    SessionLost { why: String },
    /// A report was refused for the `times`th of `most` times.
    SentBack { times: u32, most: u32, why: String },
    /// A worker gave up, as `tried` of at most `most` did.
    ToAnother { why: String, tried: u32, most: u32 },
    /// A worker may not continue.
    LetGo { why: String },
    /// A session ended with this question.
    WaitsForAnswer { question: String },
    /// A person is asked.
    Escalated { kind: EscalationKind, question: String },
    /// A person is asked another question than before, because of `why`.
    AskedAgain { why: String, question: String },
    /// Another attempt by the same agent is useless.
    Stuck { why: String },
    /// Somebody took a task over, perhaps `from` a worker; `away` if its work stays on an offline runner.
    TakenOver { by: String, from: Option<String>, away: bool },
    /// The work moves from another runner.
    WorkMoves,
    /// The accepted work that a task builds on is brought from other runners.
    WorksBrought,
    /// The move of the work ended.
    WorkMoved { note: String },
    /// Another runner checks the branch.
    CheckMoved { why: String },
    /// An output was not compared with others.
    NotCompared { why: String },
    /// The conflicting output no longer counts.
    ConflictGone { why: String },
    /// A lost worker's runner reconnected.
    RunnerBack,
    /// Somebody restarted a worker.
    Restarted { by: String },
    /// Somebody stopped a worker.
    Stopped { by: String, force: bool },
    /// Somebody stopped the session of a worker.
    SessionStopped { by: String },
    /// A worker failed too often.
    BreakerOpen { failures: u32, last: String },
    /// A worker tries one task after its cool-down.
    BreakerTrial,
    /// A worker's own budget is spent.
    BudgetSpent { why: String },
    /// The project's budget is spent.
    ProjectBudgetSpent { why: String },
    /// No budget can stop a worker whose agent reports no cost.
    BudgetBlind { worker: String, agent: String },
    /// A worker pauses.
    Paused { why: String },
    /// An agent cannot work.
    Outage { why: String },
    /// A worker takes tasks again.
    Resumed(Resume),
    /// Scaling added a worker.
    ScaledUp { why: String },
    /// Scaling removed a worker.
    ScaledDown { why: String },
    /// Somebody froze their workers.
    Frozen { by: String, scope: Scope },
    /// Somebody thawed their workers.
    Thawed { by: String, scope: Scope },
}

/// The note for the next worker when the work could not be moved.
pub const WORK_AWAY: &str = "the runner that has the work is away, so the task starts over";

impl Decision {
    /// The kind of the log entry.
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
            Self::WorkMoves | Self::WorkMoved { .. } | Self::WorksBrought => WorkDecision::WorkMoves,
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

/// The reason as text for everybody who sees the project.
impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeaseLost { task: Some(task), silence } => write!(f, "{task}: {silence}"),
            Self::LeaseLost { task: None, silence } => write!(f, "{silence}"),
            Self::SessionLost { why } => {
                write!(f, "{why}: the task returns to the queue, and the worker is not blamed")
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
            Self::WorkMoves => f.write_str("its work moves here from another runner"),
            Self::WorksBrought => f.write_str("the work that it builds on comes from another runner"),
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
            Self::BreakerTrial => f.write_str("its cool-down is over: one task probes whether it works again"),
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
