//! Notifications reach receivers that behave as ntfy, Slack, Discord, a signed webhook and a push service do.

mod quiet;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::{ChannelId, ProjectId, Visibility};
use protocol::{
    Call, MessageText, NewNotifyChannel, NotifyAdd, NotifyChannel, NotifyConfigure, NotifyTried, ProblemKind,
    ProjectCreate, ToHub,
};
use serde_json::{Value, json};
use standardwebhooks::Webhook;
use testkit::{TestHub, wait_until};
use web_push_native::p256::SecretKey;
use web_push_native::p256::ecdsa::signature::Verifier;
use web_push_native::p256::ecdsa::{Signature, VerifyingKey};
use web_push_native::p256::elliptic_curve::sec1::ToEncodedPoint;
use web_push_native::{Auth, decrypt};

use crate::support::{Credential, Socket, ann, ask, call, join, view};

/// A request that a receiver got.
#[derive(Clone)]
struct Got {
    path: String,
    headers: HeaderMap,
    body: Bytes,
}

impl Got {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// A status, and a header that comes with it.
type Planned = (u16, Option<(&'static str, String)>);

/// Somebody else's server. It answers with 200, after the answers that it is given.
#[derive(Clone, Default)]
struct Receiver {
    got: Arc<Mutex<Vec<Got>>>,
    answers: Arc<Mutex<VecDeque<Planned>>>,
}

impl Receiver {
    async fn start(&self) -> String {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("it listens");
        let router = Router::new().fallback(answer).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}")
    }

    fn then(&self, status: u16, header: Option<(&'static str, String)>) {
        self.answers.lock().expect("no panic").push_back((status, header));
    }

    fn all(&self) -> Vec<Got> {
        self.got.lock().expect("no panic").clone()
    }

    async fn nth(&self, count: usize) -> Got {
        wait_until("a notification arrives", async || self.all().get(count - 1).cloned()).await
    }
}

async fn answer(
    State(receiver): State<Receiver>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, HeaderMap) {
    receiver.got.lock().expect("no panic").push(Got { path: uri.to_string(), headers, body });
    let (status, header) = receiver.answers.lock().expect("no panic").pop_front().unwrap_or((200, None));
    let header = header.map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")));
    (StatusCode::from_u16(status).expect("a status"), header.into_iter().collect())
}

/// A hub that may contact this machine, with Ann, and Bo, who mentions her.
struct Shop {
    hub: TestHub,
    ann: Credential,
    bo: Credential,
    project: ProjectId,
}

impl Shop {
    async fn open() -> Self {
        let hub = TestHub::with(|options| options.notify_allow_hosts = vec!["127.0.0.1".into()]).await;
        let (ann, bo) = (ann(&hub), join(&hub, "bo").await);
        let input =
            ProjectCreate { content: "calc".into(), visibility: Some(Visibility::ReadWrite), ..Default::default() };
        let project = view!(&hub, &ann, Project, Call::ProjectCreate { input }).id;
        let input = NotifyConfigure { gather_seconds: Some(0), at_most_seconds: Some(0), ..Default::default() };
        ask(&hub, &ann, Call::NotifyConfigure { input }).await;
        Self { hub, ann, bo, project }
    }

    async fn add(&self, input: Value) -> NewNotifyChannel {
        let input: NotifyAdd = serde_json::from_value(input).expect("a channel");
        view!(&self.hub, &self.ann, NewNotifyChannel, Call::NotifyAdd { input })
    }

    async fn mention(&self) {
        let input = MessageText { content: "@ann the secret is plugh".into() };
        ask(&self.hub, &self.bo, Call::ChatSend { project: self.project, input }).await;
    }

    async fn test(&self, channel: ChannelId) -> NotifyTried {
        view!(&self.hub, &self.ann, NotifyTried, Call::NotifyTest { channel })
    }

    async fn listed(&self) -> NotifyChannel {
        view!(&self.hub, &self.ann, NotifyChannels, Call::NotifyList {}).remove(0)
    }

    async fn until(&self, what: &str, is: impl Fn(&NotifyChannel) -> bool) {
        wait_until(what, async || is(&self.listed().await).then_some(())).await;
    }
}

#[tokio::test]
async fn a_mention_reaches_ntfy_with_its_token_and_without_the_text() {
    let (shop, ntfy) = (Shop::open().await, Receiver::default());
    let url = ntfy.start().await;
    shop.add(json!({ "kind": "ntfy", "url": format!("{url}/base/my-topic"), "token": "tk_secret" })).await;
    shop.mention().await;
    let got = ntfy.nth(1).await;
    assert_eq!((got.path.as_str(), got.header("authorization")), ("/base/", "Bearer tk_secret"));
    let body = got.json();
    assert_eq!((&body["topic"], &body["title"]), (&json!("my-topic"), &json!("You were mentioned")));
    assert_eq!(body["message"], "by bo (calc)");
    assert_eq!(body["click"], format!("{}/p/{}", shop.hub.url(), shop.project));
    assert!(!String::from_utf8_lossy(&got.body).contains("plugh"), "no content leaves the hub");
    shop.until("it is recorded", |channel| channel.delivered_at.is_some() && channel.waiting == 0).await;
}

#[tokio::test]
async fn a_webhook_is_signed_and_retried_with_the_same_id() {
    let (shop, hook) = (Shop::open().await, Receiver::default());
    hook.then(500, None);
    let made = shop.add(json!({ "kind": "webhook", "url": format!("{}/hook?key=1", hook.start().await) })).await;
    shop.mention().await;
    let (first, second) = (hook.nth(1).await, hook.nth(2).await);
    let verifier = Webhook::new(&made.secret.expect("a webhook has a secret")).expect("the secret is usable");
    for got in [&first, &second] {
        verifier.verify(&got.body, &got.headers).expect("the signature is valid");
    }
    let forged = String::from_utf8_lossy(&first.body).replace("calc", "evil");
    verifier.verify(forged.as_bytes(), &first.headers).expect_err("another body");
    assert_eq!(first.header("webhook-id"), second.header("webhook-id"));
    assert_eq!(first.json()["data"]["items"][0]["kind"], "mention");
    assert_eq!(first.path, "/hook?key=1");
    shop.until("it is recorded", |channel| channel.failure.is_none() && channel.waiting == 0).await;
    assert_eq!(hook.all().len(), 2, "once it was accepted, it is not sent again");
}

#[tokio::test]
async fn slack_and_discord_get_what_they_understand() {
    let (shop, chat) = (Shop::open().await, Receiver::default());
    let url = chat.start().await;
    shop.add(json!({ "kind": "slack", "url": format!("{url}/slack") })).await;
    shop.add(json!({ "kind": "discord", "url": format!("{url}/discord") })).await;
    shop.mention().await;
    chat.nth(2).await;
    let of = |path: &str| chat.all().into_iter().find(|got| got.path == path).expect("both were sent").json();
    let (slack, discord) = (of("/slack"), of("/discord"));
    let link = format!("<{}/p/{}>", shop.hub.url(), shop.project);
    assert_eq!(slack, json!({ "text": format!("*You were mentioned*\nby bo (calc) {link}") }));
    assert_eq!(discord["content"], format!("**You were mentioned**\nby bo \\(calc\\) {link}"));
    assert_eq!(discord["allowed_mentions"], json!({ "parse": [] }));
}

#[tokio::test]
async fn a_browser_can_decrypt_its_message_and_knows_the_hub_by_its_key() {
    let (shop, service) = (Shop::open().await, Receiver::default());
    let url = service.start().await;
    let browser = SecretKey::from_slice(&[7; 32]).expect("a key");
    let auth = [9_u8; 16];
    let public = browser.public_key().to_encoded_point(false);
    let (key, secret) = (URL_SAFE_NO_PAD.encode(public.as_bytes()), URL_SAFE_NO_PAD.encode(auth));
    shop.add(json!({ "kind": "push", "url": format!("{url}/push/abc"), "key": key, "auth": secret })).await;
    shop.mention().await;
    let got = service.nth(1).await;
    assert_eq!((got.header("content-encoding"), got.header("ttl")), ("aes128gcm", "43200"));
    let text = decrypt(got.body.to_vec(), &browser, &Auth::from(auth)).expect("the browser has the keys");
    let text: Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!((&text["title"], &text["body"]), (&json!("You were mentioned"), &json!("by bo (calc)")));
    // RFC 8292: the token is signed with the key that the browser subscribed with, and for this service.
    let known = view!(&shop.hub, &shop.ann, NotifyKey, Call::NotifyKey {}).key;
    let vapid = got.header("authorization").strip_prefix("vapid t=").expect("the scheme");
    let (token, shown) = vapid.split_once(", k=").expect("a key");
    assert_eq!(shown, known);
    let (signed, signature) = token.rsplit_once('.').expect("a signature");
    let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).expect("base64url");
    let verifier = VerifyingKey::from_sec1_bytes(&bytes(&known)).expect("a public key");
    let signature = Signature::from_slice(&bytes(signature)).expect("a signature");
    verifier.verify(signed.as_bytes(), &signature).expect("the signature is valid");
    let claims: Value = serde_json::from_slice(&bytes(signed.split('.').nth(1).expect("claims"))).expect("JSON");
    assert_eq!(claims["aud"], url);
    assert!(claims["exp"].as_i64().is_some_and(|at| at > 1_700_000_000) && claims["sub"].is_string());
    // The browser has unsubscribed.
    service.then(404, None);
    shop.mention().await;
    shop.until("the channel is off", |channel| channel.disabled.is_some()).await;
}

#[tokio::test]
async fn redirects_are_not_followed_and_a_gone_receiver_ends_its_channel() {
    let (shop, hook, other) = (Shop::open().await, Receiver::default(), Receiver::default());
    let elsewhere = other.start().await;
    let made = shop.add(json!({ "kind": "webhook", "url": hook.start().await })).await;
    for status in [301, 302, 307, 308] {
        hook.then(status, Some(("location", elsewhere.clone())));
        let tried = shop.test(made.channel.id).await;
        assert!(!tried.delivered && tried.status == Some(status), "{tried:?}");
    }
    assert!(other.all().is_empty());
    hook.then(410, None);
    shop.mention().await;
    shop.until("the channel is off", |channel| channel.disabled.as_deref() == Some("the receiver is gone")).await;
}

#[tokio::test]
async fn busy_and_silent_receivers_are_listed_with_the_failure() {
    let (shop, hook) = (Shop::open().await, Receiver::default());
    shop.add(json!({ "kind": "webhook", "url": hook.start().await })).await;
    hook.then(429, Some(("retry-after", "3600".into())));
    shop.mention().await;
    shop.until("it failed", |channel| channel.failure.as_deref() == Some("the receiver answered 429")).await;
    assert_eq!((hook.all().len(), shop.listed().await.waiting), (1, 1), "it is tried again in an hour");
    let silent = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
    let address = silent.local_addr().expect("it listens");
    drop(silent);
    let made = shop.add(json!({ "kind": "slack", "url": format!("http://{address}/services/secret") })).await;
    let tried = shop.test(made.channel.id).await;
    assert_eq!((tried.delivered, tried.detail.as_str()), (false, "the receiver cannot be reached"));
}

#[tokio::test]
async fn private_addresses_are_refused_and_no_address_is_shown_again() {
    let hub = TestHub::start().await;
    let ann = ann(&hub);
    let add = |url: &str| Call::NotifyAdd {
        input: serde_json::from_value(json!({ "kind": "webhook", "url": url })).expect("a channel"),
    };
    for url in ["https://127.0.0.1/x", "https://2130706433/x", "https://[::ffff:127.0.0.1]/x", "http://example.org/x"] {
        let reply = call(&hub, &ann, &add(url)).await;
        assert_eq!((reply.status, &reply.body["kind"]), (400, &json!(ProblemKind::Invalid)), "{url}: {}", reply.text);
    }
    let made = view!(&hub, &ann, NewNotifyChannel, add("https://localhost/services/T0/plugh"));
    let tried = view!(&hub, &ann, NotifyTried, Call::NotifyTest { channel: made.channel.id });
    assert!(!tried.delivered && tried.detail.contains("not a public address"), "{tried:?}");
    let listed = call(&hub, &ann, &Call::NotifyList {}).await.text;
    assert!(listed.contains("localhost") && !listed.contains("plugh"), "{listed}");
    let secret = made.secret.expect("a webhook has a secret");
    for entry in std::fs::read_dir(hub.data_dir()).expect("the data directory") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(!holds("plugh") && !holds(&secret) && !holds(&secret[6..]), "{}", path.display());
    }
}

#[tokio::test]
async fn a_person_at_the_page_gets_nothing_on_other_devices() {
    let (shop, hook) = (Shop::open().await, Receiver::default());
    shop.add(json!({ "kind": "webhook", "url": hook.start().await })).await;
    let mut page = Socket::live(shop.hub.url(), &shop.ann).await;
    page.send(&ToHub::Look { at: None, visible: true }).await;
    page.ask(Call::Me {}).await.expect("the hub has read the frame before");
    shop.mention().await;
    shop.until("it is on hold", |channel| channel.waiting == 1).await;
    let unread = |read| Call::ChatRead { project: shop.project, input: protocol::MarkRead { number: read } };
    page.ask(unread(1)).await.expect("she reads it");
    drop(page);
    shop.until("it was dropped", |channel| channel.waiting == 0).await;
    assert!(hook.all().is_empty());
}
