//! `shopfloor config`.

use clap::Subcommand;
use serde::Serialize;

use super::serve_args::ServeArgs;
use crate::settings::KEYS;
use crate::table::Table;
use crate::{Context, Failure, Setting};

/// Subcommands for settings.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every setting, its value and its origin
    Show,
}

/// One setting; secrets are masked.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Shown {
    key: &'static str,
    value: Option<String>,
    from: String,
}

/// Runs the subcommand.
pub(crate) fn run(command: &ConfigCommand, context: &Context) -> Result<(), Failure> {
    let ConfigCommand::Show = command;
    let shown = collect(context)?;
    if !context.out.json
        && let Some(path) = context.layers.path()
    {
        let state = if path.exists() { "" } else { " (does not exist)" };
        context.out.note(&format!("settings file: {}{state}", path.display()));
    }
    context.out.show(&shown, |out| {
        let mut table = Table::new(&["KEY", "VALUE…", "FROM…"], "no settings");
        for setting in &shown {
            table.row([setting.key.into(), setting.value.as_deref().unwrap_or("-").into(), (&setting.from).into()]);
        }
        table.render(out)
    })
}

fn collect(context: &Context) -> Result<Vec<Shown>, Failure> {
    let client = &context.settings;
    let hub = ServeArgs::default().settle(&context.layers, &client.data_dir.value)?;
    let color = format!("{:?}", client.color.value).to_lowercase();
    let log = format!("{:?}", hub.log.value).to_lowercase();
    let detach_key = context.layers.text("detach_key", None)?;
    let labels = context.layers.list("labels", Vec::new())?;
    let hide = context.layers.list("hide", Vec::new())?;
    let git_login = context.layers.list("git_login", Vec::new())?;
    let private_hosts = context.layers.switch("private_hosts", false)?;
    let index = context.layers.text("release_index", None)?;
    let of_runner = |key| context.layers.value(key, None, |text| Ok(text.to_owned()));
    let (capacity, quota, recordings) =
        (of_runner("capacity")?, of_runner("disk_quota")?, of_runner("recordings_limit")?);
    let (nice, memory) = (of_runner("session_nice")?, of_runner("session_memory")?);
    let (processes, cpu) = (of_runner("session_processes")?, of_runner("session_cpu_seconds")?);
    let values = KEYS.into_iter().map(|key| match key {
        "hub" => optional(key, client.hub.as_ref()),
        "token" => optional(key, client.token.clone().map(|token| token.map(|_| "(hidden)".to_owned())).as_ref()),
        "data_dir" => one(key, client.data_dir.value.display(), &client.data_dir),
        "color" => one(key, &color, &client.color),
        "detach_key" => match &detach_key {
            Some(given) => one(key, &given.value, given),
            None => one(key, crate::tty::STANDARD, &Setting::standard(())),
        },
        "listen" => one(key, hub.listen.value, &hub.listen),
        "database" => one(key, without_password(&hub.database.value), &hub.database),
        "owner_name" => optional(key, hub.owner_name.as_ref()),
        "public_url" => optional(key, hub.public_url.as_ref()),
        "behind_proxy" => one(key, hub.behind_proxy.value, &hub.behind_proxy),
        "tls_cert" => optional(key, hub.tls_cert.as_ref()),
        "tls_key" => optional(key, hub.tls_key.as_ref()),
        "allow_origin" => many(key, &hub.allow_origin),
        "allow_host" => many(key, &hub.allow_host),
        "key_file" => one(key, hub.key_file.value.display(), &hub.key_file),
        "notify_allow_host" => many(key, &hub.notify_allow_host),
        "github_client_id" => optional(key, hub.github_client_id.as_ref()),
        "github_client_secret_file" => optional(key, hub.github_client_secret_file.as_ref()),
        "github_allow" => many(key, &hub.github_allow),
        "github_url" => one(key, &hub.github_url.value, &hub.github_url),
        "github_api_url" => one(key, &hub.github_api_url.value, &hub.github_api_url),
        "labels" => many(key, &labels),
        "hide" => many(key, &hide),
        "git_login" => many(key, &git_login),
        "private_hosts" => one(key, private_hosts.value, &private_hosts),
        "capacity" => optional(key, capacity.as_ref()),
        "disk_quota" => optional(key, quota.as_ref()),
        "recordings_limit" => optional(key, recordings.as_ref()),
        "session_nice" => optional(key, nice.as_ref()),
        "session_memory" => optional(key, memory.as_ref()),
        "session_processes" => optional(key, processes.as_ref()),
        "session_cpu_seconds" => optional(key, cpu.as_ref()),
        "release_index" => optional(key, index.as_ref()),
        _ => one(key, &log, &hub.log),
    });
    Ok(values.collect())
}

fn one<T>(key: &'static str, value: impl ToString, setting: &Setting<T>) -> Shown {
    Shown { key, value: Some(value.to_string()), from: setting.origin.to_string() }
}

fn optional(key: &'static str, setting: Option<&Setting<String>>) -> Shown {
    match setting {
        Some(setting) => one(key, &setting.value, setting),
        None => Shown { key, value: None, from: "not set".to_owned() },
    }
}

fn many(key: &'static str, setting: &Setting<Vec<String>>) -> Shown {
    match setting.value.as_slice() {
        [] => Shown { key, value: None, from: "not set".to_owned() },
        values => one(key, values.join(", "), setting),
    }
}

/// `postgres://ann:…@host/db`: hides the password.
pub(crate) fn without_password(url: &str) -> String {
    let hidden = url.split_once("://").and_then(|(scheme, rest)| {
        let (login, place) = rest.rsplit_once('@')?;
        let (user, _) = login.split_once(':')?;
        Some(format!("{scheme}://{user}:…@{place}"))
    });
    hidden.unwrap_or_else(|| url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(without_password("postgres://ann:s3cret@h/db"), "postgres://ann:…@h/db");
        assert_eq!(without_password("postgres://h/db"), "postgres://h/db");
        assert_eq!(without_password("sqlite:/x/y.db"), "sqlite:/x/y.db");
    }
}
