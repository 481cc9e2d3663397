//! The bytes of artifacts: whole or not at all, for those who may, and harmless to a browser.

use domain::{ArtifactId, ProjectId, Visibility};
use protocol::{ArtifactConfigure, ArtifactPut, Call, ProjectCreate};
use reqwest::Method;
use sha2::{Digest, Sha256};
use testkit::{Raw, TestHub, wait_until};
use tokio::io::AsyncWriteExt;

use crate::support::raw::{connect, exchange};
use crate::support::{Credential, Reply, ann, begin, browser, call, join, send, view};

fn hash(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

async fn project(hub: &TestHub, owner: &Credential, visibility: Visibility) -> ProjectId {
    let content = crate::support::fresh("a project");
    let input = ProjectCreate { content, visibility: Some(visibility), ..Default::default() };
    view!(hub, owner, Project, Call::ProjectCreate { input }).id
}

fn path(project: ProjectId, sha256: &str) -> String {
    format!("/api/projects/{project}/artifacts/contents/{sha256}")
}

async fn upload(hub: &TestHub, who: &Credential, project: ProjectId, sha256: &str, bytes: Vec<u8>) -> Reply {
    let request = begin(hub, Method::PUT, &path(project, sha256)).headers(who.headers(hub.url()));
    send(request.body(bytes)).await
}

async fn name(hub: &TestHub, who: &Credential, project: ProjectId, name: &str, sha256: String) -> ArtifactId {
    let input = ArtifactPut { name: name.into(), sha256: Some(sha256), ..Default::default() };
    view!(hub, who, Artifact, Call::ArtifactPut { project, input }).id
}

fn download(hub: &TestHub, who: &Credential, artifact: ArtifactId) -> reqwest::RequestBuilder {
    begin(hub, Method::GET, &format!("/api/artifacts/{artifact}/content")).headers(who.headers(hub.url()))
}

/// Waits until nothing of an upload is stored any more.
async fn nothing_is_left(hub: &TestHub) {
    let url = format!("sqlite:{}", hub.data_dir().join("shopfloor.db").display());
    wait_until("the upload was dropped", || async {
        let mut raw = Raw::connect(&url).await;
        let contents = raw.rows("SELECT id FROM artifact_contents").await.len();
        let chunks = raw.rows("SELECT content FROM artifact_chunks").await.len();
        (contents + chunks == 0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn content_streams_in_and_out() {
    let hub = TestHub::start().await;
    let ann = ann(&hub);
    let project = project(&hub, &ann, Visibility::Private).await;
    let bytes: Vec<u8> = (0..1_500_000_u32).map(|at| (at % 249) as u8).collect();
    for _ in 0..2 {
        let reply = upload(&hub, &ann, project, &hash(&bytes), bytes.clone()).await;
        assert_eq!((reply.status, &reply.body["size"]), (200, &serde_json::json!(bytes.len())), "{}", reply.text);
    }
    let artifact = name(&hub, &ann, project, "big.bin", hash(&bytes)).await;
    let answer = download(&hub, &ann, artifact).send().await.expect("the hub answers");
    assert_eq!(answer.content_length(), Some(bytes.len() as u64));
    assert_eq!(answer.bytes().await.expect("all of it").to_vec(), bytes);
    let head = begin(&hub, Method::HEAD, &format!("/api/artifacts/{artifact}/content")).headers(ann.headers(hub.url()));
    assert_eq!(send(head).await.status, 200);
}

#[tokio::test]
async fn a_browser_never_renders_an_artifact() {
    let hub = TestHub::start().await;
    let ann = ann(&hub);
    let project = project(&hub, &ann, Visibility::Private).await;
    let page = b"<script>alert(1)</script>".to_vec();
    upload(&hub, &ann, project, &hash(&page), page.clone()).await;
    for (file, kind, plain) in [
        ("x.html", "text/html", "x.html"),
        ("x.svg", "image/svg+xml", "x.svg"),
        ("ü '();.htm", "text/html", "______.htm"),
    ] {
        let artifact = name(&hub, &ann, project, file, hash(&page)).await;
        let shown = view!(&hub, &ann, Artifact, Call::ArtifactShow { artifact });
        assert_eq!(shown.media_type, kind, "by the name");
        let reply = send(download(&hub, &browser(&hub, &ann).await, artifact)).await;
        let header = |name: &str| reply.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("");
        assert_eq!(reply.text.as_bytes(), page);
        assert_eq!(header("content-type"), "application/octet-stream");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("content-security-policy"), "default-src 'none'; sandbox");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        assert_eq!(header("cache-control"), "no-store");
        let disposition = header("content-disposition");
        assert!(disposition.starts_with(&format!("attachment; filename=\"{plain}\"; ")), "{disposition}");
    }
}

#[tokio::test]
async fn damaged_and_interrupted_content_is_not_kept() {
    let hub = TestHub::start().await;
    let ann = ann(&hub);
    let project = project(&hub, &ann, Visibility::Private).await;
    let wrong = upload(&hub, &ann, project, &hash(b"other"), vec![b'x'; 300_000]).await;
    assert_eq!(wrong.status, 400);
    assert!(wrong.text.contains("damaged") && wrong.text.contains(&hash(&vec![b'x'; 300_000])), "{}", wrong.text);
    nothing_is_left(&hub).await;
    let host = hub.url().strip_prefix("http://").expect("plain HTTP");
    let head = |length: &str| {
        format!(
            "PUT {} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {}\r\n{length}\r\n\r\n",
            path(project, &hash(b"0123456789")),
            hub.token()
        )
    };
    // The sender leaves in the middle, with and without a length.
    for length in ["content-length: 600000", "transfer-encoding: chunked"] {
        let mut stream = connect(&hub).await;
        let mut bytes = head(length).into_bytes();
        if length.starts_with("transfer") {
            bytes.extend(b"493e0\r\n");
        }
        bytes.extend(vec![b'x'; 300_000]);
        stream.write_all(&bytes).await.expect("the hub reads");
        stream.shutdown().await.expect("the connection closes");
        drop(stream);
        nothing_is_left(&hub).await;
    }
    // Less than was promised is the beginning of the next request, more is cut: neither has the hash.
    let short = exchange(&hub, format!("{}0123", head("content-length: 4\r\nconnection: close")).as_bytes()).await;
    assert_eq!(short.0, Some(400), "{}", short.1);
    let two = exchange(&hub, head("content-length: 4\r\ncontent-length: 10").as_bytes()).await;
    assert_eq!(two.0, Some(400), "{}", two.1);
    nothing_is_left(&hub).await;
    let none = ArtifactPut { name: "x".into(), sha256: Some(hash(b"0123456789")), ..Default::default() };
    assert_eq!(call(&hub, &ann, &Call::ArtifactPut { project, input: none }).await.status, 400);
}

#[tokio::test]
async fn too_much_is_refused_with_the_limit() {
    let hub = TestHub::start().await;
    let ann = ann(&hub);
    let project = project(&hub, &ann, Visibility::Private).await;
    let input = ArtifactConfigure { max_mib: Some(1), total_mib: Some(2), ..Default::default() };
    view!(&hub, &ann, ArtifactSettings, Call::ArtifactConfigure { project, input });
    let large = vec![b'x'; 1024 * 1024 + 1];
    let refused = upload(&hub, &ann, project, &hash(&large), large.clone()).await;
    assert_eq!(refused.status, 413);
    assert!(refused.text.contains("at most 1 MiB"), "{}", refused.text);
    // Without a length, the limit is reached on the way.
    let host = hub.url().strip_prefix("http://").expect("plain HTTP");
    let mut bytes = format!(
        "PUT {} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {}\r\ntransfer-encoding: chunked\r\n\r\n100001\r\n",
        path(project, &hash(&large)),
        hub.token()
    )
    .into_bytes();
    bytes.extend(&large);
    bytes.extend(b"\r\n0\r\n\r\n");
    let (status, text) = exchange(&hub, &bytes).await;
    assert!(status.is_none_or(|status| status == 413), "{text}");
    nothing_is_left(&hub).await;
    for fill in [b'a', b'b'] {
        let bytes = vec![fill; 1_000_000];
        assert_eq!(upload(&hub, &ann, project, &hash(&bytes), bytes.clone()).await.status, 200);
        name(&hub, &ann, project, "full.bin", hash(&bytes)).await;
    }
    let bytes = vec![b'c'; 1_000_000];
    let full = upload(&hub, &ann, project, &hash(&bytes), bytes.clone()).await;
    assert_eq!(full.status, 413);
    assert!(full.text.contains("2 MiB together"), "{}", full.text);
}

#[tokio::test]
async fn only_who_may_see_and_write_gets_and_sends_bytes() {
    let hub = TestHub::start().await;
    let (ann, bo) = (ann(&hub), join(&hub, "bo").await);
    let secret = project(&hub, &ann, Visibility::Private).await;
    let open = project(&hub, &ann, Visibility::ReadOnly).await;
    for place in [secret, open] {
        upload(&hub, &ann, place, &hash(b"words"), b"words".to_vec()).await;
    }
    let hidden = name(&hub, &ann, secret, "a.txt", hash(b"words")).await;
    let shown = name(&hub, &ann, open, "a.txt", hash(b"words")).await;
    let status = async |who: &Credential, id| send(download(&hub, who, id)).await.status;
    assert_eq!([status(&bo, hidden).await, status(&bo, shown).await], [404, 200]);
    assert_eq!(status(&bo, ArtifactId::generate()).await, 404);
    assert_eq!(status(&Credential::None, shown).await, 401);
    let sent = async |who: &Credential, place| upload(&hub, who, place, &hash(b"x"), b"x".to_vec()).await.status;
    assert_eq!([sent(&bo, secret).await, sent(&bo, open).await, sent(&Credential::None, open).await], [404, 403, 401]);
    let input = protocol::RunnerCreate { name: "box".into() };
    let runner = Credential::Token(view!(&hub, &ann, NewRunner, Call::RunnerCreate { input }).secret);
    assert_eq!([sent(&runner, open).await, status(&runner, shown).await], [403, 403]);
    // A page of another origin cannot use the cookie.
    let Credential::Cookie(cookie) = browser(&hub, &ann).await else { panic!("a browser has a cookie") };
    let foreign = begin(&hub, Method::PUT, &path(open, &hash(b"x"))).header("cookie", cookie).body("x");
    assert_eq!(send(foreign).await.status, 403);
}

#[tokio::test]
async fn no_path_leads_out() {
    let hub = TestHub::start().await;
    let ann = ann(&hub);
    let project = project(&hub, &ann, Visibility::Private).await;
    let contents = format!("/api/projects/{project}/artifacts/contents");
    for hostile in [
        "..%2f..%2f..%2fetc%2fpasswd",
        "%2e%2e%2f%2e%2e%2ftoken",
        "..%5c..%5ctoken",
        "%00",
        "%c0%ae%c0%ae%c0%af",
        "%2fetc%2fpasswd",
        "C:%5cWindows",
        "%5c%5chost%5cshare",
        &"A".repeat(64),
        &"0".repeat(65),
    ] {
        for (method, path) in [
            (Method::PUT, format!("{contents}/{hostile}")),
            (Method::GET, format!("/api/artifacts/{hostile}/content")),
            (Method::GET, format!("/api/artifacts/{hostile}")),
        ] {
            let reply = send(begin(&hub, method.clone(), &path).headers(ann.headers(hub.url())).body("x")).await;
            assert!((400..500).contains(&reply.status), "{method} {path}: {} {}", reply.status, reply.text);
            assert!(!reply.text.contains("root:") && !reply.text.contains(&hub.token()), "{method} {path}");
        }
    }
    nothing_is_left(&hub).await;
}
