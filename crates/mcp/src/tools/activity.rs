//! `activity_update`: changes an activity's text or status.

use domain::{ActivityId, ActivityStatus};
use protocol::{Activity, ActivityUpdate, Call};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Spec;
use crate::desk::Desk;
use crate::schema;
use crate::trouble::Trouble;
use crate::verbs::ask;

pub(super) static SPEC: Spec = Spec {
    name: "activity_update",
    title: "Update an activity",
    description: "Changes the text or the status of an activity, the line of work that people follow. Give `status`, \
        `text` or both. Examples: {\"status\": \"blocked\"}, {\"text\": \"## Plan\\n1. Parser\\n2. Tests\"}. `text` \
        replaces the whole text: with only {\"append\": \"…\"} a paragraph is added instead.",
    schema: || {
        schema::object(
            &[],
            json!({
                "activity": schema::text("The activity's id, act_…. Leave it out for your task's activity."),
                "status": schema::choice(ActivityStatus::ALL.iter().map(|status| status.word()), "The new status."),
                "text": schema::text("The new text, in Markdown; replaces the old one."),
                "append": schema::text("A paragraph to add at the end of the text."),
            }),
        )
    },
    reads: false,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    activity: Option<ActivityId>,
    status: Option<ActivityStatus>,
    text: Option<String>,
    append: Option<String>,
}

pub(super) async fn run(desk: &Desk, given: Arguments) -> Result<Value, Trouble> {
    let activity = given.activity.or_else(|| desk.activity());
    let Some(activity) = activity else {
        return Err(Trouble::new("Name the activity in `activity`, as act_…: you hold no task with an activity."));
    };
    let (content, expected_version) = match (given.text, given.append) {
        (Some(_), Some(_)) => return Err(Trouble::new("Give `text` or `append`, not both.")),
        (None, Some(more)) => {
            let old: Activity = ask(&*desk.verbs, Call::ActivityShow { activity }).await?;
            let text = format!("{}\n\n{}", old.content.trim_end(), more.trim());
            (Some(text.trim().to_owned()), Some(old.version))
        }
        (text, None) => (text, None),
    };
    if content.is_none() && given.status.is_none() {
        return Err(Trouble::new("Nothing to change: give `status`, `text` or `append`."));
    }
    let input = ActivityUpdate { content, expected_version, status: given.status, links: None };
    let changed: Result<Activity, _> = ask(&*desk.verbs, Call::ActivityUpdate { activity, input }).await;
    let changed = changed.map_err(|problem| {
        let trouble = Trouble::from(problem);
        if trouble.is_conflict() { trouble.next("Somebody else changed it first: call again.") } else { trouble }
    })?;
    Ok(json!({
        "activity": changed.id, "status": changed.status, "version": changed.version, "next": "Continue your work.",
    }))
}
