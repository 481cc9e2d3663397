//! Notifications: who gets one, once; when it is sent; and that no crash loses it.

use domain::{ChannelId, ChannelKind, NotifyKind, Seq, UserId, Visibility};
use engine::notify::Outcome;
use protocol::{ActivityCreate, ActivityUpdate, NotifyConfigure, NotifyUpdate, ProjectUpdate, QuietHours, verbs};
use store::{
    AddChannel, Caller, ClaimDeliveries, Delivery, EndDelivery, FreeDeliveries, Letter, PlanDeliveries, StoreError,
};

use crate::fixture::{Fixture, id};
use crate::recipes;
use crate::workers::Shop;

both! {
    a_mention_is_announced_once_to_the_mentioned_person,
    only_chosen_kinds_are_announced,
    several_events_become_one_delivery,
    nothing_is_sent_in_quiet_hours,
    a_person_at_the_page_is_not_notified_until_they_leave,
    a_read_mention_is_not_announced,
    a_person_without_access_learns_nothing,
    an_event_that_begins_again_is_announced_again,
    a_claimed_delivery_is_sent_again_after_a_crash_with_the_same_id,
    a_failed_delivery_is_retried_and_a_gone_receiver_disables_the_channel,
    two_hubs_announce_and_claim_once,
    events_before_the_first_channel_are_not_announced,
    a_channel_belongs_to_one_person,
    settings_are_checked,
    a_removed_channel_leaves_nothing,
    a_removed_person_leaves_no_channel,
    an_execution_that_asks_or_fails_is_announced,
}

fn by_hub() -> Caller {
    Caller::hub("test")
}

async fn channel(fixture: &Fixture, who: &Caller, kinds: &[NotifyKind]) -> ChannelId {
    let id = ChannelId::generate();
    let (name, host, sealed) = ("phone".to_owned(), "ntfy.sh".to_owned(), "sealed".to_owned());
    let kinds = kinds.to_vec();
    fixture.done(who, AddChannel { id, kind: ChannelKind::Ntfy, name, host, kinds, sealed }).await.id
}

/// Waits for nothing and sends at once.
async fn at_once(fixture: &Fixture, who: &Caller) {
    let input = NotifyConfigure { gather_seconds: Some(0), at_most_seconds: Some(0), ..Default::default() };
    fixture.done(who, verbs::NotifyConfigure { input }).await;
}

async fn gather(fixture: &Fixture) {
    while let Some(found) = fixture.store.new_notices(Seq(0)).await.unwrap() {
        if !found.is_needed() {
            break;
        }
        fixture.done(&by_hub(), found).await;
    }
}

/// What is to be sent now, with nobody else at the page than `looking`.
async fn due(fixture: &Fixture, looking: &[UserId]) -> Vec<Delivery> {
    gather(fixture).await;
    if let Some(plan) = fixture.store.deliveries_to_plan(looking).await.unwrap() {
        fixture.done(&by_hub(), plan).await;
    }
    fixture.done(&by_hub(), ClaimDeliveries).await
}

async fn letters(fixture: &Fixture, delivery: &Delivery) -> Vec<Letter> {
    fixture.store.letters(delivery.user, delivery.id).await.unwrap()
}

async fn ended(fixture: &Fixture, delivery: &Delivery, outcome: Outcome) {
    let why = (outcome != Outcome::Delivered).then(|| "no answer".to_owned());
    fixture.done(&by_hub(), EndDelivery { delivery: delivery.id, outcome: Some(outcome), why }).await;
}

async fn a_mention_is_announced_once_to_the_mentioned_person(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    channel(&fixture, &fixture.ada, NotifyKind::ALL).await;
    channel(&fixture, &fixture.bo, NotifyKind::ALL).await;
    at_once(&fixture, &fixture.bo).await;
    at_once(&fixture, &fixture.ada).await;
    fixture.say(&fixture.ada, project.id, "@bo the secret is plugh").await;
    let sent = due(&fixture, &[]).await;
    assert_eq!(sent.iter().map(|one| one.user).collect::<Vec<_>>(), [id(&fixture.bo)]);
    let expected = Letter {
        kind: NotifyKind::Mention,
        title: "by Ada".into(),
        project: "Parser".into(),
        path: format!("/p/{}", project.id),
    };
    assert_eq!(letters(&fixture, &sent[0]).await, [expected]);
    ended(&fixture, &sent[0], Outcome::Delivered).await;
    fixture.pass(3_600_000);
    assert!(due(&fixture, &[]).await.is_empty(), "it was delivered");
}

