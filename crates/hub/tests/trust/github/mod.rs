//! Logging in with GitHub, against a GitHub of the test's own (T18).

mod fake;

use std::collections::HashMap;

use domain::UserId;
use hub::GithubOptions;
use reqwest::Method;
use testkit::TestHub;

use crate::support::{Credential, Reply, ann, ask, begin, call, join, send, view};
use fake::{Account, FakeGithub, Mood};
use protocol::Call;

struct World {
    github: FakeGithub,
    hub: TestHub,
}

/// A login that a browser has begun.
struct Begun {
    state: String,
    challenge: String,
    cookie: String,
}

impl World {
    async fn new() -> Self {
        let github = FakeGithub::default();
        let url = github.start().await;
        let hub = TestHub::with(|options| {
            options.github = Some(GithubOptions {
                client_id: "the-id".into(),
                client_secret: "the-secret".into(),
                allow: vec!["user:Octo".into(), "org:acme".into()],
                url: url.clone(),
                api_url: url,
            });
        })
        .await;
        Self { github, hub }
    }

    async fn begin(&self) -> Begun {
        let reply = send(begin(&self.hub, Method::GET, "/api/auth/github")).await;
        assert_eq!(reply.status, 303);
        let location = reply.headers["location"].to_str().expect("text");
        let (page, query) = location.split_once('?').expect("a query");
        assert!(page.ends_with("/login/oauth/authorize"), "{location}");
        let query: HashMap<String, String> = pairs(query);
        assert_eq!(query["response_type"], "code");
        assert_eq!(query["client_id"], "the-id");
        assert_eq!(query["code_challenge_method"], "S256");
        assert_eq!(query["redirect_uri"], format!("{}/api/auth/github/callback", self.hub.url()));
        let set = reply.headers["set-cookie"].to_str().expect("text");
        assert!(set.contains("HttpOnly") && set.contains("SameSite=Lax") && set.contains("Path=/api/auth"), "{set}");
        let cookie = set.split(';').next().expect("a value").to_owned();
        Begun { state: query["state"].clone(), challenge: query["code_challenge"].clone(), cookie }
    }

    async fn come_back(&self, code: &str, state: &str, cookie: Option<&str>) -> Reply {
        let request = begin(&self.hub, Method::GET, "/api/auth/github/callback");
        let mut request = request.query(&[("code", code), ("state", state)]);
        if let Some(cookie) = cookie {
            request = request.header("cookie", cookie);
        }
        send(request).await
    }

    async fn log_in(&self, account: &Account) -> Reply {
        let begun = self.begin().await;
        let code = self.github.agree(account, &begun.challenge);
        self.come_back(&code, &begun.state, Some(&begun.cookie)).await
    }

    /// Logs in as an account that is allowed to, and returns who that is here.
    async fn enter(&self, account: &Account) -> (UserId, String) {
        let reply = self.log_in(account).await;
        assert_eq!((reply.status, reply.headers["location"].to_str().ok()), (303, Some("/")), "{}", reply.text);
        let me = view!(&self.hub, &login(&reply).expect("a cookie"), Me, Call::Me {}).user.expect("a person");
        (me.id, me.name)
    }
}

/// The login cookie that a reply sets.
fn login(reply: &Reply) -> Option<Credential> {
    let cookies = reply.headers.get_all("set-cookie").iter().filter_map(|value| value.to_str().ok());
    let pairs = cookies.filter_map(|cookie| cookie.split(';').next()).map(str::to_owned);
    let mut own = pairs.filter(|pair| !pair.starts_with("shopfloor_github=") && !pair.ends_with('='));
    own.next().map(Credential::Cookie)
}

fn pairs(query: &str) -> HashMap<String, String> {
    let url = reqwest::Url::parse(&format!("http://x/?{query}")).expect("a query");
    url.query_pairs().into_owned().collect()
}

fn octo() -> Account {
    Account { id: 7, login: "octo", organizations: vec![] }
}

fn member() -> Account {
    Account { id: 8, login: "mona", organizations: vec!["other", "ACME"] }
}

fn stranger() -> Account {
    Account { id: 9, login: "stranger", organizations: vec!["other"] }
}

#[tokio::test]
async fn people_on_the_list_come_in_by_name_or_organisation() {
    let world = World::new().await;
    let (first, name) = world.enter(&octo()).await;
    assert_eq!(name, "octo");
    assert_eq!(world.enter(&octo()).await.0, first, "the same person the next time");
    let (other, name) = world.enter(&member()).await;
    assert_eq!((other == first, name.as_str()), (false, "mona"));
    let sign_in = send(begin(&world.hub, Method::GET, "/api/sign-in")).await;
    assert_eq!(sign_in.body["github"], true);
}

#[tokio::test]
async fn a_person_who_is_not_on_the_list_is_refused() {
    let world = World::new().await;
    let reply = world.log_in(&stranger()).await;
    assert_eq!((reply.status, login(&reply)), (403, None));
    assert!(reply.body["detail"].as_str().is_some_and(|detail| detail.contains("stranger")), "{}", reply.text);
    assert_eq!(view!(&world.hub, &ann(&world.hub), Users, Call::UserList {}).len(), 1, "nobody was made");
}

