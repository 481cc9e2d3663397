//! Taking over: a worker of the caller continues a colleague's task from its current state.

use domain::{Action, AnswerAct, RunnerId, TaskStatus, WorkerKind, WorkerStatus};
use engine::tasks::life::{Leaving, Why};
use engine::workers::decision::Decision;
use protocol::{AgentProfile, Sandbox, Task, UserRef, Verb, verbs};

use super::launch::{self, How};
use super::log::decided;
use super::moving::Work;
use super::rows::{self, WorkerRow, get, put};
use super::settings::lease_end;
use super::{freeze, moving, start, stop};
use crate::tx::{AuditScope, Tx};
use crate::verbs::handoff::taken;
use crate::verbs::recipes;
use crate::verbs::sight::seen;
use crate::verbs::work::life;
use crate::verbs::work::review::ask;
use crate::verbs::work::tasks::row::TaskRow;
use crate::verbs::workspaces;
use crate::{Command, Placed, StoreError};

/// The worker that continues, and with what.
struct Plan {
    runner: RunnerId,
    agent: String,
    /// The command that the caller gave, now or before; `None` if a free worker of theirs has its own.
    argv: Option<Vec<String>>,
    /// The agent profile that it follows.
    profile: Option<AgentProfile>,
    work: Work,
}

impl Command for Placed<verbs::TaskTakeOver> {
    type Output = Task;
    const VERB: &'static str = verbs::TaskTakeOver::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Task, StoreError> {
        let me = tx.caller.person()?;
        let row = tx.known_task(self.verb.task).await?;
        tx.check(row.project, Action::Write, "task").await?;
        refuse_over(&row)?;
        let before = match row.worker() {
            Some(worker) => get(tx, worker).await?,
            None => None,
        };
        if let Some(slot) = before.as_ref().filter(|slot| self.has_it(slot, &me)) {
            return Err(has_it_already(slot));
        }
        let goal = self.verb.input.goal.clone().unwrap_or_default();
        taken::GOAL.check(&goal)?;
        let plan = self.plan(tx, &row, before.as_ref(), &me).await?;
        let left = taken::left(tx, &row, &plan.agent, &self.connected).await?;
        let asked = left.as_ref().is_some_and(|left| left.asked);
        if freeze::frozen(tx.read(), me.id, row.project).await? {
            return Err(StoreError::Conflict(freeze::REASON.into()));
        }
        // No refusals below this line.
        let (by, away) = (me.name.clone(), plan.work == Work::Away);
        let reason = Decision::TakenOver { by: by.clone(), from: None, away }.to_string();
        let from = before.as_ref().map(|slot| slot.name.clone());
        if row.hold().is_some() {
            // An agent that writes the document is stopped after that, not with its hold.
            if let Some(mut slot) = before.clone().filter(|_| asked) {
                slot.session = None;
                put(tx, slot);
            }
            life::let_go(tx, self.verb.task, Leaving::TakenOver, Why::open(Some(reason.clone()))).await?;
            if let Some(session) = row.session().filter(|_| !asked) {
                stop::session(tx, session, false).await?;
            }
        }
        if tx.known_task(self.verb.task).await?.status() == TaskStatus::Escalated {
            life::retry(tx, self.verb.task, Some(reason.clone())).await?;
            ask::answer_all(tx, self.verb.task, AnswerAct::Retry, "", &me).await?;
        }
        let slot = self.worker(tx, &row, &plan, before.as_ref(), &me).await?;
        let settings = tx.work_settings(row.project).await?;
        let until = lease_end(&settings, tx.now, Some(tx.now));
        let fence = life::take(tx, self.verb.task, slot.id, until).await?;
        let how = How { moves: matches!(plan.work, Work::At(_)), ..Default::default() };
        let made = launch::launch(tx, &slot, self.verb.task, fence, how).await?;
        if let Work::At(from) = plan.work {
            moving::begin(tx, self.verb.task, &made, from).await?;
        }
        if let Some(left) = left {
            taken::begin(tx, left, (self.verb.task, &made), (&me, &goal)).await?;
        }
        let decision = Decision::TakenOver { by, from, away };
        let reason = decision.to_string();
        decided(tx, row.project, Some(slot.id), Some(self.verb.task), decision).await?;
        tx.audit(Self::VERB, self.verb.task, AuditScope::Project(row.project), reason);
        let row = tx.known_task(self.verb.task).await?;
        seen(tx, &row).await
    }
}

