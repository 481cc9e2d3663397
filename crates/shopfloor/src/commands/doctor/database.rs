//! Whether the database is usable, and which hub uses it.

use std::path::PathBuf;
use std::time::Duration;

use protocol::Health;
use tokio::net::TcpStream;

use super::Check;
use crate::commands::config::without_password;
use crate::hub_file::HubFile;

const NAME: &str = "database";
const PATIENCE: Duration = Duration::from_secs(5);

/// Asks the hub if it runs; otherwise checks the database directly.
pub(crate) async fn check(url: &str, beside: Option<&HubFile>, health: Option<&Health>) -> Check {
    let shown = without_password(url);
    if let (Some(hub), Some(health)) = (beside, health) {
        let holder = format!("{shown}, used by the hub at {} (process {})", hub.url, hub.pid);
        // A broken runner is not a problem of the database.
        return match health.reason.as_ref().filter(|_| health.status != "degraded") {
            None => Check::ok(NAME, holder),
            Some(reason) => {
                let advice = "free disk space or make the file writable; the hub then recovers by itself";
                Check::missing(NAME, format!("{holder}, is not writable: {reason}"), advice).required()
            }
        };
    }
    match (file(url), host(url)) {
        (Some(path), _) => check_file(&path),
        (None, Some(host)) => check_host(&host).await,
        (None, None) => {
            Check::missing(NAME, format!("`{shown}` is not a database URL"), "use sqlite:FILE or postgres://…")
                .required()
        }
    }
}

fn check_file(path: &std::path::Path) -> Check {
    let shown = path.display();
    match std::fs::OpenOptions::new().read(true).append(true).open(path) {
        Ok(_) => Check::ok(NAME, format!("{shown} is writable; no hub runs in this data directory")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Check::ok(NAME, format!("{shown} will be created by `shopfloor up`"))
        }
        Err(error) => {
            let advice = "make the file writable for you, or choose another with --database URL";
            Check::missing(NAME, format!("{shown} cannot be written: {error}"), advice).required()
        }
    }
}

async fn check_host(host: &str) -> Check {
    let connected = tokio::time::timeout(PATIENCE, TcpStream::connect(host)).await;
    let why = match connected {
        Ok(Ok(_)) => return Check::ok(NAME, format!("PostgreSQL answers at {host}")),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "timed out".to_owned(),
    };
    let advice = "start PostgreSQL, or correct --database URL";
    Check::missing(NAME, format!("no answer from {host}: {why}"), advice).required()
}

/// The file of an SQLite database.
pub(crate) fn file(url: &str) -> Option<PathBuf> {
    let path = url.strip_prefix("sqlite:")?;
    let path = path.strip_prefix("//").unwrap_or(path);
    let path = path.split('?').next().unwrap_or(path);
    Some(PathBuf::from(path)).filter(|path| !path.as_os_str().is_empty())
}

fn host(url: &str) -> Option<String> {
    let rest = url.strip_prefix("postgres://").or_else(|| url.strip_prefix("postgresql://"))?;
    let place = rest.split(['/', '?']).next().unwrap_or(rest);
    let host = place.rsplit('@').next().filter(|host| !host.is_empty()).unwrap_or("localhost");
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    Some(if has_port { host.to_owned() } else { format!("{host}:5432") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_a_file_or_a_host() {
        assert_eq!(file("sqlite:/a/b.db"), Some("/a/b.db".into()));
        assert_eq!(file("sqlite:///a/b.db?mode=rwc"), Some("/a/b.db".into()));
        assert_eq!(file("sqlite:"), None);
        assert_eq!(host("postgres://u:p@h:6000/db").as_deref(), Some("h:6000"));
        assert_eq!(host("postgresql://h/db?x=y").as_deref(), Some("h:5432"));
        assert_eq!(host("postgres:///db").as_deref(), Some("localhost:5432"));
        assert_eq!(host("mysql://h"), None);
    }
}
