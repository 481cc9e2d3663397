//! `who_is_doing_what`: the current work in a project.

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
    description: "Shows who works on what in the project now, and which files they will change. Changes nothing. Look \
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
    let next = if doing.is_empty() { "Nobody else is working here now." } else { "Do not change the files of others." };
    Ok(json!({ "doing": doing, "next": next }))
}
