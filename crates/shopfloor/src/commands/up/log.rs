//! The log of a hub or runner on standard error.

use std::fs::{File, OpenOptions};
use std::io::IsTerminal;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tracing_subscriber::EnvFilter;

use crate::commands::serve_args::Log;

/// The default log filter, unless RUST_LOG is set.
const FILTER: &str = "info,sqlx=warn,hyper=warn,rmcp=warn,rustls=warn";

/// A larger log is rotated.
const LIMIT: u64 = 16 * 1024 * 1024;

/// The log of a hub in the background.
pub(crate) fn of_hub(data_dir: &Path) -> PathBuf {
    data_dir.join("hub.log")
}

/// Opens a log that only its owner can read; a large one becomes `.log.1` first.
pub(crate) fn append_to(path: &Path) -> std::io::Result<File> {
    if std::fs::metadata(path).is_ok_and(|log| log.len() > LIMIT) {
        std::fs::rename(path, path.with_extension("log.1"))?;
    }
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

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
