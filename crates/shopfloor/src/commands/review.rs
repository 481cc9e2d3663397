//! `shopfloor review`: comments on the changes of a task or a workspace, and a person's verdict.

mod place;
mod subject;

use clap::{Args, Subcommand};
use client::Client;
use domain::text::counted;
use domain::{AuthorKind, DiffSide, ThreadStatus};
use protocol::{Call, Review, ReviewApprove, ReviewComment, ReviewOf, ReviewReply, ReviewResolve, ReviewThread, Task};

use self::subject::{HELP, Sent};
use super::task;
use crate::output::clean;
use crate::table::Style;
use crate::text_arg::TextArg;
use crate::{Context, Failure, Output, when};

/// Subcommands for reviews.
#[derive(Debug, Subcommand)]
pub(crate) enum ReviewCommand {
    /// List the comments on the changes of a task or a workspace
    Comments {
        #[arg(value_name = "TASK|WORKSPACE", help = HELP)]
        of: String,
    },
    /// Comment on a line or lines of the changes of a task or a workspace
    Comment(CommentArgs),
    /// Reply to a comment
    Reply {
        #[arg(value_name = "TASK|WORKSPACE", help = HELP)]
        of: String,
        /// The thread's number in `review comments`, or its id
        thread: String,
        #[command(flatten)]
        text: TextArg,
    },
    /// Resolve a thread of comments
    Resolve {
        #[arg(value_name = "TASK|WORKSPACE", help = HELP)]
        of: String,
        /// The thread's number in `review comments`, or its id
        thread: String,
        /// Open it again instead
        #[arg(long)]
        reopen: bool,
    },
    /// Approve the changes of a task's report; a report that waits for a person is accepted
    Approve {
        /// The task's id or title
        task: String,
        /// The tree that you looked at, as `task diff --json` shows it; refused if the report has another one
        #[arg(long, value_name = "TREE")]
        tree: Option<String>,
    },
    /// Send the open comments to the agent, which continues
    SendBack {
        #[arg(value_name = "TASK|WORKSPACE", help = HELP)]
        of: String,
        #[command(flatten)]
        text: TextArg,
    },
}

/// A comment on lines.
#[derive(Debug, Args)]
pub(crate) struct CommentArgs {
    #[arg(value_name = "TASK|WORKSPACE", help = HELP)]
    of: String,
    /// The file and the line or lines, such as src/main.rs:12 or src/main.rs:12-15
    #[arg(value_name = "PATH:LINE")]
    place: String,
    #[command(flatten)]
    text: TextArg,
    /// Count lines in the file before the change, to comment on a removed line
    #[arg(long)]
    before: bool,
}

/// Runs the subcommand.
pub(crate) async fn run(command: ReviewCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        ReviewCommand::Comments { of } => {
            let review = subject::review(client, subject::find(client, &of).await?).await?;
            out.show(&review, |out| render(&review, out))
        }
        ReviewCommand::Comment(args) => comment(args, client, out).await,
        ReviewCommand::Reply { of, thread, text } => {
            let text = text.required()?;
            let of = subject::find(client, &of).await?;
            let thread = find(client, of, &thread).await?.id;
            let thread: ReviewThread = client.ask(Call::ReviewReply { thread, input: ReviewReply { text } }).await?;
            out.show(&thread, |_| said(&thread, "replied"))
        }
        ReviewCommand::Resolve { of, thread, reopen } => {
            let of = subject::find(client, &of).await?;
            let thread = find(client, of, &thread).await?.id;
            let thread: ReviewThread =
                client.ask(Call::ReviewResolve { thread, input: ReviewResolve { reopen } }).await?;
            out.show(&thread, |_| said(&thread, thread.status.word()))
        }
        ReviewCommand::Approve { task, tree } => {
            let task = subject::task(client, &task).await?;
            let task: Task = client.ask(Call::ReviewApprove { task, input: ReviewApprove { tree } }).await?;
            out.show(&task, |_| format!("approved; {}", task::line(&task)))
        }
        ReviewCommand::SendBack { of, text } => {
            let text = text.read()?;
            let of = subject::find(client, &of).await?;
            match subject::send_back(client, of, text).await? {
                Sent::Task(task) => out.show(&*task, |_| format!("sent back; {}", task::line(&task))),
                Sent::Workspace(review) => out.show(&review, |_| "sent to the agent".to_owned()),
            }
        }
    }
}

async fn comment(args: CommentArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let (path, line, end_line) = place::parse(&args.place)?;
    let text = args.text.required()?;
    let of = subject::find(client, &args.of).await?;
    let side = if args.before { DiffSide::Old } else { DiffSide::New };
    // Without its runner, the comment has no quote.
    let quote = match subject::diff(client, of).await {
        Ok(diff) => Some(place::quote(&diff, &path, side, (line, end_line))?),
        Err(_) => None,
    };
    let input = ReviewComment { path, side: Some(side), line, end_line: Some(end_line), quote, text };
    let thread = subject::comment(client, of, input).await?;
    out.show(&thread, |_| said(&thread, "commented"))
}

/// The thread that a person means: by its number or its id.
async fn find(client: &Client, of: ReviewOf, text: &str) -> Result<ReviewThread, Failure> {
    let review = subject::review(client, of).await?;
    let number = text.trim_start_matches('#').parse::<usize>().ok();
    let numbered = |at: usize| number == Some(at + 1);
    let mut threads = review.threads.into_iter().enumerate();
    let found = threads.find(|(at, thread)| thread.id.to_string() == text || numbered(*at));
    found.map(|(_, thread)| thread).ok_or_else(|| {
        Failure::usage(format!("`{text}` is not a thread of this review"))
            .advise(format!("`shopfloor review comments {of}` lists them"))
    })
}

fn said(thread: &ReviewThread, what: &str) -> String {
    clean(&format!("{}  {what}: {}", thread.id, place::shown(thread))).replace('\n', " ")
}

fn render(review: &Review, out: &Output) -> String {
    let mut parts = Vec::new();
    if let Some(approval) = &review.approval {
        let at = when::relative(approval.at, out.now);
        parts.push(Style::Green.paint(&clean(&format!("approved by {}, {at}", approval.by.name)), out.color));
    }
    for (at, thread) in review.threads.iter().enumerate() {
        let style = match thread.status {
            ThreadStatus::Open => Style::Yellow,
            ThreadStatus::Sent => Style::Plain,
            ThreadStatus::Resolved => Style::Dim,
        };
        let head = format!("{}. {}  {}  {}", at + 1, place::shown(thread), thread.status, thread.id);
        let mut lines = vec![style.paint(&clean(&head).replace('\n', " "), out.color)];
        let quote = thread.quote.as_deref().unwrap_or_default();
        lines.extend(quote.lines().map(|line| Style::Dim.paint(&clean(&format!("   > {line}")), out.color)));
        for comment in &thread.comments {
            let agent = if comment.author_kind == AuthorKind::Agent { " (agent)" } else { "" };
            let at = when::relative(comment.at, out.now);
            lines.push(clean(&format!("   {}{agent}, {at}: {}", comment.author.name, comment.text)));
        }
        parts.push(lines.join("\n"));
    }
    let open = review.threads.iter().filter(|thread| thread.status == ThreadStatus::Open).count();
    if open > 0 {
        let comments = counted(open, "open comment", "open comments");
        parts.push(format!("{comments}; `shopfloor review send-back {}` sends them to the agent", review.of));
    }
    if parts.is_empty() { Style::Dim.paint("no comments", out.color) } else { parts.join("\n\n") }
}
