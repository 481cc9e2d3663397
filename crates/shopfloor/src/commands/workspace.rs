//! `shopfloor workspace`.

mod discard;
mod patch;
mod saves;

use clap::Subcommand;
use client::Client;
use domain::{WorkspaceId, WorkspaceStatus};
use protocol::{Call, Land, Landing, Runner, Save, Workspace, WorkspaceDiff, WorkspaceRestore};

use super::session::ListArgs;
use super::words;
use crate::confirm::Yes;
use crate::pager::page;
use crate::pick::{pick, pick_exact};
use crate::table::{Cell, Style, Table, fields};
use crate::{Context, Failure, Output, when};

/// Subcommands for workspaces.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkspaceCommand {
    /// List the workspaces that you can see
    List(ListArgs),
    /// Show one workspace
    Show {
        /// The workspace's id or branch
        workspace: String,
    },
    /// Show its changes since the commit that it started from, as a patch for `git apply`
    Diff {
        /// The workspace's id or branch
        workspace: String,
        /// Show only the changed files
        #[arg(long)]
        stat: bool,
    },
    /// List the saves of its uncommitted work, newest first
    Saves {
        /// The workspace's id or branch
        workspace: String,
    },
    /// Restore a save of one of your workspaces; the current state is saved first
    Restore {
        /// The workspace's id or branch
        workspace: String,
        /// The save's id, or at least 4 digits of it [default: the newest with something that is missing or different
        /// now]
        #[arg(long, value_name = "ID")]
        save: Option<String>,
    },
    /// Publish the branch of one of your workspaces at its repository
    Push {
        /// The workspace's id or branch
        workspace: String,
        /// Return at once instead of waiting for the result
        #[arg(long)]
        no_wait: bool,
    },
    /// Publish the branch of one of your workspaces and merge it through the merge queue
    Merge {
        /// The workspace's id or branch
        workspace: String,
        /// Return at once instead of waiting for the branch to be published
        #[arg(long)]
        no_wait: bool,
    },
    /// Delete your workspaces with their uncommitted and unpushed work, after asking; the saves stay and can be restored
    Discard {
        /// The workspaces' ids or exact branches
        #[arg(required = true)]
        workspaces: Vec<String>,
        #[command(flatten)]
        yes: Yes,
    },
    /// Delete one of your workspaces, unless it has uncommitted or unpushed work
    Clean {
        /// The workspace's id or branch
        workspace: String,
    },
}

/// Runs the subcommand.
pub(crate) async fn run(command: WorkspaceCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        WorkspaceCommand::List(args) => {
            let filter = args.filter(client).await?;
            let workspaces: Vec<Workspace> = client.ask(Call::WorkspaceList { filter }).await?;
            let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await?;
            out.show(&workspaces, |out| table(&workspaces, &runners, out))
        }
        WorkspaceCommand::Show { workspace } => {
            let workspace = id(client, &workspace).await?;
            let workspace: Workspace = client.ask(Call::WorkspaceShow { workspace }).await?;
            let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await?;
            if let (Some(_), false) = (workspace.saved_at, out.json) {
                // Optional: show the rest even if the runner is away.
                let asked = Call::WorkspaceSaves { workspace: workspace.id };
                let saves: Vec<Save> = client.ask(asked).await.unwrap_or_default();
                let missing = saves.first().and_then(saves::missing);
                missing.iter().for_each(|missing| out.note(&format!("the newest save is {missing}")));
            }
            out.show(&workspace, |out| details(&workspace, &runners, out))
        }
        WorkspaceCommand::Diff { workspace, stat } => {
            let workspace = id(client, &workspace).await?;
            let diff: WorkspaceDiff = client.ask(Call::WorkspaceDiff { workspace }).await?;
            match out.json {
                true => out.show(&diff, |_| String::new()),
                false => page(&patch_of(&diff, stat, out), out),
            }
        }
        WorkspaceCommand::Saves { workspace } => {
            let workspace = id(client, &workspace).await?;
            let saves: Vec<Save> = client.ask(Call::WorkspaceSaves { workspace }).await?;
            out.show(&saves, |out| saves::table(&saves, out))
        }
        WorkspaceCommand::Restore { workspace, save } => {
            let workspace = id(client, &workspace).await?;
            let input = WorkspaceRestore { save: save.clone() };
            client.ask::<()>(Call::WorkspaceRestore { workspace, input }).await?;
            out.did("restored", workspace)?;
            // The restore is done; which save it was is shown only if it can be found out.
            let saves: Vec<Save> = client.ask(Call::WorkspaceSaves { workspace }).await.unwrap_or_default();
            saves::restored(save.as_deref(), &saves, out).iter().for_each(|line| out.note(line));
            Ok(())
        }
        WorkspaceCommand::Push { workspace, no_wait } => {
            let asked = land(client, &workspace, true).await?;
            super::land::finish(client, out, asked, no_wait).await
        }
        WorkspaceCommand::Merge { workspace, no_wait } => {
            let asked = land(client, &workspace, false).await?;
            super::land::finish(client, out, asked, no_wait).await
        }
        WorkspaceCommand::Discard { workspaces, yes } => discard::run(client, out, &workspaces, yes.yes).await,
        WorkspaceCommand::Clean { workspace } => {
            let workspace = pick_exact::<Workspace>(client, &workspace).await?;
            client.ask::<()>(Call::WorkspaceClean { workspace }).await?;
            out.note(&format!("deleted {workspace}"));
            Ok(())
        }
    }
}

