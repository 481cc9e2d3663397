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
mod login;
mod mcp;
mod metrics;
mod observer;
mod presence;
mod project;
mod recording;
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
    /// What people align on: goals, constraints, visibility
    #[command(subcommand)]
    Project(project::ProjectCommand),
    /// Lines of work in a project: intent, plan, status
    #[command(subcommand)]
    Activity(activity::ActivityCommand),
    /// The people of this hub
    #[command(subcommand)]
    User(user::UserCommand),
    /// A project's group chat
    #[command(subcommand)]
    Chat(chat::ChatCommand),
    /// Credentials for the CLI and for programs
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Print a fresh one-time link that logs a browser in as you
    Login(login::LoginArgs),
    /// Links that let new people in
    #[command(subcommand)]
    Invite(invite::InviteCommand),
    /// Links to a read-only page of a project, without an account
    #[command(subcommand)]
    Observer(observer::ObserverCommand),
    /// Agents, commands and shells in their terminals
    #[command(subcommand)]
    Session(session::SessionCommand),
    /// Use a session's terminal here; the line at the bottom says how to leave it
    Attach(attach::AttachArgs),
    /// Work in a queue: what is to be done, how it is accepted, who has it
    #[command(subcommand)]
    Task(task::TaskCommand),
    /// Who takes tasks: agents on your runners, and others
    #[command(subcommand)]
    Worker(worker::WorkerCommand),
    /// How a project hands out its tasks
    #[command(subcommand)]
    Work(work::WorkCommand),
    /// What waits for a person
    #[command(subcommand)]
    Escalation(escalation::EscalationCommand),
    /// What others wrote and would run on your runners: allow it, or not
    #[command(subcommand)]
    Approval(approval::ApprovalCommand),
    /// How the work in a project goes
    Metrics(metrics::MetricsArgs),
    /// Stop all your workers and sessions at once; nothing is handed out until `thaw`
    StopEverything(freeze::FreezeArgs),
    /// Hand out tasks again after `stop-everything`
    Thaw(freeze::FreezeArgs),
    /// Print instructions that make an agent a worker or a coordinator
    Instructions(instructions::InstructionsArgs),
    /// Where sessions work: worktrees on branches of their own
    #[command(subcommand)]
    Workspace(workspace::WorkspaceCommand),
    /// What sessions have shown, to be played again
    #[command(subcommand)]
    Recording(recording::RecordingCommand),
    /// Run agents on this machine, or manage the machines that do
    Runner(runner::RunnerArgs),
    /// Who did what, when, from where
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Who is here, looking at what
    Presence,
    /// Print changes as they come
    Watch(watch::WatchArgs),
    /// Keep a folder in step with a project's queue, for workers that only read and write files
    Files(files::FilesArgs),
    /// Give an agent that speaks MCP its tools, over standard input and output
    Mcp(mcp::McpArgs),
    /// Say what is there, what is missing, and what to do
    Doctor,
    /// Fill an empty floor with an example, or remove it again
    Demo(demo::DemoArgs),
    /// Move or copy the hub's database
    #[command(subcommand)]
    Db(db::DbCommand),
    /// Print completions for a shell
    Completions(shell::CompletionsArgs),
    /// Print the man page, or write all of them into a directory
    Man(shell::ManArgs),
    /// Your settings
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
        Command::Invite(command) => invite::run(command, context).await?,
        Command::Observer(command) => observer::run(command, context).await?,
        Command::Session(command) => return session::run(command, context).await,
        Command::Attach(args) => return attach::run(args, context).await,
        Command::Task(command) => return task::run(command, context).await,
        Command::Worker(command) => worker::run(command, context).await?,
        Command::Work(command) => work::run(command, context).await?,
        Command::Escalation(command) => escalation::run(command, context).await?,
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
