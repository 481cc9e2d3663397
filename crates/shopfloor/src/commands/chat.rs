//! `shopfloor chat`.

use clap::Subcommand;
use client::Client;
use domain::{AuthorKind, MessageId, ProjectId};
use protocol::{Call, Escalation, EscalationFilter, MarkRead, Message, MessagePage, MessageText, Project, Unread};

use crate::confirm::{Yes, sure};
use crate::output::clean;
use crate::project_arg::{ProjectArg, ProjectText};
use crate::table::{Style, Table};
use crate::text_arg::TextArg;
use crate::{Context, Failure, Output, when};

/// Subcommands for a chat.
#[derive(Debug, Subcommand)]
pub(crate) enum ChatCommand {
    /// Send a message; `#act_…` refers to an activity, `@name` mentions a person
    Send {
        #[command(flatten)]
        text: ProjectText,
    },
    /// Show messages of a project's chat, oldest first
    List {
        #[command(flatten)]
        project: ProjectArg,
        /// Only messages with a lower number [default: the newest]
        #[arg(long, value_name = "N")]
        before: Option<u32>,
        /// How many messages, at most 200 [default: 50]
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
    /// Change one of your messages
    Edit {
        /// The message's id
        message: MessageId,
        #[command(flatten)]
        text: TextArg,
    },
    /// Delete one of your messages, after asking
    Delete {
        /// The message's id
        message: MessageId,
        #[command(flatten)]
        yes: Yes,
    },
    /// Mark messages as read
    #[command(alias = "read")]
    MarkRead {
        #[command(flatten)]
        project: ProjectArg,
        /// The number of the last message that you have read [default: the newest]
        #[arg(long, value_name = "N")]
        number: Option<u32>,
    },
    /// Count your unread messages in each project
    Unread,
}

/// Runs the subcommand.
pub(crate) async fn run(command: ChatCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    let message: Message = match command {
        ChatCommand::Send { text } => {
            let (project, content) = text.read(client).await?;
            client.ask(Call::ChatSend { project, input: MessageText { content } }).await?
        }
        ChatCommand::Edit { message, text } => {
            let input = MessageText { content: text.required()? };
            client.ask(Call::ChatEdit { message, input }).await?
        }
        ChatCommand::List { project, before, limit } => {
            let page = MessagePage { before, limit };
            let project = project.id(client).await?;
            let messages: Vec<Message> = client.ask(Call::ChatHistory { project, page }).await?;
            out.show(&messages, |out| history(&messages, out))?;
            return if out.json || before.is_some() { Ok(()) } else { asked(client, out, project).await };
        }
        ChatCommand::Delete { message, yes } => {
            sure(yes.yes, "delete", &format!("your message {message}"), "")?;
            client.ask::<()>(Call::ChatDelete { message }).await?;
            out.note(&format!("deleted {message}"));
            return Ok(());
        }
        ChatCommand::MarkRead { project, number } => {
            return read(client, out, project.id(client).await?, number).await;
        }
        ChatCommand::Unread => return unread(client, out).await,
    };
    out.show(&message, |out| entry(&message, out))
}

/// Lists the questions that need the person, as the page does above the message box.
async fn asked(client: &Client, out: &Output, project: ProjectId) -> Result<(), Failure> {
    let filter = EscalationFilter { project: Some(project), answered: None };
    let open: Vec<Escalation> = client.ask(Call::EscalationList { filter }).await?;
    for one in &open {
        out.note(&format!("`{}` needs you: {} (shopfloor escalation answer {} …)", one.title, one.question, one.id));
    }
    Ok(())
}

async fn read(client: &Client, out: &Output, project: ProjectId, number: Option<u32>) -> Result<(), Failure> {
    let number = match number {
        Some(number) => number,
        None => {
            let page = MessagePage { before: None, limit: Some(1) };
            let newest: Vec<Message> = client.ask(Call::ChatHistory { project, page }).await?;
            newest.last().map_or(0, |message| message.number)
        }
    };
    let unread: Unread = client.ask(Call::ChatRead { project, input: MarkRead { number } }).await?;
    out.show(&unread, |_| format!("read up to message {}, {} unread", unread.read, unread.count))
}

async fn unread(client: &Client, out: &Output) -> Result<(), Failure> {
    let unreads: Vec<Unread> = client.ask(Call::ChatUnread {}).await?;
    if out.json {
        return out.show(&unreads, |_| String::new());
    }
    let projects: Vec<Project> = client.ask(Call::ProjectList {}).await?;
    out.show(&unreads, |out| {
        let mut table = Table::new(&["PROJECT", "NAME…", "UNREAD", "MENTIONS", "READ UP TO"], "no chats");
        for unread in &unreads {
            let project = projects.iter().find(|project| project.id == unread.project);
            table.row([
                unread.project.into(),
                project.map_or("-", |project| &project.name).into(),
                unread.count.into(),
                unread.mentions.into(),
                unread.read.into(),
            ]);
        }
        table.render(out)
    })
}

fn history(messages: &[Message], out: &Output) -> String {
    if messages.is_empty() {
        return Style::Dim.paint("no messages", out.color);
    }
    messages.iter().map(|message| entry(message, out)).collect::<Vec<_>>().join("\n\n")
}

fn entry(message: &Message, out: &Output) -> String {
    let kind = match message.author_kind {
        AuthorKind::User => String::new(),
        other => format!(" ({})", other.word().replace('_', " ")),
    };
    let edited = if message.edited_at.is_some() { ", edited" } else { "" };
    let about =
        format!("{}{edited} · {} · {}", when::relative(message.created_at, out.now), message.number, message.id);
    let author = Style::Bold.paint(&clean(&format!("{}{kind}", message.author.name)), out.color);
    let content = match message.deleted_at {
        Some(_) => Style::Dim.paint("(deleted)", out.color),
        None => clean(&message.content),
    };
    let indented = content.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n");
    format!("{author}  {}\n{indented}", Style::Dim.paint(&about, out.color))
}
