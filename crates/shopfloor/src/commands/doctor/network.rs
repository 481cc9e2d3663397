//! Whether the port is free, and whether the hub answers.

use std::net::{SocketAddr, TcpListener};

use client::Client;
use protocol::Health;

use super::Check;
use crate::Context;
use crate::hub_file::HubFile;

/// What the hub of the data directory says, if it answers.
pub(crate) async fn health(beside: Option<&HubFile>) -> Option<Health> {
    Client::anonymous(&beside?.url).ok()?.health().await.ok()
}

/// Whether a hub could listen, or does.
pub(crate) fn check_port(listen: SocketAddr, beside: Option<&HubFile>, alive: bool) -> Check {
    let ours = beside.filter(|hub| alive && hub.url.ends_with(&format!(":{}", listen.port())));
    if let Some(hub) = ours {
        return Check::ok("port", format!("{listen} is held by our hub (process {})", hub.pid));
    }
    match TcpListener::bind(listen) {
        Ok(_) => Check::ok("port", format!("{listen} is free")),
        Err(error) => {
            let advice = "stop what holds it, or choose another with --listen ADDRESS:PORT";
            Check::warn("port", format!("{listen} cannot be used: {error}"), advice)
        }
    }
}

/// Whether the hub that the CLI would ask answers and knows us.
pub(crate) async fn check_hub(context: &Context, beside: Option<&HubFile>, health: Option<&Health>) -> Check {
    let Some(hub) = &context.settings.hub else {
        return Check::warn("hub", "none is known", "start one with `shopfloor up`");
    };
    let url = &hub.value;
    let health = match (beside, health) {
        (Some(beside), Some(health)) if beside.url == *url => Some(health.clone()),
        _ => health_of(url).await,
    };
    let Some(health) = health else {
        let advice = "start it with `shopfloor up`, or name another with --hub URL";
        return Check::warn("hub", format!("nothing answers at {url} ({})", hub.origin), advice);
    };
    let state = format!("{url} runs version {}: {}", health.version, health.status);
    let Ok(client) = context.client() else {
        return Check::warn(
            "hub",
            format!("{state}, but there is no token for it"),
            "put the token into a file and pass `--token-file FILE`",
        );
    };
    let advice = match health.status.as_str() {
        "degraded" => "`shopfloor runner list` says which; it recovers by itself once its disk has room",
        _ => "free the disk; it recovers by itself",
    };
    match (health.reason, client.ask::<protocol::Me>(protocol::Call::Me {}).await) {
        (Some(reason), _) => Check::warn("hub", format!("{state}: {reason}"), advice),
        (None, Ok(_)) => Check::ok("hub", state),
        (None, Err(error)) => {
            Check::warn("hub", format!("{state}, but {error}"), "pass a file with a valid token: `--token-file FILE`")
        }
    }
}

async fn health_of(url: &str) -> Option<Health> {
    Client::anonymous(url).ok()?.health().await.ok()
}
