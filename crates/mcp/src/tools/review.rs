//! `review_reply`: answers review comments in their threads.

use domain::ThreadId;
use protocol::{Call, ReviewOf, ReviewReply, ReviewThread};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Spec;
use crate::desk::Desk;
use crate::schema;
use crate::trouble::Trouble;
use crate::verbs::ask;

pub(super) static SPEC: Spec = Spec {
    name: "review_reply",
    title: "Answer a review comment",
    description: "Answers a person's review comment on your changes, in its thread. The brief or the message that you got lists \
        the threads with their ids. Say what you did, or why not; the person reads it beside the lines. Example: {\"thread\": \
        \"thr_0123456789abcdef0123456789abcdef\", \"text\": \"Renamed it to `parse_date`.\"}",
    schema: || {
        schema::object(
            &["thread", "text"],
            json!({
                "thread": schema::text("The thread's id (thr_…), from the brief or the message."),
                "text": schema::text("What you did about the comment, or why not."),
            }),
        )
    },
    reads: false,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    thread: ThreadId,
    text: String,
}

pub(super) async fn run(desk: &Desk, given: Arguments) -> Result<Value, Trouble> {
    let input = ReviewReply { text: given.text };
    let thread: ReviewThread = ask(&*desk.verbs, Call::ReviewReply { thread: given.thread, input }).await?;
    let next = match thread.of {
        ReviewOf::Task { .. } => "Answer the other threads of the review, then call report.",
        ReviewOf::Workspace { .. } => "Answer the other threads of the review.",
    };
    Ok(json!({ "thread": thread.id, "status": thread.status, "next": next }))
}
