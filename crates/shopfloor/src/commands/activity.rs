//! `shopfloor activity`.

mod args;
mod groups;

use client::Client;
use domain::ActivityId;
use protocol::{
    Activity, ActivityCreate, ActivityFilter, ActivityUpdate, Call, ExecutionFilter, Project, Session, Version, Worker,
    WorkerFilter,
};

pub(crate) use args::ActivityCommand;
use args::{CreateArgs, ListArgs, UpdateArgs};
use groups::Grouped;

use super::{history, words};
use crate::output::clean;
use crate::pick::pick;
use crate::table::fields;
use crate::{Context, Failure, Output, when};

/// Runs the subcommand.
pub(crate) async fn run(command: ActivityCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        ActivityCommand::Create(args) => create(args, client, out).await,
        ActivityCommand::List(args) => list(args, client, out).await,
        ActivityCommand::Show { activity } => {
            let activity: Activity = client.ask(Call::ActivityShow { activity: id(client, &activity).await? }).await?;
            out.show(&activity, |out| details(&activity, out))
        }
        ActivityCommand::Update(args) => update(args, client, out).await,
        ActivityCommand::History { activity, page } => {
            let activity = id(client, &activity).await?;
            let call = Call::ActivityVersions { activity, page: page.into() };
            let versions: Vec<Version> = client.ask(call).await?;
            history::show_versions(out, &versions)
        }
        ActivityCommand::Diff { activity, range } => {
            let activity = id(client, &activity).await?;
            history::show_diff(out, &client.ask(Call::ActivityDiff { activity, range: range.into() }).await?)
        }
    }
}

async fn create(args: CreateArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let (project, content) = args.text.read(client).await?;
    let input = ActivityCreate { content, status: args.status, links: args.links };
    let activity: Activity = client.ask(Call::ActivityCreate { project, input }).await?;
    out.show(&activity, |out| details(&activity, out))
}

async fn list(args: ListArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let project = match &args.project {
        Some(project) => Some(pick::<Project>(client, project).await?),
        None => None,
    };
    let mut activities: Vec<Activity> = client.ask(Call::ActivityList { filter: ActivityFilter { project } }).await?;
    if let Some(status) = args.status {
        activities.retain(|activity| activity.status == status);
    }
    if out.json {
        return out.show(&activities, |_| String::new());
    }
    let projects: Vec<Project> = client.ask(Call::ProjectList {}).await?;
    let sessions: Vec<Session> = client
        .ask(Call::SessionList { filter: ExecutionFilter { project, activity: None, ended: Some(true) } })
        .await?;
    let workers: Vec<Worker> = client.ask(Call::WorkerList { filter: WorkerFilter { project } }).await?;
    let grouped = Grouped::of(activities, &sessions, &workers);
    out.show(&(), |out| grouped.text(&projects, out))
}

async fn update(args: UpdateArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let input = ActivityUpdate {
        content: args.text.read()?,
        expected_version: args.expected_version,
        status: args.status,
        links: if args.no_links { Some(Vec::new()) } else { Some(args.links).filter(|list| !list.is_empty()) },
    };
    if input == (ActivityUpdate { expected_version: input.expected_version, ..Default::default() }) {
        return Err(Failure::usage("nothing to change").advise("give a new text, --status or --link"));
    }
    let activity = id(client, &args.activity).await?;
    let activity: Activity = client.ask(Call::ActivityUpdate { activity, input }).await?;
    out.show(&activity, |out| details(&activity, out))
}

async fn id(client: &Client, text: &str) -> Result<ActivityId, Failure> {
    pick::<Activity>(client, text).await
}

fn details(activity: &Activity, out: &Output) -> String {
    let mut pairs = vec![
        ("id", activity.id.into()),
        ("project", activity.project.into()),
        ("owner", (&activity.owner.name).into()),
        ("status", words::status_cell(activity.status)),
        ("version", activity.version.into()),
        ("created", when::relative(activity.created_at, out.now).into()),
        ("updated", when::relative(activity.updated_at, out.now).into()),
    ];
    pairs.extend(activity.links.iter().map(|link| (link.kind.word(), (&link.target).into())));
    format!("{}\n\n{}", fields(out, &pairs), clean(&activity.content))
}