async fn only_chosen_kinds_are_announced(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    let channel = channel(&fixture, &fixture.bo, &[NotifyKind::Approval]).await;
    at_once(&fixture, &fixture.bo).await;
    fixture.say(&fixture.ada, project.id, "@bo one").await;
    assert!(due(&fixture, &[]).await.is_empty());
    let input = NotifyUpdate { kinds: Some(vec![NotifyKind::Mention]), ..Default::default() };
    fixture.done(&fixture.bo, verbs::NotifyUpdate { channel, input }).await;
    let input = NotifyUpdate { enabled: Some(false), ..Default::default() };
    fixture.done(&fixture.bo, verbs::NotifyUpdate { channel, input }).await;
    fixture.say(&fixture.ada, project.id, "@bo two").await;
    assert!(due(&fixture, &[]).await.is_empty(), "it is turned off");
    let input = NotifyUpdate { enabled: Some(true), ..Default::default() };
    fixture.done(&fixture.bo, verbs::NotifyUpdate { channel, input }).await;
    fixture.say(&fixture.ada, project.id, "@bo three").await;
    let sent = due(&fixture, &[]).await;
    assert_eq!(letters(&fixture, &sent[0]).await.len(), 1, "what happened meanwhile is not announced");
}

async fn several_events_become_one_delivery(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    channel(&fixture, &fixture.bo, NotifyKind::ALL).await;
    for _ in 0..3 {
        fixture.say(&fixture.ada, project.id, "@bo look").await;
        fixture.pass(10_000);
        assert!(due(&fixture, &[]).await.is_empty(), "others may follow");
    }
    fixture.pass(5_000);
    let sent = due(&fixture, &[]).await;
    assert_eq!(sent.len(), 1);
    assert_eq!(letters(&fixture, &sent[0]).await.len(), 3);
}

async fn nothing_is_sent_in_quiet_hours(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    channel(&fixture, &fixture.bo, NotifyKind::ALL).await;
    // The clock starts at 08:00 UTC.
    let quiet = Some(QuietHours { from: "07:30".into(), until: "09:00".into() });
    let input = NotifyConfigure { quiet, gather_seconds: Some(0), ..Default::default() };
    fixture.done(&fixture.bo, verbs::NotifyConfigure { input }).await;
    fixture.say(&fixture.ada, project.id, "@bo look").await;
    assert!(due(&fixture, &[]).await.is_empty());
    fixture.pass(59 * 60_000);
    assert!(due(&fixture, &[]).await.is_empty());
    fixture.pass(60_000);
    assert_eq!(due(&fixture, &[]).await.len(), 1);
}

async fn a_person_at_the_page_is_not_notified_until_they_leave(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    channel(&fixture, &fixture.bo, NotifyKind::ALL).await;
    at_once(&fixture, &fixture.bo).await;
    fixture.say(&fixture.ada, project.id, "@bo look").await;
    let bo = [id(&fixture.bo)];
    for _ in 0..5 {
        assert!(due(&fixture, &bo).await.is_empty());
        fixture.pass(10_000);
    }
    fixture.pass(10_000);
    assert_eq!(due(&fixture, &[]).await.len(), 1);
}

async fn a_read_mention_is_not_announced(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    channel(&fixture, &fixture.bo, NotifyKind::ALL).await;
    at_once(&fixture, &fixture.bo).await;
    let message = fixture.say(&fixture.ada, project.id, "@bo look").await;
    let sent = due(&fixture, &[]).await;
    assert_eq!(letters(&fixture, &sent[0]).await.len(), 1);
    let input = protocol::MarkRead { number: message.number };
    fixture.done(&fixture.bo, verbs::ChatRead { project: project.id, input }).await;
    assert_eq!(letters(&fixture, &sent[0]).await, [], "nothing is left to say");
}

async fn a_person_without_access_learns_nothing(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    channel(&fixture, &fixture.bo, NotifyKind::ALL).await;
    at_once(&fixture, &fixture.bo).await;
    fixture.say(&fixture.ada, project.id, "@bo look").await;
    let sent = due(&fixture, &[]).await;
    assert_eq!(letters(&fixture, &sent[0]).await.len(), 1);
    let input = ProjectUpdate { visibility: Some(Visibility::Private), ..Default::default() };
    fixture.done(&fixture.ada, verbs::ProjectUpdate { project: project.id, input }).await;
    assert_eq!(letters(&fixture, &sent[0]).await, []);
    fixture.done(&by_hub(), EndDelivery { delivery: sent[0].id, outcome: None, why: None }).await;
    fixture.pass(3_600_000);
    assert!(due(&fixture, &[]).await.is_empty());
}

