//! Resolves the project of a call.

use domain::ProjectId;
use protocol::{Call, Project};

use crate::desk::Desk;
use crate::trouble::Trouble;
use crate::verbs::ask;

/// The named project, or the caller's only one.
pub(crate) async fn resolve(desk: &Desk, named: Option<&str>) -> Result<ProjectId, Trouble> {
    let named = named.or(desk.settings.project.as_deref());
    if let Some(id) = named.and_then(|text| text.trim().parse().ok()) {
        return Ok(id);
    }
    if named.is_none()
        && let Some(only) = *desk.only_project.lock()
    {
        return Ok(only);
    }
    let projects: Vec<Project> = ask(&*desk.verbs, Call::ProjectList {}).await?;
    let found: Vec<&Project> = match named {
        Some(name) => projects.iter().filter(|project| project.name.eq_ignore_ascii_case(name.trim())).collect(),
        None => projects.iter().collect(),
    };
    match (found.as_slice(), named) {
        ([only], None) => Ok(*desk.only_project.lock().insert(only.id)),
        ([only], Some(_)) => Ok(only.id),
        ([], Some(name)) => {
            let shown: String = name.chars().take(60).collect();
            Err(Trouble::new(format!("No project `{shown}` found. {}", known(&projects))))
        }
        ([], None) => Err(Trouble::new("Your token has access to no project: ask the person who gave it to you.")),
        _ => Err(Trouble::new(format!("Name the project in `project`. {}", known(&projects)))),
    }
}

fn known(projects: &[Project]) -> String {
    if projects.is_empty() {
        return "Your token has access to none.".to_owned();
    }
    let shown: Vec<String> =
        projects.iter().take(10).map(|project| format!("{} ({})", project.id, project.name)).collect();
    let more = if projects.len() > shown.len() { ", …" } else { "" };
    format!("Known projects: {}{more}.", shown.join(", "))
}
