//! The socket keeps every client in step: once each, in order, and only what they may see now.

mod hello;
mod model;
mod once;
mod presence;
mod rights;
mod slow;
mod two_hubs;

use domain::{ProjectId, Visibility};
use protocol::{ActivityCreate, Call, FromHub, MessageText, ProjectCreate, ProjectUpdate};
use testkit::TestHub;

use crate::support::{Credential, Socket, view};

/// A project of `owner`'s.
async fn project(hub: &TestHub, owner: &Credential, content: &str, visibility: Visibility) -> ProjectId {
    let input = ProjectCreate { content: content.into(), visibility: Some(visibility), ..Default::default() };
    view!(hub, owner, Project, Call::ProjectCreate { input }).id
}

async fn set(hub: &TestHub, owner: &Credential, project: ProjectId, visibility: Visibility) {
    let input = ProjectUpdate { visibility: Some(visibility), ..Default::default() };
    view!(hub, owner, Project, Call::ProjectUpdate { project, input });
}

async fn activity(hub: &TestHub, owner: &Credential, project: ProjectId, content: &str) -> domain::ActivityId {
    let input = ActivityCreate { content: content.into(), ..Default::default() };
    view!(hub, owner, Activity, Call::ActivityCreate { project, input }).id
}

async fn say(hub: &TestHub, by: &Credential, project: ProjectId, content: &str) {
    let input = MessageText { content: content.into() };
    view!(hub, by, Message, Call::ChatSend { project, input });
}

/// Whether the hub resumed, and where the socket is live then.
async fn resume(socket: &mut Socket, seen: Option<(domain::HubId, domain::Seq)>) -> (bool, domain::Seq) {
    socket.hello(seen).await;
    let seq = socket.until_live().await;
    let resumed = socket.early.iter().find_map(|frame| match frame {
        FromHub::Welcome { resumed, .. } => Some(*resumed),
        _ => None,
    });
    (resumed.expect("welcome comes before live"), seq)
}
