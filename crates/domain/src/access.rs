//! Who may do what. Every verb, list, count, delta and stream asks [`can`].

use crate::{ProjectId, RunnerId, SessionId, UserId, Visibility};

/// The caller, as proven by a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Actor {
    /// A person, by login or token.
    User {
        /// The person.
        id: UserId,
        /// Whether this person set the hub up.
        hub_owner: bool,
    },
    /// The bearer of a read-only link to one project.
    Observer {
        /// The only project that the link shows.
        project: ProjectId,
    },
    /// A session's agent: acts for its owner in one project only.
    Agent {
        /// Whose session it is.
        user: UserId,
        /// The only project that it may see and write in.
        project: ProjectId,
        /// The session.
        session: SessionId,
    },
    /// A runner: its token opens only its own link, and no verb.
    Runner {
        /// Whose machine it is.
        user: UserId,
        /// The runner.
        runner: RunnerId,
    },
}

impl Actor {
    /// The acting person, directly or through an agent; `None` for an observer and a runner.
    pub fn acts_for(&self) -> Option<UserId> {
        match self {
            Self::User { id, .. } | Self::Agent { user: id, .. } => Some(*id),
            Self::Observer { .. } | Self::Runner { .. } => None,
        }
    }
}

/// The facts that access to a project depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProjectFacts {
    /// The project.
    pub id: ProjectId,
    /// Who owns it.
    pub owner: UserId,
    /// What others may do in it.
    pub visibility: Visibility,
    /// Whether others may see its sessions, terminals and recordings.
    pub share_execution: bool,
}

/// An action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// See intent, plan, status, blockers, chat and history.
    See,
    /// See session metadata, live terminals and recordings.
    SeeExecution,
    /// Write content, activities and chat.
    Write,
    /// Decide about work as a person: answer what agents ask, cancel and retry tasks, start an activity.
    Decide,
    /// Store how far one has read.
    MarkRead,
    /// Type into a session, stop it, or change its workspace.
    Drive,
    /// Change visibility, toggles, retention and observer links, or delete the project.
    Govern,
    /// Use the hub as a person: see people, create projects, keep tokens, invite.
    TakePart,
    /// Change or remove what belongs to one user alone.
    ManageOwn,
    /// Disable or enable another user.
    ManageUsers,
}

impl Action {
    /// Every action, for tests that walk them all.
    pub const ALL: &'static [Self] = &[
        Self::See,
        Self::SeeExecution,
        Self::Write,
        Self::Decide,
        Self::MarkRead,
        Self::Drive,
        Self::Govern,
        Self::TakePart,
        Self::ManageOwn,
        Self::ManageUsers,
    ];
}

/// The target of an action.
#[derive(Debug, Clone, Copy)]
pub enum Resource<'a> {
    /// The hub itself.
    Hub,
    /// A project and everything in it.
    Project(&'a ProjectFacts),
    /// A session, its workspace, terminal or recording.
    Execution {
        /// The project that it is in.
        project: &'a ProjectFacts,
        /// Who spawned it, on a machine of their own.
        owner: UserId,
    },
    /// A user's own tokens, logins, runners, invitations.
    Belongings(UserId),
}

/// The answer of [`can`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Allowed.
    Allowed,
    /// The caller sees the thing but may not do this to it.
    Forbidden,
    /// The caller must not learn that the thing exists.
    NotFound,
}

impl Verdict {
    /// Whether the verdict is [`Verdict::Allowed`].
    pub fn is_allowed(self) -> bool {
        self == Self::Allowed
    }
}

/// Decides whether `actor` may do `action` on `resource`.
pub fn can(actor: &Actor, action: Action, resource: Resource<'_>) -> Verdict {
    match resource {
        Resource::Hub => on_hub(actor, action),
        Resource::Project(facts) => on_project(actor, action, facts),
        Resource::Execution { project, owner } => on_execution(actor, action, project, owner),
        Resource::Belongings(owner) => on_belongings(actor, action, owner),
    }
}

/// Decides whether a person may have work landed: only the owner of the machine that has the work, or of the project.
pub fn may_land(project: &ProjectFacts, me: UserId, owner: UserId) -> bool {
    me == owner || me == project.owner
}

fn on_execution(actor: &Actor, action: Action, project: &ProjectFacts, owner: UserId) -> Verdict {
    // It runs on its owner's machine: they keep control, whatever happens to the project.
    let own = matches!(actor, Actor::User { id, .. } if *id == owner);
    // An agent must learn why its own work was refused, even where others may not see it.
    let helps = matches!(actor, Actor::Agent { user, .. } if *user == owner)
        && on_project(actor, Action::See, project).is_allowed();
    let sees = own || helps || on_project(actor, Action::SeeExecution, project).is_allowed();
    match action {
        _ if !sees => Verdict::NotFound,
        Action::SeeExecution => Verdict::Allowed,
        Action::Drive if own => Verdict::Allowed,
        _ => Verdict::Forbidden,
    }
}

