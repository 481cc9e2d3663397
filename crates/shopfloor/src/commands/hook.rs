//! `shopfloor hook`: addresses where other services tell a project what happened.

use clap::{Args, Subcommand};
use client::Client;
use domain::{HookId, HookKind};
use protocol::{Call, Hook, HookDelivery, HookRotate, HookText, NewHook, Project};

use crate::confirm::{Yes, sure};
use crate::pick::{all_of, pick, pick_exact_of, pick_of};
use crate::table::Table;
use crate::{Context, Failure, Output, when};

const EXAMPLES: &str = "\
Examples:
  shopfloor hook add github --project calc             # prints the address and the secret
  shopfloor schedule add --recipe review-pr --project calc --event webhook \\
      --matching \"event.hook == 'github' and event.type == 'pull_request'\"
  shopfloor hook deliveries github                     # what came, and what it started
  shopfloor hook rotate github                         # the old secret works for another day";

/// Subcommands for webhooks.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum HookCommand {
    /// List webhooks
    List {
        /// Only in this project (id or name) [default: all projects]
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
    },
    /// Add a webhook; its secret is printed once
    Add {
        /// Its name, unique in the project; expressions see it as event.hook
        name: String,
        /// The project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: String,
        /// How the service signs: github (also Gitea and Forgejo), or standard (Standard Webhooks)
        #[arg(long, value_name = "KIND", default_value = "github")]
        kind: HookKind,
    },
    /// Print another secret for a webhook; the one before stays valid for a while
    Rotate {
        #[command(flatten)]
        one: One,
        /// How many hours the secret before stays valid, up to 168
        #[arg(long, value_name = "HOURS", default_value_t = 24)]
        keep_hours: u32,
    },
    /// Show what a webhook received in the last 7 days, newest first
    Deliveries(One),
    /// Remove a webhook, after asking; takes the exact name or id
    Remove {
        #[command(flatten)]
        one: One,
        #[command(flatten)]
        yes: Yes,
    },
}

/// A webhook.
#[derive(Debug, Args)]
pub(crate) struct One {
    /// The webhook (name or id)
    #[arg(value_name = "NAME")]
    hook: String,
    /// The project of the webhook (id or name); needed if several projects have a webhook of this name
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
}

/// Runs the subcommand.
pub(crate) async fn run(command: HookCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        HookCommand::List { project } => {
            let all: Vec<Hook> = all_of(client, project.as_deref()).await?;
            out.show(&all, |out| table(&all, out))
        }
        HookCommand::Add { name, project, kind } => {
            let project = pick::<Project>(client, &project).await?;
            let made: NewHook = client.ask(Call::HookAdd { project, input: HookText { name, kind } }).await?;
            show(&made, out)
        }
        HookCommand::Rotate { one, keep_hours } => {
            let input = HookRotate { keep_hours: Some(keep_hours) };
            let made: NewHook = client.ask(Call::HookRotate { hook: id(&one, client).await?, input }).await?;
            show(&made, out)
        }
        HookCommand::Deliveries(one) => {
            let call = Call::HookDeliveries { hook: id(&one, client).await? };
            let deliveries: Vec<HookDelivery> = client.ask(call).await?;
            out.show(&deliveries, |out| received(&deliveries, out))
        }
        HookCommand::Remove { one, yes } => {
            let hook = pick_exact_of::<Hook>(client, one.project.as_deref(), &one.hook).await?;
            sure(yes.yes, "remove", &format!("webhook `{}` ({hook})", one.hook), "What is sent to it is refused.")?;
            client.ask::<()>(Call::HookRemove { hook }).await?;
            out.did("removed", hook)
        }
    }
}

async fn id(one: &One, client: &Client) -> Result<HookId, Failure> {
    pick_of::<Hook>(client, one.project.as_deref(), &one.hook).await
}

/// The address and the secret; what to do with them is a note.
fn show(made: &NewHook, out: &Output) -> Result<(), Failure> {
    if !out.json {
        out.note(match made.hook.kind {
            HookKind::Github => {
                "paste both into the service's webhook settings, with content type application/json; the secret is not shown again"
            }
            HookKind::Standard => "give both to the service; the secret is not shown again",
        });
    }
    out.show(made, |_| format!("address  {}\nsecret   {}", made.hook.url, made.secret))
}

fn table(hooks: &[Hook], out: &Output) -> String {
    let titles = ["NAME…", "KIND", "LAST RECEIVED", "ADDRESS…", "ID"];
    let mut table = Table::new(&titles, "no webhooks; `shopfloor hook add` adds one");
    for hook in hooks {
        let received = hook.received_at.map(|at| when::relative(at, out.now));
        table.row([
            (&hook.name).into(),
            hook.kind.word().into(),
            received.as_deref().unwrap_or("never").into(),
            (&hook.url).into(),
            hook.id.into(),
        ]);
    }
    table.render(out)
}

fn received(deliveries: &[HookDelivery], out: &Output) -> String {
    let mut table = Table::new(&["RECEIVED", "EVENT", "STARTED OR ENDED", "DELIVERY…"], "nothing received in 7 days");
    for one in deliveries {
        table.row([
            one.at.into(),
            one.event.as_deref().unwrap_or("-").into(),
            if one.woke == 0 { "nothing waited for it".into() } else { one.woke.to_string().into() },
            (&one.delivery).into(),
        ]);
    }
    table.render(out)
}
