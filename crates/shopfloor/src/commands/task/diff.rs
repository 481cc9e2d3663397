//! `shopfloor task diff`.

use protocol::{Call, WorkspaceDiff};

use crate::commands::workspace;
use crate::pager::page;
use crate::{Context, Failure};

/// Shows the changes of a task.
pub(super) async fn run(task: &str, stat: bool, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    let task = super::id(client, task).await?;
    let diff: WorkspaceDiff = client.ask(Call::TaskDiff { task }).await?;
    match out.json {
        true => out.show(&diff, |_| String::new()),
        false => page(&workspace::patch_of(&diff, stat, out), out),
    }
}
