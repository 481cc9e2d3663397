//! `overlaps`: where the caller's work meets that of others.

use domain::{ActivityId, OverlapKind, Timestamp};
use protocol::{Call, OverlapFilter, OverlapPlace, OverlapSide, WorkOverlap};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Spec;
use crate::desk::Desk;
use crate::trouble::Trouble;
use crate::verbs::ask;
use crate::{project, schema};

pub(super) static SPEC: Spec = Spec {
    name: "overlaps",
    title: "Overlaps with other work",
    description: "Shows where your work meets the work of others or conflicts with its base branch, uncommitted changes \
        included: files, functions, lines, and whether git will report a conflict; and which files others have reserved \
        or will change for their tasks. Changes nothing. Look before you edit files that others may edit, and before you report. Examples: {} for your activity, {\"all\": true} for the whole project.",
    schema: || {
        schema::object(
            &[],
            json!({
                "project": schema::project(),
                "activity": schema::text("The activity (act_…). Leave it out for yours."),
                "all": { "type": "boolean", "description": "All overlaps of the project." },
            }),
        )
    },
    reads: true,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    project: Option<String>,
    activity: Option<ActivityId>,
    all: Option<bool>,
}

pub(super) async fn run(desk: &Desk, given: Arguments) -> Result<Value, Trouble> {
    let project = project::resolve(desk, given.project.as_deref()).await?;
    let own = given.activity.or_else(|| desk.activity()).filter(|_| given.all != Some(true));
    let filter = OverlapFilter { project: Some(project), activity: own, ended: None };
    let found: Vec<WorkOverlap> = ask(&*desk.verbs, Call::OverlapList { filter }).await?;
    Ok(json!({ "overlaps": found.iter().map(|overlap| told(overlap, own)).collect::<Vec<_>>(), "next": next(&found) }))
}

/// What to do about overlaps.
pub(super) fn next(found: &[WorkOverlap]) -> &'static str {
    let severity =
        |kind: &OverlapKind| (kind.conflicts(), *kind == OverlapKind::SameSymbol, *kind != OverlapKind::Declared);
    match found.iter().map(|overlap| overlap.kind).max_by_key(severity) {
        None => "Your work meets no other work. Continue.",
        Some(OverlapKind::Declared) => DECLARED,
        Some(OverlapKind::SameSymbol) => {
            "git merges these changes, but the other side changes the same code at other lines, and both together may \
             not work. Ask the other side with chat_send what it changes there."
        }
        Some(kind) if !kind.conflicts() => {
            "git merges these changes. Continue, and keep your changes small in these files."
        }
        Some(_) if found.iter().all(|overlap| !overlap.kind.conflicts() || overlap.other.is_none()) => {
            "git will report conflicts with the base branch. Commit your work and merge that branch into yours before \
             you report."
        }
        Some(_) => {
            "git will report conflicts. Change other lines if you can, or agree with the other side with chat_send \
             before you continue. Merge the base branch into yours if it is named."
        }
    }
}

/// What to do about files that others have declared.
pub(super) const DECLARED: &str = "Others have reserved these files, or will change them for a task. Agree with them with \
    chat_send before you edit these files, or begin with other files.";

/// Overlaps of an activity that its agent was not told of.
#[derive(Default)]
pub(super) struct News {
    /// Those that git cannot merge.
    pub(super) conflicts: Vec<Value>,
    /// Files that others reserved or will change, or that they change although the caller declared them.
    pub(super) declared: Vec<Value>,
}

/// What is new for the agent of an activity.
pub(super) async fn news(desk: &Desk, activity: ActivityId) -> News {
    let filter = OverlapFilter { activity: Some(activity), ..OverlapFilter::default() };
    // If the hub does not answer, the next heartbeat asks again.
    let Ok(asked) = ask::<Vec<WorkOverlap>>(&*desk.verbs, Call::OverlapList { filter }).await else {
        return News::default();
    };
    let matters = |overlap: &WorkOverlap| overlap.kind.conflicts() || overlap.kind == OverlapKind::Declared;
    let found: Vec<_> = asked.into_iter().filter(matters).collect();
    let mut known = desk.conflicts.lock();
    // What ended is reported again when it comes back.
    let before = std::mem::replace(&mut *known, found.iter().map(|overlap| overlap.id).collect());
    let fresh = |conflicts: bool| {
        let fresh = found.iter().filter(|one| !before.contains(&one.id) && one.kind.conflicts() == conflicts);
        fresh.map(|one| told(one, Some(activity))).collect()
    };
    News { conflicts: fresh(true), declared: fresh(false) }
}

/// An overlap for models, from the side of an activity.
pub(super) fn told(overlap: &WorkOverlap, own: Option<ActivityId>) -> Value {
    let places: Vec<String> = overlap.places.iter().take(10).map(place).collect();
    let one = side(&overlap.one);
    let other = match &overlap.other {
        Some(other) => side(other),
        None => json!({ "branch": overlap.base }),
    };
    let mut value = json!({ "conflict": overlap.kind.conflicts(), "places": places });
    match own {
        Some(own) if own == overlap.one.activity => value["with"] = other,
        Some(own) if overlap.other.as_ref().is_some_and(|other| other.activity == own) => value["with"] = one,
        _ => value["between"] = json!([one, other]),
    }
    value
}

fn side(side: &OverlapSide) -> Value {
    let mut value = json!({ "activity": side.activity, "name": side.name, "owner": side.owner.name });
    match (side.until, side.task) {
        (Some(until), _) => value["state"] = json!(format!("Reserved by `{}` until {}", side.name, clock(until))),
        (None, Some(task)) => value["state"] = json!(format!("Named in the files of the running task {task}")),
        (None, None) => value["state"] = json!("Changed"),
    }
    value
}

/// The time of day.
fn clock(at: Timestamp) -> String {
    let text = at.to_string();
    format!("{} UTC", text.get("2026-01-31T".len().."2026-01-31T12:00".len()).unwrap_or(&text))
}

fn place(place: &OverlapPlace) -> String {
    if let Some(symbol) = &place.symbol {
        return format!("{symbol} in {}: {}", place.path, place.why);
    }
    match (place.first, place.last) {
        (Some(first), Some(last)) => format!("{}:{first}-{last}: {}", place.path, place.why),
        _ => format!("{}: {}", place.path, place.why),
    }
}
