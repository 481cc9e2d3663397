//! Safe methods change nothing (T6).

use reqwest::Method;
use testkit::TestHub;

use crate::support::operations;
use crate::support::{Credential, ann, begin, browser, db, join, observe, send, view};

#[tokio::test]
async fn safe_methods_change_nothing() {
    let hub = TestHub::start().await;
    let person = join(&hub, "olga").await;
    let input = protocol::ProjectCreate { content: "a project".into(), ..Default::default() };
    let project = view!(&hub, &person, Project, protocol::Call::ProjectCreate { input }).id;
    let (visitor, _) = observe(&hub, &person, project).await;
    let everybody = [ann(&hub), person.clone(), browser(&hub, &person).await, visitor, Credential::None];
    let link = view!(&hub, &person, LoginLink, protocol::Call::LoginLink {}).link;
    let secret = crate::support::secret(&link);
    let before = db::rows(&hub).await;
    assert!(before.len() > 10, "the database was read");
    let mut asked = 0;
    for operation in operations::all() {
        let path = operation.path.replace("prj_01a1e119f7ce75098aed4a97f220a95d", &project.to_string());
        for credential in &everybody {
            // Every path, also those that take no such method; with what a link could carry along.
            for method in [Method::GET, Method::HEAD, Method::OPTIONS] {
                let query = [("secret", secret.as_str()), ("content", "x"), ("_method", "DELETE"), ("name", "eve")];
                let request = begin(&hub, method, &path).headers(credential.headers(hub.url()));
                let request = request.header("x-http-method-override", "DELETE");
                assert!(send(request.query(&query)).await.status < 500, "{path}");
                let plain = begin(&hub, Method::GET, &path).headers(credential.headers(hub.url()));
                assert!(send(plain).await.status < 500, "{path}");
                asked += 2;
            }
        }
    }
    for page in ["/login", "/join", "/observe", "/", "/p/x"] {
        send(begin(&hub, Method::GET, &format!("{page}?secret={secret}"))).await;
    }
    assert!(asked > 500);
    assert_eq!(db::rows(&hub).await, before);
}

#[tokio::test]
async fn other_methods_are_refused_in_words() {
    let hub = TestHub::start().await;
    for method in ["PUT", "TRACE", "CONNECT", "PROPFIND", "BREW"] {
        let (status, text) = crate::support::raw::exchange(
            &hub,
            format!(
                "{method} /api/projects HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
                hub.running().address(),
                hub.token()
            )
            .as_bytes(),
        )
        .await;
        assert!(matches!(status, Some(400 | 405)), "{method}: {text}");
    }
}
