//! `handoff_write` and `handoff_ack`: the two ends of a handoff.

use domain::{HandoffStatus, HandoffStep};
use protocol::{Call, Handoff, HandoffAck, HandoffFilter, HandoffProse, HandoffSection};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Spec;
use crate::desk::Desk;
use crate::schema;
use crate::trouble::Trouble;
use crate::verbs::ask;

pub(super) static WRITE: Spec = Spec {
    name: "handoff_write",
    title: "Write a handoff",
    description: "Writes the handoff document when a person hands your session off to a fresh one. Give what the next \
        agent cannot see in the files. Example: {\"done\": \"Parser and its tests.\", \"remaining\": \"The printer.\", \
        \"tried\": \"A regex: fails on nesting.\", \"next\": \"Run `make test`.\"}",
    schema: || {
        schema::object(
            &["done", "next"],
            json!({
                "done": schema::text("What is done."),
                "remaining": schema::text("What remains."),
                "tried": schema::text("What you tried that failed, and why."),
                "questions": schema::text("Open questions."),
                "next": schema::text("The next step."),
                "sections": schema::texts("Other sections that you were asked for, each as `Title: text`."),
            }),
        )
    },
    reads: false,
};

pub(super) static ACK: Spec = Spec {
    name: "handoff_ack",
    title: "Acknowledge a handoff",
    description: "Acknowledges the handoff document that your prompt quotes, after you have read it, by the hash in its \
        front matter. Example: {\"hash\": \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"}",
    schema: || {
        schema::object(
            &["hash"],
            json!({ "hash": schema::text("The value of `hash` in the document's front matter.") }),
        )
    },
    reads: false,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Prose {
    done: String,
    #[serde(default)]
    remaining: String,
    #[serde(default)]
    tried: String,
    #[serde(default)]
    questions: String,
    next: String,
    #[serde(default)]
    sections: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Hash {
    hash: String,
}

pub(super) async fn write(desk: &Desk, given: Prose) -> Result<Value, Trouble> {
    let fits = |handoff: &Handoff, session| handoff.session == session && handoff.step == HandoffStep::Write;
    let handoff = own(desk, fits, "Nobody is handing your session off now.").await?;
    let Prose { done, remaining, tried, questions, next, sections } = given;
    let sections = sections.iter().map(|text| section(text)).collect::<Result<Vec<_>, _>>()?;
    let input = HandoffProse { done, remaining, tried, questions, next, sections };
    let after: Handoff = ask(&*desk.verbs, Call::HandoffWrite { handoff: handoff.id, input }).await?;
    Ok(json!({ "handoff": after.id, "next": "Change nothing more: your session stops, and a fresh one continues." }))
}

/// Reads `Title: text`.
fn section(text: &str) -> Result<HandoffSection, Trouble> {
    let (title, text) =
        text.split_once(':').ok_or_else(|| Trouble::new("Write each of `sections` as `Title: text`."))?;
    Ok(HandoffSection { title: title.trim().to_owned(), text: text.trim().to_owned() })
}

pub(super) async fn ack(desk: &Desk, given: Hash) -> Result<Value, Trouble> {
    let fits = |handoff: &Handoff, session| handoff.successor == Some(session);
    let handoff = own(desk, fits, "Your session did not start from a handoff.").await?;
    let input = HandoffAck { hash: given.hash };
    let after: Handoff = ask(&*desk.verbs, Call::HandoffAck { handoff: handoff.id, input }).await?;
    Ok(json!({ "handoff": after.id, "status": after.status, "next": "Do what your instruction says." }))
}

/// The newest handoff of the caller's session that fits.
async fn own(
    desk: &Desk,
    fits: impl Fn(&Handoff, domain::SessionId) -> bool,
    missing: &str,
) -> Result<Handoff, Trouble> {
    let Some(session) = desk.settings.session else {
        return Err(Trouble::new("Only agents in sessions have handoffs, and you are not in one."));
    };
    let filter = HandoffFilter { session: Some(session), ..Default::default() };
    let all: Vec<Handoff> = ask(&*desk.verbs, Call::HandoffList { filter }).await?;
    let open = |handoff: &Handoff| handoff.status != HandoffStatus::Cancelled;
    all.into_iter().find(|handoff| open(handoff) && fits(handoff, session)).ok_or_else(|| Trouble::new(missing))
}
