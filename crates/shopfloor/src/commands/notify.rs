//! `shopfloor notify`.

use std::io::Read;

use clap::{Args, Subcommand};
use domain::{ChannelKind, NotifyKind};
use protocol::{
    Call, NewNotifyChannel, NotifyAdd, NotifyChannel, NotifyConfigure, NotifyKey, NotifySettings, NotifyTried,
    NotifyUpdate, QuietHours,
};

use crate::confirm::{Yes, sure};
use crate::pick::{pick, pick_exact};
use crate::table::Table;
use crate::{Context, Failure, Output, when};

/// Subcommands for notifications on other devices.
#[derive(Debug, Subcommand)]
pub(crate) enum NotifyCommand {
    /// List the places that your notifications go to
    List,
    /// Add a place; a webhook's signing secret is printed once
    Add {
        /// ntfy, webhook, slack or discord
        #[arg(value_parser = place)]
        kind: ChannelKind,
        /// Its address; `-` reads it from standard input
        url: String,
        /// Its name [default: its kind and host]
        #[arg(long)]
        name: Option<String>,
        /// The file with the access token of an ntfy topic
        #[arg(long, value_name = "FILE")]
        token_file: Option<std::path::PathBuf>,
        /// What to send there; may be repeated [default: all except done and landed]
        #[arg(long, value_name = "KIND", value_delimiter = ',')]
        kinds: Vec<NotifyKind>,
    },
    /// Change what a place gets
    Update {
        /// The place's id or name
        channel: String,
        /// Its new name
        #[arg(long)]
        name: Option<String>,
        /// What to send there; may be repeated
        #[arg(long, value_name = "KIND", value_delimiter = ',')]
        kinds: Vec<NotifyKind>,
        /// Send nothing there for now
        #[arg(long, conflicts_with = "enable")]
        disable: bool,
        /// Send notifications there again
        #[arg(long)]
        enable: bool,
    },
    /// Send a test message and print the outcome
    Test {
        /// The place's id or name
        channel: String,
    },
    /// Remove a place, after asking; takes the exact name or id
    Remove {
        /// The place's id or name
        channel: String,
        #[command(flatten)]
        yes: Yes,
    },
    /// Print the public key that browsers and other push clients subscribe with
    Key,
    /// Show or change when you are notified
    Settings(SettingsArgs),
}

/// When to notify.
#[derive(Debug, Args)]
pub(crate) struct SettingsArgs {
    /// Send nothing in these hours of your day, as 22:00-07:00
    #[arg(long, value_name = "FROM-UNTIL", value_parser = hours, conflicts_with = "no_quiet")]
    quiet: Option<QuietHours>,
    /// Remove the quiet hours
    #[arg(long)]
    no_quiet: bool,
    /// Your time zone, as Europe/Berlin
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,
    /// How many seconds to wait for further events, so that they become one message
    #[arg(long, value_name = "SECONDS")]
    gather: Option<u32>,
    /// The longest wait after the first event, in seconds
    #[arg(long, value_name = "SECONDS")]
    at_most: Option<u32>,
}

fn place(text: &str) -> Result<ChannelKind, String> {
    match text.parse()? {
        ChannelKind::Push => Err("add a browser on the page, under Settings, Notifications".to_owned()),
        kind => Ok(kind),
    }
}

fn hours(text: &str) -> Result<QuietHours, String> {
    let (from, until) = text.split_once('-').ok_or("write the hours as 22:00-07:00")?;
    Ok(QuietHours { from: from.trim().to_owned(), until: until.trim().to_owned() })
}

