//! The binary as a library: the CLI and the local set-up around a hub.
//!
//! It calls the hub through `client` and shows the answers; it has no state and makes no decisions.

mod cli;
mod colours;
mod commands;
mod complete;
mod confirm;
mod context;
mod failure;
mod given;
mod help;
mod here;
mod hub_file;
mod output;
mod pager;
mod pick;
mod places;
mod project_arg;
mod settings;
mod table;
mod task_file;
mod text_arg;
mod tty;
mod when;

use std::ffi::OsString;

use clap::FromArgMatches;

pub use cli::Cli;
pub use context::Context;
pub use failure::{Exit, Failure};
pub use help::command;
pub use output::Output;
pub use settings::{Layers, Origin, Setting, Settings};

/// How long to wait for blocked threads at the end.
const LINGER: std::time::Duration = std::time::Duration::from_secs(2);

/// Runs the program with `args` and returns its exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    complete::answer();
    let args: Vec<OsString> = args.into_iter().collect();
    let json = args.iter().any(|arg| arg == "--json");
    let parsed = help::command().try_get_matches_from(args).and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) if json && error.use_stderr() => return misread(&error).report(json),
        Err(error) => {
            // Requested help and version are not errors; ignore a closed pipe.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage } else { Exit::Done };
        }
    };
    match start(cli) {
        Ok(exit) => exit,
        Err(failure) => failure.report(json),
    }
}

fn misread(error: &clap::Error) -> Failure {
    let text = error.to_string();
    let text = text.split("\n\nUsage:").next().unwrap_or(&text);
    Failure::usage(text.trim_start_matches("error: ").trim())
}

fn start(cli: Cli) -> Result<Exit, Failure> {
    let layers = Layers::of_this_machine()?;
    let context = Context::new(&cli.global, layers)?;
    let mut runtime = if cli.command.is_long() {
        tokio::runtime::Builder::new_multi_thread()
    } else {
        tokio::runtime::Builder::new_current_thread()
    };
    let runtime = runtime.enable_all().build().map_err(|error| Failure::other(format!("could not start: {error}")))?;
    let done = runtime.block_on(commands::run(cli.command, &context));
    // A blocked thread must not keep the program alive.
    runtime.shutdown_timeout(LINGER);
    done
}

/// Runs a helper process of a session or a check, if the command line names one, and returns its exit code.
pub fn session_process(args: impl IntoIterator<Item = OsString>) -> Option<u8> {
    let mut args = args.into_iter().skip(1);
    let code = match args.next()?.to_str()? {
        "session-host" => terminal::host::main(std::path::Path::new(&args.next()?)),
        acceptance::warden::COMMAND => acceptance::warden::main(args.map(|arg| arg.to_string_lossy().into_owned())),
        acceptance::judge::COMMAND => acceptance::judge::main(),
        "session-lines" => agents::lines::main(args.map(|arg| arg.to_string_lossy().into_owned())),
        _ => return None,
    };
    Some(u8::try_from(code & 0xff).unwrap_or(1))
}
