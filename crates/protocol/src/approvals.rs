//! Requests to a runner's owner to run other people's text on their machine.

use domain::{
    Answered, ApprovalId, ApprovalKind, GrantId, ProjectId, ReportId, RunnerId, SessionId, TaskId, Timestamp,
    WorkspaceId,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::shapes::{queries, views};
use crate::{Sandbox, UserRef};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! approvals {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* approvals {
        changes {
            /// The receiver is asked for an approval, or has answered.
            Approval { approval: Approval },
        }
        answers {
            Approvals(Vec<Approval>),
            Approval(Approval),
            Grants(Vec<Grant>),
        }
        verbs {
            /// The requests to run other people's text on the caller's runners.
            ApprovalList "approval.list" GET "/api/approvals"
                { query filter: ApprovalFilter } -> 200 Vec<Approval>, Person;
            /// One such request.
            ApprovalShow "approval.show" GET "/api/approvals/{approval}"
                { path approval: ApprovalId } -> 200 Approval, Mine;
            /// Answers a request.
            ApprovalAnswer "approval.answer" POST "/api/approvals/{approval}/answer"
                { path approval: ApprovalId, body input: crate::ApprovalAnswer } -> 200 Approval, Mine;
            /// The caller's grants.
            GrantList "grant.list" GET "/api/grants" {} -> 200 Vec<Grant>, Person;
            /// Revokes a grant.
            GrantRevoke "grant.revoke" DELETE "/api/grants/{grant}" { path grant: GrantId } -> 204 (), Mine;
        }
    } } };
}

pub(crate) use approvals;

queries! {
    /// Which requests to list.
    #[derive(Copy)]
    ApprovalFilter {
        /// Only those of this project.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<ProjectId>,
        /// Only those of this task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// Include answered requests; the newest 500.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answered: Option<bool>,
    }
}

views! {
    /// The author of something: a person or their agent.
    WrittenBy {
        /// The person.
        user: UserRef,
        /// The session whose agent wrote it; absent if it was not a session's agent.
        agent: Option<SessionId>,
        /// Whether an agent wrote it, in a session or with the person's own token.
        #[serde(default)]
        by_agent: bool,
    }

    /// A request to a runner's owner: somebody else's text would run on their machine.
    Approval {
        /// The request's id.
        id: ApprovalId,
        /// The project that it is for.
        project: ProjectId,
        /// The project's name.
        project_name: String,
        /// The runner that would run it.
        runner: RunnerId,
        /// The runner's name.
        runner_name: String,
        /// What kind of thing it is.
        kind: ApprovalKind,
        /// The exact text: a command, a path, a prompt, or settings with the files that they are in.
        text: String,
        /// A hash of the exact text.
        sha256: String,
        /// Who wrote it.
        author: WrittenBy,
        /// Why it would run, in one sentence.
        why: String,
        /// Whether it would run in a sandbox.
        sandbox: bool,
        /// That sandbox; absent if it would run without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        reach: Option<Sandbox>,
        /// The session that waits for it.
        session: Option<SessionId>,
        /// The report whose check waits for it.
        report: Option<ReportId>,
        /// The task that it is about.
        task: Option<TaskId>,
        /// Where it would run.
        workspace: Option<WorkspaceId>,
        /// When it was asked.
        created_at: Timestamp,
        /// The answer; absent while it is open.
        answer: Option<Answered>,
        /// When it was answered.
        answered_at: Option<Timestamp>,
    }

    /// A lasting approval.
    Grant {
        /// The permission's id.
        id: GrantId,
        /// The runner.
        runner: RunnerId,
        /// The project.
        project: ProjectId,
        /// The kind, when one exact text is allowed.
        kind: Option<ApprovalKind>,
        /// The exact text, when one is allowed.
        text: Option<String>,
        /// A hash of that text.
        sha256: Option<String>,
        /// The author whose texts are all allowed, or of the one text.
        author: UserRef,
        /// Whether it covers the author's agents, not the person.
        agents: bool,
        /// The sandbox in which it is allowed, or a tighter one; absent if it is also allowed without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        reach: Option<Sandbox>,
        /// When it was given.
        created_at: Timestamp,
    }
}

/// The answer of a runner's owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalAnswer {
    /// `once`, `text`, `author` or `denied`.
    pub answer: Answered,
}
