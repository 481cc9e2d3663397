//! One file for each noun of the command line.

mod activity;
mod approval;
mod artifact;
mod attach;
mod audit;
mod chat;
mod config;
mod db;
mod demo;
mod doctor;
mod down;
mod escalation;
mod execution;
mod files;
mod freeze;
mod handoff;
mod history;
mod hook;
mod instructions;
mod invite;
mod land;
mod login;
mod mcp;
mod merge;
mod metrics;
mod notify;
mod observer;
mod overlap;
mod presence;
mod profile;
mod project;
mod recipe;
mod recording;
mod review;
mod runner;
mod schedule;
mod search;
mod serve_args;
mod session;
mod shell;
mod status;
mod task;
mod token;
mod up;
mod upgrade;
mod user;
mod watch;
mod words;
mod work;
mod worker;
mod workspace;

use clap::Subcommand;

use crate::{Context, Exit, Failure};

/// Every command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start Shopfloor on this machine and open its page
    Up(up::UpArgs),
    /// Start a hub for a team
    Serve(up::ServeCommand),
    /// End the hub of this machine and its runner; sessions keep running
    Down(down::DownArgs),
    /// Show whether a hub runs on this machine, and what runs with it
    #[command(after_help = status::AFTER)]
    Status,
    /// Check for a newer version, and say how to install it
    Upgrade(upgrade::UpgradeArgs),
    /// Projects: shared goals, constraints and visibility
    #[command(subcommand)]
    Project(project::ProjectCommand),
    /// Activities: lines of work in a project, with plan and status
    #[command(subcommand)]
    Activity(activity::ActivityCommand),
    /// People on this hub
    #[command(subcommand)]
    User(user::UserCommand),
    /// A project's group chat
    #[command(subcommand)]
    Chat(chat::ChatCommand),
    /// Credentials for the CLI and other programs
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Print a login link for your browser; list and end logins
    Login(login::LoginArgs),
    /// Invitations: links that let new people in
    #[command(subcommand)]
    Invite(invite::InviteCommand),
    /// Notifications on your phone, in a chat or at a webhook
    #[command(subcommand)]
    Notify(notify::NotifyCommand),
    /// Observer links: read-only pages that need no account
    #[command(subcommand)]
    Observer(observer::ObserverCommand),
    /// Sessions: agents, commands and shells in terminals
    #[command(subcommand)]
    Session(session::SessionCommand),
    /// Use a session's terminal here
    Attach(attach::AttachArgs),
    /// Hand a session off: a fresh one continues with a document
    Handoff(handoff::HandoffArgs),
    /// Tasks: work in a queue, with criteria and dependencies
    #[command(subcommand)]
    Task(task::TaskCommand),
    /// Workers: agents that take tasks, on your runners or elsewhere
    #[command(subcommand)]
    Worker(worker::WorkerCommand),
    /// How a project hands out its tasks
    #[command(subcommand)]
    Work(work::WorkCommand),
    /// Merge queues: branches, tested together before they land
    #[command(subcommand)]
    Merge(merge::MergeSubcommand),
    /// Recipes: durable workflows, as files
    #[command(subcommand)]
    Recipe(recipe::RecipeCommand),
    /// Executions: runs of recipes, step by step
    #[command(subcommand)]
    Execution(execution::ExecutionCommand),
    /// Artifacts: files and summaries that a project keeps
    #[command(subcommand)]
    Artifact(artifact::ArtifactCommand),
    /// Schedules: when executions of a recipe start
    #[command(subcommand)]
    Schedule(schedule::ScheduleCommand),
    /// Webhooks: receive events from other services
    #[command(subcommand)]
    Hook(hook::HookCommand),
    /// Agent profiles: how the agents of steps work
    #[command(subcommand)]
    Profile(profile::ProfileCommand),
    /// Questions that need a person's answer
    #[command(subcommand)]
    Escalation(escalation::EscalationCommand),
    /// Reviews: comment on a task's changes, approve or send back
    #[command(subcommand)]
    Review(review::ReviewCommand),
    /// Requests to run other people's text on your runners
    #[command(subcommand)]
    Approval(approval::ApprovalCommand),
    /// Show a project's metrics
    Metrics(metrics::MetricsArgs),
    /// Stop all your workers and sessions; hand out no tasks
    StopEverything(freeze::FreezeArgs),
    /// Hand out tasks again after `stop-everything`
    Thaw(freeze::FreezeArgs),
    /// Print instructions for an agent that works or coordinates
    Instructions(instructions::InstructionsArgs),
    /// Workspaces: git clones on their own branches for sessions
    #[command(subcommand)]
    Workspace(workspace::WorkspaceCommand),
    /// Bring accepted work to the repository, through its queue
    Land(land::LandArgs),
    /// Overlaps: where the work of activities meets, before it is merged
    #[command(subcommand)]
    Overlap(overlap::OverlapCommand),
    /// Landings: accepted work that goes to the repository
    #[command(subcommand)]
    Landing(land::LandingCommand),
    /// Recordings of sessions
    #[command(subcommand)]
    Recording(recording::RecordingCommand),
    /// Find projects, activities, tasks, messages, sessions and recordings
    Search(search::SearchArgs),
    /// Run agents on this machine, or manage your runners
    Runner(runner::RunnerArgs),
    /// Audit trail: who did what, when and from where
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Show who is connected and what they look at
    Presence,
    /// Print changes as they happen
    Watch(watch::WatchArgs),
    /// Synchronize a folder with a queue, for workers that use files
    Files(files::FilesArgs),
    /// Serve an agent's MCP tools on standard input and output
    Mcp(mcp::McpArgs),
    /// Check the installation and say how to fix problems
    Doctor,
    /// Fill an empty floor with an example, or remove the example
    Demo(demo::DemoArgs),
    /// Export, import or copy the hub's database
    #[command(subcommand)]
    Db(db::DbCommand),
    /// Print shell completions
    Completions(shell::CompletionsArgs),
    /// Print the man page, or write all man pages into a directory
    Man(shell::ManArgs),
    /// Show your settings
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Print the hub's OpenAPI document
    Openapi,
}

