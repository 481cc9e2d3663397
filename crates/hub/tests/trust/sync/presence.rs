//! Presence: who is here, looking at what, as far as the receiver may see.

use domain::{UserId, Visibility};
use protocol::{Call, FromHub, Place, PresenceEntry, ToHub};
use testkit::TestHub;

use super::{activity, project, set};
use crate::support::{Credential, Socket, join, view};

async fn id(hub: &TestHub, person: &Credential) -> UserId {
    view!(hub, person, Me, Call::Me {}).user.expect("a person").id
}

/// Takes frames until the person's presence is as wanted.
async fn until(socket: &mut Socket, person: UserId, what: &str, wanted: impl Fn(&PresenceEntry) -> bool) {
    let found = |frame: &FromHub| match frame {
        FromHub::Presence { entries, .. } => entries.iter().any(|entry| entry.user == person && wanted(entry)),
        _ => false,
    };
    socket.until(what, found).await;
}

#[tokio::test]
async fn others_see_who_comes_looks_and_goes() {
    let hub = TestHub::start().await;
    let (olga, pete) = (join(&hub, "olga").await, join(&hub, "pete").await);
    let pete_id = id(&hub, &pete).await;
    let common = project(&hub, &olga, "common", Visibility::ReadOnly).await;
    let work = activity(&hub, &olga, common, "work").await;
    let mut watcher = Socket::live(hub.url(), &olga).await;
    let first = watcher.until("the people who are here", |frame| matches!(frame, FromHub::Presence { .. })).await;
    assert!(matches!(first.last(), Some(FromHub::Presence { reset: true, .. })));

    let mut tab = Socket::live(hub.url(), &pete).await;
    until(&mut watcher, pete_id, "pete comes", |entry| entry.connected && entry.places.is_empty()).await;
    let place = Place { project: common, activity: Some(work) };
    tab.send(&ToHub::Look { at: Some(place), visible: false }).await;
    until(&mut watcher, pete_id, "pete looks", |entry| entry.places == [place]).await;

    let mut second = Socket::live(hub.url(), &pete).await;
    let chat = Place { project: common, activity: None };
    second.send(&ToHub::Look { at: Some(chat), visible: false }).await;
    until(&mut watcher, pete_id, "pete's second tab", |entry| entry.places == [chat, place]).await;
    drop(tab);
    until(&mut watcher, pete_id, "one tab less", |entry| entry.connected && entry.places == [chat]).await;
    second.send(&ToHub::Look { at: None, visible: false }).await;
    until(&mut watcher, pete_id, "nothing in particular", |entry| entry.connected && entry.places.is_empty()).await;
    drop(second);
    until(&mut watcher, pete_id, "pete goes", |entry| !entry.connected).await;
    let users = view!(&hub, &olga, Users, Call::UserList {});
    assert!(users.iter().any(|user| user.id == pete_id && !user.connected && user.last_seen_at.is_some()));
}

#[tokio::test]
async fn presence_in_a_private_project_is_hidden_from_others() {
    let hub = TestHub::start().await;
    let (olga, pete) = (join(&hub, "olga").await, join(&hub, "pete").await);
    let olga_id = id(&hub, &olga).await;
    let hidden = project(&hub, &olga, "hidden", Visibility::Private).await;
    let open = project(&hub, &olga, "open", Visibility::ReadOnly).await;
    let mut watcher = Socket::live(hub.url(), &pete).await;
    let mut tab = Socket::live(hub.url(), &olga).await;
    tab.send(&ToHub::Look { at: Some(Place { project: hidden, activity: None }), visible: false }).await;
    until(&mut tab, olga_id, "olga sees herself", |entry| entry.places.len() == 1).await;
    let at_open = Place { project: open, activity: None };
    let mut second = Socket::live(hub.url(), &olga).await;
    second.send(&ToHub::Look { at: Some(at_open), visible: false }).await;
    let seen = |frame: &FromHub| match frame {
        FromHub::Presence { entries, .. } => entries.iter().any(|entry| entry.places == [at_open]),
        _ => false,
    };
    let frames = watcher.until("the open place", seen).await;
    let text = serde_json::to_string(&frames).expect("JSON");
    assert!(!text.contains(&hidden.to_string()), "{text}");
    let listed = view!(&hub, &pete, Presence, Call::PresenceList {});
    let olga_entry = listed.iter().find(|entry| entry.user == olga_id).expect("olga is here");
    assert_eq!(olga_entry.places, [at_open]);

    // A place that closes is not shown any more to whom it is closed.
    set(&hub, &olga, open, Visibility::Private).await;
    let listed = view!(&hub, &pete, Presence, Call::PresenceList {});
    assert!(listed.iter().all(|entry| entry.places.is_empty()), "{listed:?}");
}

#[tokio::test]
async fn presence_in_a_hidden_project_is_ignored() {
    let hub = TestHub::start().await;
    let (olga, pete) = (join(&hub, "olga").await, join(&hub, "pete").await);
    let hidden = project(&hub, &olga, "hidden", Visibility::Private).await;
    let mut tab = Socket::live(hub.url(), &pete).await;
    tab.send(&ToHub::Look { at: Some(Place { project: hidden, activity: None }), visible: false }).await;
    tab.ask(Call::Me {}).await.expect("the look was read before this");
    let listed = view!(&hub, &olga, Presence, Call::PresenceList {});
    assert!(listed.iter().all(|entry| entry.places.is_empty()), "{listed:?}");
}
