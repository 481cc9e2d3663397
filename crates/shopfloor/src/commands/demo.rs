//! `shopfloor demo`: an example floor, created through the hub's API so that open pages show it live.

mod build;
mod floor;
mod record;
mod work;

use clap::Args;
use protocol::{Call, Me, Project};

use super::words;
use crate::{Context, Exit, Failure};
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
    if args.remove {
        return remove(context, &client, &me, dir).await;
    }
    let projects: Vec<Project> = client.ask(Call::ProjectList {}).await?;
    if !projects.is_empty() && !args.force {
        let projects = words::counted(projects.len(), "project", "projects");
        let detail = format!("the floor is not empty: it has {projects}");
        return Err(Failure::conflict(detail).advise("pass --force to add the example anyway"));
    }
    let mut record = Record::open(dir, me.hub)?;
    let name = me.user.map_or_else(|| "everyone".to_owned(), |user| user.name);
    let made = build::floor(&client, &name, &mut record).await?;
    context.out.show(&made, |out| super::project::table(&made, out))?;
    context.out.note("remove it with `shopfloor demo --remove`");
    Ok(())
}

async fn remove(context: &Context, client: &client::Client, me: &Me, dir: &std::path::Path) -> Result<(), Failure> {
    let mut record = Record::open(dir, me.hub)?;
    if record.projects().is_empty() {
        return Err(Failure::not_found(format!("{} lists no example of this hub", dir.display())));
    }
    for project in record.projects().to_vec() {
        match client.ask::<()>(Call::ProjectDelete { project }).await.map_err(Failure::from) {
            Ok(()) => context.out.note(&format!("deleted {project}")),
            // Somebody else deleted it first.
            Err(failure) if failure.exit() == Exit::NotFound => {}
            Err(failure) => return Err(failure),
        }
        record.forget(project)?;
    }
    Ok(())
}
