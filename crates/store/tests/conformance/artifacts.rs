//! Artifacts: content by its hash, who sees and puts what, limits, summaries, and the clean-up.

use domain::{Actor, ArtifactKind, ExecutionStatus, SessionId, Visibility};
use protocol::{
    Artifact, ArtifactConfigure, ArtifactPut, ArtifactRange, ArtifactSettings, ArtifactsWanted, ProjectUpdate, verbs,
};
use serde_json::json;
use sha2::{Digest, Sha256};
use store::{
    ARTIFACT_CHUNK, AppendContent, BeginContent, Caller, DropContent, EndContent, StoreError, TidiedArtifacts,
    TidyArtifacts,
};

use crate::fixture::{DAY, Fixture, id};
use crate::recipes::{shown, started, tend};
use crate::workers::Shop;

both! {
    the_same_text_with_the_same_name_is_one_artifact,
    a_key_makes_a_retry_one_artifact,
    content_is_sent_in_chunks_and_stored_once,
    a_hash_alone_gives_nobody_content,
    a_missing_part_and_a_wrong_hash_are_refused,
    names_and_types_are_checked,
    limits_are_per_artifact_and_per_project,
    rights_follow_the_project_and_its_executions,
    an_agent_puts_for_its_step_and_project_only,
    an_execution_ends_with_one_summary,
    a_long_output_is_kept_whole,
    the_work_of_every_lane_is_kept,
    old_artifacts_go_unless_something_live_refers_to_them,
    content_without_an_artifact_goes_and_shared_content_stays,
    a_deleted_project_leaves_no_artifact,
}

fn text(name: &str, text: &str) -> ArtifactPut {
    ArtifactPut { name: name.into(), text: Some(text.into()), ..Default::default() }
}

fn put(project: domain::ProjectId, input: ArtifactPut) -> verbs::ArtifactPut {
    verbs::ArtifactPut { project, input }
}

