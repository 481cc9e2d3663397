//! `shopfloor land` and `shopfloor landing`

use clap::{Args, Subcommand};
use client::Client;
use domain::{CandidateState, LandMode, LandingState, MergeGate, ProjectId};
use protocol::{
    Activity, ActivityFilter, Call, ExecutionFilter, Land, Landing, LandingConfigure, LandingFilter, LandingSettings,
    MergeQueue, MergeSettings, Project, TaskFilter, Workspace,
};

use super::{task, words};
use crate::pick::{choose_if, pick, pick_if};
use crate::table::{Cell, Style, Table, fields};
use crate::{Context, Failure, Output, when};

/// Arguments of `land`.
#[derive(Debug, Args)]
pub(crate) struct LandArgs {
    /// Done tasks, an activity, or workspaces: ids, numbers, titles or branches
    #[arg(required = true, value_name = "TASK|ACTIVITY|BRANCH")]
    what: Vec<String>,
    /// Only publish the branch at the repository; merge nothing
    #[arg(long)]
    push_only: bool,
    /// Publish the branch and open a pull request for it, with `gh` on the runner
    #[arg(long)]
    pull_request: bool,
    /// Return at once instead of waiting for the result
    #[arg(long)]
    no_wait: bool,
}

/// Subcommands for landings.
#[derive(Debug, Subcommand)]
pub(crate) enum LandingCommand {
    /// List the newest landings
    List {
        /// Only in this project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
    },
    /// Show what happens to accepted work of a project
    Settings {
        /// The project's id or name
        #[arg(long, value_name = "PROJECT")]
        project: String,
    },
    /// Change what happens to accepted work of a project
    Configure {
        /// The project's id or name
        #[arg(long, value_name = "PROJECT")]
        project: String,
        /// Land by hand, automatically once accepted, or publish the branch only
        #[arg(long, value_name = "MODE", value_parser = words::land_mode())]
        mode: Option<LandMode>,
        /// The branch that work lands on; an empty text means the repository's base branch
        #[arg(long, value_name = "BRANCH")]
        target: Option<String>,
        /// Delete workspaces of finished tasks after this many days; 0: only once landed
        #[arg(long, value_name = "DAYS")]
        keep_days: Option<u32>,
    },
}

/// Lands work, and waits for what becomes of it.
pub(crate) async fn land(args: LandArgs, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    let (project, mut input) = meant(client, &args.what).await?;
    input.push_only = args.push_only;
    input.pull_request = args.pull_request;
    let asked: Vec<Landing> = client.ask(Call::LandingLand { project, input }).await?;
    finish(client, out, asked, args.no_wait).await
}

/// Waits for landings unless told otherwise, shows them, and fails if one was refused.
pub(super) async fn finish(client: &Client, out: &Output, asked: Vec<Landing>, no_wait: bool) -> Result<(), Failure> {
    let landings = if no_wait { asked } else { settled(client, out, asked).await? };
    out.show(&landings, |out| table(&landings, out))?;
    // Only a note: the landing itself was asked for.
    for line in held_up(client, &landings).await.unwrap_or_default() {
        out.note(&line);
    }
    let refused: Vec<&Landing> = landings.iter().filter(|one| one.state == LandingState::Refused).collect();
    match refused.first() {
        None => Ok(()),
        Some(first) => {
            let why = first.detail.as_deref().unwrap_or("no reason was given");
            Err(Failure::conflict(format!(
                "{} of {} refused: {why}",
                words::counted(refused.len(), "landing", "landings"),
                landings.len()
            )))
        }
    }
}

/// What keeps landings in the merge queue besides their turn: a person who must confirm them, or a queue that stands
/// still.
async fn held_up(client: &Client, landings: &[Landing]) -> Result<Vec<String>, Failure> {
    let merges = |one: &&Landing| match one.state {
        LandingState::Publishing | LandingState::Queued => !one.push_only,
        LandingState::Published | LandingState::Landed | LandingState::Refused => false,
    };
    let waiting: Vec<&Landing> = landings.iter().filter(merges).collect();
    let Some(project) = waiting.first().map(|one| one.project) else { return Ok(Vec::new()) };
    let settings: MergeSettings = client.ask(Call::MergeSettings { project }).await?;
    let queues: Vec<MergeQueue> = client.ask(Call::MergeList { project }).await?;
    let mut lines = Vec::new();
    if settings.checks.is_empty() {
        let candidates = queues.iter().flat_map(|queue| &queue.candidates);
        let held = candidates.filter(|candidate| candidate.state == CandidateState::NeedsPerson);
        let mine = held.filter(|candidate| waiting.iter().any(|one| one.candidate == Some(candidate.id)));
        let confirm: Vec<String> =
            mine.map(|candidate| format!("`shopfloor merge confirm {}`", candidate.id)).collect();
        let how = match confirm.as_slice() {
            [] => format!("`shopfloor merge list --project {project}` shows what waits"),
            commands => commands.join(", "),
        };
        lines.push(format!("no checks are configured: a person must confirm what lands: {how}"));
    }
    for queue in queues.iter().filter(|queue| queue.gate != MergeGate::Open) {
        if waiting.iter().any(|one| one.target.as_ref().is_none_or(|target| *target == queue.target)) {
            let gate = queue.gate.word().replace('_', " ");
            let reason = queue.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            lines.push(format!("the merge queue of {} is {gate}{reason}", queue.target));
        }
    }
    Ok(lines)
}

