//! Links that log in, and the cookies that they set.

use protocol::{Call, InviteCreate, LinkSecret, ObserverCreate, ProjectCreate};
use reqwest::Method;
use serde_json::json;
use testkit::TestHub;

use crate::support::{Credential, Reply, ann, ask, begin, browser, call, db, join, secret, send, view};

async fn log_in(hub: &TestHub, secret: &str) -> Reply {
    let request = begin(hub, Method::POST, "/api/login").header("origin", hub.url());
    send(request.json(&LinkSecret { secret: secret.to_owned() })).await
}

fn cookie(reply: &Reply) -> Option<String> {
    reply.headers.get("set-cookie").map(|value| value.to_str().expect("text").to_owned())
}

#[tokio::test]
async fn a_login_link_works_once_and_not_for_long() {
    let hub = TestHub::start().await;
    let link = hub.running().login_link().await.expect("a link");
    assert!(link.starts_with(&format!("{}/login#", hub.url())), "the secret is in the fragment: {link}");
    let first = log_in(&hub, &secret(&link)).await;
    assert_eq!((first.status, first.body["user"]["name"].as_str()), (200, Some("ann")));
    let again = log_in(&hub, &secret(&link)).await;
    assert_eq!((again.status, cookie(&again)), (404, None));

    let late = view!(&hub, &ann(&hub), LoginLink, Call::LoginLink {});
    let left = late.expires_at.as_millis() - first_time(&first);
    assert!((60_000..=20 * 60_000).contains(&left), "{left}");
    assert_eq!(db::run(&hub, "UPDATE login_links SET expires_at = 1000 WHERE used_at IS NULL").await, 1);
    assert_eq!(log_in(&hub, &secret(&late.link)).await.status, 404);
    for guess in ["", "x", &"0".repeat(64), "' OR '1'='1"] {
        assert_eq!(log_in(&hub, guess).await.status, 404, "{guess}");
    }
}

fn first_time(reply: &Reply) -> i64 {
    let text = reply.body["user"]["created_at"].as_str().expect("a time");
    text.parse::<domain::Timestamp>().expect("a time").as_millis()
}

#[tokio::test]
async fn many_browsers_at_once_use_a_link_once() {
    let hub = TestHub::start().await;
    let link = secret(&hub.running().login_link().await.expect("a link"));
    let tries = futures_util::future::join_all((0..20).map(|_| log_in(&hub, &link))).await;
    assert_eq!(tries.iter().filter(|reply| reply.status == 200).count(), 1);
}

#[tokio::test]
async fn every_login_gets_a_cookie_of_its_own() {
    let hub = TestHub::start().await;
    let person = ann(&hub);
    let (one, two) = (browser(&hub, &person).await, browser(&hub, &person).await);
    assert_ne!(one, two);

    // A cookie that was there before, planted or not, is not taken over.
    let Credential::Cookie(planted) = &one else { panic!("a cookie") };
    let name = planted.split('=').next().expect("a name");
    let link = view!(&hub, &person, LoginLink, Call::LoginLink {});
    for value in [planted.clone(), format!("{name}=chosen-by-somebody-else")] {
        let link = match value == *planted {
            true => link.link.clone(),
            false => view!(&hub, &person, LoginLink, Call::LoginLink {}).link,
        };
        let request = begin(&hub, Method::POST, "/api/login").header("origin", hub.url()).header("cookie", &value);
        let reply = send(request.json(&LinkSecret { secret: secret(&link) })).await;
        let fresh = cookie(&reply).expect("a new cookie");
        assert!(!fresh.starts_with(&value), "{fresh}");
    }
    let chosen = Credential::Cookie(format!("{name}=chosen-by-somebody-else"));
    assert_eq!(call(&hub, &chosen, &Call::Me {}).await.status, 401);
}

#[tokio::test]
async fn the_cookie_is_for_the_browser_alone() {
    let hub = TestHub::start().await;
    let reply = log_in(&hub, &secret(&hub.running().login_link().await.expect("a link"))).await;
    let set = cookie(&reply).expect("a cookie");
    let parts: Vec<&str> = set.split("; ").collect();
    let port = hub.url().rsplit(':').next().expect("a port");
    assert!(parts[0].starts_with(&format!("shopfloor_{port}=")) && parts[0].len() > 40, "{set}");
    for wanted in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(parts.contains(&wanted), "{wanted} in {set}");
    }
    assert!(!set.contains("Domain") && !set.contains("Secure"), "plain HTTP on loopback: {set}");
    assert_eq!(reply.headers["cache-control"], "no-store");
    let stored = db::rows(&hub).await.join("\n");
    let value = parts[0].split('=').nth(1).expect("a value");
    assert!(!stored.contains(value) && !stored.contains(&hub.token()), "only hashes are stored");
}

#[tokio::test]
async fn behind_tls_the_cookie_is_bound_to_host_and_tls() {
    let hub = TestHub::with(|options| options.public_url = Some("https://floor.example.com".into())).await;
    // People come through a proxy; this test comes to the port itself, in the proxy's place.
    let address = hub.running().address();
    let link = secret(&hub.running().login_link().await.expect("a link"));
    let request = reqwest::Client::new()
        .post(format!("http://{address}/api/login"))
        .header("host", "floor.example.com")
        .header("origin", "https://floor.example.com");
    let reply = request.json(&json!({"secret": link})).send().await.expect("an answer");
    assert_eq!(reply.status(), 200);
    let set = reply.headers()["set-cookie"].to_str().expect("text").to_owned();
    assert!(set.starts_with("__Host-shopfloor="), "{set}");
    let parts: Vec<&str> = set.split("; ").collect();
    for wanted in ["Secure", "HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(parts.contains(&wanted), "{wanted} in {set}");
    }
    assert!(!set.contains("Domain"), "{set}");
}