impl Placed<verbs::TaskTakeOver> {
    /// Whether the caller's worker already has the task, as requested.
    fn has_it(&self, slot: &WorkerRow, me: &UserRef) -> bool {
        let mine = slot.owner.id == me.id && slot.kind == WorkerKind::Managed;
        let there = self.verb.input.runner.is_none_or(|runner| slot.runner == Some(runner));
        let same = self.verb.input.argv.is_empty() || slot.argv == self.verb.input.argv;
        let same =
            same && self.verb.input.sandbox.as_ref().is_none_or(|sandbox| slot.sandbox.as_ref() == Some(sandbox));
        mine && there && same && self.verb.input.agent.as_ref().is_none_or(|agent| slot.agent == *agent)
    }

    /// Decides which worker continues; writes nothing.
    async fn plan(
        &self,
        tx: &mut Tx<'_>,
        row: &TaskRow,
        before: Option<&WorkerRow>,
        me: &UserRef,
    ) -> Result<Plan, StoreError> {
        let profile = match &self.verb.input.profile {
            Some(name) => Some(recipes::followed(tx.read(), row.project, name).await?),
            None => None,
        };
        let followed = profile.as_ref().map(|found| found.agent.clone());
        let agent = self.verb.input.agent.clone().or(followed).or(before.map(|slot| slot.agent.clone()));
        let Some(agent) = agent.filter(|agent| agent != WorkerKind::External.word()) else {
            return Err(StoreError::invalid("agent", "name the agent that continues: no managed worker has the task"));
        };
        start::check_argv(&self.verb.input.argv)?;
        let place = match row.workspace {
            Some(id) => workspaces::get(tx.read(), id).await?,
            None => None,
        };
        let here = place.filter(|place| place.owner.id == me.id).map(|place| place.runner);
        let wanted = self.verb.input.runner.or(here.filter(|runner| self.connected.contains(runner)));
        let labels = profile.as_ref().map(|found| found.labels.clone()).unwrap_or_default();
        let runner = start::choose(tx, me.id, (&agent, &labels), wanted, &self.connected).await?;
        let argv = self.argv(before.filter(|before| before.agent == agent), me);
        if agent == "command" && argv.is_none() && free(tx, row, runner, &agent, None, me).await?.is_none() {
            return Err(StoreError::invalid("argv", unsaid(before.filter(|before| before.agent == agent))));
        }
        let work = moving::work_of(tx, row, runner, &self.connected).await?;
        Ok(Plan { runner, agent, argv, profile, work })
    }

    /// The command for the caller's runner. A command that somebody else chose does not run until the caller repeats
    /// it.
    fn argv(&self, before: Option<&WorkerRow>, me: &UserRef) -> Option<Vec<String>> {
        if !self.verb.input.argv.is_empty() {
            return Some(self.verb.input.argv.clone());
        }
        before.filter(|before| before.owner.id == me.id && !before.argv.is_empty()).map(|before| before.argv.clone())
    }

    /// The sandbox that the caller gave, else the `kept` one, else the previous worker's: a change of agent does not
    /// remove it. A colleague's choice never exposes the caller's home.
    fn sandbox(&self, kept: Option<Sandbox>, before: Option<&WorkerRow>, me: &UserRef) -> Option<Sandbox> {
        let before = before.and_then(|before| Some((before.sandbox.clone()?, before.owner.id == me.id)));
        let before = before.map(|(found, mine)| Sandbox { home: found.home && mine, ..found });
        self.verb.input.sandbox.clone().or(kept).or(before)
    }