/// Runs the subcommand.
pub(crate) async fn run(command: NotifyCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        NotifyCommand::List => {
            let channels: Vec<NotifyChannel> = client.ask(Call::NotifyList {}).await?;
            out.show(&channels, |out| table(&channels, out))
        }
        NotifyCommand::Add { kind, url, name, token_file, kinds } => {
            let url = if url == "-" { standard_input()? } else { url };
            let token = token_file.map(|file| read(&file)).transpose()?;
            let kinds = (!kinds.is_empty()).then_some(kinds);
            let input = NotifyAdd { kind, url, name, token, key: None, auth: None, kinds };
            let made: NewNotifyChannel = client.ask(Call::NotifyAdd { input }).await?;
            if !out.json {
                let id = made.channel.id;
                out.note(&match made.secret {
                    Some(_) => {
                        format!("{id}: the signing secret below is not shown again; try it: shopfloor notify test {id}")
                    }
                    None => format!("added; try it: shopfloor notify test {id}"),
                });
            }
            out.show(&made, |_| made.secret.clone().unwrap_or_else(|| made.channel.id.to_string()))
        }
        NotifyCommand::Update { channel, name, kinds, disable, enable } => {
            let channel = pick::<NotifyChannel>(client, &channel).await?;
            let enabled = (disable || enable).then_some(enable);
            let input = NotifyUpdate { name, kinds: (!kinds.is_empty()).then_some(kinds), enabled };
            let changed: NotifyChannel = client.ask(Call::NotifyUpdate { channel, input }).await?;
            out.show(&changed, |out| table(std::slice::from_ref(&changed), out))
        }
        NotifyCommand::Test { channel } => {
            let channel = pick::<NotifyChannel>(client, &channel).await?;
            let tried: NotifyTried = client.ask(Call::NotifyTest { channel }).await?;
            out.show(&tried, |_| match tried.delivered {
                true => format!("delivered: {}", tried.detail),
                false => format!("not delivered: {}", tried.detail),
            })?;
            if tried.delivered { Ok(()) } else { Err(Failure::other("the test message was not delivered")) }
        }
        NotifyCommand::Remove { channel, yes } => {
            let channel = pick_exact::<NotifyChannel>(client, &channel).await?;
            if !yes.yes {
                let channels: Vec<NotifyChannel> = client.ask(Call::NotifyList {}).await?;
                let known = channels.iter().find(|known| known.id == channel);
                let what = known.map_or_else(
                    || format!("channel {channel}"),
                    |known| format!("{} channel `{}` at {} ({channel})", known.kind, known.name, known.host),
                );
                sure(false, "remove", &what, "Your notifications no longer go there; its secret is deleted.")?;
            }
            client.ask::<()>(Call::NotifyRemove { channel }).await?;
            out.did("removed", channel)
        }
        NotifyCommand::Key => {
            let key: NotifyKey = client.ask(Call::NotifyKey {}).await?;
            out.show(&key, |_| key.key.clone())
        }
        NotifyCommand::Settings(args) => {
            let SettingsArgs { quiet, no_quiet, zone, gather, at_most } = args;
            let input = NotifyConfigure { quiet, no_quiet, zone, gather_seconds: gather, at_most_seconds: at_most };
            let call = match input == NotifyConfigure::default() {
                true => Call::NotifySettings {},
                false => Call::NotifyConfigure { input },
            };
            let settings: NotifySettings = client.ask(call).await?;
            out.show(&settings, |_| words(&settings))
        }
    }
}

fn standard_input() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().take(8192).read_to_string(&mut text);
    read.map_err(|error| Failure::usage(format!("could not read the address: {error}")))?;
    Ok(text.trim().to_owned())
}

fn read(file: &std::path::Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| Failure::usage(format!("could not read {}: {error}", file.display())))?;
    Ok(text.trim().to_owned())
}

fn words(settings: &NotifySettings) -> String {
    let NotifySettings { quiet, zone, gather_seconds, at_most_seconds } = settings;
    let quiet = quiet.as_ref().map_or("none".to_owned(), |hours| format!("{} to {}", hours.from, hours.until));
    format!(
        "quiet hours: {quiet} ({zone})\ncollect: {gather_seconds} s after the last event, {at_most_seconds} s after the first"
    )
}

fn table(channels: &[NotifyChannel], out: &Output) -> String {
    let none = "no notifications on other devices: add a place with `shopfloor notify add ntfy URL`";
    let mut table = Table::new(&["ID", "NAME…", "KIND", "HOST…", "STATUS…", "DELIVERED", "SENDS…"], none);
    for channel in channels {
        let status = match (&channel.disabled, &channel.failure) {
            (Some(why), _) => format!("off: {why}"),
            (None, Some(why)) => format!("failing: {why}"),
            (None, None) => "on".to_owned(),
        };
        let kinds: Vec<&str> = channel.kinds.iter().map(|kind| kind.word()).collect();
        table.row([
            channel.id.into(),
            (&channel.name).into(),
            channel.kind.into(),
            (&channel.host).into(),
            status.into(),
            when::relative_or(channel.delivered_at, out.now, "never").into(),
            kinds.join(" ").into(),
        ]);
    }
    table.render(out)
}
