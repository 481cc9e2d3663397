//! Webhooks: only what is signed with a valid secret starts something, and once.

use std::collections::HashSet;

use domain::{HookKind, ProjectId, TickOutcome};
use futures_util::stream::{self, StreamExt};
use hmac::{Hmac, Mac};
use protocol::{
    Call, HookRotate, HookText, NewHook, ProjectCreate, RecipeText, Schedule, ScheduleText, Tick, TickPage, Trigger,
};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use sha2::Sha256;
use standardwebhooks::Webhook;
use testkit::{TestHub, wait_until};

use crate::support::{Credential, ann, send, view};

const RECIPE: &str = "name: greet\nsteps:\n  - id: tell\n    notify: {to: chat, text: \"{{ trigger.data.word }}\"}\n";

struct Place {
    hub: TestHub,
    ann: Credential,
    project: ProjectId,
    schedule: Schedule,
}

impl Place {
    async fn open() -> Self {
        let hub = TestHub::start().await;
        let ann = ann(&hub);
        let input = ProjectCreate { content: "shop".into(), ..Default::default() };
        let project = view!(&hub, &ann, Project, Call::ProjectCreate { input }).id;
        let input = RecipeText { text: RECIPE.into(), format: None };
        view!(&hub, &ann, Recipe, Call::RecipeAdd { project, input });
        let matching = Some("event.type == 'push' and event.data.word != 'quiet'".into());
        let trigger = Trigger::Event { event: "webhook".into(), matching };
        let overlap = Some(domain::Overlap::Allow);
        let input = ScheduleText { recipe: "greet".into(), trigger, overlap, ..Default::default() };
        let schedule = view!(&hub, &ann, Schedule, Call::ScheduleAdd { project, input });
        Self { hub, ann, project, schedule }
    }

    async fn add(&self, name: &str, kind: HookKind) -> NewHook {
        let call = Call::HookAdd { project: self.project, input: HookText { name: name.into(), kind } };
        view!(&self.hub, &self.ann, NewHook, call)
    }

    async fn ticks(&self) -> Vec<Tick> {
        let call = Call::ScheduleTicks { schedule: self.schedule.id, page: TickPage::default() };
        view!(&self.hub, &self.ann, Ticks, call)
    }
}

