//! Nothing about a private project reaches anybody else: no list, count, audit entry, presence, sync or delta.

use domain::Visibility;
use protocol::{
    ActivityCreate, ActivityFilter, ActivityUpdate, AuditPage, Call, FromHub, MarkRead, MessageText, ObserverCreate,
    Place, ProjectCreate, ProjectUpdate, SearchQuery, TerminalQuery, ToHub,
};
use testkit::TestHub;

use crate::support::{Credential, Socket, ann, call, join, observe, view};

/// Every list that takes no id.
fn lists() -> Vec<Call> {
    vec![
        Call::Me {},
        Call::UserList {},
        Call::ProjectList {},
        Call::ActivityList { filter: ActivityFilter::default() },
        Call::ChatUnread {},
        Call::TokenList {},
        Call::LoginList {},
        Call::InviteList {},
        Call::RunnerList {},
        Call::AuditList { page: AuditPage { limit: Some(500), ..Default::default() } },
        Call::PresenceList {},
        Call::SearchFind { query: SearchQuery { text: "canary".into(), ..Default::default() } },
        Call::SearchTerminals { query: TerminalQuery { text: "canary".into(), ..Default::default() } },
    ]
}

/// Everything that an actor can list, and every frame that their socket got, as one text.
async fn all_that_reaches(hub: &TestHub, credential: &Credential, socket: &mut Socket, last: &str) -> String {
    let mut text = String::new();
    for list in lists() {
        text += &call(hub, credential, &list).await.text;
    }
    let mut again = Socket::live(hub.url(), credential).await;
    for frame in socket.until_message(last).await.iter().chain(again.early.make_contiguous().iter()) {
        text += &serde_json::to_string(frame).expect("frames are JSON");
    }
    text
}

#[tokio::test]
async fn nothing_of_a_private_project_reaches_anybody_else() {
    let hub = TestHub::start().await;
    let (olga, pete) = (join(&hub, "olga").await, join(&hub, "pete").await);
    let open =
        ProjectCreate { content: "open house".into(), visibility: Some(Visibility::ReadWrite), ..Default::default() };
    let open = view!(&hub, &olga, Project, Call::ProjectCreate { input: open }).id;
    let (visitor, _) = observe(&hub, &olga, open).await;
    let mut watched = Vec::new();
    for credential in [&olga, &pete, &ann(&hub), &visitor] {
        watched.push((credential.clone(), Socket::live(hub.url(), credential).await));
    }

    // All that can happen in a project, in one that only olga sees.
    let mut socket = Socket::live(hub.url(), &olga).await;
    let input = ProjectCreate { content: "canary-project".into(), ..Default::default() };
    let project = view!(&hub, &olga, Project, Call::ProjectCreate { input }).id;
    let input = ActivityCreate { content: "canary-activity".into(), ..Default::default() };
    let activity = view!(&hub, &olga, Activity, Call::ActivityCreate { project, input }).id;
    let input = ActivityUpdate { content: Some("canary-plan".into()), ..Default::default() };
    view!(&hub, &olga, Activity, Call::ActivityUpdate { activity, input });
    let input = MessageText { content: "canary-message to @pete".into() };
    let message = view!(&hub, &olga, Message, Call::ChatSend { project, input }).id;
    view!(&hub, &olga, Unread, Call::ChatRead { project, input: MarkRead { number: 1 } });
    let input = ProjectUpdate { content: Some("canary-renamed".into()), ..Default::default() };
    view!(&hub, &olga, Project, Call::ProjectUpdate { project, input });
    let input = ObserverCreate { name: "canary-observer".into(), expires_at: None };
    let observer = view!(&hub, &olga, NewObserver, Call::ObserverCreate { project, input }).observer.id;
    socket.send(&ToHub::Look { at: Some(Place { project, activity: Some(activity) }), visible: false }).await;
    socket.ask(Call::Me {}).await.expect("the look was read before this");
    let input = MessageText { content: "the last word".into() };
    view!(&hub, &olga, Message, Call::ChatSend { project: open, input });

    let traces: Vec<String> =
        vec![project.to_string(), activity.to_string(), message.to_string(), observer.to_string(), "canary".to_owned()];
    for (index, (credential, socket)) in watched.iter_mut().enumerate() {
        let text = all_that_reaches(&hub, credential, socket, "the last word").await;
        for trace in &traces {
            let found = text.contains(trace.as_str());
            // The owner is the control: what this test looks for is there to be found.
            let wanted = index == 0 && *trace != observer.to_string();
            assert!(found == wanted || index == 0, "{trace} reached {credential:?}");
            assert!(!wanted || found, "{trace} did not reach its owner: this test looks in the wrong place");
        }
    }
}

#[tokio::test]
async fn a_project_that_became_private_disappears_from_every_list() {
    let hub = TestHub::start().await;
    let (olga, pete) = (join(&hub, "olga").await, join(&hub, "pete").await);
    let visibility = Some(Visibility::ReadOnly);
    let input = ProjectCreate { content: "canary".into(), visibility, ..Default::default() };
    let project = view!(&hub, &olga, Project, Call::ProjectCreate { input }).id;
    let input = MessageText { content: "hello @pete".into() };
    view!(&hub, &olga, Message, Call::ChatSend { project, input });
    let listed = |text: &str| text.contains(&project.to_string());
    let mut shown = 0;
    for list in lists() {
        shown += u32::from(listed(&call(&hub, &pete, &list).await.text));
    }
    assert!(shown >= 3, "projects, unread and audit show it while it is visible");

    let input = ProjectUpdate { visibility: Some(Visibility::Private), ..Default::default() };
    view!(&hub, &olga, Project, Call::ProjectUpdate { project, input });
    for list in lists() {
        let text = call(&hub, &pete, &list).await.text;
        assert!(!listed(&text) && !text.contains("canary"), "{} still shows it: {text}", list.verb());
    }
    let mut socket = Socket::live(hub.url(), &pete).await;
    let frames = socket.early.make_contiguous();
    assert!(!frames.iter().any(|frame: &FromHub| serde_json::to_string(frame).is_ok_and(|text| listed(&text))));
}
