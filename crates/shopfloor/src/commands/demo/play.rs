//! Lets the scripted agent work: the plan, its workers, and the merge queue that lands what passes.

use std::path::Path;
use std::time::{Duration, Instant};

use client::Client;
use domain::{LandMode, LandingState, ProjectId, RunnerId, TaskStatus};
use plan::Format;
use protocol::{
    AddedTasks, Call, ExecutionFilter, Landing, LandingConfigure, LandingFilter, LandingSettings, Me, MergeCommand,
    MergeConfigure, MergeSettings, Runner, Session, SessionSpawn, TaskFilter, TaskLine, TasksAdd, Worker, WorkerStart,
};

use super::repository::PLAN;
use crate::commands::runner::{Registration, machine_name};
use crate::{Context, Failure};

/// Two are enough: the plan has three tasks at once at most.
const WORKERS: u32 = 2;
/// How long to wait for a plan that takes ten seconds; then it continues by itself.
const PATIENCE: Duration = Duration::from_secs(120);
/// The priority of the task that needs what no agent has.
const FOR_PEOPLE: u8 = 3;
/// How often to look.
const PACE: Duration = Duration::from_millis(250);

/// The caller's connected runner on this machine, which can read the example's repository.
pub(super) async fn runner_here(client: &Client, me: &Me, data_dir: &Path) -> Result<Option<RunnerId>, Failure> {
    let Some(me) = &me.user else { return Ok(None) };
    let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await?;
    let registered = Registration::read(&data_dir.join("runner"))?;
    let here = |runner: &&Runner| {
        let machine = runner.about.as_ref().is_some_and(|about| about.machine == machine_name());
        let ours = registered.as_ref().is_some_and(|known| known.name == runner.name);
        runner.connected && runner.owner.id == me.id && (ours || machine)
    };
    Ok(runners.iter().find(here).map(|runner| runner.id))
}

/// Adds the plan: what passes its tests lands on main by itself.
pub(super) async fn add_plan(client: &Client, project: ProjectId) -> Result<(), Failure> {
    let check = MergeCommand { argv: vec!["sh".to_owned(), "test.sh".to_owned()], seconds: 60 };
    let input = MergeConfigure { checks: Some(vec![check]), ..MergeConfigure::default() };
    client.ask::<MergeSettings>(Call::MergeConfigure { project, input }).await?;
    let input = LandingConfigure { mode: Some(LandMode::Automatic), ..LandingConfigure::default() };
    client.ask::<LandingSettings>(Call::LandingConfigure { project, input }).await?;
    let tasks = plan::read(PLAN.as_bytes(), "example", Some(Format::Markdown)).tasks;
    client.ask::<AddedTasks>(Call::TaskAdd { project, input: TasksAdd { tasks } }).await?;
    Ok(())
}

/// Starts workers that run the script.
pub(super) async fn start_workers(client: &Client, project: ProjectId, runner: RunnerId) -> Result<(), Failure> {
    let input = WorkerStart {
        agent: "command".to_owned(),
        count: Some(WORKERS),
        runner: Some(runner),
        argv: script()?,
        ..WorkerStart::default()
    };
    client.ask::<Vec<Worker>>(Call::WorkerStart { project, input }).await?;
    Ok(())
}

/// The second person asks to run the script on the caller's machine, in an activity that the caller works on: the caller
/// is asked for permission.
pub(super) async fn ask_permission(
    me: &Client,
    other: &Client,
    project: ProjectId,
    runner: RunnerId,
) -> Result<(), Failure> {
    let filter = ExecutionFilter { project: Some(project), ended: Some(true), ..ExecutionFilter::default() };
    let sessions: Vec<Session> = me.ask(Call::SessionList { filter }).await?;
    let Some(session) = sessions.first() else { return Ok(()) };
    let input = SessionSpawn {
        activity: Some(session.activity),
        agent: "command".to_owned(),
        argv: script()?,
        runner: Some(runner),
        ..SessionSpawn::default()
    };
    other.ask::<Session>(Call::SessionSpawn { input }).await?;
    Ok(())
}

fn script() -> Result<Vec<String>, Failure> {
    let exe = std::env::current_exe();
    let exe = exe.map_err(|error| Failure::other(format!("could not find this program: {error}")))?;
    Ok(["sh", ".demo/agent.sh"].map(str::to_owned).into_iter().chain([exe.display().to_string()]).collect())
}

/// Waits until all that the script can finish has landed and its question is asked; says how far it is.
pub(super) async fn watch(client: &Client, project: ProjectId, context: &Context) -> Result<bool, Failure> {
    let (began, mut said) = (Instant::now(), 0);
    loop {
        let filter = TaskFilter { project: Some(project), limit: Some(100), ..TaskFilter::default() };
        let tasks: Vec<TaskLine> = client.ask(Call::TaskList { filter }).await?;
        let filter = LandingFilter { project: Some(project), ..LandingFilter::default() };
        let mut landed: Vec<Landing> = client.ask(Call::LandingList { filter }).await?;
        if let Some(refused) = landed.iter().find(|landing| landing.state == LandingState::Refused) {
            let why = refused.detail.clone().unwrap_or_default();
            return Err(Failure::other(format!("`{}` did not land: {why}", refused.title)));
        }
        landed.retain(|landing| landing.state == LandingState::Landed);
        // The newest is first.
        for landing in landed.iter().rev().skip(said) {
            context.out.note(&format!("landed on main: {}", landing.title));
        }
        said = landed.len();
        let asked = tasks.iter().any(|task| task.status == TaskStatus::Escalated);
        let busy = |task: &TaskLine| {
            matches!(task.status, TaskStatus::Running | TaskStatus::Reported | TaskStatus::Validating)
        };
        let done = tasks.iter().filter(|task| task.status == TaskStatus::Done).count();
        if asked && done > 0 && said >= done && !tasks.iter().any(busy) && settled(&tasks) {
            return Ok(true);
        }
        if began.elapsed() > PATIENCE {
            return Ok(false);
        }
        tokio::time::sleep(PACE).await;
    }
}

/// Whether no task is left that the workers could take.
fn settled(tasks: &[TaskLine]) -> bool {
    let waits = |task: &TaskLine| task.status == TaskStatus::Ready && task.priority > FOR_PEOPLE;
    !tasks.iter().any(waits)
}
