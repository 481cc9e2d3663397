//! Activities: lines of work in a project.

use domain::{ActivityId, ActivityStatus, LinkKind, ProjectId, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::UserRef;
use crate::shapes::{inputs, queries, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! activities {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* activities {
        changes {
            /// An activity appeared or changed.
            Activity { activity: Activity },
        }
        answers {
            Activities(Vec<Activity>),
            Activity(Activity),
        }
        verbs {
            /// The activities of one project, or of all that the caller may see.
            ActivityList "activity.list" GET "/api/activities"
                { query filter: ActivityFilter } -> 200 Vec<Activity>, Anyone;
            /// One activity.
            ActivityShow "activity.show" GET "/api/activities/{activity}"
                { path activity: ActivityId } -> 200 Activity, See;
            /// Starts an activity that the caller owns.
            ActivityCreate "activity.create" POST "/api/projects/{project}/activities"
                { path project: ProjectId, body input: crate::ActivityCreate } -> 201 Activity, Decide;
            /// Changes an activity.
            ActivityUpdate "activity.update" PATCH "/api/activities/{activity}"
                { path activity: ActivityId, body input: crate::ActivityUpdate } -> 200 Activity, Write;
            /// A page of the versions of an activity's content, newest first.
            ActivityVersions "activity.versions" GET "/api/activities/{activity}/versions"
                { path activity: ActivityId, #[serde(default)] query page: VersionPage } -> 200 Vec<Version>, See;
            /// What changed between two versions of an activity's content.
            ActivityDiff "activity.diff" GET "/api/activities/{activity}/diff"
                { path activity: ActivityId, query range: DiffRange } -> 200 Diff, See;
        }
    } } };
}

pub(crate) use activities;

inputs! {
    /// A new activity; its creator owns it.
    ActivityCreate {
        /// Free text: intent on the first line, then plan and blockers.
        content: String,
        /// The status; default: `active`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<ActivityStatus>,
        /// Workspaces, sessions and branches.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<Link>>")]
        links: Vec<Link>,
    }

    /// Changes to an activity; absent fields stay unchanged.
    ActivityUpdate {
        /// The new text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// Refuse with `conflict` unless the content's version is still this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expected_version: Option<u32>,
        /// The status.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<ActivityStatus>,
        /// Workspaces, sessions and branches; replaces the whole list.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        links: Option<Vec<Link>>,
    }
}

queries! {
    /// Which activities to list.
    #[derive(Copy)]
    ActivityFilter {
        /// Only those of this project.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<ProjectId>,
    }
}

views! {
    /// Something outside the hub that an activity is about.
    Link {
        /// What kind of thing.
        kind: LinkKind,
        /// Its id or name.
        target: String,
    }

    /// One line of work in a project.
    Activity {
        /// The activity's id.
        id: ActivityId,
        /// The project that it is in.
        project: ProjectId,
        /// The first line of its content.
        name: String,
        /// Who started it.
        owner: UserRef,
        /// The status.
        status: ActivityStatus,
        /// Free text: intent, plan, blockers.
        content: String,
        /// Counts the versions of the content, from 1.
        version: u32,
        /// Workspaces, sessions and branches.
        links: Vec<Link>,
        /// When it was created.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
    }
}
