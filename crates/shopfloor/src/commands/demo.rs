//! `shopfloor demo`: an example floor, created through the hub's API so that open pages show it live.

mod build;
mod floor;
mod play;
mod record;
mod remove;
mod repository;

use clap::Args;
use client::Client;
use protocol::{Call, Me, Project};

use super::words;
use crate::{Context, Failure};
use build::People;
use record::Record;

/// Create or remove the example.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Delete exactly what an earlier `demo` created
    #[arg(long)]
    remove: bool,
    /// Add the example even if there are projects
    #[arg(long, conflicts_with = "remove")]
    force: bool,
}

/// Creates or removes the example.
pub(crate) async fn run(args: DemoArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let me: Me = client.ask(Call::Me {}).await?;
    let dir = &context.settings.data_dir.value;
    let mut record = Record::open(dir, me.hub)?;
    if args.remove {
        return match record.exists() {
            true => remove::run(context, &client, &me, &mut record).await,
            false => Err(Failure::not_found(format!("{} lists no example of this hub", dir.display()))),
        };
    }
    let projects: Vec<Project> = client.ask(Call::ProjectList {}).await?;
    if record.is_complete() {
        let known = |project: &Project| record.projects().values().any(|known| *known == Some(project.id));
        let made: Vec<Project> = projects.into_iter().filter(known).collect();
        context.out.show(&made, |out| super::project::table(&made, out))?;
        context.out.note("the example is already there; remove it with `shopfloor demo --remove`");
        return Ok(());
    }
    if record.exists() {
        context.out.note("an earlier `demo` was interrupted: starting over");
        remove::run(context, &client, &me, &mut record).await?;
        record = Record::open(dir, me.hub)?;
    } else if !projects.is_empty() && !args.force {
        let projects = words::counted(projects.len(), "project", "projects");
        let detail = format!("the floor is not empty: it has {projects}");
        return Err(Failure::conflict(detail).advise("pass --force to add the example anyway"));
    }
    let made = create(context, &client, &me, &mut record).await?;
    context.out.show(&made, |out| super::project::table(&made, out))?;
    context.out.note("remove it with `shopfloor demo --remove`");
    Ok(())
}

async fn create(context: &Context, client: &Client, me: &Me, record: &mut Record) -> Result<Vec<Project>, Failure> {
    let runner = play::runner_here(client, me, &context.settings.data_dir.value).await?;
    record.begin()?;
    let repository = repository::create(&record.folder())?;
    let other = build::second_person(client, me, record).await?;
    let people = People { me: client, other };
    let name = me.user.as_ref().map_or("everyone", |user| &user.name);
    let mut made = Vec::new();
    for plan in floor::PROJECTS {
        record.project(plan.key, None)?;
        let project = build::project(&people, plan, Some(&repository), record).await?;
        record.project(plan.key, Some(project.id))?;
        let project = build::fill_in(&people, plan, project, name).await?;
        if plan.worked_on {
            play::add_plan(client, project.id).await?;
        }
        made.push(project);
    }
    let Some(project) = floor::PROJECTS.iter().position(|plan| plan.worked_on).map(|at| made[at].id) else {
        return Ok(made);
    };
    match runner {
        Some(runner) => {
            play::start_workers(client, project, runner).await?;
            record.complete()?;
            context.out.note("two scripted agents work on the plan (no model, no network)");
            if !play::watch(client, project, context).await? {
                context.out.note("the agents are slow today; their work lands by itself: `shopfloor task list`");
            }
            if let Some(other) = &people.other
                && let Err(failure) = play::ask_permission(client, other, project, runner).await
            {
                tracing::debug!(failure = %failure.render(false), "the second person could not ask");
            }
            context
                .out
                .note("one agent asks which cup is meant: answer on the page, or see `shopfloor escalation list`");
        }
        None => {
            record.complete()?;
            context
                .out
                .note("no runner of yours is connected on this machine: the plan waits; start one with `shopfloor up`");
        }
    }
    Ok(made)
}
