//! Who receives an event. Pure: the caller brings the facts.

use domain::{Action, Actor, ProjectFacts, ProjectId, Resource, UserId, can};

/// What decides who may see an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope {
    /// The event's project; `None`: every person may see it.
    pub(crate) project: Option<ProjectId>,
    /// The only recipient.
    pub(crate) audience: Option<UserId>,
    /// The project's access facts before an event that may have changed them.
    pub(crate) facts_before: Option<ProjectFacts>,
    /// The owner of the session or workspace: only people who may view it receive the event.
    pub(crate) execution_of: Option<UserId>,
}

/// What a client receives for an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// Nothing.
    Nothing,
    /// The event as it is.
    Event,
    /// That the project is gone, whatever the event says.
    Gone(ProjectId),
    /// The whole project, which the client could not see before.
    Gained(ProjectId),
    /// The event, and that other people's sessions and workspaces of the project are gone.
    Closed(ProjectId),
    /// The event, and other people's sessions and workspaces of the project, which the client could not see before.
    Opened(ProjectId),
}

/// What `actor` receives, by what they may see *now*.
pub(crate) fn told(actor: &Actor, scope: Scope, facts_now: Option<&ProjectFacts>) -> Told {
    if let Some(audience) = scope.audience
        && !matches!(actor, Actor::User { id, .. } if *id == audience)
    {
        return Told::Nothing;
    }
    let Some(project) = scope.project else {
        let person = can(actor, Action::TakePart, Resource::Hub).is_allowed();
        return if person { Told::Event } else { Told::Nothing };
    };
    let may = |action, facts: &ProjectFacts| can(actor, action, Resource::Project(facts)).is_allowed();
    let sees = |facts: &ProjectFacts| may(Action::See, facts);
    if let Some(owner) = scope.execution_of {
        let looks = facts_now.is_some_and(|facts| sees(facts) && looks(actor, facts, owner));
        return if looks { Told::Event } else { Told::Nothing };
    }
    let now = facts_now.is_some_and(sees);
    let before = scope.facts_before.as_ref().map_or(now, sees);
    match (before, now) {
        (true, true) => {
            let looks = |facts: &ProjectFacts| may(Action::SeeExecution, facts);
            let looks_now = facts_now.is_some_and(looks);
            match (scope.facts_before.as_ref().map_or(looks_now, looks), looks_now) {
                (true, false) => Told::Closed(project),
                (false, true) => Told::Opened(project),
                _ => Told::Event,
            }
        }
        (true, false) => Told::Gone(project),
        (false, true) => Told::Gained(project),
        (false, false) => Told::Nothing,
    }
}

/// Whether `actor` may view what `owner` runs in a project.
pub(crate) fn looks(actor: &Actor, project: &ProjectFacts, owner: UserId) -> bool {
    can(actor, Action::SeeExecution, Resource::Execution { project, owner }).is_allowed()
}

/// Whether `actor` may view what a person runs in a project; without a known owner, only people who may view
/// everything.
pub(crate) fn may_look(actor: &Actor, project: &ProjectFacts, owner: Option<UserId>) -> bool {
    match owner {
        Some(owner) => can(actor, Action::See, Resource::Project(project)).is_allowed() && looks(actor, project, owner),
        None => can(actor, Action::SeeExecution, Resource::Project(project)).is_allowed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Visibility;

    fn facts(id: ProjectId, owner: UserId, visibility: Visibility) -> ProjectFacts {
        ProjectFacts { id, owner, visibility, share_execution: false }
    }

    #[test]
    fn losing_access_removes_a_project_and_gaining_it_sends_all() {
        let (owner, peer, id) = (UserId::generate(), UserId::generate(), ProjectId::generate());
        let (private, open) = (facts(id, owner, Visibility::Private), facts(id, owner, Visibility::ReadOnly));
        let user = |id| Actor::User { id, hub_owner: false };
        let scope = |facts_before| Scope { project: Some(id), audience: None, facts_before, execution_of: None };
        let check = |actor: &Actor, before: Option<ProjectFacts>, now: Option<&ProjectFacts>, expected| {
            assert_eq!(told(actor, scope(before), now), expected, "{actor:?} {before:?} {now:?}");
        };
        check(&user(peer), Some(open), Some(&private), Told::Gone(id));
        check(&user(peer), Some(private), Some(&open), Told::Gained(id));
        check(&user(peer), Some(private), Some(&private), Told::Nothing);
        check(&user(peer), None, Some(&private), Told::Nothing);
        check(&user(peer), Some(open), None, Told::Gone(id));
        check(&user(peer), Some(private), None, Told::Nothing);
        check(&user(owner), Some(private), Some(&open), Told::Event);
        check(&user(owner), Some(private), None, Told::Gone(id));
        check(&Actor::Observer { project: id }, Some(open), Some(&private), Told::Event);
        check(&Actor::Observer { project: ProjectId::generate() }, None, Some(&open), Told::Nothing);
    }

    #[test]
    fn execution_reaches_people_it_is_shared_with_and_follows_the_setting() {
        let (owner, peer, id) = (UserId::generate(), UserId::generate(), ProjectId::generate());
        let open = facts(id, owner, Visibility::ReadOnly);
        let shared = ProjectFacts { share_execution: true, ..open };
        let user = |id| Actor::User { id, hub_owner: false };
        let change =
            |before| Scope { project: Some(id), audience: None, facts_before: Some(before), execution_of: None };
        assert_eq!(told(&user(peer), change(open), Some(&shared)), Told::Opened(id));
        assert_eq!(told(&user(peer), change(shared), Some(&open)), Told::Closed(id));
        assert_eq!(told(&user(owner), change(shared), Some(&open)), Told::Event);
        let about = |of| Scope { project: Some(id), audience: None, facts_before: None, execution_of: Some(of) };
        assert_eq!(told(&user(peer), about(owner), Some(&shared)), Told::Event);
        assert_eq!(told(&user(peer), about(owner), Some(&open)), Told::Nothing);
        assert_eq!(told(&user(peer), about(peer), Some(&open)), Told::Event);
        assert_eq!(told(&user(owner), about(peer), Some(&open)), Told::Event);
        let private = facts(id, owner, Visibility::Private);
        assert_eq!(told(&user(peer), about(peer), Some(&private)), Told::Nothing);
        assert_eq!(told(&user(peer), about(peer), None), Told::Nothing);
    }

    #[test]
    fn personal_events_reach_one_person_and_hub_events_no_observer() {
        let (me, id) = (UserId::generate(), ProjectId::generate());
        let open = facts(id, UserId::generate(), Visibility::ReadWrite);
        let personal = Scope { project: Some(id), audience: Some(me), facts_before: None, execution_of: None };
        let user = |id| Actor::User { id, hub_owner: true };
        assert_eq!(told(&user(me), personal, Some(&open)), Told::Event);
        assert_eq!(told(&user(UserId::generate()), personal, Some(&open)), Told::Nothing);
        assert_eq!(told(&Actor::Observer { project: id }, personal, Some(&open)), Told::Nothing);
        let of_hub = Scope { project: None, audience: None, facts_before: None, execution_of: None };
        assert_eq!(told(&user(me), of_hub, None), Told::Event);
        assert_eq!(told(&Actor::Observer { project: id }, of_hub, None), Told::Nothing);
    }
}