fn on_hub(actor: &Actor, action: Action) -> Verdict {
    match (actor, action) {
        (Actor::User { .. }, Action::TakePart) => Verdict::Allowed,
        (Actor::User { hub_owner: true, .. }, Action::ManageUsers) => Verdict::Allowed,
        _ => Verdict::Forbidden,
    }
}

fn on_belongings(actor: &Actor, action: Action, owner: UserId) -> Verdict {
    match actor {
        Actor::User { id, .. } if *id == owner && action == Action::ManageOwn => Verdict::Allowed,
        _ => Verdict::NotFound,
    }
}

fn on_project(actor: &Actor, action: Action, facts: &ProjectFacts) -> Verdict {
    let owner = match actor {
        Actor::User { id, .. } | Actor::Agent { user: id, .. } => *id == facts.owner,
        Actor::Observer { .. } | Actor::Runner { .. } => false,
    };
    let sees = match actor {
        Actor::User { .. } => owner || facts.visibility != Visibility::Private,
        Actor::Agent { project, .. } => *project == facts.id && (owner || facts.visibility != Visibility::Private),
        // The owner created the link: it shows the project whatever its visibility.
        Actor::Observer { project } => *project == facts.id,
        Actor::Runner { .. } => false,
    };
    if !sees {
        return Verdict::NotFound;
    }
    let person = matches!(actor, Actor::User { .. });
    let writes = owner || (actor.acts_for().is_some() && facts.visibility == Visibility::ReadWrite);
    let allowed = match action {
        Action::See => true,
        Action::SeeExecution => owner || facts.share_execution,
        Action::Write => writes,
        Action::Decide => writes && person,
        Action::MarkRead => person,
        Action::Govern => owner && person,
        Action::Drive | Action::TakePart | Action::ManageOwn | Action::ManageUsers => false,
    };
    if allowed { Verdict::Allowed } else { Verdict::Forbidden }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The access table: actors (rows), actions (columns), in each visibility.
    /// `+` allowed, `-` forbidden, `.` not found; `x` follows share_execution.
    const TABLE: &str = "
        actor     visibility  see exec write decide read govern
        owner     private      +   +    +      +     +     +
        owner     read-only    +   +    +      +     +     +
        owner     read-write   +   +    +      +     +     +
        peer      private      .   .    .      .     .     .
        peer      read-only    +   x    -      -     +     -
        peer      read-write   +   x    +      +     +     -
        observer  private      +   x    -      -     -     -
        observer  read-only    +   x    -      -     -     -
        observer  read-write   +   x    -      -     -     -
        agent     private      +   +    +      -     -     -
        agent     read-only    +   +    +      -     -     -
        agent     read-write   +   +    +      -     -     -
        guest     private      .   .    .      .     .     .
        guest     read-only    +   x    -      -     -     -
        guest     read-write   +   x    +      -     -     -
        astray    read-write   .   .    .      .     .     .
        stranger  private      .   .    .      .     .     .
        stranger  read-only    .   .    .      .     .     .
        stranger  read-write   .   .    .      .     .     .
        runner    private       .   .    .      .     .     .
        runner    read-write    .   .    .      .     .     .
    ";

    #[test]
    fn access_matches_the_table() {
        let owner = UserId::generate();
        let id = ProjectId::generate();
        let mut checked = 0;
        for row in TABLE.trim().lines().skip(1) {
            let cells: Vec<&str> = row.split_whitespace().collect();
            let actor = match cells[0] {
                "owner" => Actor::User { id: owner, hub_owner: false },
                "peer" => Actor::User { id: UserId::generate(), hub_owner: true },
                "observer" => Actor::Observer { project: id },
                "agent" => Actor::Agent { user: owner, project: id, session: SessionId::generate() },
                "guest" => Actor::Agent { user: UserId::generate(), project: id, session: SessionId::generate() },
                "astray" => {
                    Actor::Agent { user: owner, project: ProjectId::generate(), session: SessionId::generate() }
                }
                "runner" => Actor::Runner { user: owner, runner: RunnerId::generate() },
                _ => Actor::Observer { project: ProjectId::generate() },
            };
            for share_execution in [false, true] {
                let facts = ProjectFacts { id, owner, visibility: cells[1].parse().unwrap(), share_execution };
                let actions = [
                    Action::See,
                    Action::SeeExecution,
                    Action::Write,
                    Action::Decide,
                    Action::MarkRead,
                    Action::Govern,
                ];
                for (action, cell) in actions.into_iter().zip(&cells[2..]) {
                    let expected = match *cell {
                        "+" => Verdict::Allowed,
                        "." => Verdict::NotFound,
                        "x" if share_execution => Verdict::Allowed,
                        _ => Verdict::Forbidden,
                    };
                    let got = can(&actor, action, Resource::Project(&facts));
                    assert_eq!(got, expected, "{row} {action:?} share={share_execution}");
                    checked += 1;
                }
            }
        }
        assert_eq!(checked, 252);
    }

    #[test]
    fn only_its_owner_drives_a_session_and_others_cannot_learn_that_it_exists() {
        let (owner, id) = (UserId::generate(), ProjectId::generate());
        let (host, peer) = (UserId::generate(), UserId::generate());
        let user = |id| Actor::User { id, hub_owner: true };
        for visibility in Visibility::ALL {
            for share_execution in [false, true] {
                let project = ProjectFacts { id, owner: host, visibility: *visibility, share_execution };
                let ask = |actor: &Actor, action| can(actor, action, Resource::Execution { project: &project, owner });
                for action in [Action::SeeExecution, Action::Drive] {
                    assert_eq!(ask(&user(owner), action), Verdict::Allowed, "{action:?} {project:?}");
                }
                assert_eq!(ask(&user(host), Action::SeeExecution), Verdict::Allowed);
                assert_eq!(ask(&user(host), Action::Drive), Verdict::Forbidden);
                let shared = share_execution && *visibility != Visibility::Private;
                let (look, drive) = match shared {
                    true => (Verdict::Allowed, Verdict::Forbidden),
                    false => (Verdict::NotFound, Verdict::NotFound),
                };
                assert_eq!(ask(&user(peer), Action::SeeExecution), look, "{project:?}");
                assert_eq!(ask(&user(peer), Action::Drive), drive, "{project:?}");
                let agent = |user| Actor::Agent { user, project: id, session: SessionId::generate() };
                for user in [host, owner, peer] {
                    assert_ne!(ask(&agent(user), Action::Drive), Verdict::Allowed, "an agent drives nothing");
                }
                let own = match visibility {
                    Visibility::Private => Verdict::NotFound,
                    _ => Verdict::Allowed,
                };
                assert_eq!(ask(&agent(owner), Action::SeeExecution), own, "its person's work: {project:?}");
                assert_eq!(ask(&agent(peer), Action::SeeExecution), look, "{project:?}");
                let runner = Actor::Runner { user: owner, runner: RunnerId::generate() };
                for action in Action::ALL {
                    assert_eq!(ask(&runner, *action), Verdict::NotFound, "a runner asks for nothing: {action:?}");
                }
            }
        }
    }

    #[test]
    fn hub_actions_are_for_people() {
        let me = UserId::generate();
        let user = |hub_owner| Actor::User { id: me, hub_owner };
        let observer = Actor::Observer { project: ProjectId::generate() };
        assert!(can(&user(false), Action::TakePart, Resource::Hub).is_allowed());
        assert_eq!(can(&user(false), Action::ManageUsers, Resource::Hub), Verdict::Forbidden);
        assert!(can(&user(true), Action::ManageUsers, Resource::Hub).is_allowed());
        for action in Action::ALL {
            assert!(!can(&observer, *action, Resource::Hub).is_allowed(), "{action:?}");
            assert!(!can(&observer, *action, Resource::Belongings(me)).is_allowed(), "{action:?}");
            let agent = Actor::Agent { user: me, project: ProjectId::generate(), session: SessionId::generate() };
            assert!(!can(&agent, *action, Resource::Hub).is_allowed(), "{action:?}");
            assert!(!can(&agent, *action, Resource::Belongings(me)).is_allowed(), "{action:?}");
            let runner = Actor::Runner { user: me, runner: RunnerId::generate() };
            assert!(!can(&runner, *action, Resource::Hub).is_allowed(), "{action:?}");
            assert!(!can(&runner, *action, Resource::Belongings(me)).is_allowed(), "{action:?}");
            let other = Resource::Belongings(UserId::generate());
            assert_eq!(can(&user(true), *action, other), Verdict::NotFound, "{action:?}");
        }
        assert!(can(&user(false), Action::ManageOwn, Resource::Belongings(me)).is_allowed());
    }

    #[test]
    fn project_rights_never_reach_the_hub() {
        let me = UserId::generate();
        let facts = ProjectFacts {
            id: ProjectId::generate(),
            owner: me,
            visibility: Visibility::ReadWrite,
            share_execution: true,
        };
        let actor = Actor::User { id: me, hub_owner: true };
        for action in [Action::TakePart, Action::ManageOwn, Action::ManageUsers] {
            assert_eq!(can(&actor, action, Resource::Project(&facts)), Verdict::Forbidden);
        }
    }
}
