//! `shopfloor watch`.

mod line;

use clap::Args;
use client::watch::{Event, Watch};
use domain::{ProjectId, Seq};
use protocol::{Call, FromHub, Me, Project};

use crate::pick::pick;
use crate::{Context, Failure};
use line::{Names, project_of};

/// Arguments of `watch`.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Only changes in this project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Start after the change with this number [default: now]
    #[arg(long, value_name = "N")]
    since: Option<u64>,
}

/// Prints changes until the reader closes the pipe.
pub(crate) async fn run(args: WatchArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let only = match &args.project {
        Some(project) => Some(pick::<Project>(&client, project).await?),
        None => None,
    };
    let me: Me = client.ask(Call::Me {}).await?;
    let mut watch = client.watch().named("cli");
    let mut printer = Printer { context, only, names: Names::default(), state: State::First { asked: args.since } };
    if let Some(since) = args.since {
        printer.names.learn_projects(&client.ask::<Vec<Project>>(Call::ProjectList {}).await?);
        watch = watch.resume(me.hub, Seq(since));
    }
    loop {
        let event = watch.next().await?;
        printer.take(event, &watch)?;
    }
}

/// The connection's state.
enum State {
    /// Not connected yet; `asked` is where the caller wants to start.
    First { asked: Option<u64> },
    /// Connection lost.
    Lost,
    /// Connected.
    Live,
}

struct Printer<'a> {
    context: &'a Context,
    only: Option<ProjectId>,
    names: Names,
    state: State,
}

impl Printer<'_> {
    fn take(&mut self, event: Event, watch: &Watch) -> Result<(), Failure> {
        let out = &self.context.out;
        match event {
            Event::Lost { why, retry_in } => {
                out.note(&format!("connection lost ({why}); reconnecting in {:.1} s", retry_in.as_secs_f64()));
                if matches!(self.state, State::Live) {
                    self.state = State::Lost;
                }
            }
            Event::Frame(FromHub::Welcome { resumed, .. }) => self.greet(resumed, watch),
            Event::Frame(FromHub::Sync { changes, .. }) => changes.iter().for_each(|change| self.names.learn(change)),
            Event::Frame(FromHub::Delta(delta)) => {
                let wanted = self.only.is_none_or(|only| project_of(&delta.change) == Some(only));
                if wanted {
                    out.stream(&delta, |_| line::render(&delta, &self.names))?;
                }
                self.names.learn(&delta.change);
            }
            Event::Frame(_) => {}
        }
        Ok(())
    }

    fn greet(&mut self, resumed: bool, watch: &Watch) {
        let out = &self.context.out;
        let position = watch.position().map_or_else(|| "the start".to_owned(), |seq| format!("change {seq}"));
        match (&self.state, resumed) {
            (State::First { asked: Some(since) }, false) => {
                out.note(&format!("the hub no longer has the changes after {since}; watching from now on"));
            }
            (State::First { .. }, _) => out.note("watching; stop with Ctrl-C"),
            (State::Lost | State::Live, true) => out.note(&format!("reconnected; resumed after {position}")),
            (State::Lost | State::Live, false) => {
                out.note("reconnected, but too much has changed to resume; watching from now on");
            }
        }
        self.state = State::Live;
    }
}
