//! `shopfloor approval`: requests to run other people's text on your runners.

use clap::Subcommand;
use client::Client;
use domain::names::is_invisible;
use domain::{Answered, ApprovalId, ApprovalKind, GrantId};
use protocol::{Approval, ApprovalAnswer, ApprovalFilter, Call, Grant, Project, Sandbox, WrittenBy};

use crate::confirm::{Yes, sure};
use crate::output::clean;
use crate::pick::{pick, pick_exact, pick_if};
use crate::table::{Cell, Style, Table, fields};
use crate::{Context, Failure, Output, when};

const EXAMPLES: &str = "\
Examples:
  shopfloor approval list
  shopfloor approval show 3f9a21             # the whole text and its author
  shopfloor approval allow 3f9a21            # only for this session or check
  shopfloor approval allow 3f9a21 --text     # this exact text in this project, from now on
  shopfloor approval allow 3f9a21 --author   # everything that this author writes in this project
  shopfloor runner update laptop --policy project-owner";

/// Subcommands for requests to run something on your runners.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum ApprovalCommand {
    /// List the requests to run other people's text on your runners
    List {
        /// Only in this project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
        /// Include answered requests
        #[arg(long)]
        all: bool,
    },
    /// Show one request: the text, its author, and where and why it would run
    Show {
        /// The approval's id, or the beginning of its text
        approval: String,
    },
    /// Allow a request, for this session or check only unless an option says more
    Allow {
        /// The approval's id, or the beginning of its text
        approval: String,
        /// Only for this session or check (the default)
        #[arg(long, conflicts_with_all = ["author", "text"])]
        once: bool,
        /// Allow this exact text in this project from now on; files that it runs can still change
        #[arg(long, conflicts_with = "author")]
        text: bool,
        /// Allow everything that this author writes in this project
        #[arg(long)]
        author: bool,
    },
    /// Deny a request
    Deny {
        /// The approval's id, or the beginning of its text
        approval: String,
    },
    /// List your grants: lasting approvals
    Grants,
    /// Revoke a grant, after asking; takes the exact id
    Revoke {
        /// The grant's id, as `grants` lists it
        grant: String,
        #[command(flatten)]
        yes: Yes,
    },
}

/// Runs the subcommand.
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
        ApprovalCommand::Allow { approval, once: _, text, author } => {
            let approval = id(client, &approval).await?;
            let answer = match (text, author) {
                (true, _) => Answered::Text,
                (_, true) => Answered::Author,
                _ => Answered::Once,
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
        ApprovalCommand::Revoke { grant, yes } => {
            let grant: GrantId = pick_exact::<Grant>(client, &grant).await?;
            if !yes.yes {
                let grants: Vec<Grant> = client.ask(Call::GrantList {}).await?;
                let known = grants.iter().find(|known| known.id == grant);
                let what = known.map_or_else(|| format!("grant {grant}"), granted);
                sure(false, "revoke", &what, "Whatever it allowed asks you again the next time.")?;
            }
            client.ask::<()>(Call::GrantRevoke { grant }).await?;
            out.did("revoked", grant)
        }
    }
}

async fn answer_with(client: &Client, out: &Output, approval: ApprovalId, answer: Answered) -> Result<(), Failure> {
    let input = ApprovalAnswer { answer };
    let approval: Approval = client.ask(Call::ApprovalAnswer { approval, input }).await?;
    out.show(&approval, |_| {
        let what = match answer {
            Answered::Once => "allowed once".to_owned(),
            Answered::Author => format!("allowed, with everything by {} in this project", writer(&approval.author)),
            Answered::Denied => "denied".to_owned(),
            _ => "allowed for this exact text in this project, not for the files that it runs".to_owned(),
        };
        format!("{}  {what}", approval.id)
    })
}

async fn id(client: &Client, text: &str) -> Result<ApprovalId, Failure> {
    pick::<Approval>(client, text).await
}

/// The author as people say it.
pub(crate) fn writer(by: &WrittenBy) -> String {
    match by.by_agent || by.agent.is_some() {
        true => format!("an agent of {}", by.user.name),
        false => by.user.name.clone(),
    }
}

/// A grant in words.
fn granted(grant: &Grant) -> String {
    let Grant { id, author, agents, text, .. } = grant;
    let by = if *agents { format!("{}'s agents", author.name) } else { author.name.clone() };
    match text {
        Some(text) => format!("your grant for `{}` by {by} ({id})", beginning(text)),
        None => format!("your grant for everything by {by} ({id})"),
    }
}

