//! `who_is_doing_what`: who works on what now.

use protocol::{Call, DoingWhat};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Spec;
use crate::desk::Desk;
use crate::trouble::Trouble;
use crate::verbs::ask;
use crate::{project, schema};

pub(super) static SPEC: Spec = Spec {
    name: "who_is_doing_what",
    title: "Who is doing what",
    description: "Says who works on what in the project now, and which files they mean to change. Changes nothing. Look \
        before you change files outside your task. Example: {}",
    schema: || schema::object(&[], json!({ "project": schema::project() })),
    reads: true,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    project: Option<String>,
}

pub(super) async fn run(desk: &Desk, given: Arguments) -> Result<Value, Trouble> {
    let project = project::resolve(desk, given.project.as_deref()).await?;
    let doing: Vec<DoingWhat> = ask(&*desk.verbs, Call::WorkDoing { project }).await?;
    let next = if doing.is_empty() { "Nobody else works here now." } else { "Leave the files of others alone." };
    Ok(json!({ "doing": doing, "next": next }))
}
