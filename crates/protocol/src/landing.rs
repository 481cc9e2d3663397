//! Landing: how accepted work reaches the project's repository.

use domain::{ActivityId, CandidateId, LandMode, LandingId, LandingState, ProjectId, TaskId, Timestamp, WorkspaceId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::UserRef;
use crate::shapes::{inputs, queries, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! landing {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* landing {
        changes {
            /// Work is on its way to the repository, or arrived there.
            Landing { landing: Landing },
            /// What happens to accepted work of a project has changed.
            LandingSettings { project: ProjectId, settings: crate::LandingSettings },
        }
        answers {
            Landings(Vec<Landing>),
            LandingSettings(crate::LandingSettings),
        }
        verbs {
            /// The newest landings that the caller may see, newest first.
            LandingList "landing.list" GET "/api/landings" { query filter: LandingFilter } -> 200 Vec<Landing>, Anyone;
            /// Brings work to the repository: its branch is published there, then merged through the merge queue.
            LandingLand "landing.land" POST "/api/projects/{project}/landings"
                { path project: ProjectId, body input: Land } -> 201 Vec<Landing>, Owner;
            /// What happens to accepted work of a project.
            LandingSettings "landing.settings" GET "/api/projects/{project}/landing"
                { path project: ProjectId } -> 200 crate::LandingSettings, See;
            /// Changes what happens to accepted work of a project.
            LandingConfigure "landing.configure" PATCH "/api/projects/{project}/landing"
                { path project: ProjectId, body input: crate::LandingConfigure } -> 200 crate::LandingSettings, Owner;
        }
    } } };
}

pub(crate) use landing;

inputs! {
    /// Work to land: done tasks, all done tasks of an activity, or single workspaces.
    Land {
        /// Done tasks.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<TaskId>>")]
        tasks: Vec<TaskId>,
        /// An activity: its done tasks, or without tasks its workspaces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        activity: Option<ActivityId>,
        /// Workspaces: the commits of their branches.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<WorkspaceId>>")]
        workspaces: Vec<WorkspaceId>,
        /// Whether to publish the branch only, and merge nothing.
        #[serde(default)]
        #[ts(as = "Option<bool>")]
        push_only: bool,
        /// Whether to open a pull request for the published branch instead of merging it.
        #[serde(default)]
        #[ts(as = "Option<bool>")]
        pull_request: bool,
    }

    /// Changes to what happens to accepted work; absent fields stay unchanged.
    LandingConfigure {
        /// What happens to accepted work.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<LandMode>,
        /// The branch that work lands on; empty: the repository's base branch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
        /// After how many days workspaces of finished tasks are deleted; 0: only once landed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keep_days: Option<u32>,
    }
}

queries! {
    /// Which landings to list.
    LandingFilter {
        /// Only those of this project.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<ProjectId>,
        /// Only those of this task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// Only those of this activity.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        activity: Option<ActivityId>,
        /// Maximum number, at most 500; default: 100.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

views! {
    /// What happens to accepted work of a project.
    LandingSettings {
        /// What happens to accepted work.
        mode: LandMode,
        /// The branch that work lands on; absent: the repository's base branch.
        target: Option<String>,
        /// After how many days workspaces of finished tasks are deleted; 0: only once landed.
        keep_days: u32,
    }

    /// Work on its way to the repository.
    Landing {
        /// Its id.
        id: LandingId,
        /// The project that it is in.
        project: ProjectId,
        /// The task whose accepted work it is.
        task: Option<TaskId>,
        /// Its activity.
        activity: Option<ActivityId>,
        /// The title of the task, or the branch.
        title: String,
        /// The name of the branch at the repository.
        branch: String,
        /// The branch that it lands on; absent: the repository's base branch.
        target: Option<String>,
        /// How far it is.
        state: LandingState,
        /// Why it was refused, or what it waits for.
        detail: Option<String>,
        /// Whether only the branch is published.
        push_only: bool,
        /// The published commit.
        commit: Option<String>,
        /// The commit on the target branch.
        landed: Option<String>,
        /// Its place in the merge queue.
        candidate: Option<CandidateId>,
        /// The address of its pull request.
        pull_request: Option<String>,
        /// Who asked for it; absent: the project's settings.
        asked_by: Option<UserRef>,
        /// When it was asked for.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
    }
}
