//! Resolves the task of a call.

use domain::{Short, TaskId};
use protocol::{Call, TaskFilter, TaskLine};

use crate::desk::Desk;
use crate::trouble::Trouble;
use crate::verbs::ask;

/// The named task: by its id, or by its short name.
pub(crate) async fn resolve(desk: &Desk, named: Option<&str>) -> Result<Option<TaskId>, Trouble> {
    match named {
        Some(named) => one(desk, named).await.map(Some),
        None => Ok(None),
    }
}

async fn one(desk: &Desk, named: &str) -> Result<TaskId, Trouble> {
    if let Ok(id) = named.trim().parse() {
        return Ok(id);
    }
    let shown: String = named.chars().take(60).collect();
    let Ok(short) = named.parse::<Short>() else {
        return Err(Trouble::new(format!(
            "`{shown}` is not a task: give its name, such as CALC-12, or its id (tsk_…). list_tasks shows both."
        )));
    };
    let filter = TaskFilter { short: Some(short.to_string()), ..TaskFilter::default() };
    let found: Vec<TaskLine> = ask(&*desk.verbs, Call::TaskList { filter }).await?;
    match found.as_slice() {
        [one] => Ok(one.id),
        [] => Err(Trouble::new(format!("There is no task {short}. Call list_tasks to see the tasks."))),
        several => {
            let ids: Vec<String> = several.iter().map(|task| format!("{} ({})", task.id, task.title)).collect();
            Err(Trouble::new(format!("{short} is the name of several tasks: {}. Give the id.", ids.join(", "))))
        }
    }
}