fn sign(secret: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any key");
    mac.update(body.as_bytes());
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

fn github(hook: &NewHook, signature: &str, delivery: &str, body: &str) -> RequestBuilder {
    of_type("push", hook, signature, delivery, body)
}

fn of_type(event: &str, hook: &NewHook, signature: &str, delivery: &str, body: &str) -> RequestBuilder {
    let request = reqwest::Client::new().post(&hook.hook.url).header("content-type", "application/json");
    let request = request.header("x-github-event", event).header("x-github-delivery", delivery);
    request.header("x-hub-signature-256", signature).body(body.to_owned())
}

async fn status(request: RequestBuilder) -> (u16, Value) {
    let reply = send(request).await;
    (reply.status, reply.body)
}

#[tokio::test]
async fn signed_webhooks_start_a_schedule_once() {
    let place = Place::open().await;
    let hook = place.add("github", HookKind::Github).await;
    let body = json!({ "word": "hello", "ref": "refs/heads/main" }).to_string();
    let right = sign(&hook.secret, &body);
    let (code, answer) = status(github(&hook, &right, "one", &body)).await;
    assert_eq!((code, &answer["woke"], &answer["repeated"]), (202, &json!(1), &json!(false)), "{answer}");
    let (code, answer) = status(github(&hook, &right, "one", &body)).await;
    assert_eq!((code, &answer["woke"], &answer["repeated"]), (202, &json!(0), &json!(true)), "{answer}");
    let quiet = json!({ "word": "quiet" }).to_string();
    let (code, answer) = status(github(&hook, &sign(&hook.secret, &quiet), "two", &quiet)).await;
    assert_eq!((code, &answer["woke"]), (202, &json!(0)), "the condition does not hold: {answer}");
    assert_eq!(status(of_type("ping", &hook, &right, "three", &body)).await.0, 202);
    let ticks = place.ticks().await;
    assert_eq!(ticks.iter().map(|tick| tick.outcome).collect::<Vec<_>>(), [TickOutcome::Started]);
    let call = Call::HookDeliveries { hook: hook.hook.id };
    let deliveries = view!(&place.hub, &place.ann, HookDeliveries, call);
    let woke: Vec<(&str, u32)> = deliveries.iter().map(|one| (one.delivery.as_str(), one.woke)).collect();
    assert!(woke.contains(&("one", 1)) && woke.contains(&("two", 0)) && woke.len() == 3, "{woke:?}");
    let text = place.hub.owner();
    wait_until("the recipe got the data", async || {
        let page = Call::ChatHistory { project: place.project, page: Default::default() };
        let found = serde_json::to_string(&text.ask::<Vec<protocol::Message>>(page).await.ok()?).ok()?;
        found.contains("hello").then_some(())
    })
    .await;
}

#[tokio::test]
async fn invalid_signatures_are_refused() {
    let place = Place::open().await;
    let (hook, other) = (place.add("github", HookKind::Github).await, place.add("other", HookKind::Github).await);
    let body = json!({ "word": "hello" }).to_string();
    let right = sign(&hook.secret, &body);
    let upper = format!("sha256={}", right[7..].to_uppercase());
    let sha1 = format!("sha1={}", &right[7..47]);
    for bad in ["", "sha256=", &right[..70], &upper, &sha1, &sign(&other.secret, &body), &sign("", &body)] {
        assert_eq!(status(github(&hook, bad, "one", &body)).await.0, 401, "{bad}");
    }
    let changed = body.replace("hello", "hellp");
    assert_eq!(status(github(&hook, &right, "one", &changed)).await.0, 401, "one byte was changed");
    let unsigned = reqwest::Client::new().post(&hook.hook.url).body(body.clone());
    assert_eq!(status(unsigned).await.0, 401);
    let mut nowhere = hook.clone();
    nowhere.hook.url = hook.hook.url.replace(&hook.hook.id.to_string(), &domain::HookId::generate().to_string());
    assert_eq!(status(github(&nowhere, &right, "one", &body)).await.0, 401, "an unknown address looks the same");
    nowhere.hook.url = hook.hook.url.replace(&hook.hook.id.to_string(), "nonsense");
    assert_eq!(status(github(&nowhere, &right, "one", &body)).await.0, 401);
    let large = " ".repeat(6 * 1024 * 1024);
    assert_eq!(status(github(&hook, &sign(&hook.secret, &large), "one", &large)).await.0, 413);
    let text = "word=hello";
    assert_eq!(status(github(&hook, &sign(&hook.secret, text), "one", text)).await.0, 400, "signed, but not JSON");
    assert!(place.ticks().await.is_empty());
    assert_eq!(status(github(&hook, &right, "one", &body)).await.0, 202, "and the right one still gets in");
}

#[tokio::test]
async fn after_a_rotation_two_secrets_are_valid_for_a_while() {
    let place = Place::open().await;
    let first = place.add("github", HookKind::Github).await;
    let at = &place;
    let rotate = |keep_hours| {
        let call = Call::HookRotate { hook: first.hook.id, input: HookRotate { keep_hours } };
        async move { view!(&at.hub, &at.ann, NewHook, call) }
    };
    let second = rotate(None).await;
    assert!(second.hook.old_secret_until.is_some() && first.secret != second.secret);
    let body = json!({ "word": "hello" }).to_string();
    let code = |made: &NewHook, delivery: &str| {
        let request = github(made, &sign(&made.secret, &body), delivery, &body);
        async move { status(request).await.0 }
    };
    assert_eq!((code(&first, "1").await, code(&second, "2").await), (202, 202));
    let third = rotate(Some(0)).await;
    assert_eq!((code(&first, "3").await, code(&second, "4").await, code(&third, "5").await), (401, 401, 202));
    assert_eq!(view!(&place.hub, &place.ann, Hooks, Call::HookList { project: place.project }).len(), 1);
    crate::support::ask(&place.hub, &place.ann, Call::HookRemove { hook: first.hook.id }).await;
    assert_eq!(code(&third, "6").await, 401);
}

#[tokio::test]
async fn standard_webhooks_are_accepted_near_their_time() {
    let place = Place::open().await;
    let hook = place.add("pay", HookKind::Standard).await;
    let body = json!({ "type": "push", "word": "hello" }).to_string();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs();
    let now = i64::try_from(now).expect("a time");
    let signed = |id: &str, at: i64| {
        let signature = Webhook::new(&hook.secret).expect("a secret").sign(id, at, body.as_bytes()).expect("signed");
        let request = reqwest::Client::new().post(&hook.hook.url).header("webhook-id", id);
        request.header("webhook-timestamp", at).header("webhook-signature", signature).body(body.clone())
    };
    assert_eq!(status(signed("msg_1", now - 3600)).await.0, 401, "an hour old");
    assert_eq!(status(signed("msg_1", now + 3600)).await.0, 401, "an hour ahead");
    let (code, answer) = status(signed("msg_1", now)).await;
    assert_eq!((code, &answer["woke"]), (202, &json!(1)), "{answer}");
    assert_eq!(status(github(&hook, &sign(&hook.secret, &body), "x", &body)).await.0, 401, "another kind");
}

#[tokio::test]
async fn of_many_at_once_each_counts_once() {
    let place = Place::open().await;
    let hook = place.add("github", HookKind::Github).await;
    let body = json!({ "word": "hello" }).to_string();
    let signature = sign(&hook.secret, &body);
    let sent = (0..200).map(|n| status(github(&hook, &signature, &format!("delivery {}", n % 20), &body)));
    // As many connections as one address may have that has not shown a credential.
    let answers: Vec<(u16, Value)> = stream::iter(sent).buffer_unordered(20).collect().await;
    let woke: Vec<u64> = answers.iter().map(|(_, answer)| answer["woke"].as_u64().expect("a number")).collect();
    assert_eq!(woke.iter().sum::<u64>(), 20, "{woke:?}");
    let executions: HashSet<_> = place.ticks().await.into_iter().filter_map(|tick| tick.execution).collect();
    assert_eq!(executions.len(), 20);
}
