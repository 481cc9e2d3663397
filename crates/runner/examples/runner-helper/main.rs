//! What the tests start as a process: a session's host, the wrapper of structured lines, a runner, or a probe of a sandbox.

mod probe;

use std::path::Path;
use std::time::Duration;

use runner::{Options, Patience, Secret};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let code = match args.first().map(String::as_str) {
        Some("session-host") => terminal::host::main(Path::new(&args[1])),
        Some("check-command") => acceptance::warden::main(args.into_iter().skip(1)),
        Some("check-file") => acceptance::judge::main(),
        Some("session-lines") => agents::lines::main(args.into_iter().skip(1)),
        Some(probe::ALL) => probe::all(&args[1]),
        Some(probe::ONE) => probe::one(&args[1]),
        Some("runner") => run(&args[1], &args[2], &args[3]),
        _ => 64,
    };
    std::process::exit(code);
}

fn run(hub: &str, token: &str, data_dir: &str) -> i32 {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let exe = std::env::current_exe().expect("a process knows its program");
    let mut options = Options::new(hub, Secret::new(token), data_dir, exe);
    let limit = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    options.disk_quota = limit("TEST_DISK_QUOTA");
    options.recordings_limit = limit("TEST_RECORDINGS_LIMIT").or(options.recordings_limit);
    options.stop_grace = Duration::from_secs(2);
    let path = |name: &str| std::env::var_os(name).map(std::path::PathBuf::from);
    options.config_dir = path("TEST_CONFIG_DIR").unwrap_or(options.config_dir);
    options.hidden.extend(path("TEST_HIDE"));
    options.patience = Patience {
        heartbeat: Duration::from_millis(200),
        silence: Duration::from_secs(2),
        first_wait: Duration::from_millis(10),
        longest_wait: Duration::from_millis(100),
        refused_wait: Duration::from_millis(200),
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    let stop = async {
        let mut signals = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).expect("a signal");
        signals.recv().await;
    };
    match runtime.block_on(runner::run(options, stop)) {
        Ok(()) => 0,
        Err(error) => {
            tracing::error!(%error, "the runner cannot run");
            1
        }
    }
}
