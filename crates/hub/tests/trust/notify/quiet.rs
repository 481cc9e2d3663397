//! Quiet hours hold everything back; what they held arrives as one digest.

use std::time::{SystemTime, UNIX_EPOCH};

use protocol::{Call, NotifyConfigure, QuietHours};
use serde_json::json;

use super::{Receiver, Shop};
use crate::support::ask;

impl Shop {
    async fn configure(&self, input: NotifyConfigure) {
        ask(&self.hub, &self.ann, Call::NotifyConfigure { input }).await;
    }
}

/// Hours that began an hour ago, and end in one or two.
fn now() -> QuietHours {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let hour = seconds / 3600 % 24;
    QuietHours { from: format!("{:02}:00", (hour + 23) % 24), until: format!("{:02}:00", (hour + 2) % 24) }
}

#[tokio::test]
async fn quiet_hours_hold_notifications_back_and_one_digest_has_them_all() {
    let (shop, hook, ntfy) = (Shop::open().await, Receiver::default(), Receiver::default());
    shop.add(json!({ "kind": "webhook", "url": hook.start().await })).await;
    shop.add(json!({ "kind": "ntfy", "url": format!("{}/topic", ntfy.start().await) })).await;
    shop.configure(NotifyConfigure { quiet: Some(now()), zone: Some("UTC".into()), ..Default::default() }).await;
    for _ in 0..12 {
        shop.mention().await;
    }
    shop.until("all are on hold", |channel| channel.waiting == 12).await;
    // Somebody else's settings hold nothing back: the notifier has been at work since.
    let other = Receiver::default();
    let url = other.start().await;
    let input = serde_json::from_value(json!({ "kind": "webhook", "url": url })).expect("a channel");
    ask(&shop.hub, &shop.bo, Call::NotifyAdd { input }).await;
    let input = NotifyConfigure { gather_seconds: Some(0), at_most_seconds: Some(0), ..Default::default() };
    ask(&shop.hub, &shop.bo, Call::NotifyConfigure { input }).await;
    let input = protocol::MessageText { content: "@bo all quiet?".into() };
    ask(&shop.hub, &shop.ann, Call::ChatSend { project: shop.project, input }).await;
    assert_eq!(other.nth(1).await.json()["data"]["counts"], json!({ "mention": 1 }));
    assert!(hook.all().is_empty() && ntfy.all().is_empty(), "nothing is sent in quiet hours");

    shop.configure(NotifyConfigure { no_quiet: true, ..Default::default() }).await;
    let data = hook.nth(1).await.json()["data"].clone();
    assert_eq!((&data["title"], &data["counts"]), (&json!("12 mentions"), &json!({ "mention": 12 })));
    assert_eq!(data["url"], format!("{}/needs", shop.hub.url()));
    assert_eq!((data["items"].as_array().map(Vec::len), &data["more"]), (Some(10), &json!(2)));
    let text = ntfy.nth(1).await.json()["message"].as_str().unwrap_or_default().to_owned();
    assert_eq!(text.lines().next(), Some("You were mentioned: by bo (calc)"));
    assert!(text.ends_with("\nand 2 more") && text.lines().count() == 11, "{text}");
    shop.until("all were sent", |channel| channel.waiting == 0 && channel.delivered_at.is_some()).await;
    shop.mention().await;
    let next = hook.nth(2).await.json();
    assert_eq!(next["data"]["counts"], json!({ "mention": 1 }), "the digest was one message");
}