fn hash(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Sends content as the hub does.
async fn send(fixture: &Fixture, caller: &Caller, project: domain::ProjectId, bytes: &[u8]) -> String {
    let content = fixture.done(caller, BeginContent { project }).await;
    for (number, chunk) in bytes.chunks(ARTIFACT_CHUNK).enumerate() {
        let (content, bytes) = (content.clone(), chunk.to_vec());
        fixture.done(caller, AppendContent { content, number: number as u64, bytes }).await;
    }
    let (sha256, size) = (hash(bytes), bytes.len() as u64);
    fixture.done(caller, EndContent { content, project, sha256, size }).await.sha256
}

/// Everything of an artifact.
async fn content(fixture: &Fixture, caller: &Caller, artifact: &Artifact) -> Vec<u8> {
    let mut stream = fixture.store.artifact_stream(caller, artifact.id).await.unwrap();
    let mut all = Vec::new();
    while let Some(chunk) = fixture.store.artifact_chunk(&mut stream).await.unwrap() {
        all.extend(chunk);
    }
    all
}

async fn list(fixture: &Fixture, caller: &Caller, project: domain::ProjectId) -> Vec<Artifact> {
    fixture.store.artifacts(caller, project, ArtifactsWanted::default()).await.unwrap()
}

async fn tidy(fixture: &Fixture) -> TidiedArtifacts {
    fixture.done(&Caller::hub("artifacts"), TidyArtifacts::default()).await
}

async fn count(fixture: &Fixture, table: &str) -> usize {
    fixture.raw().await.rows(&format!("SELECT * FROM {table}")).await.len()
}

async fn the_same_text_with_the_same_name_is_one_artifact(fixture: Fixture) {
    let project = fixture.project(Visibility::Private).await.id;
    let first = fixture.done(&fixture.ada, put(project, text("a.md", "# A"))).await;
    let again = fixture.done(&fixture.ada, put(project, text("a.md", "# A"))).await;
    assert_eq!(first, again);
    let other = fixture.done(&fixture.ada, put(project, text("b.md", "# A"))).await;
    let changed = fixture.done(&fixture.ada, put(project, text("a.md", "# B"))).await;
    let found: Vec<_> = list(&fixture, &fixture.ada, project).await.iter().map(|one| one.id).collect();
    assert_eq!(found, [changed.id, other.id, first.id], "newest first");
    assert_eq!(count(&fixture, "artifact_contents").await, 2, "the same content is stored once");
    assert_eq!(content(&fixture, &fixture.ada, &first).await, b"# A");
    let part = fixture.store.artifact_part(&fixture.ada, first.id, ArtifactRange::default()).await.unwrap();
    assert_eq!((part.text.as_deref(), part.next, part.size), (Some("# A"), None, 3));
}

async fn a_key_makes_a_retry_one_artifact(fixture: Fixture) {
    let project = fixture.project(Visibility::Private).await.id;
    let sha256 = send(&fixture, &fixture.ada, project, b"sent").await;
    let input = ArtifactPut { name: "a".into(), sha256: Some(sha256), ..Default::default() };
    let write = async |input| fixture.store.write(&fixture.ada, Some("key".into()), put(project, input)).await;
    let first = write(input.clone()).await.unwrap().value;
    assert_eq!(write(input).await.unwrap().value, first);
    let other = write(text("b", "other")).await.unwrap_err();
    assert!(matches!(other, StoreError::Conflict(_)), "{other}");
    assert_eq!(list(&fixture, &fixture.ada, project).await.len(), 1);
}

async fn content_is_sent_in_chunks_and_stored_once(fixture: Fixture) {
    let project = fixture.project(Visibility::Private).await.id;
    let bytes: Vec<u8> = (0..ARTIFACT_CHUNK * 2 + 7).map(|at| (at % 251) as u8).collect();
    let sha256 = send(&fixture, &fixture.ada, project, &bytes).await;
    assert_eq!(send(&fixture, &fixture.ada, project, &bytes).await, sha256, "sending it again is no error");
    assert_eq!(count(&fixture, "artifact_chunks").await, 3);
    let input = ArtifactPut { name: "big.bin".into(), sha256: Some(sha256), ..Default::default() };
    let made = fixture.done(&fixture.ada, put(project, input)).await;
    assert_eq!((made.size, made.media_type.as_str()), (bytes.len() as u64, "application/octet-stream"));
    assert_eq!(content(&fixture, &fixture.ada, &made).await, bytes);
    let range = ArtifactRange { offset: Some(ARTIFACT_CHUNK as u64 - 10) };
    let part = fixture.store.artifact_part(&fixture.ada, made.id, range).await.unwrap();
    assert!(part.base64.is_some() && part.next.is_some(), "a part crosses the border of chunks: {part:?}");
}

async fn a_hash_alone_gives_nobody_content(fixture: Fixture) {
    let secret = fixture.project(Visibility::Private).await.id;
    let made = fixture.done(&fixture.ada, put(secret, text("secret.txt", "a secret"))).await;
    let own = fixture.done(&fixture.bo, fixture.another_project(Visibility::Private)).await.id;
    let input = ArtifactPut { name: "x".into(), sha256: Some(made.sha256.clone()), ..Default::default() };
    let refused = fixture.refused(&fixture.bo, put(own, input.clone())).await;
    assert!(refused.to_string().contains("you have sent no content"), "{refused}");
    // Ada sees it in the first project only.
    let elsewhere = fixture.project(Visibility::Private).await.id;
    fixture.refused(&fixture.ada, put(elsewhere, input.clone())).await;
    let copy = fixture.done(&fixture.ada, put(secret, input.clone())).await;
    assert_eq!(copy.sha256, made.sha256);
    // Who has the content may use it.
    send(&fixture, &fixture.bo, own, b"a secret").await;
    fixture.done(&fixture.bo, put(own, input)).await;
}

async fn a_missing_part_and_a_wrong_hash_are_refused(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let content = fixture.done(&fixture.ada, BeginContent { project }).await;
    let append = |content: &str| AppendContent { content: content.to_owned(), number: 0, bytes: b"half".to_vec() };
    fixture.done(&fixture.ada, append(&content)).await;
    let end = |size| EndContent { content: content.clone(), project, sha256: hash(b"half"), size };
    let missing = fixture.refused(&fixture.ada, end(8)).await;
    assert!(missing.to_string().contains("a part of the content is missing"), "{missing}");
    fixture.refused(&fixture.bo, append(&content)).await;
    fixture.done(&fixture.bo, DropContent { content: content.clone() }).await;
    assert_eq!(count(&fixture, "artifact_chunks").await, 1, "nobody drops what another one sends");
    fixture.done(&fixture.ada, DropContent { content: content.clone() }).await;
    assert_eq!(count(&fixture, "artifact_chunks").await + count(&fixture, "artifact_contents").await, 0);
    let late = fixture.refused(&fixture.ada, end(4)).await;
    assert!(late.to_string().contains("send the content again"), "{late}");
    let wrong = ArtifactPut { sha256: Some(hash(b"other")), ..text("a", "text") };
    let wrong = fixture.refused(&fixture.ada, put(project, wrong)).await;
    assert!(wrong.to_string().contains("damaged"), "{wrong}");
    let none = ArtifactPut { name: "a".into(), ..Default::default() };
    fixture.refused(&fixture.ada, put(project, none)).await;
}

async fn names_and_types_are_checked(fixture: Fixture) {
    let project = fixture.project(Visibility::Private).await.id;
    let long = "x".repeat(201);
    for name in
        ["", " ", "../x", "/etc/passwd", "a/b", "a\\b", "..", ".x", "a\nb", "a\0b", "a\u{202e}b", "-rf", "nul", &long]
    {
        let refused = fixture.refused(&fixture.ada, put(project, text(name, "x"))).await;
        assert!(matches!(refused, StoreError::Invalid { field: "name", .. }), "{name:?}: {refused}");
    }
    for kind in ["text", "text/html; charset=x", "a/b\r\nset-cookie: x"] {
        let input = ArtifactPut { media_type: Some(kind.into()), ..text("a", "x") };
        let refused = fixture.refused(&fixture.ada, put(project, input)).await;
        assert!(matches!(refused, StoreError::Invalid { field: "media_type", .. }), "{kind:?}: {refused}");
    }
    for sha256 in ["", "../../x", &"A".repeat(64)] {
        let input = ArtifactPut { name: "a".into(), sha256: Some(sha256.into()), ..Default::default() };
        let refused = fixture.refused(&fixture.ada, put(project, input)).await;
        assert!(matches!(refused, StoreError::Invalid { field: "sha256", .. }), "{sha256:?}: {refused}");
    }
    assert!(list(&fixture, &fixture.ada, project).await.is_empty());
}

async fn limits_are_per_artifact_and_per_project(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let configure = |input| verbs::ArtifactConfigure { project, input };
    let one = ArtifactConfigure { max_mib: Some(1), total_mib: Some(1), ..Default::default() };
    assert!(matches!(fixture.refused(&fixture.bo, configure(one.clone())).await, StoreError::Forbidden(_)));
    let settings = fixture.done(&fixture.ada, configure(one)).await;
    assert_eq!(settings, ArtifactSettings { days: 90, max_mib: 1, total_mib: 1 });
    assert_eq!(fixture.store.artifact_settings(&fixture.bo, project).await.unwrap(), settings);
    for wrong in [
        ArtifactConfigure { days: Some(3651), ..Default::default() },
        ArtifactConfigure { max_mib: Some(0), ..Default::default() },
        ArtifactConfigure { total_mib: Some(0), ..Default::default() },
    ] {
        fixture.refused(&fixture.ada, configure(wrong)).await;
    }
    let room = fixture.store.artifact_room(&fixture.bo, project).await.unwrap();
    assert!(room.check(1024 * 1024).is_ok());
    assert!(room.check(1024 * 1024 + 1).unwrap_err().contains("at most 1 MiB"));
    let sha256 = send(&fixture, &fixture.bo, project, &vec![b'x'; 700_000]).await;
    let left = fixture.store.artifact_room(&fixture.ada, project).await.unwrap().left;
    assert_eq!(left, 1024 * 1024 - 700_000, "what was sent counts before it is an artifact");
    let input = ArtifactPut { name: "x".into(), sha256: Some(sha256), ..Default::default() };
    fixture.done(&fixture.bo, put(project, input)).await;
    assert_eq!(fixture.store.artifact_room(&fixture.ada, project).await.unwrap().left, left, "and once");
    let full = fixture.refused(&fixture.ada, put(project, text("y", &"y".repeat(400_000)))).await;
    assert!(full.to_string().contains("do not fit"), "{full}");
    let many: Vec<_> = {
        let mut many = Vec::new();
        for _ in 0..16 {
            many.push(fixture.done(&fixture.ada, BeginContent { project }).await);
        }
        many
    };
    let busy = fixture.refused(&fixture.ada, BeginContent { project }).await;
    assert!(busy.to_string().contains("are under way"), "{busy}");
    fixture.done(&fixture.ada, DropContent { content: many[0].clone() }).await;
    fixture.done(&fixture.ada, BeginContent { project }).await;
}

const TELL: &str = "name: tell\ndescription: Tells somebody\ninputs:\n  who: {type: string}\nsteps:\n  - id: tell\n    notify: {to: chat, text: \"Hello {{ inputs.who }}\"}\n";

async fn rights_follow_the_project_and_its_executions(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let (fixture, project) = (&shop.fixture, shop.project.id);
    let set = async |visibility, share_execution| {
        let input = ProjectUpdate {
            visibility: Some(visibility),
            share_execution: Some(share_execution),
            ..Default::default()
        };
        fixture.done(&fixture.ada, verbs::ProjectUpdate { project, input }).await
    };
    let made = started(&shop, TELL, json!({ "who": "Bo" })).await;
    let open = fixture.done(&fixture.ada, put(project, text("open.txt", "for all"))).await;
    let own = ArtifactPut { execution: Some(made.id), path: Some("tell".into()), ..text("own.txt", "of the step") };
    let own = fixture.done(&fixture.ada, put(project, own)).await;
    assert_eq!((own.path.as_deref(), own.attempt), (Some("tell"), Some(1)));
    let names = async |caller: &Caller| {
        let mut names: Vec<_> = list(fixture, caller, project).await.into_iter().map(|one| one.name).collect();
        names.sort();
        names
    };
    let observer = Fixture::observer(project);
    for (visibility, shared) in [(Visibility::ReadOnly, false), (Visibility::ReadWrite, true)] {
        set(visibility, shared).await;
        let all = ["open.txt", "own.txt", "summary.md"];
        assert_eq!(names(&fixture.ada).await, all);
        for caller in [&fixture.bo, &observer] {
            assert_eq!(names(caller).await, if shared { &all[..] } else { &all[..1] }, "{visibility} {shared}");
            assert!(fixture.store.artifact(caller, open.id).await.is_ok());
            assert_eq!(fixture.store.artifact(caller, own.id).await.is_ok(), shared);
            assert_eq!(fixture.store.artifact_stream(caller, own.id).await.is_ok(), shared);
            let range = ArtifactRange::default();
            assert_eq!(fixture.store.artifact_part(caller, own.id, range).await.is_ok(), shared);
        }
    }
    let put_there = ArtifactPut { execution: Some(made.id), ..text("bo.txt", "of Bo's") };
    fixture.done(&fixture.bo, put(project, put_there.clone())).await;
    set(Visibility::ReadWrite, false).await;
    let hidden = fixture.refused(&fixture.bo, put(project, ArtifactPut { name: "c".into(), ..put_there })).await;
    assert!(matches!(hidden, StoreError::NotFound("execution")), "{hidden}");
    let remove = verbs::ArtifactRemove { artifact: own.id };
    assert!(matches!(fixture.refused(&fixture.bo, remove.clone()).await, StoreError::NotFound("artifact")));
    set(Visibility::ReadOnly, true).await;
    assert!(matches!(fixture.refused(&fixture.bo, remove.clone()).await, StoreError::Forbidden(_)));
    assert!(matches!(fixture.refused(&fixture.bo, put(project, text("d", "d"))).await, StoreError::Forbidden(_)));
    assert!(matches!(fixture.refused(&fixture.bo, BeginContent { project }).await, StoreError::Forbidden(_)));
    set(Visibility::Private, true).await;
    assert!(matches!(fixture.store.artifact(&fixture.bo, open.id).await, Err(StoreError::NotFound("artifact"))));
    assert!(fixture.store.artifacts(&fixture.bo, project, ArtifactsWanted::default()).await.is_err());
    fixture.done(&fixture.ada, remove).await;
    assert!(fixture.store.artifact(&fixture.ada, own.id).await.is_err());
}

fn agent(of: &Caller, project: domain::ProjectId, session: SessionId) -> Caller {
    let actor = Actor::Agent { user: id(of), project, session };
    Caller::bearer(actor, "Ada", "192.0.2.1 agent")
}

async fn an_agent_puts_for_its_step_and_project_only(fixture: Fixture) {
    let run = "name: build\nsteps:\n  - id: make\n    run: [make, all]\n";
    let mut shop = Shop::open(fixture).await;
    let project = shop.project.id;
    let made = started(&shop, run, json!({})).await;
    let session = shop.desired().await.0[0].session;
    let caller = agent(&shop.fixture.ada, project, session);
    let sha256 = send(&shop.fixture, &caller, project, b"a log").await;
    let input = ArtifactPut { name: "build.log".into(), sha256: Some(sha256), ..Default::default() };
    let put_by = shop.fixture.done(&caller, put(project, input)).await;
    assert_eq!((put_by.execution, put_by.path.as_deref(), put_by.attempt), (Some(made.id), Some("make"), Some(1)));
    assert_eq!((put_by.session, put_by.by_agent, put_by.kind), (Some(session), true, ArtifactKind::File));
    assert_eq!(content(&shop.fixture, &caller, &put_by).await, b"a log");
    let other = shop.fixture.project(Visibility::ReadWrite).await.id;
    assert!(matches!(shop.fixture.refused(&caller, put(other, text("x", "x"))).await, StoreError::NotFound(_)));
    let remove = verbs::ArtifactRemove { artifact: put_by.id };
    assert!(matches!(shop.fixture.refused(&caller, remove).await, StoreError::Forbidden(_)), "a person decides");
    shop.exits(session, 0).await;
    tend(&shop).await;
    let filter = ArtifactsWanted { execution: Some(made.id), path: Some("make".into()), ..Default::default() };
    let of_step = shop.fixture.store.artifacts(&shop.fixture.ada, project, filter).await.unwrap();
    assert_eq!(of_step, [put_by]);
}

async fn an_execution_ends_with_one_summary(fixture: Fixture) {
    let run = "name: build\ndescription: Builds it all\ninputs:\n  target: {type: string}\nsteps:\n  - id: make\n    run: [make, all]\n";
    let mut shop = Shop::open(fixture).await;
    let (project, ada) = (shop.project.id, shop.fixture.ada.clone());
    let made = started(&shop, run, json!({ "target": "``` </code>" })).await;
    assert!(list(&shop.fixture, &ada, project).await.is_empty(), "nothing before its end");
    let session = shop.desired().await.0[0].session;
    shop.costs(session, 1_500_000).await;
    shop.says(session, "1 test failed").await;
    shop.exits(session, 2).await;
    tend(&shop).await;
    let summary = async |shop: &Shop| {
        let all = list(&shop.fixture, &ada, project).await;
        let [one] = &all[..] else { panic!("one summary: {all:?}") };
        assert_eq!((one.kind, one.execution, one.name.as_str()), (ArtifactKind::Summary, Some(made.id), "summary.md"));
        String::from_utf8(content(&shop.fixture, &ada, one).await).unwrap()
    };
    let first = summary(&shop).await;
    for part in [
        "# build: failed",
        "Builds it all",
        "1 test failed",
        "$1.5000",
        "\"target\"",
        "`make` (run): failed",
        "````json",
    ] {
        assert!(first.contains(part), "{part}: {first}");
    }
    tend(&shop).await;
    assert_eq!(summary(&shop).await, first, "nothing happened since");
    let input = protocol::ExecutionAt { path: "make".into(), reason: "again".into() };
    shop.fixture.done(&ada, verbs::ExecutionRetry { execution: made.id, input }).await;
    tend(&shop).await;
    let session = shop.desired().await.0[0].session;
    shop.exits(session, 0).await;
    tend(&shop).await;
    assert_eq!(shown(&shop, made.id).await.execution.status, ExecutionStatus::Completed);
    let second = summary(&shop).await;
    assert!(second.contains("# build: completed") && second.contains("attempt 2"), "{second}");
}

async fn a_long_output_is_kept_whole(fixture: Fixture) {
    let run = "name: build\nsteps:\n  - id: make\n    run: [make, all]\n";
    let mut shop = Shop::open(fixture).await;
    let made = started(&shop, run, json!({})).await;
    let session = shop.desired().await.0[0].session;
    let said = format!("first line\n{}", "word ".repeat(5_000));
    shop.says(session, &said).await;
    shop.exits(session, 0).await;
    tend(&shop).await;
    let output = crate::recipes::step(&shop, made.id, "make").await.output.unwrap();
    assert!(!output["text"].as_str().unwrap().contains("first line"), "an output holds the end");
    let id = output["artifact"].as_str().unwrap().parse().unwrap();
    let kept = shop.fixture.store.artifact(&shop.fixture.ada, id).await.unwrap();
    assert_eq!((kept.kind, kept.path.as_deref()), (ArtifactKind::Output, Some("make")));
    assert_eq!(content(&shop.fixture, &shop.fixture.ada, &kept).await, said.trim().as_bytes());
}

async fn the_work_of_every_lane_is_kept(fixture: Fixture) {
    let text = "name: best\ninputs:\n  list: {type: array, items: {type: string}}\nsteps:\n  - id: tries\n    for_each:\n      items: inputs.list\n      as: one\n      steps:\n        - id: try\n          agent: {agent: codex, prompt: \"Try {{ one }}\", workspace: new}\n";
    let mut shop = Shop::open(fixture).await;
    let made = started(&shop, text, json!({ "list": ["a", "b"] })).await;
    let sessions: Vec<SessionId> = shop.desired().await.0.iter().map(|one| one.session).collect();
    assert_eq!(sessions.len(), 2);
    for session in &sessions {
        shop.says(*session, "tried").await;
        shop.exits(*session, 0).await;
    }
    tend(&shop).await;
    assert_eq!(shown(&shop, made.id).await.execution.status, ExecutionStatus::Completed);
    let all = list(&shop.fixture, &shop.fixture.ada, shop.project.id).await;
    let work: Vec<&Artifact> = all.iter().filter(|one| one.kind == ArtifactKind::Work).collect();
    assert_eq!(work.len(), 2, "one for each lane: {all:?}");
    for one in work {
        let left = content(&shop.fixture, &shop.fixture.ada, one).await;
        let left: serde_json::Value = serde_json::from_slice(&left).unwrap();
        assert!(left["branch"].is_string() && left["workspace"].is_string(), "{left}");
        assert_eq!((left["state"].as_str(), left["said"].as_str()), (Some("succeeded"), Some("tried")));
        assert_eq!((left["path"].as_str(), one.execution), (one.path.as_deref(), Some(made.id)));
    }
}

async fn old_artifacts_go_unless_something_live_refers_to_them(fixture: Fixture) {
    let wait = "name: waits\ninputs:\n  file: {type: string, default: none}\nsteps:\n  - id: ask\n    approve: {question: \"Go on?\"}\n";
    let shop = Shop::open(fixture).await;
    let (fixture, project) = (&shop.fixture, shop.project.id);
    let input = ArtifactConfigure { days: Some(3), ..Default::default() };
    fixture.done(&fixture.ada, verbs::ArtifactConfigure { project, input }).await;
    let gone = fixture.done(&fixture.ada, put(project, text("gone.txt", "1"))).await;
    let named = fixture.done(&fixture.ada, put(project, text("named.txt", "2"))).await;
    let open = started(&shop, wait, json!({ "file": named.id.to_string() })).await;
    let of_open = ArtifactPut { execution: Some(open.id), ..text("open.txt", "3") };
    let of_open = fixture.done(&fixture.ada, put(project, of_open)).await;
    let in_task = fixture.done(&fixture.ada, put(project, text("task.txt", "4"))).await;
    shop.add(vec![crate::workers::plain(&format!("Read {}", in_task.id))]).await;
    fixture.pass(2 * DAY);
    assert_eq!(tidy(fixture).await.artifacts, 0, "their time is not over");
    fixture.pass(2 * DAY);
    let removed = tidy(fixture).await;
    assert_eq!((removed.artifacts, removed.contents), (1, 1));
    assert!(fixture.store.artifact(&fixture.ada, gone.id).await.is_err());
    for kept in [&named, &of_open, &in_task] {
        assert!(!content(fixture, &fixture.ada, kept).await.is_empty(), "{}", kept.name);
    }
    assert_eq!(tidy(fixture).await, TidiedArtifacts::default(), "again: nothing to do");
    let input = protocol::ExecutionReason { reason: "enough".into() };
    fixture.done(&fixture.ada, verbs::ExecutionCancel { execution: open.id, input }).await;
    assert_eq!(tidy(fixture).await.artifacts, 2, "the execution is over");
    let left: Vec<_> = list(fixture, &fixture.ada, project).await.into_iter().map(|one| one.name).collect();
    assert_eq!(left, ["summary.md", "task.txt"]);
    let input = ArtifactConfigure { days: Some(0), ..Default::default() };
    fixture.done(&fixture.ada, verbs::ArtifactConfigure { project, input }).await;
    fixture.pass(4000 * DAY);
    assert_eq!(tidy(fixture).await.artifacts, 0, "kept for good");
}

async fn content_without_an_artifact_goes_and_shared_content_stays(fixture: Fixture) {
    let project = fixture.project(Visibility::Private).await.id;
    let other = fixture.project(Visibility::Private).await.id;
    let first = fixture.done(&fixture.ada, put(project, text("a", "shared"))).await;
    let second = fixture.done(&fixture.ada, put(other, text("b", "shared"))).await;
    send(&fixture, &fixture.ada, project, b"never used").await;
    let begun = fixture.done(&fixture.ada, BeginContent { project }).await;
    let half = AppendContent { content: begun, number: 0, bytes: b"interrupted".to_vec() };
    fixture.done(&fixture.ada, half).await;
    fixture.done(&fixture.ada, verbs::ArtifactRemove { artifact: first.id }).await;
    assert_eq!(tidy(&fixture).await.contents, 0, "an upload has an hour");
    fixture.pass(3_700_000);
    assert_eq!(tidy(&fixture).await.contents, 2);
    assert_eq!(content(&fixture, &fixture.ada, &second).await, b"shared");
    fixture.done(&fixture.ada, verbs::ArtifactRemove { artifact: second.id }).await;
    assert_eq!(tidy(&fixture).await.contents, 1, "nothing names it any more");
    assert_eq!(count(&fixture, "artifact_chunks").await + count(&fixture, "artifact_contents").await, 0);
}

async fn a_deleted_project_leaves_no_artifact(fixture: Fixture) {
    let project = fixture.project(Visibility::Private).await.id;
    fixture.done(&fixture.ada, put(project, text("a", "secret"))).await;
    send(&fixture, &fixture.ada, project, b"more").await;
    let input = ArtifactConfigure { days: Some(3), ..Default::default() };
    fixture.done(&fixture.ada, verbs::ArtifactConfigure { project, input }).await;
    fixture.done(&fixture.ada, verbs::ProjectDelete { project }).await;
    for table in ["artifacts", "artifact_uploads", "artifact_settings"] {
        assert_eq!(count(&fixture, table).await, 0, "{table}");
    }
    fixture.pass(3_700_000);
    assert_eq!(tidy(&fixture).await.contents, 2);
}
