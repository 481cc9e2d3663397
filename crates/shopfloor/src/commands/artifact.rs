//! `shopfloor artifact`: files and summaries that a project keeps.

mod args;
mod get;
mod list;
mod put;

use client::Client;
use domain::{ArtifactId, ProjectId};
use protocol::{Artifact, ArtifactConfigure, ArtifactSettings, ArtifactsWanted, Call, Execution, Project};

use super::words;
use crate::output::clean;
use crate::pick::{pick, pick_exact_of, pick_of, projects};
use crate::table::{Cell, fields};
use crate::{Context, Failure, Output, confirm, when};

pub(crate) use args::ArtifactCommand;
use args::{One, SettingsArgs};

/// Runs the subcommand.
pub(crate) async fn run(command: ArtifactCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        ArtifactCommand::List(args) => list::run(&args, client, out).await,
        ArtifactCommand::Get(args) => get::run(args, client, out).await,
        ArtifactCommand::Put(args) => put::run(args, client, out).await,
        ArtifactCommand::Show(one) => show(&one, client, out).await,
        ArtifactCommand::Remove { artifact, project, yes } => {
            let id = pick_exact_of::<Artifact>(client, project.as_deref(), &artifact).await?;
            let found: Artifact = client.ask(Call::ArtifactShow { artifact: id }).await?;
            confirm::sure(yes.yes, "remove", &found.name, "nobody can read the artifact any more")?;
            client.call(Call::ArtifactRemove { artifact: id }).await?;
            out.did("removed", id)
        }
        ArtifactCommand::Settings { project } => {
            let project = pick::<Project>(client, &project).await?;
            let settings: ArtifactSettings = client.ask(Call::ArtifactSettings { project }).await?;
            out.show(&settings, |out| said(&settings, out))
        }
        ArtifactCommand::Configure(args) => configure(args, client, out).await,
    }
}

async fn configure(args: SettingsArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let project = pick::<Project>(client, &args.project).await?;
    let input = ArtifactConfigure { days: args.days, max_mib: args.max_mib, total_mib: args.total_mib };
    let settings: ArtifactSettings = client.ask(Call::ArtifactConfigure { project, input }).await?;
    out.show(&settings, |out| said(&settings, out))
}

fn said(settings: &ArtifactSettings, out: &Output) -> String {
    let ArtifactSettings { days, max_mib, total_mib } = settings;
    let kept = if *days == 0 { "for good".to_owned() } else { words::counted(*days, "day", "days") };
    fields(
        out,
        &[
            ("kept", kept.into()),
            ("largest", format!("{max_mib} MiB").into()),
            ("together", format!("{total_mib} MiB").into()),
        ],
    )
}

/// The artifact that a person means: by its id, or by its name, of which the newest of an execution counts.
async fn id(one: &One, client: &Client) -> Result<ArtifactId, Failure> {
    let project = one.project.as_deref();
    let Some(execution) = &one.execution else { return pick_of::<Artifact>(client, project, &one.artifact).await };
    if let Ok(id) = one.artifact.parse() {
        return Ok(id);
    }
    let execution = pick_of::<Execution>(client, project, execution).await?;
    for project in projects(client, project).await? {
        let filter = ArtifactsWanted {
            execution: Some(execution),
            name: Some(one.artifact.clone()),
            limit: Some(1),
            ..Default::default()
        };
        let found: Vec<Artifact> = client.ask(Call::ArtifactList { project, filter }).await?;
        if let Some(newest) = found.first() {
            return Ok(newest.id);
        }
    }
    Err(Failure::not_found(format!("the execution has no artifact `{}`", clean(&one.artifact)))
        .advise(format!("`shopfloor artifact list --execution {execution}` lists its artifacts")))
}

async fn found(one: &One, client: &Client) -> Result<Artifact, Failure> {
    let artifact = id(one, client).await?;
    Ok(client.ask(Call::ArtifactShow { artifact }).await?)
}

async fn show(one: &One, client: &Client, out: &Output) -> Result<(), Failure> {
    let found = found(one, client).await?;
    out.show(&found, |out| about(&found, out))
}

/// All facts about an artifact.
fn about(artifact: &Artifact, out: &Output) -> String {
    let mut pairs: Vec<(&str, Cell)> = vec![
        ("id", artifact.id.into()),
        ("name", artifact.name.as_str().into()),
        ("kind", artifact.kind.into()),
        ("type", artifact.media_type.as_str().into()),
        ("size", words::bytes(artifact.size).into()),
        ("sha256", artifact.sha256.as_str().into()),
        ("put", when::relative(artifact.created_at, out.now).into()),
        ("by", by(artifact).into()),
    ];
    if let Some(execution) = artifact.execution {
        pairs.push(("execution", execution.into()));
    }
    if let Some(path) = &artifact.path {
        pairs.push(("step", path.as_str().into()));
    }
    if let Some(session) = artifact.session {
        pairs.push(("session", session.into()));
    }
    fields(out, &pairs)
}

/// Who put an artifact.
fn by(artifact: &Artifact) -> String {
    let agent = if artifact.by_agent { " (agent)" } else { "" };
    format!("{}{agent}", artifact.by.name)
}

/// The project that is meant; without a name the only one that the caller sees.
async fn project_of(client: &Client, project: Option<&str>) -> Result<ProjectId, Failure> {
    match projects(client, project).await?.as_slice() {
        [one] => Ok(*one),
        [] => Err(Failure::not_found("you see no project")),
        _ => Err(Failure::usage("several projects: name one with --project")),
    }
}
