//! Merge queues: branches that are tested together and land on a target branch.

use domain::{
    ActivityId, CandidateId, CandidateState, CheckOutcome, MergeAdders, MergeGate, MergeMethod, MergePurpose,
    MergeRunId, MergeRunState, ProjectId, RunnerId, TaskId, Timestamp,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::UserRef;
use crate::shapes::{inputs, queries, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! merge {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* merge {
        changes {
            /// A merge queue moved.
            MergeQueue { queue: MergeQueue },
            /// A branch has left a merge queue: it landed, was sent back or was removed.
            Candidate { candidate: Candidate },
            /// How a project merges has changed.
            MergeSettings { project: ProjectId, settings: crate::MergeSettings },
        }
        answers {
            MergeQueues(Vec<MergeQueue>),
            MergeQueue(MergeQueue),
            Candidates(Vec<Candidate>),
            Candidate(Candidate),
            CandidateDetail(CandidateDetail),
            MergeForecast(MergeForecast),
            MergeSettings(crate::MergeSettings),
        }
        verbs {
            /// The merge queues of a project, one for each target branch.
            MergeList "merge.list" GET "/api/projects/{project}/merge"
                { path project: ProjectId } -> 200 Vec<MergeQueue>, See;
            /// Adds a branch to a merge queue.
            MergeAdd "merge.add" POST "/api/projects/{project}/merge"
                { path project: ProjectId, body input: crate::MergeAdd } -> 201 Candidate, Write;
            /// The branches that have left a project's merge queues, newest first.
            MergeHistory "merge.history" GET "/api/projects/{project}/merge/history"
                { path project: ProjectId, query page: MergePage } -> 200 Vec<Candidate>, See;
            /// What would be tested next and how long everything takes; changes nothing.
            MergeSimulate "merge.simulate" GET "/api/projects/{project}/merge/forecast"
                { path project: ProjectId, query what: MergeWhatIf } -> 200 MergeForecast, See;
            /// Pauses a merge queue: nothing is tested and nothing lands.
            MergePause "merge.pause" POST "/api/projects/{project}/merge/pause"
                { path project: ProjectId, body input: MergeGateChange } -> 200 MergeQueue, Decide;
            /// Freezes a merge queue: only fixes move.
            MergeFreeze "merge.freeze" POST "/api/projects/{project}/merge/freeze"
                { path project: ProjectId, body input: MergeGateChange } -> 200 MergeQueue, Decide;
            /// Lets a paused or frozen merge queue move again.
            MergeThaw "merge.thaw" POST "/api/projects/{project}/merge/thaw"
                { path project: ProjectId, body input: MergeGateChange } -> 200 MergeQueue, Decide;
            /// How a project merges.
            MergeSettings "merge.settings" GET "/api/projects/{project}/merge/settings"
                { path project: ProjectId } -> 200 crate::MergeSettings, See;
            /// Changes how a project merges.
            MergeConfigure "merge.configure" PATCH "/api/projects/{project}/merge/settings"
                { path project: ProjectId, body input: crate::MergeConfigure } -> 200 crate::MergeSettings, Owner;
            /// A branch in a merge queue, with its runs.
            MergeShow "merge.show" GET "/api/candidates/{candidate}"
                { path candidate: CandidateId } -> 200 CandidateDetail, See;
            /// Lets a branch land although the project has no checks.
            MergeConfirm "merge.confirm" POST "/api/candidates/{candidate}/confirm"
                { path candidate: CandidateId } -> 200 Candidate, Decide;
            /// Takes a branch out of its merge queue.
            MergeRemove "merge.remove" DELETE "/api/candidates/{candidate}"
                { path candidate: CandidateId } -> 200 Candidate, Write;
        }
    } } };
}

pub(crate) use merge;

