//! What a system begins with: a project with a repository, recipes, schedules.

use std::path::Path;

use client::{Client, ClientError, View};
use domain::{Overlap, ProjectId, RecipeId, ScheduleId, Timestamp};
use protocol::{
    Call, ProblemKind, Project, ProjectCreate, Recipe, RecipeText, Repository, Schedule, ScheduleText, Trigger,
};

pub(crate) fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap())
}

/// A project with a repository on this machine.
pub(crate) async fn project(ann: &Client, folder: &Path) -> ProjectId {
    let place = folder.join("repository");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("README.md"), "# A repository\n").unwrap();
    for args in [
        &["init", "-q", "-b", "main"][..],
        &["add", "-A"],
        &["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "base"],
    ] {
        let done = std::process::Command::new("git").args(args).current_dir(&place).status().unwrap();
        assert!(done.success(), "git {args:?}");
    }
    let repository = Repository { location: place.display().to_string(), ..Default::default() };
    let input = ProjectCreate { content: "chaos".into(), repositories: vec![repository], ..Default::default() };
    let made: Project = ann.ask(Call::ProjectCreate { input }).await.unwrap();
    made.id
}

pub(crate) async fn recipe(ann: &Client, project: ProjectId, text: &str) -> RecipeId {
    let input = RecipeText { text: text.into(), format: None };
    let made: Recipe = ann.ask(Call::RecipeAdd { project, input }).await.unwrap();
    made.id
}

pub(crate) async fn schedule(ann: &Client, project: ProjectId, name: &str, trigger: Trigger) -> ScheduleId {
    let input = ScheduleText {
        name: Some(name.into()),
        recipe: "echo".into(),
        trigger,
        overlap: Some(Overlap::Allow),
        ..Default::default()
    };
    let made: Schedule = ann.ask(Call::ScheduleAdd { project, input }).await.unwrap();
    made.id
}

/// Asks with a key; `None` if the hub did not answer.
pub(crate) async fn try_ask<T: View>(client: &Client, call: Call, key: &str) -> Option<T> {
    match client.call_with_key(call, Some(key)).await {
        Ok(answer) => Some(T::from_answer(answer).unwrap()),
        Err(ClientError::Unreachable { .. }) => None,
        Err(ClientError::Problem(problem)) if problem.kind == ProblemKind::Unavailable => None,
        Err(other) => panic!("{key}: {other:?}"),
    }
}
