//! Handoffs: one session's work continues in a fresh session, which gets a document about it.

use domain::{
    ActivityId, HandoffId, HandoffOutcome, HandoffStatus, HandoffStep, HandoffWriter, ProjectId, RunnerId, SessionId,
    TaskId, Timestamp, UserId, WorkspaceId,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::shapes::{inputs, queries, views};
use crate::{DiffLine, UserRef};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! handoff {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* handoff {
        changes {
            /// A handoff began or moved.
            Handoff { handoff: Handoff },
        }
        answers {
            Handoffs(Vec<Handoff>),
            HandoffDetail(HandoffDetail),
            HandoffComparison(HandoffComparison),
            HandoffSettings(crate::HandoffSettings),
            Handoff(Handoff),
        }
        verbs {
            /// The newest handoffs that the caller may see, newest first.
            HandoffList "handoff.list" GET "/api/handoffs" { query filter: HandoffFilter } -> 200 Vec<Handoff>, Anyone;
            /// One handoff with its document.
            HandoffShow "handoff.show" GET "/api/handoffs/{handoff}"
                { path handoff: HandoffId } -> 200 HandoffDetail, Look;
            /// Compares the document of a handoff with that of another one; without another one, with its own as it was
            /// before a person edited it.
            HandoffCompare "handoff.compare" GET "/api/handoffs/{handoff}/compare"
                { path handoff: HandoffId, query with: HandoffOther } -> 200 HandoffComparison, Look;
            /// How the handoffs of a project are written and kept.
            HandoffSettings "handoff.settings" GET "/api/projects/{project}/handoff"
                { path project: ProjectId } -> 200 crate::HandoffSettings, See;
            /// Changes how the handoffs of a project are written and kept.
            HandoffConfigure "handoff.configure" PATCH "/api/projects/{project}/handoff"
                { path project: ProjectId, body input: crate::HandoffConfigure } -> 200 crate::HandoffSettings, Owner;
            /// Hands a session off: a document, the saved work, and a fresh session that continues. A session has one
            /// handoff at a time.
            HandoffBegin "handoff.begin" POST "/api/sessions/{session}/handoff"
                { path session: SessionId, body input: crate::HandoffBegin } -> 201 Handoff, Drive;
            /// Writes the prose of the document; for the agent of the session, or its owner.
            HandoffWrite "handoff.write" POST "/api/handoffs/{handoff}/write"
                { path handoff: HandoffId, body input: HandoffProse } -> 200 Handoff, Drive;
            /// Changes the document before the fresh session starts, and lets the handoff continue.
            HandoffEdit "handoff.edit" PATCH "/api/handoffs/{handoff}"
                { path handoff: HandoffId, body input: crate::HandoffEdit } -> 200 Handoff, Drive;
            /// Tries the failed step again.
            HandoffRetry "handoff.retry" POST "/api/handoffs/{handoff}/retry"
                { path handoff: HandoffId } -> 200 Handoff, Drive;
            /// Goes on without the current step, if it is one of `write`, `save` and `publish`.
            HandoffSkip "handoff.skip" POST "/api/handoffs/{handoff}/skip"
                { path handoff: HandoffId } -> 200 Handoff, Drive;
            /// Cancels a handoff. Sessions that run or were stopped stay as they are.
            HandoffCancel "handoff.cancel" POST "/api/handoffs/{handoff}/cancel"
                { path handoff: HandoffId } -> 200 Handoff, Drive;
            /// Acknowledges the document by its hash; for the agent of the fresh session, or its owner.
            HandoffAck "handoff.ack" POST "/api/handoffs/{handoff}/ack"
                { path handoff: HandoffId, body input: crate::HandoffAck } -> 200 Handoff, Drive;
        }
    } } };
}

pub(crate) use handoff;

inputs! {
    /// How a session is handed off.
    HandoffBegin {
        /// The runner of the fresh session; default: the session's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runner: Option<RunnerId>,
        /// The person who continues, on a runner of theirs; default: the session's owner.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        person: Option<UserId>,
        /// The goal of the fresh session; default: to continue.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        goal: Option<String>,
        /// Whether a person edits the document before the session stops.
        #[serde(default)]
        #[ts(as = "Option<bool>")]
        edit: bool,
        /// Whether the saved commit is pushed to the repository, as a branch of its own; otherwise its runner keeps it.
        #[serde(default)]
        #[ts(as = "Option<bool>")]
        push: bool,
        /// The agent of the fresh session; default: the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// Its model; default: the same for the same agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The role whose template the document follows; default: that of the session's worker.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
        /// How long the agent may write the document, at most 3600 seconds; default: 120. Then its recording is used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait_seconds: Option<u32>,
    }

    /// The prose of a handoff's document.
    HandoffProse {
        /// What is done.
        #[serde(default)]
        #[ts(as = "Option<String>")]
        done: String,
        /// What remains.
        #[serde(default)]
        #[ts(as = "Option<String>")]
        remaining: String,
        /// What was tried and failed.
        #[serde(default)]
        #[ts(as = "Option<String>")]
        tried: String,
        /// Open questions.
        #[serde(default)]
        #[ts(as = "Option<String>")]
        questions: String,
        /// The next step.
        #[serde(default)]
        #[ts(as = "Option<String>")]
        next: String,
        /// Other sections, as the project's template asks for them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<HandoffSection>>")]
        sections: Vec<HandoffSection>,
    }

    /// A section of a handoff's document.
    HandoffSection {
        /// Its title, as in the template.
        title: String,
        /// Its text.
        text: String,
    }

    /// Changes to how the handoffs of a project are written and kept; absent fields stay unchanged.
    HandoffConfigure {
        /// Whether each document is also a file in the workspace, `.shopfloor/handoffs/ID.md`, saved with the work.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keep_files: Option<bool>,
        /// The sections of documents: lines `Title: what the agent writes there`, for everybody until a line `[role]`;
        /// empty: the standard sections.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        templates: Option<String>,
    }

    /// A change to the document of a handoff.
    HandoffEdit {
        /// The whole prose, in Markdown; absent: unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Whether the handoff continues now.
        #[serde(default)]
        #[ts(as = "Option<bool>")]
        start: bool,
    }

    /// Proves that the document was read.
    HandoffAck {
        /// The hash at the end of the document's front matter.
        hash: String,
    }
}

