//! Who is told about an event. Pure: the caller brings the facts.

use domain::{Action, Actor, ProjectFacts, ProjectId, Resource, UserId, can};

/// What decides who may see an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope {
    /// The project it happened in; `None`: every person may see it.
    pub(crate) project: Option<ProjectId>,
    /// The only person it is for.
    pub(crate) audience: Option<UserId>,
    /// What access depended on before an event that may have changed it.
    pub(crate) facts_before: Option<ProjectFacts>,
}

/// What a client is told about an event.
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
}

/// Decides what `actor` is told, by what they may see *now*.
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
    let sees = |facts: &ProjectFacts| can(actor, Action::See, Resource::Project(facts)).is_allowed();
    let now = facts_now.is_some_and(sees);
    let before = scope.facts_before.as_ref().map_or(now, sees);
    match (before, now) {
        (true, true) => Told::Event,
        (true, false) => Told::Gone(project),
        (false, true) => Told::Gained(project),
        (false, false) => Told::Nothing,
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
    fn what_is_taken_away_is_gone_and_what_is_given_is_whole() {
        let (owner, peer, id) = (UserId::generate(), UserId::generate(), ProjectId::generate());
        let (private, open) = (facts(id, owner, Visibility::Private), facts(id, owner, Visibility::ReadOnly));
        let user = |id| Actor::User { id, hub_owner: false };
        let scope = |facts_before| Scope { project: Some(id), audience: None, facts_before };
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
    fn personal_events_reach_one_person_and_hub_events_no_observer() {
        let (me, id) = (UserId::generate(), ProjectId::generate());
        let open = facts(id, UserId::generate(), Visibility::ReadWrite);
        let personal = Scope { project: Some(id), audience: Some(me), facts_before: None };
        let user = |id| Actor::User { id, hub_owner: true };
        assert_eq!(told(&user(me), personal, Some(&open)), Told::Event);
        assert_eq!(told(&user(UserId::generate()), personal, Some(&open)), Told::Nothing);
        assert_eq!(told(&Actor::Observer { project: id }, personal, Some(&open)), Told::Nothing);
        let of_hub = Scope { project: None, audience: None, facts_before: None };
        assert_eq!(told(&user(me), of_hub, None), Told::Event);
        assert_eq!(told(&Actor::Observer { project: id }, of_hub, None), Told::Nothing);
    }
}
