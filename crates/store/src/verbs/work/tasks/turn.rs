//! A turn: reports and takes of several workers in one transaction.

use domain::Action;
use protocol::{TURN, TaskTurn, TurnReport, Turned, TurnedIn, Verb, verbs};

use super::report::{Reported, report};
use super::take::{caller_name, foresee, nothing, take};
use super::{Wanted, check};
use crate::tx::Tx;
use crate::{Caller, Command, StoreError};

impl Command for verbs::TaskTurn {
    type Output = Turned;
    const VERB: &'static str = verbs::TaskTurn::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Turned, StoreError> {
        let TaskTurn { reports, takes } = &self.input;
        let action = if takes.is_empty() { Action::See } else { Action::Write };
        tx.check(self.project, action, "project").await?;
        within(tx, &self.input)?;
        let mut turned = Turned { reports: Vec::with_capacity(reports.len()), taken: Vec::with_capacity(takes.len()) };
        for TurnedIn { task, report: input } in reports {
            turned.reports.push(match report(tx, *task, input).await {
                Ok(Reported::Taken(report)) => TurnReport { report: Some(report), refused: None },
                Ok(Reported::Late { report, why }) => TurnReport { report: Some(report), refused: Some(why) },
                Err(error @ StoreError::Corrupt(_)) => return Err(error),
                Err(error) if error.is_of_the_database() => return Err(error),
                Err(error) => TurnReport { report: None, refused: Some(error.to_string()) },
            });
        }
        for input in takes {
            turned.taken.push(match take(tx, self.project, input).await {
                Err(error @ StoreError::NotFound(_)) => nothing(error.to_string()),
                taken => taken?,
            });
        }
        Ok(turned)
    }

    /// A turn with reports must not run twice; one that only waited for tasks is retried.
    fn is_final(output: &Turned) -> bool {
        !output.reports.is_empty() || output.taken.iter().any(|taken| taken.taken.is_some())
    }

    fn foresee(&self, caller: &Caller, wanted: &mut Wanted) {
        for TurnedIn { task, .. } in &self.input.reports {
            wanted.tasks.push(*task);
            wanted.ends.push(*task);
        }
        self.input.takes.iter().for_each(|input| foresee(caller, self.project, input, wanted));
    }
}

/// Refuses a turn that exceeds a limit, before any part of it runs.
fn within(tx: &Tx<'_>, input: &TaskTurn) -> Result<(), StoreError> {
    for (name, count) in [("reports", input.reports.len()), ("takes", input.takes.len())] {
        if count > TURN {
            return Err(StoreError::invalid(name, format!("a turn has at most {TURN} `{name}`, not {count}")));
        }
    }
    for (index, TurnedIn { report, .. }) in input.reports.iter().enumerate() {
        check::report(report).map_err(|error| error.in_list("reports", index))?;
    }
    let name = caller_name(tx)?;
    for (index, input) in input.takes.iter().enumerate() {
        let checked = check::worker(input.worker.as_deref().unwrap_or(&name), &input.abilities);
        let checked = checked.and_then(|_| match input.wait_seconds {
            Some(_) => Err(StoreError::invalid("wait_seconds", "a turn does not wait; `task.take` does")),
            None => Ok(()),
        });
        checked.map_err(|error| error.in_list("takes", index))?;
    }
    Ok(())
}