async fn an_event_that_begins_again_is_announced_again(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    channel(&fixture, &fixture.ada, NotifyKind::ALL).await;
    at_once(&fixture, &fixture.ada).await;
    let input = ActivityCreate { content: "work".into(), ..Default::default() };
    let activity = fixture.done(&fixture.ada, verbs::ActivityCreate { project: project.id, input }).await.id;
    let turn = |status| {
        let input = ActivityUpdate { status: Some(status), ..Default::default() };
        verbs::ActivityUpdate { activity, input }
    };
    use domain::ActivityStatus::{Active, Blocked};
    let rename = ActivityUpdate { content: Some("other work".into()), ..Default::default() };
    fixture.done(&fixture.ada, turn(Blocked)).await;
    assert_eq!(due(&fixture, &[]).await.len(), 1);
    fixture.done(&fixture.ada, verbs::ActivityUpdate { activity, input: rename }).await;
    assert!(due(&fixture, &[]).await.is_empty(), "it is still the same blocker");
    for expected in [1, 1] {
        fixture.done(&fixture.ada, turn(Active)).await;
        fixture.done(&fixture.ada, turn(Blocked)).await;
        assert_eq!(due(&fixture, &[]).await.len(), expected);
    }
}

async fn a_claimed_delivery_is_sent_again_after_a_crash_with_the_same_id(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    channel(&fixture, &fixture.bo, NotifyKind::ALL).await;
    at_once(&fixture, &fixture.bo).await;
    fixture.say(&fixture.ada, project.id, "@bo look").await;
    let first = due(&fixture, &[]).await;
    assert_eq!(first.len(), 1);
    assert!(due(&fixture, &[]).await.is_empty(), "a hub is sending it");
    let fixture = fixture.reopened().await;
    fixture.done(&by_hub(), FreeDeliveries).await;
    let second = due(&fixture, &[]).await;
    assert_eq!(second[0].id, first[0].id);
    assert_eq!(letters(&fixture, &second[0]).await.len(), 1);
    fixture.pass(60_000);
    assert_eq!(due(&fixture, &[]).await[0].id, first[0].id, "another hub notices that nobody sends it");
}

async fn a_failed_delivery_is_retried_and_a_gone_receiver_disables_the_channel(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    channel(&fixture, &fixture.bo, NotifyKind::ALL).await;
    at_once(&fixture, &fixture.bo).await;
    fixture.say(&fixture.ada, project.id, "@bo look").await;
    let first = due(&fixture, &[]).await;
    ended(&fixture, &first[0], Outcome::Failed { wait_seconds: None }).await;
    assert!(due(&fixture, &[]).await.is_empty());
    fixture.pass(5_000);
    let second = due(&fixture, &[]).await;
    assert_eq!(second[0].id, first[0].id);
    let listed = fixture.store.notify_channels(&fixture.bo).await.unwrap();
    assert_eq!((listed[0].failure.as_deref(), listed[0].waiting), (Some("no answer"), 1));
    ended(&fixture, &second[0], Outcome::Gone).await;
    let listed = fixture.store.notify_channels(&fixture.bo).await.unwrap();
    assert_eq!((listed[0].disabled.as_deref(), listed[0].waiting), (Some("the receiver is gone"), 0));
    fixture.pass(3_600_000);
    assert!(due(&fixture, &[]).await.is_empty());
}

async fn two_hubs_announce_and_claim_once(fixture: Fixture) {
    // SQLite has one hub only; its own plans race in the same way.
    let project = fixture.project(Visibility::ReadWrite).await;
    channel(&fixture, &fixture.bo, NotifyKind::ALL).await;
    at_once(&fixture, &fixture.bo).await;
    fixture.say(&fixture.ada, project.id, "@bo look").await;
    let one = fixture.store.new_notices(Seq(0)).await.unwrap().unwrap();
    let other = fixture.store.new_notices(Seq(0)).await.unwrap().unwrap();
    assert!(fixture.done(&by_hub(), one).await);
    assert!(!fixture.done(&by_hub(), other).await, "the other was faster");
    let plan = || PlanDeliveries { looking: Vec::new() };
    assert_eq!((fixture.done(&by_hub(), plan()).await, fixture.done(&by_hub(), plan()).await), (1, 0));
    let hub = by_hub();
    let (first, second) = tokio::join!(fixture.done(&hub, ClaimDeliveries), fixture.done(&hub, ClaimDeliveries));
    assert_eq!(first.len() + second.len(), 1);
}

async fn events_before_the_first_channel_are_not_announced(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    at_once(&fixture, &fixture.bo).await;
    fixture.say(&fixture.ada, project.id, "@bo look").await;
    channel(&fixture, &fixture.bo, NotifyKind::ALL).await;
    assert!(due(&fixture, &[]).await.is_empty());
    fixture.say(&fixture.ada, project.id, "@bo look").await;
    assert_eq!(due(&fixture, &[]).await.len(), 1);
}