/// Changes as a patch, with notes about what it does not have; with `stat`, only a summary of each file.
pub(crate) fn patch_of(diff: &WorkspaceDiff, stat: bool, out: &Output) -> String {
    if diff.truncated {
        out.note("the diff is too large: some files or lines were left out");
    }
    for file in patch::not_in_it(diff).into_iter().take(20).filter(|_| !stat) {
        out.note(&format!("{} is not in the patch: it is binary, or its diff is too large", file.path));
    }
    patch::changes(diff, stat, out)
}

async fn land(client: &Client, workspace: &str, push_only: bool) -> Result<Vec<Landing>, Failure> {
    let workspace: Workspace = client.ask(Call::WorkspaceShow { workspace: id(client, workspace).await? }).await?;
    let input = Land { workspaces: vec![workspace.id], push_only, ..Default::default() };
    Ok(client.ask(Call::LandingLand { project: workspace.project, input }).await?)
}

async fn id(client: &Client, text: &str) -> Result<WorkspaceId, Failure> {
    pick::<Workspace>(client, text).await
}

fn status_cell(workspace: &Workspace) -> Cell {
    let style = match workspace.status {
        WorkspaceStatus::Ready => Style::Green,
        WorkspaceStatus::Failed => Style::Red,
        WorkspaceStatus::Preparing => Style::Plain,
        WorkspaceStatus::Cleaned => Style::Dim,
    };
    let detail = workspace.detail.as_ref().map(|detail| format!(": {detail}")).unwrap_or_default();
    Cell::styled(format!("{}{detail}", workspace.status), style)
}

fn table(workspaces: &[Workspace], runners: &[Runner], out: &Output) -> String {
    let titles = &["ID", "STATUS…", "BRANCH…", "CHANGES…", "DISK", "RUNNER…", "UPDATED"];
    let mut table = Table::new(titles, "no workspaces");
    for workspace in workspaces {
        let runner = runners.iter().find(|runner| runner.id == workspace.runner);
        table.row([
            workspace.id.into(),
            status_cell(workspace),
            words::branch(workspace).unwrap_or_else(|| "-".to_owned()).into(),
            workspace.stats.as_ref().map_or_else(|| "-".to_owned(), words::stats).into(),
            workspace.disk_bytes.map_or_else(|| "-".to_owned(), words::bytes).into(),
            runner.map_or("-", |runner| runner.name.as_str()).into(),
            when::relative(workspace.updated_at, out.now).into(),
        ]);
    }
    table.render(out)
}

fn details(workspace: &Workspace, runners: &[Runner], out: &Output) -> String {
    let runner = runners.iter().find(|runner| runner.id == workspace.runner);
    let mut pairs = vec![
        ("id", workspace.id.into()),
        ("status", status_cell(workspace)),
        ("owner", (&workspace.owner.name).into()),
        ("runner", runner.map_or_else(|| workspace.runner.to_string(), |runner| runner.name.clone()).into()),
        ("project", workspace.project.into()),
        ("activity", workspace.activity.into()),
    ];
    let mut add = |name, value: Option<String>| pairs.extend(value.map(|value| (name, value.into())));
    add("repository", workspace.repository.clone());
    add("branch", words::branch(workspace));
    add("started from", workspace.base.clone());
    add("folder", workspace.path.clone());
    add("changes", workspace.stats.as_ref().map(words::stats));
    add("ports", workspace.ports.as_ref().map(|ports| format!("{}-{}", ports.first, ports.last)));
    add("disk", workspace.disk_bytes.map(words::bytes));
    add("saved", workspace.saved_at.map(|at| when::relative(at, out.now)));
    add("created", Some(when::relative(workspace.created_at, out.now)));
    fields(out, &pairs)
}