/// The landings, once nothing more happens to them without the merge queue.
async fn settled(client: &Client, out: &Output, asked: Vec<Landing>) -> Result<Vec<Landing>, Failure> {
    let Some(project) = asked.first().map(|one| one.project) else { return Ok(asked) };
    if asked.iter().any(|one| one.state == LandingState::Publishing) {
        out.note("publishing the branch; Ctrl-C stops waiting, not the landing");
    }
    loop {
        let filter = LandingFilter { project: Some(project), limit: Some(500), ..Default::default() };
        let all: Vec<Landing> = client.ask(Call::LandingList { filter }).await?;
        let now: Vec<Landing> =
            asked.iter().filter_map(|one| all.iter().find(|found| found.id == one.id).cloned()).collect();
        if now.iter().all(|one| one.state != LandingState::Publishing) {
            return Ok(now);
        }
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    }
}

/// What the words mean, all in one project: tasks first, then activities, then workspaces.
async fn meant(client: &Client, what: &[String]) -> Result<(ProjectId, Land), Failure> {
    let mut projects = Vec::new();
    let mut land = Land::default();
    let tasks = task::all(client, TaskFilter::default()).await?;
    let activities: Vec<Activity> = client.ask(Call::ActivityList { filter: ActivityFilter::default() }).await?;
    let filter = ExecutionFilter { ended: Some(false), ..Default::default() };
    let workspaces: Vec<Workspace> = client.ask(Call::WorkspaceList { filter }).await?;
    for text in what {
        if let Some(id) = choose_if(&tasks, text)? {
            projects.extend(tasks.iter().find(|one| one.id == id).map(|one| one.project));
            land.tasks.push(id);
        } else if let Some(id) = choose_if(&workspaces, text)? {
            projects.extend(workspaces.iter().find(|one| one.id == id).map(|one| one.project));
            land.workspaces.push(id);
        } else if let Some(id) = choose_if(&activities, text)? {
            projects.extend(activities.iter().find(|one| one.id == id).map(|one| one.project));
            if land.activity.replace(id).is_some() {
                return Err(Failure::usage("name one activity at a time"));
            }
        } else {
            let detail = format!("no task, workspace or activity `{text}` found");
            return Err(Failure::not_found(detail).advise(
                "`shopfloor task list --all` shows tasks and their numbers; a branch that the repository has already is \
                 merged by `shopfloor merge add BRANCH --project PROJECT`",
            ));
        }
    }
    projects.dedup();
    match projects.as_slice() {
        [project] => Ok((*project, land)),
        _ => Err(Failure::usage("all of it must be in one project")),
    }
}

/// Runs a subcommand.
pub(crate) async fn run(command: LandingCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        LandingCommand::List { project } => {
            let project = pick_if::<Project>(client, project.as_deref()).await?;
            let filter = LandingFilter { project, ..Default::default() };
            let landings: Vec<Landing> = client.ask(Call::LandingList { filter }).await?;
            out.show(&landings, |out| table(&landings, out))
        }
        LandingCommand::Settings { project } => {
            let project = pick::<Project>(client, &project).await?;
            let settings: LandingSettings = client.ask(Call::LandingSettings { project }).await?;
            out.show(&settings, |out| details(&settings, out))
        }
        LandingCommand::Configure { project, mode, target, keep_days } => {
            let project = pick::<Project>(client, &project).await?;
            let input = LandingConfigure { mode, target, keep_days };
            let settings: LandingSettings = client.ask(Call::LandingConfigure { project, input }).await?;
            out.show(&settings, |out| details(&settings, out))
        }
    }
}

fn state_cell(landing: &Landing) -> Cell {
    let style = match landing.state {
        LandingState::Landed | LandingState::Published => Style::Green,
        LandingState::Refused => Style::Red,
        LandingState::Publishing | LandingState::Queued => Style::Plain,
    };
    let detail = landing.detail.as_ref().map(|detail| format!(": {detail}")).unwrap_or_default();
    Cell::styled(format!("{}{detail}", landing.state), style)
}

fn table(landings: &[Landing], out: &Output) -> String {
    let mut table = Table::new(&["WORK…", "STATE…", "BRANCH…", "ONTO", "COMMIT", "UPDATED"], "no landings");
    for landing in landings {
        let commit = landing.landed.as_ref().or(landing.commit.as_ref());
        let onto = match (&landing.pull_request, landing.push_only) {
            (Some(address), _) => address.clone(),
            (None, true) => "-".to_owned(),
            (None, false) => landing.target.clone().unwrap_or_else(|| "base branch".to_owned()),
        };
        table.row([
            (&landing.title).into(),
            state_cell(landing),
            (&landing.branch).into(),
            onto.into(),
            commit.map_or("-", |commit| commit.get(..10).unwrap_or(commit)).into(),
            when::relative(landing.updated_at, out.now).into(),
        ]);
    }
    table.render(out)
}

fn details(settings: &LandingSettings, out: &Output) -> String {
    let mode = match settings.mode {
        LandMode::ByHand => "by hand: `shopfloor land TASK`",
        LandMode::Automatic => "automatically, once accepted",
        LandMode::PushOnly => "its branch is published once accepted",
    };
    let days = match settings.keep_days {
        0 => "until the work has landed".to_owned(),
        days => format!("until the work has landed, at most {}", words::counted(days, "day", "days")),
    };
    fields(
        out,
        &[
            ("accepted work lands", mode.into()),
            ("onto", settings.target.clone().unwrap_or_else(|| "the repository's base branch".to_owned()).into()),
            ("workspaces are kept", days.into()),
        ],
    )
}
