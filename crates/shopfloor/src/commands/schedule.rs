//! `shopfloor schedule`: what starts executions of a recipe, and what became of each tick.

mod args;
mod show;

use client::Client;
use domain::ScheduleId;
use protocol::{Call, Project, Schedule, ScheduleBackfill, ScheduleNote, Tick, TickPage};

pub(crate) use args::ScheduleCommand;

use crate::confirm::sure;
use crate::pick::{all_of, pick, pick_exact_of, pick_of};
use crate::{Context, Failure};
use args::One;

/// Runs the subcommand.
pub(crate) async fn run(command: ScheduleCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        ScheduleCommand::Add(args) => {
            let (project, input) = args.read()?;
            let project = pick::<Project>(client, &project).await?;
            let schedule: Schedule = client.ask(Call::ScheduleAdd { project, input }).await?;
            out.show(&schedule, |out| show::one(&schedule, out))
        }
        ScheduleCommand::List { project } => {
            let all: Vec<Schedule> = all_of(client, project.as_deref()).await?;
            out.show(&all, |out| show::table(&all, out))
        }
        ScheduleCommand::Show(one) => {
            let schedule: Schedule = client.ask(Call::ScheduleShow { schedule: id(&one, client).await? }).await?;
            out.show(&schedule, |out| show::one(&schedule, out))
        }
        ScheduleCommand::Pause { one, note } => {
            let call = Call::SchedulePause { schedule: id(&one, client).await?, input: ScheduleNote { note } };
            let schedule: Schedule = client.ask(call).await?;
            out.show(&schedule, |_| show::line(&schedule))
        }
        ScheduleCommand::Resume(one) => {
            let schedule: Schedule = client.ask(Call::ScheduleResume { schedule: id(&one, client).await? }).await?;
            out.show(&schedule, |_| show::line(&schedule))
        }
        ScheduleCommand::RunNow(one) => {
            let tick: Tick = client.ask(Call::ScheduleRunNow { schedule: id(&one, client).await? }).await?;
            out.show(&tick, |out| show::ticks(std::slice::from_ref(&tick), out))
        }
        ScheduleCommand::Backfill { one, from, until } => {
            let input = ScheduleBackfill { from, until: until.unwrap_or(out.now) };
            let call = Call::ScheduleBackfill { schedule: id(&one, client).await?, input };
            let ticks: Vec<Tick> = client.ask(call).await?;
            out.show(&ticks, |out| show::ticks(&ticks, out))
        }
        ScheduleCommand::Ticks { one, before, limit } => {
            let page = TickPage { before, limit };
            let ticks: Vec<Tick> = client.ask(Call::ScheduleTicks { schedule: id(&one, client).await?, page }).await?;
            out.show(&ticks, |out| show::ticks(&ticks, out))
        }
        ScheduleCommand::Remove { one, yes } => {
            let schedule = pick_exact_of::<Schedule>(client, one.project.as_deref(), &one.schedule).await?;
            if !yes.yes {
                let shown: Schedule = client.ask(Call::ScheduleShow { schedule }).await?;
                let what = format!("schedule `{}` of recipe `{}` ({schedule})", shown.name, shown.recipe_name);
                sure(false, "remove", &what, "Its executions stay; its ticks are deleted.")?;
            }
            client.ask::<()>(Call::ScheduleRemove { schedule }).await?;
            out.did("removed", schedule)
        }
    }
}

async fn id(one: &One, client: &Client) -> Result<ScheduleId, Failure> {
    pick_of::<Schedule>(client, one.project.as_deref(), &one.schedule).await
}
