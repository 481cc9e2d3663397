//! The caller of a verb, and its origin, as the audit trail records them.

use domain::{Action, Actor, AuthorKind, Resource, SessionId, UserId, Verdict, can};
use protocol::{UserRef, WrittenBy};

use crate::StoreError;

/// Who runs a verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// The bearer of a credential.
    Actor {
        /// The identity that the credential proves.
        actor: Actor,
        /// The person's name; empty for an observer.
        name: String,
    },
    /// The hub itself, at start or for a person who is not identified yet.
    Hub,
}

/// Who runs a verb, and from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The identity.
    pub who: Who,
    /// Address and kind of client.
    pub origin: String,
    /// Whether an agent uses its user's own credential: its text counts as the agent's.
    pub by_agent: bool,
}

impl Caller {
    /// The hub itself.
    pub fn hub(origin: impl Into<String>) -> Self {
        Self { who: Who::Hub, origin: origin.into(), by_agent: false }
    }

    /// A person.
    pub fn user(id: UserId, hub_owner: bool, name: impl Into<String>, origin: impl Into<String>) -> Self {
        Self::bearer(Actor::User { id, hub_owner }, name, origin)
    }

    /// The bearer of a credential.
    pub fn bearer(actor: Actor, name: impl Into<String>, origin: impl Into<String>) -> Self {
        Self { who: Who::Actor { actor, name: name.into() }, origin: origin.into(), by_agent: false }
    }

    /// The same caller, marked as an agent if `by_agent`. This only removes rights: an agent's text never becomes a
    /// person's.
    pub fn with_agent(self, by_agent: bool) -> Self {
        Self { by_agent: self.by_agent || by_agent, ..self }
    }

    /// The actor, unless it is the hub itself.
    pub fn actor(&self) -> Option<&Actor> {
        match &self.who {
            Who::Actor { actor, .. } => Some(actor),
            Who::Hub => None,
        }
    }

    /// The person's id and name; refuses callers that are not a person.
    pub fn person(&self) -> Result<UserRef, StoreError> {
        match &self.who {
            Who::Actor { actor: Actor::User { id, .. }, name } => Ok(UserRef { id: *id, name: name.clone() }),
            Who::Actor { actor: Actor::Agent { .. }, .. } => Err(StoreError::Forbidden(AGENT)),
            Who::Actor { actor: Actor::Runner { .. }, .. } => Err(StoreError::Forbidden(RUNNER)),
            _ => Err(StoreError::Forbidden("observer links are read-only: log in to take part")),
        }
    }

    /// The author of a text, and whether they or their agent wrote it.
    pub fn author(&self) -> Result<(UserRef, AuthorKind), StoreError> {
        match &self.who {
            Who::Actor { actor: Actor::Agent { user, .. }, name } => {
                Ok((UserRef { id: *user, name: name.clone() }, AuthorKind::Agent))
            }
            _ if self.by_agent => Ok((self.person()?, AuthorKind::Agent)),
            _ => Ok((self.person()?, AuthorKind::User)),
        }
    }

    /// The author of a text, with the session whose agent wrote it for them.
    pub fn writer(&self) -> Result<WrittenBy, StoreError> {
        let (user, kind) = self.author()?;
        Ok(WrittenBy { user, agent: self.session(), by_agent: kind == AuthorKind::Agent })
    }

    /// The session of the calling agent, if there is one.
    pub fn session(&self) -> Option<SessionId> {
        match &self.who {
            Who::Actor { actor: Actor::Agent { session, .. }, .. } => Some(*session),
            _ => None,
        }
    }

    /// The agent's session or the runner that acts for the person, for the audit trail.
    pub(crate) fn via(&self) -> Option<String> {
        match &self.who {
            Who::Actor { actor: Actor::Agent { session, .. }, .. } => Some(session.to_string()),
            Who::Actor { actor: Actor::Runner { runner, .. }, .. } => Some(runner.to_string()),
            _ => self.by_agent.then(|| SOME_AGENT.to_owned()),
        }
    }

    /// Refuses unless the access rule allows the action; `noun` names the missing resource in the error.
    pub fn may(&self, action: Action, resource: Resource<'_>, noun: &'static str) -> Result<(), StoreError> {
        let Who::Actor { actor, .. } = &self.who else { return Ok(()) };
        match can(actor, action, resource) {
            Verdict::Allowed => Ok(()),
            Verdict::NotFound => Err(StoreError::NotFound(noun)),
            Verdict::Forbidden => Err(StoreError::Forbidden(reason(actor, action))),
        }
    }

    /// The scope of idempotency keys, so that nobody can guess another caller's.
    pub(crate) fn key_scope(&self) -> String {
        match &self.who {
            Who::Actor { actor: Actor::User { id, .. }, .. } => id.to_string(),
            Who::Actor { actor: Actor::Observer { project }, .. } => format!("observer of {project}"),
            Who::Actor { actor: Actor::Agent { session, .. }, .. } => session.to_string(),
            Who::Actor { actor: Actor::Runner { runner, .. }, .. } => runner.to_string(),
            Who::Hub => "hub".to_owned(),
        }
    }
}

/// The audit trail's name for an agent without a session.
pub(crate) const SOME_AGENT: &str = "agent";

const AGENT: &str = "an agent's token works in its own project only: a person must do this";
const RUNNER: &str =
    "a runner's token opens only the runner's link: use a personal token (`shopfloor token create NAME`)";

fn reason(actor: &Actor, action: Action) -> &'static str {
    match action {
        _ if matches!(actor, Actor::Runner { .. }) => RUNNER,
        Action::TakePart | Action::ManageOwn | Action::Drive if matches!(actor, Actor::Agent { .. }) => AGENT,
        Action::Decide if matches!(actor, Actor::Agent { .. }) => {
            "an agent cannot decide this: a person must, in the page or with their own token"
        }
        Action::Write | Action::Decide => "this project is read-only for you: ask its owner to make it read-write",
        Action::Govern => "only the project's owner may do this",
        Action::SeeExecution => "the project's owner does not share execution",
        Action::ManageUsers => "only the hub's owner may do this",
        Action::Drive => "only its owner may do this: talk to them in the project's chat",
        _ => "observer links are read-only: log in to take part",
    }
}
