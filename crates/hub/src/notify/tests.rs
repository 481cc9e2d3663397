//! Which addresses are refused, and what receivers are told.

use std::net::SocketAddr;

use domain::{ChannelKind, NotificationId, NotifyKind, Timestamp};
use engine::notify::Outcome;
use store::Letter;

use super::guard::{Guard, is_public};
use super::send::Letterhead;
use super::*;

/// What the hub does when it starts.
fn with_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

fn guard(allowed: &[String]) -> Guard {
    with_tls();
    Guard::new(allowed)
}

fn notify(allowed: &[String]) -> Notify {
    with_tls();
    Notify::new("/nowhere".into(), allowed)
}

fn target(url: &str) -> Target {
    Target { url: url.to_owned(), token: None, secret: Some("whsec_AAAA".into()), push: None }
}

fn letter(kind: NotifyKind, title: &str) -> Letter {
    Letter { kind, title: title.into(), project: "calc".into(), path: "/t/tsk_1".into() }
}

async fn tried(notify: &Notify, url: &str) -> Sent {
    let head = Letterhead { id: NotificationId::generate(), now: Timestamp::from_millis(0), base: "https://x" };
    notify.send(ChannelKind::Webhook, &target(url), &Message::test("https://x"), head).await
}

#[test]
fn private_addresses_are_recognised() {
    let private = "0.0.0.0 10.1.2.3 100.64.0.1 100.127.255.255 127.0.0.1 127.9.9.9 169.254.169.254 172.16.0.1 172.31.9.9 \
        192.0.0.1 192.0.2.1 192.168.0.1 198.18.0.1 198.19.1.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 \
        :: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1 64:ff9b::7f00:1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1 \
        2001:db8::1 2001::1 2002:7f00:1:: 2001:10::1 3fff::1 100::1";
    for ip in private.split_whitespace() {
        assert!(!is_public(ip.parse().unwrap()), "{ip}");
    }
    for ip in
        "1.1.1.1 8.8.8.8 100.63.0.1 100.128.0.1 172.15.0.1 172.32.0.1 198.20.0.1 2606:4700::1 2a00:1450::1".split(' ')
    {
        assert!(is_public(ip.parse().unwrap()), "{ip}");
    }
}

#[test]
fn forms_of_private_addresses_are_refused_before_anything_is_sent() {
    let guard = guard(&[]);
    let forms = "https://127.0.0.1/ https://2130706433/ https://0x7f000001/ https://0177.0.0.1/ https://127.1/ https://0/ \
        https://[::1]/ https://[::ffff:127.0.0.1]/ https://[::ffff:7f00:1]/ https://[::]/ https://0.0.0.0/ \
        https://169.254.169.254/latest/meta-data https://[fd00:ec2::254]/ https://10.0.0.1/ https://192.168.1.1/ \
        https://172.16.0.1/ https://100.64.0.1/ https://[fe80::1]/ https://[64:ff9b::7f00:1]/ https://127。0。0。1/ \
        https://①②⑦.0.0.1/ https://127.0.0.1./ http://example.org/ ftp://example.org/ file:///etc/passwd \
        https://user:pass@example.org/ https:// gopher://127.0.0.1/ javascript:alert(1) example.org";
    for form in forms.split_whitespace() {
        assert!(guard.check(form).is_err(), "{form}");
    }
    assert!(guard.check("https://ntfy.sh/topic").is_ok());
    assert!(guard.check(&format!("https://example.org/{}", "a".repeat(3000))).is_err());
}

#[test]
fn an_allowed_host_is_allowed_on_its_port_only() {
    let guard = guard(&["ntfy.lan".into(), "127.0.0.1:8080".into()]);
    for url in ["http://ntfy.lan/x", "https://NTFY.lan:99/x", "http://127.0.0.1:8080/x"] {
        assert!(guard.check(url).is_ok(), "{url}");
    }
    for url in ["http://127.0.0.1:8081/x", "https://127.0.0.1/x", "http://other.lan/x"] {
        assert!(guard.check(url).is_err(), "{url}");
    }
}

#[tokio::test]
async fn a_name_of_this_machine_is_refused_when_it_is_resolved() {
    let canary = tokio::net::TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let port = canary.local_addr().unwrap().port();
    let sent = tried(&notify(&[]), &format!("https://localhost:{port}/hook")).await;
    assert_eq!(sent.outcome, Outcome::Refused, "{sent:?}");
    let heard = tokio::time::timeout(std::time::Duration::from_millis(1), canary.accept()).await;
    assert!(heard.is_err(), "nothing was contacted");
}

#[test]
fn a_message_names_things_and_links_to_them() {
    let one = Message::of(vec![letter(NotifyKind::Question, "Add sub")], "https://hub").unwrap();
    assert_eq!(one.ntfy("t")["title"], "Question for you");
    assert_eq!(one.ntfy("t")["message"], "Add sub (calc)");
    assert_eq!(one.ntfy("t")["click"], "https://hub/t/tsk_1");
    let all = (0..12).map(|n| letter(NotifyKind::Failed, &format!("task {n}")));
    let many = all.chain([letter(NotifyKind::Approval, "setup on vm")]).collect();
    let digest = Message::of(many, "https://hub").unwrap();
    let body = digest.webhook(NotificationId::generate(), Timestamp::from_millis(0));
    assert_eq!(body["data"]["title"], "1 approval, 12 failures");
    assert_eq!(body["data"]["counts"], serde_json::json!({ "approval": 1, "failed": 12 }));
    assert_eq!((body["data"]["items"].as_array().unwrap().len(), &body["data"]["more"]), (10, &3.into()));
    assert_eq!(body["data"]["url"], "https://hub/needs");
    assert_eq!(Message::of(Vec::new(), "https://hub"), None);
}

#[test]
fn a_title_mentions_nobody_in_a_chat() {
    let message =
        Message::of(vec![letter(NotifyKind::Done, "<!channel> @everyone & [x](https://evil)")], "https://hub").unwrap();
    let slack = message.chat(ChannelKind::Slack)["text"].as_str().unwrap().to_owned();
    assert!(slack.contains("&lt;!channel&gt;") && slack.contains("<https://hub/t/tsk_1>"), "{slack}");
    let discord = message.chat(ChannelKind::Discord);
    assert_eq!(discord["allowed_mentions"], serde_json::json!({ "parse": [] }));
    let text = discord["content"].as_str().unwrap();
    assert!(text.contains("\\@everyone") && text.contains("\\[x\\]"), "{text}");
}

#[test]
fn a_notification_target_is_never_printed() {
    assert_eq!(format!("{:?}", target("https://hooks.example/secret")), "Target(…)");
}
