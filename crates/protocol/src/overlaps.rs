//! Overlaps: where the work of two activities meets, or conflicts with its base branch, before it is merged.

use domain::{ActivityId, OverlapId, OverlapKind, ProjectId, ReservationId, TaskId, Timestamp, WorkspaceId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::UserRef;
use crate::shapes::{inputs, queries, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! overlaps {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* overlaps {
        changes {
            /// An overlap appeared, changed or ended.
            Overlap { overlap: crate::WorkOverlap },
            /// Files were reserved, or a reservation changed or ended.
            Reservation { reservation: crate::Reservation },
        }
        answers {
            Overlaps(Vec<crate::WorkOverlap>),
            Overlap(crate::WorkOverlap),
            Reservations(Vec<crate::Reservation>),
            Reservation(crate::Reservation),
        }
        verbs {
            /// The overlaps that the caller may see, conflicts first.
            OverlapList "overlap.list" GET "/api/overlaps"
                { query filter: OverlapFilter } -> 200 Vec<WorkOverlap>, Anyone;
            /// One overlap.
            OverlapShow "overlap.show" GET "/api/overlaps/{overlap}"
                { path overlap: OverlapId } -> 200 WorkOverlap, Look;
            /// The reservations that have not ended, those that end first first.
            OverlapReservations "overlap.reservations" GET "/api/reservations"
                { query filter: ReservationFilter } -> 200 Vec<Reservation>, Anyone;
            /// Says which files an activity will change, for a time. Nobody is refused anything; others are warned. The
            /// same patterns again move the end.
            OverlapReserve "overlap.reserve" POST "/api/activities/{activity}/reservations"
                { path activity: ActivityId, body input: NewReservation } -> 201 Reservation, Write;
            /// Ends a reservation.
            OverlapRelease "overlap.release" POST "/api/reservations/{reservation}/release"
                { path reservation: ReservationId } -> 200 Reservation, Write;
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

    /// Which reservations to list.
    #[derive(Copy)]
    ReservationFilter {
        /// Only those in this project.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<ProjectId>,
        /// Only those of this activity.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        activity: Option<ActivityId>,
    }
}

inputs! {
    /// Files to reserve.
    NewReservation {
        /// Paths or globs from the root of the repository, at most 20: `src/lexer.rs`, `docs` with everything in it,
        /// `src/**`.
        patterns: Vec<String>,
        /// Why, for others.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// How long, from 60 to 86400 seconds; default: 7200.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<u32>,
    }
}

views! {
    /// Where the work of two activities meets, or that of one conflicts with its base branch, uncommitted work and declared
    /// files included.
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

    /// Files that an activity says it will change.
    Reservation {
        /// Its id.
        id: ReservationId,
        /// The project.
        project: ProjectId,
        /// The activity.
        activity: ActivityId,
        /// The activity's name.
        name: String,
        /// Who reserved them.
        by: UserRef,
        /// Whether an agent did so for them.
        by_agent: bool,
        /// Paths or globs.
        patterns: Vec<String>,
        /// Why.
        reason: Option<String>,
        /// When they were reserved.
        since: Timestamp,
        /// When the reservation ends by itself.
        expires_at: Timestamp,
        /// When it ended; absent while it exists.
        ended_at: Option<Timestamp>,
    }

    /// Work that meets other work, or what is declared: it has a workspace, a reservation or a task.
    OverlapSide {
        /// Its activity.
        activity: ActivityId,
        /// The activity's name.
        name: String,
        /// The workspace whose changes meet.
        workspace: Option<WorkspaceId>,
        /// The reservation of the files.
        reservation: Option<ReservationId>,
        /// The running task that names the files.
        task: Option<TaskId>,
        /// When the reservation ends.
        until: Option<Timestamp>,
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
