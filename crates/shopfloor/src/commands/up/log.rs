//! The log of a hub or runner on standard error.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::commands::serve_args::Log;

/// The default log filter, unless RUST_LOG is set.
const FILTER: &str = "info,sqlx=warn,hyper=warn,rmcp=warn,rustls=warn";

/// Starts the log.
pub(crate) fn start(form: Log) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(FILTER));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let builder = builder.with_ansi(std::io::stderr().is_terminal());
    // A second start in one process, as in tests, keeps the first log.
    let _ = match form {
        Log::Human => builder.with_target(false).try_init(),
        Log::Json => builder.json().try_init(),
    };
}
