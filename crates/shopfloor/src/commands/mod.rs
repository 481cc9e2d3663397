//! One file for each noun of the command line.

mod activity;
mod approval;
mod attach;
mod audit;
mod chat;
mod config;
mod db;
mod demo;
mod doctor;
mod escalation;
mod files;
mod freeze;
mod history;
mod instructions;
mod invite;
mod land;
mod login;
mod mcp;
mod merge;
mod metrics;
mod observer;
mod presence;
mod project;
mod recording;
mod review;
mod runner;
mod serve_args;
mod session;
mod shell;
mod task;
mod token;
mod up;
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
    /// Start a hub for yourself on this machine and open its page
    Up(up::UpArgs),
    /// Start a hub for a team
    Serve(up::ServeCommand),
    /// Projects: shared goals, constraints and visibility
    #[command(subcommand)]
    Project(project::ProjectCommand),
    /// Activities: lines of work in a project, with intent, plan and status
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
    /// Print a one-time link that logs a browser in as you, or manage logged-in browsers
    Login(login::LoginArgs),
    /// Invitations: links that let new people in
    #[command(subcommand)]
    Invite(invite::InviteCommand),
    /// Observer links: a read-only page of a project, without an account
    #[command(subcommand)]
    Observer(observer::ObserverCommand),
    /// Sessions: agents, commands and shells in terminals
    #[command(subcommand)]
    Session(session::SessionCommand),
    /// Use a session's terminal here; the bottom line shows how to detach
    Attach(attach::AttachArgs),
    /// Tasks: work in a queue, with acceptance criteria and dependencies
    #[command(subcommand)]
    Task(task::TaskCommand),
    /// Workers: agents on your runners, and others, that take tasks
    #[command(subcommand)]
    Worker(worker::WorkerCommand),
    /// How a project hands out its tasks
    #[command(subcommand)]
    Work(work::WorkCommand),
    /// Merge queues: branches that are tested together before they land
    #[command(subcommand)]
    Merge(merge::MergeSubcommand),
    /// Questions that need a person's answer
    #[command(subcommand)]
    Escalation(escalation::EscalationCommand),
    /// Reviews: comments on a task's changes, approve or send back
    #[command(subcommand)]
    Review(review::ReviewCommand),
    /// Requests to run other people's text on your runners
    #[command(subcommand)]
    Approval(approval::ApprovalCommand),
    /// Show a project's metrics
    Metrics(metrics::MetricsArgs),
    /// Stop all your workers and sessions; nothing is handed out until `thaw`
    StopEverything(freeze::FreezeArgs),
    /// Hand out tasks again after `stop-everything`
    Thaw(freeze::FreezeArgs),
    /// Print instructions that turn an agent into a worker or a coordinator
    Instructions(instructions::InstructionsArgs),
    /// Workspaces: git clones on their own branches, where sessions work
    #[command(subcommand)]
    Workspace(workspace::WorkspaceCommand),
    /// Bring accepted work to the repository: publish its branch, then merge it through the queue
    Land(land::LandArgs),
    /// Landings, and what happens to accepted work of a project
    #[command(subcommand)]
    Landing(land::LandingCommand),
    /// Recordings of sessions
    #[command(subcommand)]
    Recording(recording::RecordingCommand),
    /// Run agents on this machine, or manage your runners
    Runner(runner::RunnerArgs),
    /// Audit trail: who did what, when and from where
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Show who is connected and what they look at
    Presence,
    /// Print changes as they happen
    Watch(watch::WatchArgs),
    /// Synchronize a folder with a project's queue, for workers that only read and write files
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
        Command::Project(command) => project::run(command, context).await?,
        Command::Activity(command) => activity::run(command, context).await?,
        Command::User(command) => user::run(command, context).await?,
        Command::Chat(command) => chat::run(command, context).await?,
        Command::Token(command) => token::run(command, context).await?,
        Command::Login(args) => login::run(args, context).await?,
        Command::Land(args) => land::land(args, context).await?,
        Command::Landing(command) => land::run(command, context).await?,
        Command::Invite(command) => invite::run(command, context).await?,
        Command::Observer(command) => observer::run(command, context).await?,
        Command::Session(command) => return session::run(command, context).await,
        Command::Attach(args) => return attach::run(args, context).await,
        Command::Task(command) => return task::run(command, context).await,
        Command::Worker(command) => worker::run(command, context).await?,
        Command::Work(command) => work::run(command, context).await?,
        Command::Merge(command) => merge::run(command, context).await?,
        Command::Escalation(command) => escalation::run(command, context).await?,
        Command::Review(command) => review::run(command, context).await?,
        Command::Approval(command) => approval::run(command, context).await?,
        Command::Metrics(args) => metrics::run(args, context).await?,
        Command::StopEverything(args) => freeze::stop(args, context).await?,
        Command::Thaw(args) => freeze::thaw(args, context).await?,
        Command::Instructions(args) => instructions::run(&args, context)?,
        Command::Workspace(command) => workspace::run(command, context).await?,
        Command::Recording(command) => return recording::run(command, context).await,
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