#[tokio::test]
async fn an_invitation_makes_one_person() {
    let hub = TestHub::start().await;
    let make = || Call::InviteCreate { input: InviteCreate { name: "bo".into(), expires_at: None } };
    let accept = async |link: &str, name: &str| {
        let request = begin(&hub, Method::POST, "/api/invites/accept").header("origin", hub.url());
        send(request.json(&json!({"secret": secret(link), "name": name}))).await
    };
    let invite = view!(&hub, &ann(&hub), NewInvite, make());
    assert_eq!(accept(&invite.link, "Ann").await.status, 409, "the name is taken, whatever its case");
    assert_eq!(accept(&invite.link, "bo").await.status, 200, "the invitation still works after that");
    assert_eq!(accept(&invite.link, "bob").await.status, 404, "once");
    let taken_back = view!(&hub, &ann(&hub), NewInvite, make());
    ask(&hub, &ann(&hub), Call::InviteRevoke { invite: taken_back.invite.id }).await;
    assert_eq!(accept(&taken_back.link, "eve").await.status, 404);
    let late = view!(&hub, &ann(&hub), NewInvite, make());
    db::run(&hub, &format!("UPDATE invites SET expires_at = 1000 WHERE id = '{}'", late.invite.id)).await;
    assert_eq!(accept(&late.link, "eve").await.status, 404);
    let raced = view!(&hub, &ann(&hub), NewInvite, make());
    let tries = futures_util::future::join_all((0..10).map(|number| {
        let (link, hub) = (raced.link.clone(), &hub);
        async move {
            let request = begin(hub, Method::POST, "/api/invites/accept").header("origin", hub.url());
            send(request.json(&json!({"secret": secret(&link), "name": format!("racer {number}")}))).await.status
        }
    }))
    .await;
    assert_eq!(tries.iter().filter(|status| **status == 200).count(), 1, "{tries:?}");
    let people = view!(&hub, &ann(&hub), Users, Call::UserList {});
    assert_eq!(people.iter().filter(|user| user.name.starts_with("racer")).count(), 1);
}

#[tokio::test]
async fn a_disabled_person_cannot_come_back_by_an_old_link() {
    let hub = TestHub::start().await;
    let bo = join(&hub, "bo").await;
    let link = view!(&hub, &bo, LoginLink, Call::LoginLink {});
    let user = view!(&hub, &bo, Me, Call::Me {}).user.expect("a person").id;
    ask(&hub, &ann(&hub), Call::UserDisable { user }).await;
    assert_eq!(log_in(&hub, &secret(&link.link)).await.status, 404);
    let refused = call(
        &hub,
        &ann(&hub),
        &Call::UserDisable { user: view!(&hub, &ann(&hub), Me, Call::Me {}).user.expect("ann").id },
    )
    .await;
    assert_eq!(refused.status, 409, "the hub's owner cannot be shut out");
}

#[tokio::test]
async fn a_link_of_one_kind_opens_no_other_door() {
    let hub = TestHub::start().await;
    let person = ann(&hub);
    let login = secret(&view!(&hub, &person, LoginLink, Call::LoginLink {}).link);
    let input = InviteCreate { name: "bo".into(), expires_at: None };
    let invite = secret(&view!(&hub, &person, NewInvite, Call::InviteCreate { input }).link);
    let input = ProjectCreate { content: "shown".into(), ..Default::default() };
    let project = view!(&hub, &person, Project, Call::ProjectCreate { input }).id;
    let input = ObserverCreate { name: "visitor".into(), expires_at: None };
    let observe = secret(&view!(&hub, &person, NewObserver, Call::ObserverCreate { project, input }).link);
    for (path, own) in [("/api/login", &login), ("/api/observe", &observe), ("/api/invites/accept", &invite)] {
        for other in [&login, &observe, &invite].into_iter().filter(|other| *other != own) {
            let mut body = json!({"secret": other});
            if path == "/api/invites/accept" {
                body["name"] = json!("eve");
            }
            let reply = send(begin(&hub, Method::POST, path).header("origin", hub.url()).json(&body)).await;
            assert_eq!((reply.status, cookie(&reply)), (404, None), "{path}");
        }
    }
}

#[tokio::test]
async fn an_expired_login_is_refused() {
    let hub = TestHub::start().await;
    let person = ann(&hub);
    let old = browser(&hub, &person).await;
    assert!(db::run(&hub, "UPDATE logins SET created_at = created_at - 2 * 86400000").await >= 1);
    let make = Call::TokenCreate { input: protocol::TokenCreate { name: "laptop".into(), expires_at: None } };
    let refused = call(&hub, &old, &make).await;
    assert_eq!(refused.status, 403);
    assert!(refused.body["detail"].as_str().is_some_and(|detail| detail.contains("log in again")), "{}", refused.text);
    let input = ProjectCreate { content: "work goes on".into(), ..ProjectCreate::default() };
    assert_eq!(call(&hub, &old, &Call::ProjectCreate { input }).await.status, 201);
    assert_eq!(call(&hub, &browser(&hub, &person).await, &make).await.status, 201, "a fresh login may");
    assert_eq!(call(&hub, &person, &make).await.status, 201, "a token may");
}