#[tokio::test]
async fn a_login_works_once_and_only_in_its_browser() {
    let world = World::new().await;
    let refused = async |what: &str, code: &str, state: &str, cookie: Option<&str>| {
        let reply = world.come_back(code, state, cookie).await;
        assert!(matches!(reply.status, 400 | 403) && login(&reply).is_none(), "{what}: {}", reply.text);
    };
    let (mine, theirs) = (world.begin().await, world.begin().await);
    let code = || world.github.agree(&octo(), &mine.challenge);
    refused("no cookie", &code(), &mine.state, None).await;
    refused("another browser's cookie", &code(), &mine.state, Some(&theirs.cookie)).await;
    refused("a state of nobody", &code(), "made-up", Some("shopfloor_github=made-up")).await;
    refused("an empty state", &code(), "", Some("shopfloor_github=")).await;
    refused("no code", "", &mine.state, Some(&mine.cookie)).await;
    refused("the state was used up by that", &code(), &mine.state, Some(&mine.cookie)).await;
    // A code that was meant for another login does not fit this one's verifier.
    let foreign = world.github.agree(&octo(), &theirs.challenge);
    let third = world.begin().await;
    refused("a foreign code", &foreign, &third.state, Some(&third.cookie)).await;

    let begun = world.begin().await;
    let code = world.github.agree(&octo(), &begun.challenge);
    assert_eq!(world.come_back(&code, &begun.state, Some(&begun.cookie)).await.status, 303);
    refused("a replay", &code, &begun.state, Some(&begun.cookie)).await;
    let again = world.begin().await;
    refused("the code again", &code, &again.state, Some(&again.cookie)).await;
}

#[tokio::test]
async fn a_person_is_their_github_account_not_their_login() {
    let world = World::new().await;
    let (first, _) = world.enter(&member()).await;
    let renamed = Account { login: "mona-lisa", ..member() };
    assert_eq!(world.enter(&renamed).await.0, first, "a new login, the same account");
    let successor = Account { id: 99, login: "mona", organizations: vec!["acme"] };
    let (second, name) = world.enter(&successor).await;
    assert_ne!(second, first, "the same login, another account");
    assert_ne!(name, "mona", "and another name here: {name}");

    // A name that somebody has here already gives nobody their account.
    let local = join(&world.hub, "octo").await;
    let local = view!(&world.hub, &local, Me, Call::Me {}).user.expect("a person");
    let (octo, name) = world.enter(&octo()).await;
    assert!(octo != local.id && name != local.name, "{name}");
}

#[tokio::test]
async fn a_disabled_person_stays_out() {
    let world = World::new().await;
    let (user, _) = world.enter(&octo()).await;
    ask(&world.hub, &ann(&world.hub), Call::UserDisable { user }).await;
    let reply = world.log_in(&octo()).await;
    assert_eq!((reply.status, login(&reply)), (403, None));
}

#[tokio::test]
async fn when_github_is_not_well_the_hub_says_so() {
    let world = World::new().await;
    for mood in [Mood::NoTokens, Mood::NoApi, Mood::Nonsense] {
        world.github.feel(mood);
        let reply = world.log_in(&octo()).await;
        assert_eq!((reply.status, login(&reply)), (503, None), "{mood:?}: {}", reply.text);
    }
    world.github.feel(Mood::Well);
    world.enter(&octo()).await;
    assert_eq!(call(&world.hub, &ann(&world.hub), &Call::Me {}).await.status, 200);

    // Nobody there at all.
    let gone = TestHub::with(|options| {
        options.github = Some(GithubOptions {
            client_id: "the-id".into(),
            client_secret: "the-secret".into(),
            allow: vec!["user:octo".into()],
            url: "http://127.0.0.1:9".into(),
            api_url: "http://127.0.0.1:9".into(),
        });
    })
    .await;
    let alone = World { github: FakeGithub::default(), hub: gone };
    let reply = alone.log_in(&octo()).await;
    assert_eq!((reply.status, login(&reply)), (503, None), "{}", reply.text);
}

#[tokio::test]
async fn a_denied_request_changes_nothing() {
    let world = World::new().await;
    let begun = world.begin().await;
    let request = begin(&world.hub, Method::GET, "/api/auth/github/callback").header("cookie", &begun.cookie);
    let hostile = "access_denied<script>\r\nSet-Cookie: x=y";
    let reply = send(request.query(&[("error", hostile), ("state", &begun.state)])).await;
    assert_eq!((reply.status, login(&reply)), (403, None));
    assert!(reply.text.contains("access_denied") && !reply.text.contains('<'), "{}", reply.text);
    let plain = TestHub::start().await;
    for path in ["/api/auth/github", "/api/auth/github/callback?code=x&state=y"] {
        assert_eq!(send(begin(&plain, Method::GET, path)).await.status, 404, "{path}");
    }
}
