//! Every tool: its name, its description for models, its arguments, and its effect.

mod activity;
mod add;
mod artifact;
mod ask;
mod beat;
mod chat;
mod doing;
mod edit;
mod handoff;
mod list;
mod merge;
mod overlaps;
mod report;
mod reserve;
mod review;
mod search;
mod take;

use std::sync::Arc;

use rmcp::model::JsonObject;
use serde_json::Value;

use crate::arguments::decode;
use crate::criteria;
use crate::desk::Desk;
use crate::schema::Shape;
use crate::trouble::Trouble;

/// A tool as models see it.
pub(crate) struct Spec {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) schema: fn() -> Value,
    /// Whether it is read-only.
    pub(crate) reads: bool,
}

/// Every tool, in the order of a worker's loop.
pub(crate) static ALL: &[&Spec] = &[
    &list::SPEC,
    &take::SPEC,
    &beat::SPEC,
    &report::SPEC,
    &review::SPEC,
    &ask::ASK,
    &ask::ESCALATE,
    &chat::SEND,
    &chat::READ,
    &search::SPEC,
    &artifact::PUT,
    &artifact::GET,
    &artifact::LIST,
    &activity::SPEC,
    &doing::SPEC,
    &overlaps::SPEC,
    &reserve::RESERVE,
    &reserve::RELEASE,
    &add::SPEC,
    &merge::SPEC,
    &edit::SPEC,
    &handoff::WRITE,
    &handoff::ACK,
];

/// Runs a tool; its answer is an object whose `next` says what to do.
pub(crate) async fn run(spec: &'static Spec, desk: Arc<Desk>, given: Option<JsonObject>) -> Result<Value, Trouble> {
    let desk = &*desk;
    let shape = &Shape::of(spec);
    match spec.name {
        "list_tasks" => list::run(desk, decode(shape, given)?).await,
        "take_task" => take::run(desk, decode(shape, given)?).await,
        "heartbeat" => beat::run(desk, decode(shape, given)?).await,
        "report" => report::run(desk, decode(shape, given)?).await,
        "review_reply" => review::run(desk, decode(shape, given)?).await,
        "ask" => ask::ask(desk, decode(shape, given)?).await,
        "escalate" => ask::escalate(desk, decode(shape, given)?).await,
        "chat_send" => chat::send(desk, decode(shape, given)?).await,
        "chat_read" => chat::read(desk, decode(shape, given)?).await,
        "search" => search::run(desk, decode(shape, given)?).await,
        "artifact_put" => artifact::put(desk, decode(shape, given)?).await,
        "artifact_get" => artifact::get(desk, decode(shape, given)?).await,
        "artifact_list" => artifact::list(desk, decode(shape, given)?).await,
        "activity_update" => activity::run(desk, decode(shape, given)?).await,
        "who_is_doing_what" => doing::run(desk, decode(shape, given)?).await,
        "overlaps" => overlaps::run(desk, decode(shape, given)?).await,
        "reserve" => reserve::reserve(desk, decode(shape, given)?).await,
        "release" => reserve::release(desk, decode(shape, given)?).await,
        "add_tasks" => add::run(desk, decode(shape, given.map(add::as_lines))?).await,
        "merge_request" => merge::run(desk, decode(shape, given)?).await,
        "edit_task" => edit::run(desk, decode(shape, given.map(criteria::as_lines))?).await,
        "handoff_write" => handoff::write(desk, decode(shape, given)?).await,
        "handoff_ack" => handoff::ack(desk, decode(shape, given)?).await,
        other => Err(Trouble::new(format!("unknown tool `{other}`"))),
    }
}

#[cfg(test)]
mod tests;
