//! Asking for a handoff.

use domain::placement::{Needs, place};
use domain::text::{AGENT, Field, MODEL};
use domain::{Action, Actor, HandoffId, HandoffStatus, HandoffStep, Resource, RunnerId, can};
use protocol::{Handoff, Session, UserRef, Verb, verbs};

use super::announce;
use super::rows::open_of;
use super::taken::GOAL;
use crate::sql::{args, text};
use crate::tx::{AuditScope, Tx};
use crate::verbs::sessions::spawn::candidates;
use crate::verbs::sessions::{self};
use crate::verbs::work::workers::facts::Under;
use crate::verbs::{projects, users, workspaces};
use crate::{Command, Placed, StoreError};

/// The role whose template the document follows.
const ROLE: Field = Field { name: "role", limit: 60, ..domain::text::NAME };
/// How long the agent may write by default, and at most, in seconds.
pub(super) const WAIT: (u32, u32) = (120, 3600);

/// Where and by whom the work continues.
struct Target {
    runner: RunnerId,
    owner: UserRef,
}

impl Command for Placed<verbs::HandoffBegin> {
    type Output = Handoff;
    const VERB: &'static str = verbs::HandoffBegin::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Handoff, StoreError> {
        let (caller, input) = (tx.caller, &self.verb.input);
        let (session, row) = sessions::find(tx.read(), caller, self.verb.session, Action::Drive).await?;
        let me = caller.writer()?;
        GOAL.check(input.goal.as_deref().unwrap_or_default())?;
        if let Some(agent) = &input.agent {
            AGENT.check(agent)?;
        }
        if let Some(model) = &input.model {
            MODEL.check(model)?;
        }
        if let Some(role) = &input.role {
            ROLE.check(role)?;
        }
        let wait_seconds = input.wait_seconds.unwrap_or(WAIT.0);
        if wait_seconds > WAIT.1 {
            return Err(StoreError::invalid("wait_seconds", format!("at most {} seconds", WAIT.1)));
        }
        if let Some(open) = open_of(tx.read(), session.id).await? {
            return Ok(open.view);
        }
        let task = match Under::read(&row)? {
            Some(under) => tx.task(under.task).await?.filter(|task| task.session() == Some(session.id)),
            None => None,
        };
        let agent = input.agent.clone().unwrap_or_else(|| session.agent.clone());
        let target = self.target(tx, &session, &agent).await?;
        if task.is_some() && target.owner.id != session.owner.id {
            let message = format!(
                "the session works on a task: {} takes it over with `shopfloor task take-over`, which brings its work",
                target.owner.name
            );
            return Err(StoreError::Conflict(message));
        }
        if let Some(workspace) = workspaces::get(tx.read(), session.workspace).await? {
            workspaces::usable(&workspace)?;
        }
        let same = agent == session.agent;
        let model = input.model.clone().or(session.model.clone().filter(|_| same));
        let made = Handoff {
            id: HandoffId::generate(),
            project: session.project,
            activity: session.activity,
            session: session.id,
            title: session.title.clone(),
            workspace: session.workspace,
            runner: session.runner,
            owner: session.owner.clone(),
            task: task.map(|task| task.id),
            to_runner: target.runner,
            to: target.owner,
            writes: engine::handoff::writes(&session.agent, session.mode),
            reads: engine::handoff::reads(&agent),
            takes_over: false,
            agent,
            goal: input.goal.clone().unwrap_or_default().trim().to_owned(),
            edit: input.edit,
            push: input.push,
            status: HandoffStatus::Running,
            step: HandoffStep::Write,
            detail: None,
            steps: Vec::new(),
            hash: None,
            saved: None,
            branch: None,
            successor: None,
            by_itself: None,
            asked_by: me.user.clone(),
            created_at: tx.now,
            updated_at: tx.now,
        };
        let asked = Asked { model, role: input.role.clone(), wait_seconds, by_agent: me.by_agent };
        add(tx, &made, asked).await?;
        let detail = format!("hands off `{}` to {}", made.title, made.to.name);
        tx.audit(Self::VERB, made.id, AuditScope::Project(made.project), detail);
        announce(tx, made.clone());
        Ok(made)
    }
}

