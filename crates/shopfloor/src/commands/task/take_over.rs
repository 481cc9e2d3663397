//! `shopfloor task take-over`: asks before it runs a colleague's command on your own runner.

use client::{Client, ClientError};
use domain::TaskId;
use protocol::{Call, Me, ProblemKind, Runner, Sandbox, SessionDetail, Task, TaskDetail, TaskTakeOver};

use super::args::TakeOverArgs;
use crate::confirm::{asked, can_ask};
use crate::output::clean;
use crate::pick::pick_if;
use crate::{Context, Failure};

/// Takes a task over.
pub(super) async fn run(args: TakeOverArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let runner = pick_if::<Runner>(&client, args.runner.as_deref()).await?;
    let task = super::id(&client, &args.task).await?;
    // Your own command implies the agent `command`.
    let agent = args.agent.or_else(|| (!args.argv.is_empty()).then(|| "command".to_owned()));
    let same = agent.as_deref().is_none_or(|agent| agent == "command");
    let argv = match args.argv.is_empty() && same {
        true => theirs(&client, task, args.yes).await?,
        false => args.argv,
    };
    let sandbox = args.sandbox.then_some(Sandbox { network: !args.no_network, home: args.home });
    let goal = args.goal;
    let input = TaskTakeOver { runner, agent, argv, sandbox, goal, ..TaskTakeOver::default() };
    let taken: Task = client.ask(Call::TaskTakeOver { task, input }).await?;
    super::said(&taken, &context.out)
}

/// The colleague's command for a task, once it was shown and approved; `None` if none would run.
async fn theirs(client: &Client, task: TaskId, yes: bool) -> Result<Vec<String>, Failure> {
    let detail: TaskDetail = client.ask(Call::TaskShow { task }).await?;
    let Some(session) = detail.task.session else { return Ok(Vec::new()) };
    let found: SessionDetail = match client.ask(Call::SessionShow { session }).await {
        Ok(found) => found,
        // A command that you cannot see cannot be approved: the hub explains what to do.
        Err(ClientError::Problem(problem)) if problem.kind == ProblemKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let me: Me = client.ask(Call::Me {}).await?;
    let mine = me.user.is_some_and(|me| me.id == found.session.owner.id);
    if found.session.agent != "command" || mine {
        return Ok(Vec::new());
    }
    let (owner, line) = (&found.session.owner.name, plan::line_of(&found.argv));
    let shown =
        clean(&format!("your runner would run this command, which {owner} chose:\n  {}", line.replace('\n', "\n  ")));
    if yes {
        crate::output::say(&shown);
        return Ok(found.argv);
    }
    if !can_ask() {
        return Err(Failure::usage(shown).advise(ADVICE));
    }
    crate::output::say(&shown);
    match asked("run it? [y/N] ")? {
        true => Ok(found.argv),
        false => Err(Failure::usage("nothing was taken over").advise(ADVICE)),
    }
}

const ADVICE: &str = "pass --yes to run it, `-- PROGRAM` for your own command, or --agent NAME for another agent";
