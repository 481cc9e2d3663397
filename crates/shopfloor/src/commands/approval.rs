//! `shopfloor approval …`: what others wrote and would run on your runners.

use clap::Subcommand;
use client::Client;
use domain::{Answered, ApprovalId, ApprovalKind, GrantId};
use protocol::{Approval, ApprovalAnswer, ApprovalFilter, Call, Grant, Project, WrittenBy};

use crate::output::clean;
use crate::pick::{pick, pick_if};
use crate::table::{Cell, Style, Table, fields};
use crate::{Context, Failure, Output, when};

const EXAMPLES: &str = "\
Examples:
  shopfloor approval list
  shopfloor approval allow 3f9a21            # this exact text in this project, from now on
  shopfloor approval allow 3f9a21 --once     # for this session or check alone
  shopfloor approval allow 3f9a21 --author   # everything that this author writes in this project
  shopfloor runner update laptop --policy project-owner";

/// Everything that can be done with requests to run something on your runners.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum ApprovalCommand {
    /// What others wrote and would run on your runners
    List {
        /// Only in this project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
        /// What was answered, too
        #[arg(long)]
        all: bool,
    },
    /// One request: who wrote what, where and why it would run
    Show {
        /// Its id, or the beginning of its text
        approval: String,
    },
    /// Let it run: this exact text in this project, unless you say otherwise
    Allow {
        /// Its id, or the beginning of its text
        approval: String,
        /// For this session or check alone
        #[arg(long, conflicts_with = "author")]
        once: bool,
        /// Everything that this author writes in this project
        #[arg(long)]
        author: bool,
    },
    /// Do not let it run
    Deny {
        /// Its id, or the beginning of its text
        approval: String,
    },
    /// What you allowed for good
    Grants,
    /// Take back what you allowed for good
    Revoke {
        /// The grant's id, as `grants` lists it
        grant: String,
    },
}

/// Runs one of them.
pub(crate) async fn run(command: ApprovalCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        ApprovalCommand::List { project, all } => {
            let project = pick_if::<Project>(client, project.as_deref()).await?;
            let filter = ApprovalFilter { project, task: None, answered: all.then_some(true) };
            let list: Vec<Approval> = client.ask(Call::ApprovalList { filter }).await?;
            out.show(&list, |out| table(&list, out))
        }
        ApprovalCommand::Show { approval } => {
            let approval = id(client, &approval).await?;
            let approval: Approval = client.ask(Call::ApprovalShow { approval }).await?;
            out.show(&approval, |out| render(&approval, out))
        }
        ApprovalCommand::Allow { approval, once, author } => {
            let approval = id(client, &approval).await?;
            let answer = match (once, author) {
                (true, _) => Answered::Once,
                (_, true) => Answered::Author,
                _ => by_text(client, approval).await?,
            };
            answer_with(client, out, approval, answer).await
        }
        ApprovalCommand::Deny { approval } => {
            let approval = id(client, &approval).await?;
            answer_with(client, out, approval, Answered::Denied).await
        }
        ApprovalCommand::Grants => {
            let grants: Vec<Grant> = client.ask(Call::GrantList {}).await?;
            out.show(&grants, |out| grant_table(&grants, out))
        }
        ApprovalCommand::Revoke { grant } => {
            let grant: GrantId = pick::<Grant>(client, &grant).await?;
            client.ask::<()>(Call::GrantRevoke { grant }).await?;
            out.did("revoked", grant)
        }
    }
}

/// Somebody's code has no text that stays the same: it is allowed once.
async fn by_text(client: &Client, approval: ApprovalId) -> Result<Answered, Failure> {
    let open: Approval = client.ask(Call::ApprovalShow { approval }).await?;
    Ok(if open.kind == ApprovalKind::Code { Answered::Once } else { Answered::Text })
}

async fn answer_with(client: &Client, out: &Output, approval: ApprovalId, answer: Answered) -> Result<(), Failure> {
    let input = ApprovalAnswer { answer };
    let approval: Approval = client.ask(Call::ApprovalAnswer { approval, input }).await?;
    out.show(&approval, |_| {
        let what = match answer {
            Answered::Once => "allowed once".to_owned(),
            Answered::Author => format!("allowed, with everything by {} in this project", writer(&approval.author)),
            Answered::Denied => "denied".to_owned(),
            _ => "allowed for this exact text in this project".to_owned(),
        };
        format!("{}  {what}", approval.id)
    })
}

async fn id(client: &Client, text: &str) -> Result<ApprovalId, Failure> {
    pick::<Approval>(client, text).await
}

/// Who wrote it, in words.
pub(crate) fn writer(by: &WrittenBy) -> String {
    match by.agent {
        Some(_) => format!("an agent of {}", by.user.name),
        None => by.user.name.clone(),
    }
}

fn table(list: &[Approval], out: &Output) -> String {
    let titles = &["ID", "KIND", "TEXT…", "BY…", "PROJECT…", "RUNNER…", "ASKED", "ANSWER"];
    let mut table = Table::new(titles, "nothing waits for your approval");
    for one in list {
        let answer = match one.answer {
            Some(answer) => Cell::styled(answer.word(), Style::Dim),
            None => Cell::styled("needs you", Style::Yellow),
        };
        table.row([
            one.id.into(),
            one.kind.into(),
            one.text.lines().next().unwrap_or_default().into(),
            writer(&one.author).into(),
            (&one.project_name).into(),
            (&one.runner_name).into(),
            when::relative(one.created_at, out.now).into(),
            answer,
        ]);
    }
    table.render(out)
}

fn grant_table(list: &[Grant], out: &Output) -> String {
    let mut table = Table::new(&["ID", "KIND", "TEXT…", "BY…", "GIVEN"], "you allowed nothing for good");
    for one in list {
        let by = if one.agents { format!("{}'s agents", one.author.name) } else { one.author.name.clone() };
        let text = one.text.as_deref().and_then(|text| text.lines().next()).unwrap_or("everything");
        table.row([
            one.id.into(),
            one.kind.map_or("any", |kind| kind.word()).into(),
            text.into(),
            by.into(),
            when::relative(one.created_at, out.now).into(),
        ]);
    }
    table.render(out)
}

fn render(one: &Approval, out: &Output) -> String {
    let mut pairs = vec![
        ("id", one.id.into()),
        ("kind", format!("{}: {}", one.kind, one.kind.meaning()).into()),
        ("written by", writer(&one.author).into()),
        ("project", (&one.project_name).into()),
        ("runner", (&one.runner_name).into()),
        ("why", clean(&one.why).into()),
        ("in a sandbox", super::words::yes(one.sandbox).into()),
        ("asked", when::relative(one.created_at, out.now).into()),
    ];
    let mut add = |name, value: Option<String>| pairs.extend(value.map(|value| (name, value.into())));
    add("task", one.task.map(|id| id.to_string()));
    add("session", one.session.map(|id| id.to_string()));
    add("workspace", one.workspace.map(|id| id.to_string()));
    add("sha256", Some(one.sha256.clone()));
    let at = one.answered_at.map(|at| when::relative(at, out.now)).unwrap_or_default();
    add("answer", one.answer.map(|answer| format!("{answer}, {at}")));
    let mut text = format!("{}\n\n{}", fields(out, &pairs), clean(&one.text));
    if one.answer.is_none() {
        text.push_str(&format!("\n\nshopfloor approval allow {0}   or   shopfloor approval deny {0}", one.id));
    }
    text
}
