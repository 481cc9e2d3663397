//! Reviews: the changes of a task or a workspace, comments on their lines, and a person's approval of a task's.

use domain::{AuthorKind, DiffSide, ProjectId, ReportId, TaskId, ThreadId, ThreadStatus, Timestamp, WorkspaceId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::UserRef;
use crate::shapes::{inputs, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! reviews {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* reviews {
        changes {
            /// The comments on the changes of a task or a workspace, or their approval, changed.
            Review { review: ReviewLine },
        }
        answers {
            Review(Review),
            ReviewThread(ReviewThread),
        }
        verbs {
            /// The changes of a task: as its newest report has them, else as they are in its workspace.
            TaskDiff "task.diff" GET "/api/tasks/{task}/diff"
                { path task: TaskId } -> 200 crate::WorkspaceDiff, LookOnRunner;
            /// The comments on a task's changes, and their approval.
            ReviewList "review.list" GET "/api/tasks/{task}/review" { path task: TaskId } -> 200 Review, See;
            /// Comments on lines of a task's changes.
            ReviewComment "review.comment" POST "/api/tasks/{task}/review/comments"
                { path task: TaskId, body input: crate::ReviewComment } -> 201 ReviewThread, Write;
            /// The comments on the changes in a workspace that no task works in.
            WorkspaceReview "workspace.review" GET "/api/workspaces/{workspace}/review"
                { path workspace: WorkspaceId } -> 200 Review, Look;
            /// Comments on lines of the changes in a workspace that no task works in.
            WorkspaceComment "workspace.comment" POST "/api/workspaces/{workspace}/review/comments"
                { path workspace: WorkspaceId, body input: crate::ReviewComment } -> 201 ReviewThread, Write;
            /// Sends the open comments on a workspace to the caller's session in it.
            WorkspaceSendBack "workspace.send_back" POST "/api/workspaces/{workspace}/review/send-back"
                { path workspace: WorkspaceId, body input: crate::ReviewSendBack } -> 200 Review, DriveOnRunner;
            /// Replies in a thread of comments.
            ReviewReply "review.reply" POST "/api/review-threads/{thread}/reply"
                { path thread: ThreadId, body input: crate::ReviewReply } -> 201 ReviewThread, Write;
            /// Resolves a thread of comments, or reopens it.
            ReviewResolve "review.resolve" POST "/api/review-threads/{thread}/resolve"
                { path thread: ThreadId, body input: crate::ReviewResolve } -> 200 ReviewThread, Write;
            /// Sends the open comments to the agent, which continues; a report that waits is refused.
            ReviewSendBack "review.send_back" POST "/api/tasks/{task}/review/send-back"
                { path task: TaskId, body input: crate::ReviewSendBack } -> 200 Task, Decide;
            /// Approves the changes of a task's report; a report that waits for a person is accepted.
            ReviewApprove "review.approve" POST "/api/tasks/{task}/review/approve"
                { path task: TaskId, body input: crate::ReviewApprove } -> 200 Task, Decide;
        }
    } } };
}

pub(crate) use reviews;

inputs! {
    /// A comment that starts a thread on lines of a diff.
    ReviewComment {
        /// The path of the file.
        path: String,
        /// The side of the diff that `line` counts on; default: `new`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        side: Option<DiffSide>,
        /// The first line, from 1.
        line: u32,
        /// The last line; default: the first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        end_line: Option<u32>,
        /// The text of the lines, so that the comment is understood after they changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quote: Option<String>,
        /// The comment.
        text: String,
    }

    /// A reply in a thread.
    ReviewReply {
        /// The reply.
        text: String,
    }

    /// Whether a thread is resolved.
    ReviewResolve {
        /// `true` reopens it.
        #[serde(default)]
        #[ts(as = "Option<bool>")]
        reopen: bool,
    }

    /// What a person sends to the agent with the open comments.
    ReviewSendBack {
        /// A message to the agent; needed if no comment is open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    }

    /// What a person approves.
    ReviewApprove {
        /// The `tree` of the diff that the person has seen; refused if the report has another one. Default: the report's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<String>,
    }
}

/// What is reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ReviewOf {
    /// The changes of a task.
    Task {
        /// The task.
        task: TaskId,
    },
    /// The changes in a workspace that no task works in.
    Workspace {
        /// The workspace.
        workspace: WorkspaceId,
    },
}

impl std::fmt::Display for ReviewOf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Task { task } => task.fmt(f),
            Self::Workspace { workspace } => workspace.fmt(f),
        }
    }
}

views! {
    /// A comment in a thread.
    ThreadComment {
        /// Counts from 1 in each thread.
        number: u32,
        /// The author.
        author: UserRef,
        /// Whether the person or an agent of theirs wrote it.
        author_kind: AuthorKind,
        /// The text.
        text: String,
        /// When it was written.
        at: Timestamp,
    }

    /// Comments on the same lines of a task's or a workspace's changes.
    ReviewThread {
        /// The thread's id.
        id: ThreadId,
        /// The project.
        project: ProjectId,
        /// What is reviewed.
        of: ReviewOf,
        /// The path of the file.
        path: String,
        /// The side of the diff that the lines count on.
        side: DiffSide,
        /// The first line, from 1.
        line: u32,
        /// The last line.
        end_line: u32,
        /// The text of the lines when the thread began; absent if the receiver may not see execution.
        quote: Option<String>,
        /// What became of it.
        status: ThreadStatus,
        /// When the agent got it last.
        sent_at: Option<Timestamp>,
        /// Who resolved it.
        resolved_by: Option<UserRef>,
        /// The comments, first to last.
        comments: Vec<ThreadComment>,
        /// When it began.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
    }

    /// A person's approval of a report's changes.
    ReviewApproval {
        /// The report.
        report: ReportId,
        /// The tree that was approved; absent if no runner reported one.
        tree: Option<String>,
        /// Who approved.
        by: UserRef,
        /// The time.
        at: Timestamp,
    }

    /// The review of changes.
    Review {
        /// What is reviewed.
        of: ReviewOf,
        /// The threads, first to last.
        threads: Vec<ReviewThread>,
        /// The approval of the newest report, if it has one. Only tasks are approved.
        approval: Option<ReviewApproval>,
        /// The newest report that was not refused.
        report: Option<ReportId>,
        /// The tree of that report's changes: what can be approved.
        tree: Option<String>,
    }

    /// The review of changes, in numbers.
    ReviewLine {
        /// The project.
        project: ProjectId,
        /// What is reviewed.
        of: ReviewOf,
        /// Threads that the agent has not got yet.
        open: u32,
        /// Threads that the agent has got.
        sent: u32,
        /// Resolved threads.
        resolved: u32,
        /// Whether the newest report is approved.
        approved: bool,
    }
}
