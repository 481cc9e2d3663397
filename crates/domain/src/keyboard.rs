//! Who may type into a session besides its owner.

use crate::{Action, Actor, ProjectFacts, Resource, UserId, can};

/// Most people who may wait for the keyboard of one session.
pub const MAX_REQUESTS: usize = 20;

/// The keyboard of a session. Its owner always types; at most one other person does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keyboard {
    /// The person to whom the owner handed it.
    pub holder: Option<UserId>,
    /// People who requested it, oldest first.
    pub requests: Vec<UserId>,
}

/// What a person does about a session's keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyboardDeed {
    /// Requests it for themselves.
    Request,
    /// Hands it to a person; to the owner: takes it back.
    Give(UserId),
    /// Takes it back, and dismisses all requests.
    Take,
    /// Returns it, or withdraws a request.
    Return,
}

/// Why a person may not do that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyboardRefusal {
    /// Only the owner hands the keyboard over and takes it back.
    NotOwner,
    /// Enough people wait for it.
    Full,
}

impl Keyboard {
    /// The keyboard after `by` did this; `owner` owns the session.
    pub fn after(&self, deed: KeyboardDeed, by: UserId, owner: UserId) -> Result<Self, KeyboardRefusal> {
        let mut next = self.clone();
        match deed {
            KeyboardDeed::Request if by == owner || self.holder == Some(by) || self.requests.contains(&by) => {}
            KeyboardDeed::Request if self.requests.len() >= MAX_REQUESTS => return Err(KeyboardRefusal::Full),
            KeyboardDeed::Request => next.requests.push(by),
            KeyboardDeed::Give(_) | KeyboardDeed::Take if by != owner => return Err(KeyboardRefusal::NotOwner),
            KeyboardDeed::Give(to) if to == owner => next.holder = None,
            KeyboardDeed::Give(to) => {
                next.holder = Some(to);
                next.requests.retain(|one| *one != to);
            }
            KeyboardDeed::Take => next = Self::default(),
            KeyboardDeed::Return => next = self.without(by),
        }
        Ok(next)
    }

    /// The keyboard after a person left, or may no longer watch.
    pub fn without(&self, person: UserId) -> Self {
        let holder = self.holder.filter(|holder| *holder != person);
        let requests = self.requests.iter().copied().filter(|one| *one != person).collect();
        Self { holder, requests }
    }

    /// The keyboard without those who may no longer watch the owner's sessions in the project.
    pub fn within(&self, project: &ProjectFacts, owner: UserId) -> Self {
        let looks = |id: &UserId| {
            let actor = Actor::User { id: *id, hub_owner: false };
            can(&actor, Action::SeeExecution, Resource::Execution { project, owner }).is_allowed()
        };
        let requests = self.requests.iter().copied().filter(looks).collect();
        Self { holder: self.holder.filter(looks), requests }
    }
}

/// Whether input of `actor` reaches a session of `owner` whose keyboard `holder` has. Only people type, and only those
/// who may watch.
pub fn may_type(actor: &Actor, project: &ProjectFacts, owner: UserId, holder: Option<UserId>) -> bool {
    let Actor::User { id, .. } = actor else { return false };
    let looks = can(actor, Action::SeeExecution, Resource::Execution { project, owner }).is_allowed();
    looks && (*id == owner || holder == Some(*id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ProjectId, RunnerId, SessionId, Visibility};

    fn people() -> [UserId; 3] {
        [UserId::generate(), UserId::generate(), UserId::generate()]
    }

    #[test]
    fn only_the_owner_hands_the_keyboard_over() {
        let [owner, bo, cy] = people();
        let nobodys = Keyboard::default();
        let asked = nobodys.after(KeyboardDeed::Request, bo, owner).unwrap();
        assert_eq!(asked, Keyboard { holder: None, requests: vec![bo] });
        assert_eq!(asked.after(KeyboardDeed::Request, bo, owner).unwrap(), asked, "asking twice changes nothing");
        assert_eq!(nobodys.after(KeyboardDeed::Request, owner, owner).unwrap(), nobodys, "the owner has it");
        for by in [bo, cy] {
            assert_eq!(asked.after(KeyboardDeed::Give(by), by, owner), Err(KeyboardRefusal::NotOwner));
            assert_eq!(asked.after(KeyboardDeed::Take, by, owner), Err(KeyboardRefusal::NotOwner));
        }
        let given = asked.after(KeyboardDeed::Give(bo), owner, owner).unwrap();
        assert_eq!(given, Keyboard { holder: Some(bo), requests: vec![] });
        let other = given.after(KeyboardDeed::Give(cy), owner, owner).unwrap();
        assert_eq!(other.holder, Some(cy), "one person at a time");
        assert_eq!(other.after(KeyboardDeed::Give(owner), owner, owner).unwrap().holder, None);
        assert_eq!(other.after(KeyboardDeed::Return, cy, owner).unwrap(), nobodys);
        assert_eq!(other.after(KeyboardDeed::Return, bo, owner).unwrap(), other, "not theirs to return");
        assert_eq!(other.after(KeyboardDeed::Take, owner, owner).unwrap(), nobodys);
    }

    #[test]
    fn requests_are_bounded() {
        let owner = UserId::generate();
        let full = (0..MAX_REQUESTS).fold(Keyboard::default(), |keyboard, _| {
            keyboard.after(KeyboardDeed::Request, UserId::generate(), owner).unwrap()
        });
        assert_eq!(full.after(KeyboardDeed::Request, UserId::generate(), owner), Err(KeyboardRefusal::Full));
    }

    #[test]
    fn the_keyboard_needs_the_right_to_watch() {
        let [owner, bo, cy] = people();
        let id = ProjectId::generate();
        let shared = ProjectFacts { id, owner, visibility: Visibility::ReadOnly, share_execution: true };
        let closed = ProjectFacts { share_execution: false, ..shared };
        let private = ProjectFacts { visibility: Visibility::Private, ..shared };
        let person = |id| Actor::User { id, hub_owner: true };
        let check = |actor: Actor, project: &ProjectFacts, expected: bool| {
            assert_eq!(may_type(&actor, project, owner, Some(bo)), expected, "{actor:?} {project:?}");
        };
        check(person(owner), &closed, true);
        check(person(bo), &shared, true);
        check(person(cy), &shared, false);
        check(Actor::Agent { user: owner, project: id, session: SessionId::generate() }, &shared, false);
        check(Actor::Agent { user: bo, project: id, session: SessionId::generate() }, &shared, false);
        check(Actor::Runner { user: owner, runner: RunnerId::generate() }, &shared, false);
        check(Actor::Observer { project: id }, &shared, false);
        let keyboard = Keyboard { holder: Some(bo), requests: vec![cy] };
        assert_eq!(keyboard.within(&shared, owner), keyboard);
        for project in [closed, private] {
            check(person(bo), &project, false);
            assert_eq!(keyboard.within(&project, owner), Keyboard::default());
        }
    }
}
