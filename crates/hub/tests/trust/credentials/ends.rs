//! A socket ends with its credential: at once, with 4401, and without a further word.

use domain::{ProjectId, Timestamp};
use protocol::{Call, ProjectCreate, TokenCreate};
use testkit::TestHub;

use crate::support::{Credential, Socket, ann, ask, begin, browser, call, join, observe, send, view};

/// A hub with somebody whose credential ends.
struct Fixture {
    hub: TestHub,
    olga: Credential,
    project: ProjectId,
}

impl Fixture {
    async fn new() -> Self {
        let hub = TestHub::start().await;
        let olga = join(&hub, "olga").await;
        let visibility = Some(domain::Visibility::ReadWrite);
        let input = ProjectCreate { content: "common".into(), visibility, ..Default::default() };
        let project = view!(&hub, &ann(&hub), Project, Call::ProjectCreate { input }).id;
        Self { hub, olga, project }
    }

    async fn say(&self, content: &str) {
        let input = protocol::MessageText { content: content.into() };
        view!(&self.hub, &ann(&self.hub), Message, Call::ChatSend { project: self.project, input });
    }

    /// Sees the socket of `credential` end when `end` has happened, and its credential refused.
    async fn check(&self, what: &str, credential: &Credential, end: impl AsyncFnOnce()) {
        let mut socket = Socket::live(self.hub.url(), credential).await;
        self.say("before").await;
        socket.until_message("before").await;
        end().await;
        let (frames, code) = if what == "the project is deleted" {
            socket.until_closed().await
        } else {
            self.say("after").await;
            socket.until_closed().await
        };
        assert_eq!(code, Some(4401), "{what}");
        let text = serde_json::to_string(&frames).expect("JSON");
        assert!(!text.contains("after"), "{what}: told after its end: {text}");
        assert_eq!(call(&self.hub, credential, &Call::Me {}).await.status, 401, "{what}");
        assert_eq!(Socket::connect(self.hub.url(), credential).await.err(), Some(401), "{what}");
    }

    async fn token(&self, expires_at: Option<Timestamp>) -> (Credential, domain::TokenId) {
        let input = TokenCreate { name: "another".into(), expires_at };
        let made = view!(&self.hub, &self.olga, NewToken, Call::TokenCreate { input });
        (Credential::Token(made.secret), made.token.id)
    }
}

#[tokio::test]
async fn a_socket_ends_with_its_token() {
    let fixture = Fixture::new().await;
    let (token, id) = fixture.token(None).await;
    let mut bystander = Socket::live(fixture.hub.url(), &fixture.olga).await;
    let end = async || drop(ask(&fixture.hub, &fixture.olga, Call::TokenRevoke { token: id }).await);
    fixture.check("the token is revoked", &token, end).await;
    bystander.until_message("after").await;
    bystander.ask(Call::Me {}).await.expect("the same person's other token goes on");
}

#[tokio::test]
async fn a_socket_ends_with_its_browsers_login() {
    let fixture = Fixture::new().await;
    let login = browser(&fixture.hub, &fixture.olga).await;
    let end = async || {
        let request =
            begin(&fixture.hub, reqwest::Method::POST, "/api/logout").headers(login.headers(fixture.hub.url()));
        assert_eq!(send(request).await.status, 204);
    };
    fixture.check("the browser logs out", &login, end).await;

    let login = browser(&fixture.hub, &fixture.olga).await;
    let end = async || {
        let logins = view!(&fixture.hub, &login, Logins, Call::LoginList {});
        let current = logins.iter().find(|login| login.current).expect("this one").id;
        ask(&fixture.hub, &fixture.olga, Call::LoginRevoke { login: current }).await;
    };
    fixture.check("the login is revoked", &login, end).await;

    let login = browser(&fixture.hub, &fixture.olga).await;
    let end = async || drop(ask(&fixture.hub, &fixture.olga, Call::LoginRevokeAll {}).await);
    fixture.check("all logins are revoked", &login, end).await;
    assert_eq!(call(&fixture.hub, &fixture.olga, &Call::Me {}).await.status, 200, "tokens are no logins");
}

#[tokio::test]
async fn a_disabled_persons_sockets_end() {
    let fixture = Fixture::new().await;
    let user = view!(&fixture.hub, &fixture.olga, Me, Call::Me {}).user.expect("a person").id;
    let login = browser(&fixture.hub, &fixture.olga).await;
    let mut tab = Socket::live(fixture.hub.url(), &login).await;
    let end = async || drop(ask(&fixture.hub, &ann(&fixture.hub), Call::UserDisable { user }).await);
    fixture.check("the person is disabled", &fixture.olga, end).await;
    assert_eq!(tab.until_closed().await.1, Some(4401));
    ask(&fixture.hub, &ann(&fixture.hub), Call::UserEnable { user }).await;
    assert_eq!(call(&fixture.hub, &fixture.olga, &Call::Me {}).await.status, 200, "the token works again");
    assert_eq!(call(&fixture.hub, &login, &Call::Me {}).await.status, 401, "the browser must log in again");
}

#[tokio::test]
async fn an_observers_socket_ends_with_the_link_or_the_project() {
    let fixture = Fixture::new().await;
    let owner = ann(&fixture.hub);
    let (visitor, observer) = observe(&fixture.hub, &owner, fixture.project).await;
    let end = async || drop(ask(&fixture.hub, &owner, Call::ObserverRevoke { observer }).await);
    fixture.check("the observer link is revoked", &visitor, end).await;
    let (visitor, _) = observe(&fixture.hub, &owner, fixture.project).await;
    let end = async || drop(ask(&fixture.hub, &owner, Call::ProjectDelete { project: fixture.project }).await);
    fixture.check("the project is deleted", &visitor, end).await;
}

#[tokio::test]
async fn a_token_that_expires_ends_its_socket() {
    let fixture = Fixture::new().await;
    let now = view!(&fixture.hub, &fixture.olga, LoginLink, Call::LoginLink {}).expires_at.plus_millis(-15 * 60_000);
    let (token, _) = fixture.token(Some(now.plus_millis(6000))).await;
    let mut socket = Socket::live(fixture.hub.url(), &token).await;
    assert_eq!(socket.until_closed().await.1, Some(4401));
    assert_eq!(call(&fixture.hub, &token, &Call::Me {}).await.status, 401);
}

#[tokio::test]
async fn a_credential_that_ends_before_hello_ends_the_socket() {
    let fixture = Fixture::new().await;
    let (token, id) = fixture.token(None).await;
    let mut socket = Socket::connect(fixture.hub.url(), &token).await.expect("still valid");
    ask(&fixture.hub, &fixture.olga, Call::TokenRevoke { token: id }).await;
    socket.hello(None).await;
    let (frames, code) = socket.until_closed().await;
    assert_eq!((frames.len(), code), (0, Some(4401)), "{frames:?}");
}