inputs! {
    /// A branch to merge.
    MergeAdd {
        /// The branch at the repository's location.
        branch: String,
        /// The subject of its commit on the target branch; default: the branch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The branch to land on; default: the repository's base branch, else `main`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
        /// 0 to 9, the highest goes first; default: 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        priority: Option<u8>,
        /// Candidates that must land before it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<CandidateId>>")]
        after: Vec<CandidateId>,
        /// Whether it moves while the queue is frozen; only people can say so.
        #[serde(default)]
        #[ts(as = "Option<bool>")]
        fix: bool,
        /// The task whose work it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
    }

    /// Which queue to stop or to start.
    MergeGateChange {
        /// The target branch; default: the repository's base branch, else `main`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }

    /// Changes to how a project merges; absent fields stay unchanged.
    MergeConfigure {
        /// The commands that must pass, in order.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checks: Option<Vec<MergeCommand>>,
        /// How branches are merged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        method: Option<MergeMethod>,
        /// Who may add branches.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        adders: Option<MergeAdders>,
        /// Maximum number of runs at once, 1 to 8.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_once: Option<u32>,
    }
}

queries! {
    /// Which branches to list.
    #[derive(Copy)]
    MergePage {
        /// Maximum number, at most 500; default: 100.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }

    /// What to assume in a forecast; default: what is known.
    MergeWhatIf {
        /// The target branch; default: the repository's base branch, else `main`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
        /// How many branches wait, at most 30.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waiting: Option<u32>,
        /// How many of 100 branches fail.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure_percent: Option<u32>,
        /// Maximum number of runs at once, 1 to 8.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_once: Option<u32>,
    }
}

views! {
    /// A command that must pass before anything lands.
    MergeCommand {
        /// The program and its arguments; run in the root of the repository.
        argv: Vec<String>,
        /// The time limit in seconds.
        seconds: u32,
    }

    /// How a project merges.
    MergeSettings {
        /// The commands that must pass, in order. Without any, a person must confirm each branch.
        checks: Vec<MergeCommand>,
        /// How branches are merged.
        method: MergeMethod,
        /// Who may add branches.
        adders: MergeAdders,
        /// Maximum number of runs at once.
        at_once: u32,
    }

    /// A branch in a merge queue, or one that has left it.
    Candidate {
        /// Its id.
        id: CandidateId,
        /// The project that it is in.
        project: ProjectId,
        /// The branch to land on.
        target: String,
        /// The branch.
        branch: String,
        /// The subject of its commit on the target branch.
        title: String,
        /// The task whose work it is.
        task: Option<TaskId>,
        /// That task's activity.
        activity: Option<ActivityId>,
        /// 0 to 9, the highest goes first.
        priority: u8,
        /// Candidates that must land before it.
        after: Vec<CandidateId>,
        /// Whether it moves while the queue is frozen.
        fix: bool,
        /// How far it is.
        state: CandidateState,
        /// Why it was sent back, or what it waits for.
        reason: Option<String>,
        /// The run that decided it.
        run: Option<MergeRunId>,
        /// The commit that its branch was last seen at.
        head: Option<String>,
        /// The commit on the target branch, once it has landed.
        landed: Option<String>,
        /// Files that the checks name and that it changes.
        edits_checks: Vec<String>,
        /// When it is expected to have landed or left.
        expected_at: Option<Timestamp>,
        /// How many runs it was part of.
        runs: u32,
        /// Its share of the time of those runs, in milliseconds.
        #[ts(type = "number")]
        cost_ms: u64,
        /// Who added it.
        added_by: UserRef,
        /// Whether an agent added it for them.
        by_agent: bool,
        /// When it was added.
        added_at: Timestamp,
        /// When it left the queue.
        ended_at: Option<Timestamp>,
    }

    /// A merge queue: the branches that wait for one target branch.
    MergeQueue {
        /// The project that it is in.
        project: ProjectId,
        /// The target branch.
        target: String,
        /// Whether it moves.
        gate: MergeGate,
        /// Why it does not, or what it waits for.
        reason: Option<String>,
        /// The commit that the target branch was last seen at.
        tip: Option<String>,
        /// The branches, in order.
        candidates: Vec<Candidate>,
        /// The open runs.
        runs: Vec<MergeRun>,
        /// How many of 100 branches are expected to fail.
        failure_percent: u32,
        /// How many runs were red without a cause.
        flaky: u32,
        /// The checks that failed in those runs.
        flaky_checks: Vec<FlakyCheck>,
        /// The branches that failed together: at least one of them fails, and the next runs narrow it down. Empty: none.
        failed_together: Vec<CandidateId>,
        /// The branches that failed alone on a commit that is green: each is tested again before it is sent back.
        suspects: Vec<CandidateId>,
        /// How long the checks take, in milliseconds; absent until they ran.
        #[ts(type = "number | null")]
        check_ms: Option<u64>,
        /// When the queue is expected to be empty.
        expected_at: Option<Timestamp>,
        /// Whether the project has no checks, so that a person must confirm each branch.
        no_checks: bool,
    }

    /// A check that failed and passed on the same commit.
    FlakyCheck {
        /// The program and its arguments.
        argv: Vec<String>,
        /// How many runs it failed without a cause.
        runs: u32,
    }

    /// A test of branches together, or a push of what was tested.
    MergeRun {
        /// Its id.
        id: MergeRunId,
        /// What it is for.
        purpose: MergePurpose,
        /// What became of it.
        state: MergeRunState,
        /// The tip that it stands on.
        base: Option<String>,
        /// The branches, bottom first.
        candidates: Vec<CandidateId>,
        /// The runner.
        runner: Option<RunnerId>,
        /// The tested or pushed commit.
        commit: Option<String>,
        /// For people: what went wrong.
        detail: Option<String>,
        /// What became of each check.
        checks: Vec<MergeRunCheck>,
        /// When it was ordered.
        created_at: Timestamp,
        /// When its runner began.
        began_at: Option<Timestamp>,
        /// When it ended.
        ended_at: Option<Timestamp>,
    }

    /// What became of one check.
    MergeRunCheck {
        /// The program and its arguments.
        argv: Vec<String>,
        /// What became of it.
        outcome: CheckOutcome,
        /// How long it ran, in milliseconds.
        #[ts(type = "number")]
        duration_ms: u64,
        /// The end of its output.
        log: String,
    }

    /// A branch with its runs.
    CandidateDetail {
        /// The branch.
        candidate: Candidate,
        /// Its newest 50 runs, newest first.
        runs: Vec<MergeRun>,
    }

    /// What would be tested next, and how long everything takes.
    MergeForecast {
        /// How many branches wait.
        waiting: u32,
        /// How many of 100 branches are expected to fail.
        failure_percent: u32,
        /// Maximum number of runs at once.
        at_once: u32,
        /// How many branches, from the first, each of the next runs would test together.
        prefixes: Vec<u32>,
        /// Expected rounds of checks, in hundredths.
        rounds_percent: u32,
        /// Expected time, in milliseconds; absent until the checks ran.
        #[ts(type = "number | null")]
        expected_ms: Option<u64>,
        /// The branches in the order in which they would land.
        order: Vec<CandidateId>,
    }
}
