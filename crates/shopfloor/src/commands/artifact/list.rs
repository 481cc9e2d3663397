//! `shopfloor artifact list`.

use client::Client;
use protocol::{Artifact, ArtifactsWanted, Call, Execution};

use super::args::ListArgs;
use super::by;
use crate::commands::words;
use crate::pick::{pick_of, projects};
use crate::table::Table;
use crate::{Failure, Output, when};

/// Lists artifacts, newest first.
pub(super) async fn run(args: &ListArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let project = args.project.as_deref();
    let execution = match &args.execution {
        Some(execution) => Some(pick_of::<Execution>(client, project, execution).await?),
        None => None,
    };
    let filter = ArtifactsWanted {
        execution,
        path: args.step.clone(),
        session: None,
        name: args.name.clone(),
        before: args.before,
        limit: args.limit,
    };
    let mut all: Vec<Artifact> = Vec::new();
    for project in projects(client, project).await? {
        all.extend(client.ask::<Vec<Artifact>>(Call::ArtifactList { project, filter: filter.clone() }).await?);
    }
    all.sort_by_key(|artifact| std::cmp::Reverse(artifact.created_at));
    out.show(&all, |out| table(&all, out))
}

fn table(all: &[Artifact], out: &Output) -> String {
    let titles = ["ID", "NAME…", "KIND", "SIZE", "STEP…", "PUT", "BY…"];
    let mut table = Table::new(&titles, "no artifacts; `shopfloor artifact put FILE` puts one").at_least("NAME", 16);
    for one in all {
        table.row([
            one.id.into(),
            one.name.as_str().into(),
            one.kind.into(),
            words::bytes(one.size).into(),
            one.path.as_deref().unwrap_or("-").into(),
            when::relative(one.created_at, out.now).into(),
            by(one).into(),
        ]);
    }
    table.render(out)
}
