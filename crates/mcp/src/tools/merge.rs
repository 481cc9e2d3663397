//! `merge_request`: a branch for the merge queue.

use domain::{CandidateId, TaskId};
use protocol::{Call, Candidate, MergeAdd};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Spec;
use crate::desk::Desk;
use crate::trouble::Trouble;
use crate::verbs::ask;
use crate::{project, schema};

pub(super) static SPEC: Spec = Spec {
    name: "merge_request",
    title: "Ask to merge a branch",
    description: "Adds a branch that you have pushed to the project's merge queue. It is tested together with others and \
        lands on the target branch if the project's checks pass; otherwise it is sent back with the log. Do not merge \
        or push to the target branch yourself. Example: {\"branch\": \"feature/sum\", \"title\": \"Add sum\"}",
    schema: || {
        schema::object(
            &["branch"],
            json!({
                "branch": schema::text("The pushed branch."),
                "title": schema::text("The subject of its commit; default: the branch."),
                "after": schema::text("The id of a candidate that must land before it."),
                "task": schema::text("The id of the task whose work it is."),
                "project": schema::project(),
            }),
        )
    },
    reads: false,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    branch: String,
    title: Option<String>,
    after: Option<CandidateId>,
    task: Option<TaskId>,
    project: Option<String>,
}

pub(super) async fn run(desk: &Desk, given: Arguments) -> Result<Value, Trouble> {
    let project = project::resolve(desk, given.project.as_deref()).await?;
    let after = given.after.into_iter().collect();
    let input = MergeAdd { branch: given.branch, title: given.title, after, task: given.task, ..Default::default() };
    let added: Candidate = ask(&*desk.verbs, Call::MergeAdd { project, input }).await?;
    let next = "It waits in the merge queue. Continue with other work; if it is sent back, the chat says why.";
    Ok(json!({ "candidate": added.id, "state": added.state, "target": added.target, "next": next }))
}