impl Command {
    /// Whether this process becomes a hub or a runner, which use all cores.
    pub(crate) fn is_long(&self) -> bool {
        match self {
            Self::Up(_) | Self::Serve(_) | Self::Db(_) => true,
            Self::Runner(args) => args.is_run(),
            _ => false,
        }
    }
}

/// Runs one command.
pub(crate) async fn run(command: Command, context: &Context) -> Result<Exit, Failure> {
    match command {
        Command::Up(args) => up::up(args, context).await?,
        Command::Serve(args) => up::serve(args, context).await?,
        Command::Down(args) => down::run(args, context).await?,
        Command::Status => return status::run(context).await,
        Command::Upgrade(args) => return upgrade::run(args, context).await,
        Command::Project(command) => project::run(command, context).await?,
        Command::Activity(command) => activity::run(command, context).await?,
        Command::User(command) => user::run(command, context).await?,
        Command::Chat(command) => chat::run(command, context).await?,
        Command::Token(command) => token::run(command, context).await?,
        Command::Login(args) => login::run(args, context).await?,
        Command::Land(args) => land::land(args, context).await?,
        Command::Landing(command) => land::run(command, context).await?,
        Command::Invite(command) => invite::run(command, context).await?,
        Command::Notify(command) => notify::run(command, context).await?,
        Command::Observer(command) => observer::run(command, context).await?,
        Command::Session(command) => return session::run(command, context).await,
        Command::Handoff(args) => handoff::run(args, context).await?,
        Command::Attach(args) => return attach::run(args, context).await,
        Command::Task(command) => return task::run(command, context).await,
        Command::Worker(command) => worker::run(command, context).await?,
        Command::Work(command) => work::run(command, context).await?,
        Command::Merge(command) => merge::run(command, context).await?,
        Command::Recipe(command) => return recipe::run(command, context).await,
        Command::Execution(command) => return execution::run(command, context).await,
        Command::Artifact(command) => artifact::run(command, context).await?,
        Command::Schedule(command) => schedule::run(command, context).await?,
        Command::Hook(command) => hook::run(command, context).await?,
        Command::Profile(command) => profile::run(command, context).await?,
        Command::Escalation(command) => escalation::run(command, context).await?,
        Command::Review(command) => review::run(command, context).await?,
        Command::Approval(command) => approval::run(command, context).await?,
        Command::Metrics(args) => metrics::run(args, context).await?,
        Command::StopEverything(args) => freeze::stop(args, context).await?,
        Command::Thaw(args) => freeze::thaw(args, context).await?,
        Command::Instructions(args) => instructions::run(&args, context)?,
        Command::Workspace(command) => workspace::run(command, context).await?,
        Command::Overlap(command) => overlap::run(command, context).await?,
        Command::Recording(command) => return recording::run(command, context).await,
        Command::Search(args) => search::run(args, context).await?,
        Command::Runner(args) => runner::run(args, context).await?,
        Command::Audit(command) => audit::run(command, context).await?,
        Command::Presence => presence::run(context).await?,
        Command::Watch(args) => watch::run(args, context).await?,
        Command::Files(args) => files::run(args, context).await?,
        Command::Mcp(args) => mcp::run(args, context).await?,
        Command::Doctor => return doctor::run(context).await,
        Command::Demo(args) => demo::run(args, context).await?,
        Command::Db(command) => db::run(command, context).await?,
        Command::Completions(args) => shell::completions(&args, context)?,
        Command::Man(args) => shell::man(&args, context)?,
        Command::Config(command) => config::run(&command, context)?,
        Command::Openapi => {
            let document = context.anonymous()?.openapi().await?;
            context.out.show(&document, |_| format!("{document:#}"))?;
        }
    }
    Ok(Exit::Done)
}