/// The first line of a text, and the number of further lines.
fn beginning(text: &str) -> String {
    let first = visible(text.lines().next().unwrap_or_default());
    match text.lines().count().saturating_sub(1) {
        0 => first,
        1 => format!("{first} (1 more line)"),
        more => format!("{first} ({more} more lines)"),
    }
}

/// A text without invisible characters: those without width are written as code points.
fn visible(text: &str) -> String {
    let written = |c: char| match is_invisible(c) {
        true => format!("<U+{:04X}>", u32::from(c)),
        false => c.to_string(),
    };
    clean(&text.chars().map(written).collect::<String>())
}

/// Whether a request runs in a sandbox, for people.
fn sandbox(one: &Approval) -> String {
    match &one.reach {
        _ if !one.kind.is_contained() => "no: your runner reads it outside the sandbox".to_owned(),
        None => format!("no: it can do everything that you can on {}", one.runner_name),
        some => format!("yes: {}", reach(some.as_ref())),
    }
}

/// A sandbox's permissions, for people.
fn reach(sandbox: Option<&Sandbox>) -> &'static str {
    match sandbox {
        None => "none",
        Some(Sandbox { home: true, network: true }) => "reads your home folder, reaches the network",
        Some(Sandbox { home: true, network: false }) => "reads your home folder, no network",
        Some(Sandbox { home: false, network: true }) => "no home folder, reaches the network",
        Some(Sandbox { home: false, network: false }) => "no home folder, no network",
    }
}

fn table(list: &[Approval], out: &Output) -> String {
    let titles = &["ID", "KIND", "TEXT…", "BY…", "PROJECT…", "RUNNER…", "ASKED", "ANSWER"];
    let mut table = Table::new(titles, "no requests");
    for one in list {
        let answer = match one.answer {
            Some(answer) => Cell::styled(answer.word(), Style::Dim),
            None => Cell::styled("needs you", Style::Yellow),
        };
        table.row([
            one.id.into(),
            one.kind.into(),
            beginning(&one.text).into(),
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
    let titles = &["ID", "KIND", "TEXT…", "BY…", "SANDBOX…", "GIVEN"];
    let mut table = Table::new(titles, "no grants");
    for one in list {
        let by = if one.agents { format!("{}'s agents", one.author.name) } else { one.author.name.clone() };
        let text = one.text.as_deref().map_or("everything".to_owned(), beginning);
        table.row([
            one.id.into(),
            one.kind.map_or("any", |kind| kind.word()).into(),
            text.into(),
            by.into(),
            match &one.reach {
                Some(sandbox) => reach(Some(sandbox)).into(),
                None => "not needed".into(),
            },
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
        ("sandbox", sandbox(one).into()),
        ("asked", when::relative(one.created_at, out.now).into()),
    ];
    let mut add = |name, value: Option<String>| pairs.extend(value.map(|value| (name, value.into())));
    add("task", one.task.map(|id| id.to_string()));
    add("session", one.session.map(|id| id.to_string()));
    add("workspace", one.workspace.map(|id| id.to_string()));
    add("sha256", Some(one.sha256.clone()));
    let at = one.answered_at.map(|at| when::relative(at, out.now)).unwrap_or_default();
    add("answer", one.answer.map(|answer| format!("{answer}, {at}")));
    let mut text = format!("{}\n\n{}", fields(out, &pairs), visible(&one.text));
    if matches!(one.kind, ApprovalKind::Setup | ApprovalKind::Teardown | ApprovalKind::Command) {
        text.push_str("\n\nAn approval covers this text only. Files that it runs can change later.");
    }
    if one.answer.is_none() {
        let allow = format!("shopfloor approval allow {}", one.id);
        let for_good = if one.kind == ApprovalKind::Code { "" } else { " [--text]" };
        text.push_str(&format!("\n\n{allow}{for_good}   or   shopfloor approval deny {}", one.id));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_hidden() {
        assert_eq!(visible("rm\u{200B} -rf\u{202E}x\u{1b}[2J"), "rm<U+200B> -rf<U+202E>x\u{FFFD}[2J");
        assert_eq!(beginning("make\ncurl evil"), "make (1 more line)");
        assert_eq!(beginning("make"), "make");
    }
}
