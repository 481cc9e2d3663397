//! Creates the example through verbs.

use std::collections::HashMap;

use client::Client;
use domain::ActivityId;
use protocol::{
    Activity, ActivityCreate, ActivityUpdate, Call, Link, Message, MessageText, Project, ProjectCreate, ProjectUpdate,
    Repository,
};

use super::floor::{self, Work};
use super::record::Record;
use super::work;
use crate::Failure;

/// Creates the whole example for the caller, whose name is `me`.
pub(crate) async fn floor(client: &Client, me: &str, record: &mut Record) -> Result<Vec<Project>, Failure> {
    let mut made = Vec::new();
    for plan in floor::PROJECTS {
        made.push(project(client, plan, me, record).await?);
    }
    Ok(made)
}

async fn project(client: &Client, plan: &floor::Plan, me: &str, record: &mut Record) -> Result<Project, Failure> {
    let repositories = plan.repositories.iter().map(|(location, branch)| Repository {
        location: (*location).to_owned(),
        base_branch: Some((*branch).to_owned()),
        ..Repository::default()
    });
    let input = ProjectCreate {
        content: plan.drafts[0].to_owned(),
        visibility: Some(plan.visibility),
        share_execution: Some(plan.share_execution),
        repositories: repositories.collect(),
        ..Default::default()
    };
    let mut project: Project = client.ask(Call::ProjectCreate { input }).await?;
    record.add(project.id)?;
    for draft in &plan.drafts[1..] {
        let input = ProjectUpdate { content: Some((*draft).to_owned()), ..Default::default() };
        project = client.ask(Call::ProjectUpdate { project: project.id, input }).await?;
    }
    let mut activities = HashMap::new();
    for work in plan.work {
        activities.insert(work.key, activity(client, &project, work).await?);
    }
    work::tell(client, project.id, plan.tasks).await?;
    for text in plan.chat {
        let input = MessageText { content: fill(text, &activities, me) };
        client.ask::<Message>(Call::ChatSend { project: project.id, input }).await?;
    }
    Ok(project)
}

async fn activity(client: &Client, project: &Project, work: &Work) -> Result<ActivityId, Failure> {
    let links = work.links.iter().map(|(kind, target)| Link { kind: *kind, target: (*target).to_owned() });
    let input = ActivityCreate { content: work.drafts[0].to_owned(), status: None, links: links.collect() };
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
            for message in plan.chat {
                let filled = fill(message, &activities, "ann");
                assert!(!filled.contains('{'), "{filled}");
                text::MESSAGE_CONTENT.check(&filled).unwrap();
            }
        }
    }
}
