//! `shopfloor execution watch`: what changes, until the execution is over.

use std::collections::HashMap;

use client::Client;
use client::watch::Event;
use domain::{ExecutionId, ExecutionStatus, StepStatus, Timestamp};
use protocol::{Change, ExecutionDetail, ExecutionStep, FromHub};

use super::{detail, line, show};
use crate::commands::words;
use crate::output::clean;
use crate::{Exit, Failure, Output};

/// Follows an execution until it is over.
pub(crate) async fn watch(execution: ExecutionId, client: &Client, out: &Output) -> Result<Exit, Failure> {
    let mut watch = client.watch().named("cli");
    let mut follower = Follower { execution, client, out: out.clone(), revision: None, said: HashMap::new() };
    loop {
        let moved = match watch.next().await? {
            Event::Lost { why, retry_in } => {
                out.note(&format!("connection lost ({why}); reconnecting in {:.1} s", retry_in.as_secs_f64()));
                false
            }
            // Whatever changed before is in the answer to the question that follows.
            Event::Frame(FromHub::Live { .. }) => true,
            Event::Frame(FromHub::Delta(delta)) => match &delta.change {
                Change::Execution { execution: new } => new.id == execution && follower.is_news(new.revision),
                Change::ExecutionGone { .. } => true,
                _ => false,
            },
            Event::Frame(_) => false,
        };
        if moved && let Some(exit) = follower.look().await? {
            return Ok(exit);
        }
    }
}

struct Follower<'a> {
    execution: ExecutionId,
    client: &'a Client,
    out: Output,
    /// The revision that was printed last.
    revision: Option<u32>,
    /// The last line of each step, without its time.
    said: HashMap<String, String>,
}

impl Follower<'_> {
    fn is_news(&self, revision: u32) -> bool {
        self.revision.is_none_or(|before| revision > before)
    }

    /// Prints what is new; returns the exit code once the execution is over.
    async fn look(&mut self) -> Result<Option<Exit>, Failure> {
        let detail = detail(self.client, self.execution).await?;
        if self.is_news(detail.execution.revision) {
            self.out.now = Timestamp::from_millis(jiff::Timestamp::now().as_millisecond());
            self.print(&detail)?;
            self.revision = Some(detail.execution.revision);
        }
        Ok(exit(detail.execution.status))
    }

    fn print(&mut self, detail: &ExecutionDetail) -> Result<(), Failure> {
        if self.out.json {
            return self.out.stream(&detail.execution, |_| String::new());
        }
        if self.revision.is_none() {
            self.out.raw(&line(&detail.execution, &self.out))?;
        }
        for step in &detail.steps {
            let said = self.describe(step);
            if self.said.get(&step.path) != Some(&said) {
                self.out.raw(&format!("{}  {said}", self.clock()))?;
                if step.question.is_some() {
                    self.out.note(&show::asked(step, self.execution, &self.out));
                }
                self.said.insert(step.path.clone(), said);
            }
        }
        // The line of the whole follows the lines of the steps, when it is over or a person has paused it.
        let whole = line(&detail.execution, &self.out);
        let status = detail.execution.status;
        let told = status == ExecutionStatus::Paused || exit(status).is_some();
        if told && self.said.insert(String::new(), whole.clone()).as_ref() != Some(&whole) {
            self.out.raw(&whole)?;
        }
        if !told {
            self.said.remove("");
        }
        Ok(())
    }

    /// A step in a line.
    fn describe(&self, step: &ExecutionStep) -> String {
        let status = format!("{} {}", words::step_sign(step.status), step.status);
        let status = words::step_style(step.status).paint(&status, self.out.color);
        let attempt = match step.attempt {
            0 | 1 => String::new(),
            attempt => format!(", attempt {attempt}"),
        };
        let why = match (&step.question, &step.reason) {
            (Some(asked), _) => format!(": {}", asked.question.trim()),
            (None, Some(why)) if step.status != StepStatus::Succeeded => format!(": {why}"),
            _ => String::new(),
        };
        format!("{}  {status}{attempt}{}", clean(&step.path), clean(&why).replace('\n', " "))
    }

    fn clock(&self) -> String {
        let now = self.out.now.to_string();
        now.get("2026-01-31T".len().."2026-01-31T12:00:00".len()).unwrap_or(&now).to_owned() + "Z"
    }
}

/// How the command ends with an execution that is over.
fn exit(status: ExecutionStatus) -> Option<Exit> {
    match status {
        ExecutionStatus::Completed => Some(Exit::Done),
        ExecutionStatus::Failed | ExecutionStatus::Cancelled => Some(Exit::Other),
        ExecutionStatus::Running | ExecutionStatus::Waiting | ExecutionStatus::Paused => None,
    }
}
