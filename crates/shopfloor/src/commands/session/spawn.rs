//! `shopfloor session spawn`.

use client::Client;
use domain::{RunnerId, SessionMode};
use protocol::{Activity, Call, Me, Project, Runner, Sandbox, Session, SessionSpawn, Workspace};

use super::args::SpawnArgs;
use crate::commands::attach;
use crate::pick::{choose, pick_if};
use crate::text_arg::read_prompt;
use crate::{Context, Exit, Failure, tty};

/// Starts a session, and attaches if requested.
pub(crate) async fn run(args: SpawnArgs, context: &Context) -> Result<Exit, Failure> {
    let (client, out) = (&context.client()?, &context.out);
    if args.attach && !tty::is_here() {
        return Err(attach::no_terminal());
    }
    let attach = args.attach;
    let session: Session = client.ask(Call::SessionSpawn { input: input(args, client).await? }).await?;
    if attach && !out.json {
        return attach::attach_to(session.id, context).await;
    }
    out.show(&session, |out| super::line(&session, out))?;
    if attach { attach::attach_to(session.id, context).await } else { Ok(Exit::Done) }
}

/// Refuses a command line that does not say where to start what.
pub(crate) fn check(args: &SpawnArgs) -> Result<(), Failure> {
    let place = args.project.is_none() && args.activity.is_none();
    let program = args.agent.is_none() && args.argv.is_empty();
    let missing = match (place, program) {
        (true, true) => "give --project or --activity, and --agent or `-- COMMAND`",
        (true, false) => "give --project or --activity",
        (false, true) => "give --agent or `-- COMMAND`",
        (false, false) => return Ok(()),
    };
    Err(Failure::usage(missing).advise("`shopfloor session spawn --help` has examples"))
}

async fn input(args: SpawnArgs, client: &Client) -> Result<SessionSpawn, Failure> {
    let size = args.attach.then(tty::size).flatten();
    let prompt = match &args.prompt_file {
        Some(path) => Some(read_prompt(path)?),
        None => args.prompt,
    };
    let sandbox = Sandbox { network: !args.no_network, home: args.home };
    Ok(SessionSpawn {
        activity: pick_if::<Activity>(client, args.activity.as_deref()).await?,
        project: pick_if::<Project>(client, args.project.as_deref()).await?,
        agent: args.agent.unwrap_or_else(|| "command".to_owned()),
        prompt,
        mode: args.headless.then_some(SessionMode::Headless),
        model: args.model,
        argv: args.argv,
        runner: match args.runner.as_deref() {
            Some(text) => Some(runner(client, text).await?),
            None => None,
        },
        labels: args.labels,
        workspace: pick_if::<Workspace>(client, args.workspace.as_deref()).await?,
        repository: args.repository,
        base: args.base,
        branch: args.branch,
        sandbox: args.sandbox.then_some(sandbox),
        record_input: args.record_input.then_some(true),
        cols: size.map(|(cols, _)| cols),
        rows: size.map(|(_, rows)| rows),
    })
}

/// The runner that a person means: their own first, another person's as `ann/laptop`.
async fn runner(client: &Client, text: &str) -> Result<RunnerId, Failure> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let all: Vec<Runner> = client.ask(Call::RunnerList {}).await?;
    if let Some((owner, name)) = text.split_once('/') {
        let theirs = all.iter().find(|one| one.owner.name.eq_ignore_ascii_case(owner) && one.name == name);
        let missing =
            || Failure::not_found(format!("{owner} has no runner `{name}`")).advise("`shopfloor runner list`");
        return theirs.map(|one| one.id).ok_or_else(missing);
    }
    let me: Me = client.ask(Call::Me {}).await?;
    let mine = me.user.map(|user| user.id);
    match all.iter().find(|one| Some(one.owner.id) == mine && one.name == text) {
        Some(own) => Ok(own.id),
        None => choose(&all, text),
    }
}
