//! Whether the port is free and the hub answers.

use std::net::{SocketAddr, TcpListener};

use client::Client;
use protocol::Health;

use super::Check;
use crate::Context;
use crate::hub_file::HubFile;

/// The health of the data directory's hub, if it answers.
pub(crate) async fn health(beside: Option<&HubFile>) -> Option<Health> {
    Client::anonymous(&beside?.url).ok()?.health().await.ok()
}

/// Whether the port is free, or used by our hub.
pub(crate) fn check_port(listen: SocketAddr, beside: Option<&HubFile>, alive: bool) -> Check {
    let ours = beside.filter(|hub| alive && hub.url.ends_with(&format!(":{}", listen.port())));
    if let Some(hub) = ours {
        return Check::ok("port", format!("{listen} is used by your hub (process {})", hub.pid));
    }
    match TcpListener::bind(listen) {
        Ok(_) => Check::ok("port", format!("{listen} is free")),
        Err(error) => {
            let advice = "stop the program that uses it, or choose another with --listen ADDRESS:PORT";
            Check::warn("port", format!("{listen} cannot be used: {error}"), advice)
        }
    }
}

/// Whether the hub that the CLI talks to answers and accepts the token.
pub(crate) async fn check_hub(context: &Context, beside: Option<&HubFile>, health: Option<&Health>) -> Check {
    let Some(hub) = &context.settings.hub else {
        return Check::warn("hub", "no hub is configured", "start one with `shopfloor up`");
    };
    let url = &hub.value;
    let health = match (beside, health) {
        (Some(beside), Some(health)) if beside.url == *url => Some(health.clone()),
        _ => health_of(url).await,
    };
    let Some(health) = health else {
        let advice = "start it with `shopfloor up`, or choose another with --hub URL";
        return Check::warn("hub", format!("no answer from {url} ({})", hub.origin), advice);
    };
    let state = format!("{url} runs version {}: {}", health.version, health.status);
    let Ok(client) = context.client() else {
        return Check::warn(
            "hub",
            format!("{state}, but you have no token for it"),
            "put your token into a file and pass `--token-file FILE`",
        );
    };
    let advice = match health.status.as_str() {
        "degraded" => "`shopfloor runner list` shows the runner; it recovers when its disk has free space",
        _ => "free disk space; the hub then recovers by itself",
    };
    match (health.reason, client.ask::<protocol::Me>(protocol::Call::Me {}).await) {
        (Some(reason), _) => Check::warn("hub", format!("{state}: {reason}"), advice),
        (None, Ok(_)) => Check::ok("hub", state),
        (None, Err(error)) => {
            Check::warn("hub", format!("{state}, but {error}"), "pass a valid token with `--token-file FILE`")
        }
    }
}

async fn health_of(url: &str) -> Option<Health> {
    Client::anonymous(url).ok()?.health().await.ok()
}
