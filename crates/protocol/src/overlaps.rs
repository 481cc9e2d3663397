//! Overlaps: where the work of two activities meets, or conflicts with its base branch, before it is merged.

use domain::{ActivityId, OverlapId, OverlapKind, ProjectId, Timestamp, WorkspaceId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::UserRef;
use crate::shapes::{queries, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! overlaps {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* overlaps {
        changes {
            /// An overlap appeared, changed or ended.
            Overlap { overlap: crate::WorkOverlap },
        }
        answers {
            Overlaps(Vec<crate::WorkOverlap>),
            Overlap(crate::WorkOverlap),
        }
        verbs {
            /// The overlaps of work that the caller may see, conflicts first.
            OverlapList "overlap.list" GET "/api/overlaps"
                { query filter: OverlapFilter } -> 200 Vec<WorkOverlap>, Anyone;
            /// One overlap.
            OverlapShow "overlap.show" GET "/api/overlaps/{overlap}"
                { path overlap: OverlapId } -> 200 WorkOverlap, Look;
        }
    } } };
}

pub(crate) use overlaps;

queries! {
    /// Which overlaps to list.
    #[derive(Copy)]
    OverlapFilter {
        /// Only those in this project.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<ProjectId>,
        /// Only those of this activity.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        activity: Option<ActivityId>,
        /// Whether to list those that ended in the last week, too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ended: Option<bool>,
    }
}

views! {
    /// Where the work in two workspaces meets, or in one conflicts with its base branch, uncommitted work included.
    WorkOverlap {
        /// Its id.
        id: OverlapId,
        /// The project that it is in.
        project: ProjectId,
        /// The work of one activity.
        one: OverlapSide,
        /// The work of the other; absent for a conflict with the base branch.
        other: Option<OverlapSide>,
        /// The branch, for a conflict with the base branch.
        base: Option<String>,
        /// How they meet: the most severe of the places.
        kind: OverlapKind,
        /// Where they meet, the most severe first, at most 50.
        places: Vec<OverlapPlace>,
        /// How many places are left out.
        more: u32,
        /// When it appeared.
        since: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
        /// When it ended; absent while it exists.
        ended_at: Option<Timestamp>,
    }

    /// Work that meets other work.
    OverlapSide {
        /// Its activity.
        activity: ActivityId,
        /// The activity's name.
        name: String,
        /// The workspace.
        workspace: WorkspaceId,
        /// Whose it is.
        owner: UserRef,
    }

    /// A place where work meets.
    OverlapPlace {
        /// The path.
        path: String,
        /// How the work meets there.
        kind: OverlapKind,
        /// The first line, in the file that both started from.
        first: Option<u32>,
        /// The last line.
        last: Option<u32>,
        /// The qualified name of the function, method or type that both change, such as `Parser::next`.
        symbol: Option<String>,
        /// An explanation.
        why: String,
    }
}