impl Placed<verbs::HandoffBegin> {
    /// The runner and its owner; refuses what cannot run the agent.
    async fn target(&self, tx: &mut Tx<'_>, session: &Session, agent: &str) -> Result<Target, StoreError> {
        let input = &self.verb.input;
        let mut owner = session.owner.clone();
        if let Some(person) = input.person.filter(|person| *person != owner.id) {
            let found = users::find(tx.read(), person).await?.ok_or(StoreError::NotFound("user"))?;
            owner = UserRef { id: found.id, name: found.name };
        } else if let Some(runner) = input.runner.filter(|runner| *runner != session.runner) {
            let sql =
                "SELECT r.owner, u.name AS owner_name FROM runners r JOIN users u ON u.id = r.owner WHERE r.id = $1";
            let row = tx.read().first(sql, vec![text(runner)]).await?.ok_or(StoreError::NotFound("runner"))?;
            owner = users::reference(&row, "owner")?;
        }
        if owner.id != session.owner.id {
            self.may_receive(tx, session, &owner).await?;
        }
        let wanted = match input.runner {
            None if owner.id == session.owner.id => Some(session.runner),
            wanted => wanted,
        };
        let found = candidates(tx, owner.id, &self.connected).await?;
        // The session that ends makes room on its own runner.
        if wanted == Some(session.runner) {
            let here = found.iter().find(|candidate| candidate.runner == session.runner);
            if agent != session.agent && !here.is_some_and(|here| here.agents.iter().any(|known| known == agent)) {
                return Err(StoreError::Conflict(format!("`{agent}` is not installed on the session's runner")));
            }
            return Ok(Target { runner: session.runner, owner });
        }
        let runner = place(Needs { runner: wanted, agent, labels: &[] }, &found).map_err(StoreError::Conflict)?;
        Ok(Target { runner, owner })
    }

    /// Refuses a person who may not work in the project. What runs on their machine needs their approval, too.
    async fn may_receive(&self, tx: &mut Tx<'_>, session: &Session, owner: &UserRef) -> Result<(), StoreError> {
        let facts = projects::facts_of(tx.read(), session.project).await?.ok_or(StoreError::NotFound("project"))?;
        let actor = Actor::User { id: owner.id, hub_owner: false };
        let allowed = can(&actor, Action::Write, Resource::Project(&facts)).is_allowed();
        let found = users::find(tx.read(), owner.id).await?;
        match allowed && found.is_some_and(|user| !user.disabled) {
            true => Ok(()),
            false => Err(StoreError::Forbidden("that person may not write in this project, so they cannot continue")),
        }
    }
}

/// What is stored of a handoff beside its view.
pub(super) struct Asked {
    pub(super) model: Option<String>,
    pub(super) role: Option<String>,
    pub(super) wait_seconds: u32,
    pub(super) by_agent: bool,
}

/// Stores a handoff that begins.
pub(super) async fn add(tx: &mut Tx<'_>, made: &Handoff, asked: Asked) -> Result<(), StoreError> {
    let sql = "INSERT INTO handoffs (id, project, activity, session, workspace, runner, owner, task, title, to_runner, \
               to_owner, agent, model, goal, edit, push, wait_seconds, status, step, steps, since, asked_by, by_agent, \
               takes_over, successor, by_itself, role, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, \
               $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, '[]', $20, $21, $22, $23, $24, $25, $26, $20, $20)";
    let values = args![
        made.id.to_string(),
        made.project.to_string(),
        made.activity.to_string(),
        made.session.to_string(),
        made.workspace.to_string(),
        made.runner.to_string(),
        made.owner.id.to_string(),
        made.task.map(|id| id.to_string()),
        &made.title,
        made.to_runner.to_string(),
        made.to.id.to_string(),
        &made.agent,
        asked.model,
        &made.goal,
        made.edit,
        made.push,
        asked.wait_seconds,
        made.status.word(),
        made.step.word(),
        tx.now,
        made.asked_by.id.to_string(),
        asked.by_agent,
        made.takes_over,
        made.successor.map(|id| id.to_string()),
        made.by_itself.clone(),
        asked.role,
    ];
    tx.run(sql, values).await.map(|_| ())
}
