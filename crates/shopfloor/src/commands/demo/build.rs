//! Creates the example through verbs.

use std::collections::HashMap;
use std::path::Path;

use client::Client;
use domain::ActivityId;
use protocol::{
    Activity, ActivityCreate, ActivityUpdate, Answer, Call, Invite, InviteCreate, Me, Message, MessageText, NewInvite,
    Project, ProjectCreate, ProjectUpdate, Repository,
};

use super::floor::{self, Plan, Who, Work};
use super::record::Record;
use crate::{Exit, Failure};

/// Names for the second person; the first free one is taken.
const NAMES: [&str; 4] = ["Bo", "Bo Example", "Bo Example 2", "Bo Example 3"];

/// The two people of the example; without a second one, the caller plays both.
pub(crate) struct People<'a> {
    pub(crate) me: &'a Client,
    pub(crate) other: Option<Client>,
}

impl People<'_> {
    fn client(&self, who: Who) -> &Client {
        match (who, &self.other) {
            (Who::Other, Some(other)) => other,
            _ => self.me,
        }
    }
}

/// Invites the second person and accepts for them. Only the hub's owner can remove a person again, so nobody else adds one.
pub(crate) async fn second_person(client: &Client, me: &Me, record: &mut Record) -> Result<Option<Client>, Failure> {
    if !me.user.as_ref().is_some_and(|user| user.hub_owner) {
        return Ok(None);
    }
    let input = InviteCreate { name: record.invitation(), expires_at: None };
    let made: NewInvite = client.ask(Call::InviteCreate { input }).await?;
    let mut taken = None;
    for name in NAMES {
        match client.join(&made.link, name).await.map_err(Failure::from) {
            Ok(other) => {
                record.joined(other.token().unwrap_or_default().to_owned())?;
                return Ok(Some(other));
            }
            Err(failure) if failure.exit() == Exit::Conflict => taken = Some(failure),
            Err(failure) => return Err(failure),
        }
    }
    Err(taken.unwrap_or_else(|| Failure::conflict("no name is free for the second person")))
}

/// The accepted or open invitation of the second person.
pub(crate) async fn invitation(client: &Client, record: &Record) -> Result<Option<Invite>, Failure> {
    let invites: Vec<Invite> = client.ask(Call::InviteList {}).await?;
    Ok(invites.into_iter().find(|invite| invite.name == record.invitation()))
}

/// Creates a project, or finds the one that an interrupted run created.
pub(crate) async fn project(
    people: &People<'_>,
    plan: &Plan,
    repository: Option<&Path>,
    record: &Record,
) -> Result<Project, Failure> {
    let repository = repository.filter(|_| plan.worked_on).map(|path| Repository {
        location: path.display().to_string(),
        base_branch: Some("main".to_owned()),
        ..Repository::default()
    });
    let input = ProjectCreate {
        content: plan.drafts[0].to_owned(),
        visibility: Some(plan.visibility),
        share_execution: Some(plan.share_execution),
        repositories: repository.into_iter().collect(),
        ..Default::default()
    };
    let key = record.request_key(plan.key);
    match people.client(plan.by).call_with_key(Call::ProjectCreate { input }, Some(&key)).await? {
        Answer::Project(project) => Ok(project),
        other => Err(Failure::other(format!("unexpected answer to project.create: {other:?}"))),
    }
}

/// Fills a new project with its texts, activities and chat.
pub(crate) async fn fill_in(people: &People<'_>, plan: &Plan, made: Project, me: &str) -> Result<Project, Failure> {
    let (owner, mut project) = (people.client(plan.by), made);
    for draft in &plan.drafts[1..] {
        let input = ProjectUpdate { content: Some((*draft).to_owned()), ..Default::default() };
        project = owner.ask(Call::ProjectUpdate { project: project.id, input }).await?;
    }
    let mut activities = HashMap::new();
    for work in plan.work {
        activities.insert(work.key, activity(people.client(work.by), &project, work).await?);
    }
    for (who, text) in plan.chat {
        let input = MessageText { content: fill(text, &activities, me) };
        people.client(*who).ask::<Message>(Call::ChatSend { project: project.id, input }).await?;
    }
    Ok(project)
}

async fn activity(client: &Client, project: &Project, work: &Work) -> Result<ActivityId, Failure> {
    let input = ActivityCreate { content: work.drafts[0].to_owned(), status: None, links: Vec::new() };
    let activity: Activity = client.ask(Call::ActivityCreate { project: project.id, input }).await?;
    for draft in &work.drafts[1..] {
        let input = ActivityUpdate { content: Some((*draft).to_owned()), ..Default::default() };
        client.ask::<Activity>(Call::ActivityUpdate { activity: activity.id, input }).await?;
    }
    if work.status != activity.status {
        let input = ActivityUpdate { status: Some(work.status), ..Default::default() };
        client.ask::<Activity>(Call::ActivityUpdate { activity: activity.id, input }).await?;
    }
    Ok(activity.id)
}

/// The plan with this key.
pub(crate) fn plan(key: &str) -> Option<&'static Plan> {
    floor::PROJECTS.iter().find(|plan| plan.key == key)
}

/// Fills references and the caller's name into a message.
fn fill(text: &str, activities: &HashMap<&str, ActivityId>, me: &str) -> String {
    let named = text.replace("{me}", &format!("@{me}"));
    activities.iter().fold(named, |text, (key, id)| text.replace(&format!("{{{key}}}"), &format!("#{id}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{ActivityStatus, Visibility, text};

    #[test]
    fn the_example_obeys_the_limits_and_shows_every_state() {
        let work: Vec<&Work> = floor::PROJECTS.iter().flat_map(|plan| plan.work).collect();
        for status in ActivityStatus::ALL {
            assert!(work.iter().any(|work| work.status == *status), "{status}");
        }
        for visibility in Visibility::ALL {
            assert!(floor::PROJECTS.iter().any(|plan| plan.visibility == *visibility), "{visibility}");
        }
        for who in [Who::Me, Who::Other] {
            assert!(floor::PROJECTS.iter().any(|plan| plan.by == who), "{who:?}");
        }
        assert!(work.iter().any(|work| work.drafts.len() > 1), "texts evolve");
        for draft in floor::PROJECTS.iter().flat_map(|plan| plan.drafts).chain(work.iter().flat_map(|work| work.drafts))
        {
            text::ACTIVITY_CONTENT.check(draft).unwrap();
        }
    }

    #[test]
    fn every_reference_is_to_something() {
        for plan in floor::PROJECTS {
            let activities = plan.work.iter().map(|work| (work.key, ActivityId::generate())).collect();
            for (_, message) in plan.chat {
                let filled = fill(message, &activities, "ann");
                assert!(!filled.contains('{'), "{filled}");
                text::MESSAGE_CONTENT.check(&filled).unwrap();
            }
        }
    }
}
