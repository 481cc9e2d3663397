//! `shopfloor project`.

mod args;
mod delete;
mod repository;

use client::Client;
use domain::ProjectId;
use protocol::{Call, Project, ProjectCreate, ProjectUpdate, Repository, Version};

pub(crate) use args::ProjectCommand;
use args::{CreateArgs, UpdateArgs};

use super::{history, words};
use crate::output::clean;
use crate::pick::pick;
use crate::table::{Table, fields};
use crate::{Context, Failure, Output, when};

/// Runs the subcommand.
pub(crate) async fn run(command: ProjectCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    if let ProjectCommand::Create(CreateArgs { repositories, .. })
    | ProjectCommand::Update(UpdateArgs { repositories, .. }) = &command
    {
        repository::check(repositories, client, context).await?;
    }
    match command {
        ProjectCommand::Create(args) => create(args, client, out).await,
        ProjectCommand::List => {
            let projects: Vec<Project> = client.ask(Call::ProjectList {}).await?;
            out.show(&projects, |out| table(&projects, out))
        }
        ProjectCommand::Show { project } => {
            let project: Project = client.ask(Call::ProjectShow { project: project.id(client).await? }).await?;
            out.show(&project, |out| details(&project, out))
        }
        ProjectCommand::Update(args) => update(args, client, out).await,
        ProjectCommand::Delete { project, yes } => delete::run(project.name(), yes.yes, client, out).await,
        ProjectCommand::History { project, page } => {
            let project = project.id(client).await?;
            let call = Call::ProjectVersions { project, page: page.into() };
            let versions: Vec<Version> = client.ask(call).await?;
            history::show_versions(out, &versions)
        }
        ProjectCommand::Diff { project, range } => {
            let project = project.id(client).await?;
            history::show_diff(out, &client.ask(Call::ProjectDiff { project, range: range.into() }).await?)
        }
    }
}

async fn create(args: CreateArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let mut repositories = args.repositories;
    args.repository.apply(&mut repositories)?;
    let input = ProjectCreate {
        content: args.text.required()?,
        visibility: args.visibility,
        share_execution: args.share_execution,
        archive_recordings: args.archive_recordings,
        sandbox_others: args.sandbox_others,
        retention_days: args.retention_days,
        repositories,
        key: args.key,
    };
    let project: Project = client.ask(Call::ProjectCreate { input }).await?;
    out.show(&project, |out| details(&project, out))
}

async fn update(args: UpdateArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let (project, text) = args.text.parts()?;
    let project = id(client, project).await?;
    let repositories = repositories(&args, client, project).await?;
    let input = ProjectUpdate {
        content: text.read()?,
        expected_version: args.expected_version,
        visibility: args.visibility,
        share_execution: args.share_execution,
        archive_recordings: args.archive_recordings,
        sandbox_others: args.sandbox_others,
        retention_days: args.retention_days.map(args::Retention::days),
        repositories,
        key: args.key,
    };
    if input == (ProjectUpdate { expected_version: input.expected_version, ..Default::default() }) {
        return Err(Failure::usage("nothing to change").advise("pass a new text or at least one option"));
    }
    let project: Project = client.ask(Call::ProjectUpdate { project, input }).await?;
    out.show(&project, |out| details(&project, out))
}

/// The new list of repositories, if any of its options was given; options for the last one leave the others as they
/// are.
async fn repositories(
    args: &UpdateArgs,
    client: &Client,
    project: ProjectId,
) -> Result<Option<Vec<Repository>>, Failure> {
    let said = args.no_repositories || !args.repositories.is_empty();
    if !said && args.repository.is_empty() {
        return Ok(None);
    }
    let before = client.ask::<Project>(Call::ProjectShow { project }).await?.repositories;
    let mut list = match said {
        true => args.repositories.iter().map(|repository| kept(repository, &before)).collect(),
        false => before,
    };
    args.repository.clone().apply(&mut list)?;
    Ok(Some(list))
}

/// A repository that stays in the list keeps its settings.
fn kept(repository: &Repository, before: &[Repository]) -> Repository {
    let known = before.iter().find(|known| known.location == repository.location);
    known.map_or_else(
        || repository.clone(),
        |known| Repository {
            base_branch: repository.base_branch.clone().or(known.base_branch.clone()),
            ..known.clone()
        },
    )
}

async fn id(client: &Client, text: &str) -> Result<ProjectId, Failure> {
    pick::<Project>(client, text).await
}

/// A table of projects.
pub(crate) fn table(projects: &[Project], out: &Output) -> String {
    let mut table = Table::new(&["ID", "KEY", "NAME…", "OWNER…", "VISIBILITY", "UPDATED"], "no projects yet");
    for project in projects {
        table.row([
            project.id.into(),
            (&project.key).into(),
            (&project.name).into(),
            (&project.owner.name).into(),
            project.visibility.into(),
            when::relative(project.updated_at, out.now).into(),
        ]);
    }
    table.render(out)
}

fn details(project: &Project, out: &Output) -> String {
    let days = |days| format!("for {}", words::counted(days, "day", "days"));
    let recordings = project.retention_days.map_or_else(|| "until space is needed".to_owned(), days);
    let mut pairs = vec![
        ("id", project.id.into()),
        ("key", format!("{}, as in {}-1", project.key, project.key).into()),
        ("owner", (&project.owner.name).into()),
        ("visibility", project.visibility.into()),
        ("share execution", words::yes(project.share_execution).into()),
        ("recordings", format!("kept on their runner {recordings}").into()),
        (
            "work of others",
            if project.sandbox_others { "in a sandbox" } else { "in a sandbox if its worker or session says so" }
                .into(),
        ),
        ("version", project.version.into()),
        ("created", when::relative(project.created_at, out.now).into()),
        ("updated", when::relative(project.updated_at, out.now).into()),
    ];
    for repository in &project.repositories {
        let branch = repository.base_branch.as_ref().map(|branch| format!(" ({branch})")).unwrap_or_default();
        pairs.push(("repository", format!("{}{branch}", repository.location).into()));
        let mut add = |name, value: Option<String>| pairs.extend(value.map(|value| (name, value.into())));
        add("  setup", repository.setup.clone());
        add("  teardown", repository.teardown.clone());
        add("  copies", (!repository.copy.is_empty()).then(|| repository.copy.join(", ")));
        add("  ports", repository.ports.as_ref().map(|ports| format!("{}-{}", ports.first, ports.last)));
    }
    format!("{}\n\n{}", fields(out, &pairs), clean(&project.content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_that_stays_keeps_its_settings() {
        let at = |location: &str| Repository { location: location.to_owned(), ..Repository::default() };
        let before = [Repository { setup: Some("make".to_owned()), base_branch: Some("main".to_owned()), ..at("/a") }];
        assert_eq!(kept(&at("/a"), &before), before[0]);
        assert_eq!(kept(&at("/b"), &before), at("/b"));
        let other = Repository { base_branch: Some("next".to_owned()), ..at("/a") };
        assert_eq!(kept(&other, &before), Repository { base_branch: other.base_branch.clone(), ..before[0].clone() });
    }
}
