//! `reserve` and `release`: files that the caller is about to change.

use domain::{ActivityId, OverlapKind, ReservationId};
use protocol::{Call, NewReservation, OverlapFilter, Reservation, ReservationFilter, WorkOverlap};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Spec, overlaps};
use crate::desk::Desk;
use crate::schema;
use crate::trouble::Trouble;
use crate::verbs::ask;

pub(super) static RESERVE: Spec = Spec {
    name: "reserve",
    title: "Reserve files",
    description: "Tells others which files you are about to change, before your first edit. It locks nothing: others \
        are warned, and tasks for these files are handed out later. Give paths, folders or globs from the root of the \
        repository. It ends by itself after `minutes`; the same files again move the end. The answer has `meets` if \
        others change or declare the same files. Example: {\"files\": [\"src/parser.rs\", \"docs/**\"], \"reason\": \
        \"splitting the parser\"}.",
    schema: || {
        schema::object(
            &["files"],
            json!({
                "files": schema::texts("Paths, folders or globs, at most 20: src/lexer.rs, docs, src/**/*.rs."),
                "reason": schema::text("Why, in a few words."),
                "minutes": schema::number(1, 1440, "How long; default: 120."),
                "activity": schema::text("The activity (act_…). Leave it out for yours."),
            }),
        )
    },
    reads: false,
};

pub(super) static RELEASE: Spec = Spec {
    name: "release",
    title: "Release reserved files",
    description: "Ends what you reserved with `reserve`, when you have changed the files or will not. Without \
        arguments, everything that your activity reserves. It does not give back a task. Example: {}.",
    schema: || {
        schema::object(
            &[],
            json!({
                "reservation": schema::text("One reservation (rsv_…), as `reserve` answered."),
                "activity": schema::text("The activity (act_…). Leave it out for yours."),
            }),
        )
    },
    reads: false,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reserve {
    files: Vec<String>,
    reason: Option<String>,
    minutes: Option<u32>,
    activity: Option<ActivityId>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Release {
    reservation: Option<ReservationId>,
    activity: Option<ActivityId>,
}

pub(super) async fn reserve(desk: &Desk, given: Reserve) -> Result<Value, Trouble> {
    let activity = activity(desk, given.activity)?;
    let seconds = given.minutes.map(|minutes| minutes.saturating_mul(60));
    let input = NewReservation { patterns: given.files, reason: given.reason, seconds };
    let made: Reservation = ask(&*desk.verbs, Call::OverlapReserve { activity, input }).await?;
    let filter = OverlapFilter { activity: Some(activity), ..OverlapFilter::default() };
    let found: Vec<WorkOverlap> = ask(&*desk.verbs, Call::OverlapList { filter }).await?;
    let mine = |overlap: &&WorkOverlap| {
        let mut sides = overlap.other.iter().chain([&overlap.one]);
        overlap.kind == OverlapKind::Declared && sides.any(|side| side.reservation == Some(made.id))
    };
    let meets: Vec<Value> = found.iter().filter(mine).map(|overlap| overlaps::told(overlap, Some(activity))).collect();
    let next = match meets.is_empty() {
        true => "Nobody else changes or declares these files. Continue, and call release when you are done with them.",
        false => {
            "Others change or declare the same files: read `meets`. Agree with them with chat_send, or begin with other \
             files."
        }
    };
    let mut answer = shown(&made);
    answer["meets"] = json!(meets);
    answer["next"] = json!(next);
    Ok(answer)
}

pub(super) async fn release(desk: &Desk, given: Release) -> Result<Value, Trouble> {
    let wanted = match given.reservation {
        Some(reservation) => vec![reservation],
        None => {
            let filter = ReservationFilter { activity: Some(activity(desk, given.activity)?), project: None };
            let standing: Vec<Reservation> = ask(&*desk.verbs, Call::OverlapReservations { filter }).await?;
            standing.into_iter().map(|one| one.id).collect()
        }
    };
    let mut released = Vec::new();
    for reservation in wanted {
        let ended: Reservation = ask(&*desk.verbs, Call::OverlapRelease { reservation }).await?;
        released.push(shown(&ended));
    }
    let next = if released.is_empty() { "Nothing was reserved. Continue." } else { "Continue your work." };
    Ok(json!({ "released": released, "next": next }))
}

fn activity(desk: &Desk, given: Option<ActivityId>) -> Result<ActivityId, Trouble> {
    given
        .or_else(|| desk.activity())
        .ok_or_else(|| Trouble::new("Name the activity in `activity`, as act_…: you hold no task with an activity."))
}

fn shown(reservation: &Reservation) -> Value {
    json!({ "reservation": reservation.id, "files": reservation.patterns, "until": reservation.expires_at })
}