    /// A free worker of the caller, or a new one.
    async fn worker(
        &self,
        tx: &mut Tx<'_>,
        row: &TaskRow,
        plan: &Plan,
        before: Option<&WorkerRow>,
        me: &UserRef,
    ) -> Result<WorkerRow, StoreError> {
        let free = free(tx, row, plan.runner, &plan.agent, plan.argv.as_ref(), me).await?;
        let profile = plan.profile.as_ref();
        let wanted = self.sandbox(None, before, me).or(profile.and_then(|found| found.sandbox.clone()));
        let (followed, input) = (profile.map(|found| &found.name), &self.verb.input);
        let same = |slot: &WorkerRow| {
            let model = input.model.is_none() || slot.model == input.model;
            model && slot.profile.as_ref() == followed && (wanted.is_none() || slot.sandbox == wanted)
        };
        if let Some(slot) = free.filter(same) {
            return Ok(slot);
        }
        let there = rows::of(tx, Some(row.project)).await?;
        let mut model = WorkerRow::fresh(row.project, me.clone(), String::new(), WorkerKind::Managed, tx.now);
        model.runner = Some(plan.runner);
        model.agent = plan.agent.clone();
        model.abilities = row.needs.clone();
        if let Some(before) = before.filter(|before| before.agent == plan.agent) {
            model.model = before.model.clone();
            // A colleague's sandbox may restrict processes on the caller's machine, but never expose the caller's home.
            let mine = before.owner.id == me.id;
            model.sandbox = before.sandbox.clone().map(|found| Sandbox { home: found.home && mine, ..found });
        }
        if let Some(found) = profile {
            model.profile = Some(found.name.clone());
            model.budget_micros = found.budget_micros;
            if found.agent == plan.agent {
                model.model = found.model.clone();
            }
            model.sandbox = found.sandbox.clone();
        }
        model.model = self.verb.input.model.clone().or(model.view.model.take());
        model.sandbox = self.sandbox(model.sandbox, before, me);
        model.argv = plan.argv.clone().unwrap_or_default();
        let made = start::add(tx, &model, &there, 1);
        let id = made.first().map(|worker| worker.id).ok_or(StoreError::NotFound("worker"))?;
        get(tx, id).await?.ok_or(StoreError::NotFound("worker"))
    }
}

/// A free worker of the caller; `argv` selects among those that run a command.
async fn free(
    tx: &mut Tx<'_>,
    row: &TaskRow,
    runner: RunnerId,
    agent: &str,
    argv: Option<&Vec<String>>,
    me: &UserRef,
) -> Result<Option<WorkerRow>, StoreError> {
    let fits = |slot: &WorkerRow| {
        let mine = slot.owner.id == me.id && slot.kind == WorkerKind::Managed && slot.status == WorkerStatus::Idle;
        let same = argv.is_none_or(|argv| slot.argv == *argv);
        mine && same && slot.task.is_none() && slot.runner == Some(runner) && slot.agent == agent
    };
    Ok(rows::of(tx, Some(row.project)).await?.into_iter().find(fits))
}

/// The error message when it is unclear which command to run.
fn unsaid(before: Option<&WorkerRow>) -> String {
    match before {
        Some(before) => format!(
            "`{}` runs a command that {} chose, and your runner would run it: review it and give it yourself \
             (`shopfloor task take-over` shows it and takes --yes or `-- PROGRAM`), or name another agent",
            before.name, before.owner.name
        ),
        None => "no command is given: name it (`-- PROGRAM`), or name another agent".to_owned(),
    }
}

/// The error for taking over one's own task, which would change nothing.
fn has_it_already(slot: &WorkerRow) -> StoreError {
    StoreError::Conflict(format!(
        "`{}`, a worker of yours, has it already: name another runner or agent to continue with, or stop that worker \
         to give the task back",
        slot.name
    ))
}

fn refuse_over(row: &TaskRow) -> Result<(), StoreError> {
    match row.status() {
        TaskStatus::Done | TaskStatus::Failed | TaskStatus::Cancelled => {
            Err(StoreError::Conflict(format!("the task is {}: retry it first", row.status())))
        }
        TaskStatus::Blocked => {
            Err(StoreError::Conflict("the task waits for others: it cannot be worked on yet".into()))
        }
        _ => Ok(()),
    }
}