queries! {
    /// Which handoffs to list.
    #[derive(Copy)]
    HandoffFilter {
        /// Only those of this project.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<ProjectId>,
        /// Only those of this activity.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        activity: Option<ActivityId>,
        /// Only those from or to this session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// Maximum number, at most 200; default: 100.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

queries! {
    /// What to compare a handoff's document with.
    #[derive(Copy)]
    HandoffOther {
        /// The handoff with the newer document; default: the same one, as a person edited it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<HandoffId>,
    }
}

views! {
    /// A handoff of one session's work to a fresh session.
    Handoff {
        /// Its id.
        id: HandoffId,
        /// The project that it is in.
        project: ProjectId,
        /// The activity of both sessions.
        activity: ActivityId,
        /// The session that hands off.
        session: SessionId,
        /// Its title.
        title: String,
        /// Its workspace.
        workspace: WorkspaceId,
        /// Its runner.
        runner: RunnerId,
        /// Its owner.
        owner: UserRef,
        /// Its task.
        task: Option<TaskId>,
        /// The runner of the fresh session.
        to_runner: RunnerId,
        /// The owner of the fresh session.
        to: UserRef,
        /// The agent of the fresh session.
        agent: String,
        /// Whether it takes the session's task over.
        takes_over: bool,
        /// Whether the agent of the session is asked for the document; otherwise it is made from the recording.
        writes: bool,
        /// Whether an agent acknowledges the document in the fresh session; otherwise a person does.
        reads: bool,
        /// The goal of the fresh session; empty: to continue.
        goal: String,
        /// Whether a person edits the document.
        edit: bool,
        /// Whether the saved commit is pushed to the repository.
        push: bool,
        /// How far it is.
        status: HandoffStatus,
        /// The current step.
        step: HandoffStep,
        /// Why the step failed, or what it waits for.
        detail: Option<String>,
        /// The steps so far.
        steps: Vec<HandoffStepTaken>,
        /// The hash of the sealed document.
        hash: Option<String>,
        /// The commit with all work, as the runner keeps it.
        saved: Option<String>,
        /// The branch of the saved commit at the repository, if it was pushed.
        branch: Option<String>,
        /// The fresh session.
        successor: Option<SessionId>,
        /// Why it began by itself; absent if somebody asked for it.
        #[serde(default)]
        by_itself: Option<String>,
        /// Who asked for it; the owner of the session if it began by itself.
        asked_by: UserRef,
        /// When it was asked for.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
    }

    /// A step of a handoff that has ended.
    HandoffStepTaken {
        /// The step.
        step: HandoffStep,
        /// How it ended.
        outcome: HandoffOutcome,
        /// The reason, or the result.
        detail: Option<String>,
        /// When it ended.
        at: Timestamp,
    }

    /// A handoff with its document.
    HandoffDetail {
        /// The handoff.
        handoff: Handoff,
        /// The prose, in Markdown; absent while nobody has written it.
        body: Option<String>,
        /// Who wrote the prose.
        written_by: Option<HandoffWriter>,
        /// The prose before a person edited it; absent if nobody did.
        #[serde(default)]
        first: Option<HandoffFirst>,
        /// The sealed document, as the fresh session gets it.
        document: Option<String>,
    }

    /// The prose of a handoff's document before a person edited it.
    HandoffFirst {
        /// The prose, in Markdown.
        body: String,
        /// Who wrote it.
        written_by: Option<HandoffWriter>,
    }

    /// How the handoffs of a project are written and kept.
    HandoffSettings {
        /// Whether each document is also a file in the workspace, `.shopfloor/handoffs/ID.md`, saved with the work.
        keep_files: bool,
        /// The sections of documents, as they were written; empty: the standard sections.
        templates: String,
    }

    /// What differs between two documents.
    HandoffComparison {
        /// The older one.
        from: HandoffSide,
        /// The newer one.
        to: HandoffSide,
        /// The facts that differ; none between two versions of one document.
        facts: Vec<HandoffFact>,
        /// The lines of the prose in order.
        lines: Vec<DiffLine>,
    }

    /// One of two documents.
    HandoffSide {
        /// Its handoff.
        handoff: HandoffId,
        /// The title of its session.
        title: String,
        /// Who wrote its prose.
        written_by: Option<HandoffWriter>,
        /// When its handoff was asked for.
        at: Timestamp,
    }

    /// A fact that differs between two documents.
    HandoffFact {
        /// Its name in the front matter.
        name: String,
        /// Its value in the older one.
        older: Option<String>,
        /// Its value in the newer one.
        newer: Option<String>,
    }
}