async fn a_channel_belongs_to_one_person(fixture: Fixture) {
    let mine = channel(&fixture, &fixture.ada, NotifyKind::ALL).await;
    let missing = |error: StoreError| assert!(matches!(error, StoreError::NotFound(_)), "{error}");
    missing(fixture.refused(&fixture.bo, verbs::NotifyRemove { channel: mine }).await);
    missing(fixture.refused(&fixture.bo, verbs::NotifyUpdate { channel: mine, input: NotifyUpdate::default() }).await);
    missing(fixture.store.notify_channel(&fixture.bo, mine).await.unwrap_err());
    assert_eq!(fixture.store.notify_channels(&fixture.bo).await.unwrap(), []);
    let project = fixture.project(Visibility::ReadOnly).await;
    fixture.store.notify_channels(&Fixture::observer(project.id)).await.unwrap_err();
}

async fn settings_are_checked(fixture: Fixture) {
    let hours = |from: &str, until: &str| Some(QuietHours { from: from.into(), until: until.into() });
    for input in [
        NotifyConfigure { quiet: hours("22:00", "22:00"), ..Default::default() },
        NotifyConfigure { quiet: hours("25:00", "07:00"), ..Default::default() },
        NotifyConfigure { zone: Some("Moon/Tycho".into()), ..Default::default() },
        NotifyConfigure { gather_seconds: Some(3_601), ..Default::default() },
        NotifyConfigure { at_most_seconds: Some(1), ..Default::default() },
        NotifyConfigure { quiet: hours("22:00", "07:00"), no_quiet: true, ..Default::default() },
    ] {
        let error = fixture.refused(&fixture.ada, verbs::NotifyConfigure { input }).await;
        assert!(matches!(error, StoreError::Invalid { .. }), "{error}");
    }
    let input =
        NotifyConfigure { quiet: hours("22:00", "07:00"), zone: Some("Asia/Tokyo".into()), ..Default::default() };
    let settings = fixture.done(&fixture.ada, verbs::NotifyConfigure { input }).await;
    assert_eq!(fixture.store.notify_settings(&fixture.ada).await.unwrap(), settings);
    let input = NotifyConfigure { no_quiet: true, ..Default::default() };
    assert_eq!(fixture.done(&fixture.ada, verbs::NotifyConfigure { input }).await.quiet, None);
}

async fn a_removed_channel_leaves_nothing(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    let channel = channel(&fixture, &fixture.bo, NotifyKind::ALL).await;
    at_once(&fixture, &fixture.bo).await;
    fixture.say(&fixture.ada, project.id, "@bo look").await;
    let sent = due(&fixture, &[]).await;
    fixture.done(&fixture.bo, verbs::NotifyRemove { channel }).await;
    ended(&fixture, &sent[0], Outcome::Delivered).await;
    let mut raw = fixture.raw().await;
    for table in ["notify_channels", "notices", "notify_deliveries"] {
        assert_eq!(raw.number(&format!("SELECT COUNT(*) FROM {table}")).await, 0, "{table}");
    }
}

async fn a_removed_person_leaves_no_channel(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    channel(&fixture, &fixture.bo, NotifyKind::ALL).await;
    at_once(&fixture, &fixture.bo).await;
    fixture.say(&fixture.ada, project.id, "@bo look").await;
    assert_eq!(due(&fixture, &[]).await.len(), 1);
    let user = id(&fixture.bo);
    fixture.done(&fixture.ada, verbs::UserDisable { user }).await;
    fixture.done(&fixture.ada, verbs::UserRemove { user }).await;
    let mut raw = fixture.raw().await;
    for table in ["notify_channels", "notify_settings", "notices", "notify_deliveries"] {
        assert_eq!(raw.number(&format!("SELECT COUNT(*) FROM {table}")).await, 0, "{table}");
    }
}

async fn an_execution_that_asks_or_fails_is_announced(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let fixture = &shop.fixture;
    channel(fixture, &fixture.ada, NotifyKind::ALL).await;
    at_once(fixture, &fixture.ada).await;
    let text = "name: careful\nsteps:\n  - id: one\n    approve: {question: \"Go on?\"}\n  - id: two\n    \
                approve: {question: \"Land it?\"}\n";
    let made = recipes::started(&shop, text, serde_json::json!({})).await;
    for (kind, next) in [
        (NotifyKind::Question, Some(("one", true))),
        (NotifyKind::Question, Some(("two", false))),
        (NotifyKind::Failed, None),
    ] {
        let sent = due(fixture, &[]).await;
        let path = format!("/p/{}/executions/{}", shop.project.id, made.id);
        let expected = Letter { kind, title: "careful".into(), project: shop.project.name.clone(), path };
        assert_eq!(letters(fixture, &sent[0]).await, [expected]);
        ended(fixture, &sent[0], Outcome::Delivered).await;
        assert!(due(fixture, &[]).await.is_empty(), "once");
        if let Some((step, approve)) = next {
            let input = protocol::ExecutionAnswer { path: step.into(), approve, ..Default::default() };
            fixture.done(&fixture.ada, verbs::ExecutionAnswer { execution: made.id, input }).await;
        }
    }
}
