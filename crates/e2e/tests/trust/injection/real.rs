//! What is taken goes all the way: to the runner, its git, its programs and its files, and arrives as it was written.

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::wait_until;

use super::{Grounds, is_harmless};
use crate::fixture::git;

/// One of this many names is tried with its own session.
const SOME: usize = 14;

impl Grounds {
    async fn spawn(&self, body: Value) -> Option<Value> {
        let reply = self.fixture.http(Method::POST, "/api/sessions", Some(&body)).await;
        assert!(reply.status < 500, "{body}: {}", reply.text);
        (reply.status == 201).then(|| reply.body())
    }

    /// Where a session works.
    async fn place(&self, session: &Value) -> std::path::PathBuf {
        let path = format!("/api/workspaces/{}", session["workspace"].as_str().unwrap());
        self.fixture.get(&path).await["path"].as_str().unwrap().into()
    }

    fn some(&self) -> impl Iterator<Item = &String> {
        self.names.iter().step_by(SOME)
    }
}

/// What a script wrote, each with a NUL behind it.
fn written(file: &Path) -> Vec<String> {
    let text = String::from_utf8(std::fs::read(file).unwrap()).unwrap();
    text.split_terminator('\0').map(str::to_owned).collect()
}

#[tokio::test]
async fn arguments_and_prompts_arrive_as_they_were_written() {
    let on = Grounds::open().await;
    let names: Vec<String> = on.names.iter().filter(|name| !name.contains('\0')).cloned().collect();
    let script = r#"printf '%s\0' "$@" > arguments"#;
    let argv: Vec<String> = ["sh", "-c", script, "x"].map(str::to_owned).into_iter().chain(names.clone()).collect();
    let over_http = on.spawn(json!({ "project": on.project, "agent": "command", "argv": argv })).await.unwrap();
    let mut line = vec!["--json", "session", "spawn", "--project", &on.project, "--"];
    line.extend(argv.iter().map(String::as_str));
    let over_cli: Value = serde_json::from_str(&on.fixture.text(&line).await).unwrap();
    let mut told = Vec::new();
    for name in on.some() {
        let body = json!({ "project": on.project, "agent": "mirror", "mode": "headless", "prompt": name });
        let mut with_model = body.clone();
        with_model["model"] = json!(name);
        // Its own branch and title are made of it.
        told.extend(on.spawn(body).await.map(|session| (session, name, false)));
        told.extend(on.spawn(with_model).await.map(|session| (session, name, true)));
        on.spawn(json!({ "project": on.project, "agent": "command", "argv": [name, name], "prompt": "x" })).await;
    }
    for session in [&over_http, &over_cli] {
        let ended = on.fixture.ended(session).await;
        assert_eq!(ended["session"]["state"]["code"], 0, "{ended}");
        assert_eq!(written(&on.place(session).await.join("arguments")), names);
    }
    assert!(told.len() > 20, "{}", told.len());
    for (session, name, model) in &told {
        let ended = on.fixture.ended(session).await;
        let state = &ended["session"]["state"];
        if *model && state["code"] != 0 {
            assert!(state["detail"].as_str().is_some_and(|detail| detail.contains("invalid model")), "{ended}");
            continue;
        }
        assert_eq!(state["code"], 0, "{name:?}: {ended}");
        let place = on.place(session).await;
        let read = std::fs::read_to_string(place.join("prompt")).unwrap();
        assert_eq!(read.trim(), name.trim(), "the prompt arrived");
        let branch = ended["workspace"]["branch"].as_str().unwrap();
        assert!(domain::branch::check(branch).is_ok() && branch.starts_with("shopfloor/"), "{branch:?}");
        let first = written(&place.join("arguments")).into_iter().next().unwrap_or_default();
        assert!(!model || first == **name, "{first:?}");
    }
    let all = on.fixture.get("/api/sessions?ended=true").await;
    for session in all.as_array().unwrap().iter().filter(|session| session["id"] != json!(on.session)) {
        let ended = on.fixture.ended(session).await;
        let detail = ended["session"]["state"]["detail"].as_str().unwrap_or_default();
        assert!(is_harmless(detail), "{detail:?}");
    }
    on.close().await;
}

#[tokio::test]
async fn hostile_repository_paths_and_branches_work_or_are_refused() {
    let mut on = Grounds::open().await;
    on.expect("repositories");
    let mut sessions = Vec::new();
    let usual = |name: &&String| !name.contains(['\0', '\n', '\r']) && !name.contains("..") && name.len() < 200;
    for (index, name) in on.names.iter().filter(usual).enumerate().step_by(SOME) {
        let place = on.fixture.path("repositories").join(index.to_string()).join(format!("./{name}"));
        on.fixture.repository(&place);
        // Where git takes such a branch, it is the one that work starts from.
        let main = std::process::Command::new("git").args(["branch", "-q", "-M", name]).current_dir(&place).output();
        drop(main);
        let body = json!({ "content": format!("x {index}"), "repositories": [{ "location": place, "copy": [] }] });
        let reply = on.fixture.http(Method::POST, "/api/projects", Some(&body)).await;
        assert!([201, 400].contains(&reply.status), "{name:?}: {}", reply.text);
        if reply.status == 201 {
            let body = json!({ "project": reply.body()["id"], "agent": "command", "argv": ["git", "status"] });
            sessions.push((name, on.spawn(body).await.unwrap()));
        }
    }
    assert!(sessions.len() > 12, "{}", sessions.len());
    let copied: Vec<&String> = on.some().filter(|name| domain::text::COPY.check(name).is_ok()).collect();
    let repository = json!({ "location": on.fixture.path("repository"), "copy": copied });
    let body = json!({ "content": "x", "repositories": [repository] });
    let reply = on.fixture.http(Method::POST, "/api/projects", Some(&body)).await;
    if reply.status == 201 {
        let body = json!({ "project": reply.body()["id"], "agent": "command", "argv": ["true"] });
        sessions.push((&on.project, on.spawn(body).await.unwrap()));
    }
    let mut worked = 0;
    for (name, session) in &sessions {
        let ended = on.fixture.ended(session).await;
        let state = &ended["session"]["state"];
        let detail = state["detail"].as_str().unwrap_or_default();
        assert!(state["code"] == 0 || !detail.is_empty(), "{name:?}: {ended}");
        assert!(is_harmless(detail), "{detail:?}");
        worked += u32::from(state["code"] == 0);
        if state["code"] != 0 {
            eprintln!("{name:?}: {detail}");
        }
    }
    assert!(worked > 5, "{worked}");
    on.close().await;
}

/// Adds tasks with such acceptance; those that were taken, by their ids.
async fn add(on: &Grounds, project: &str, acceptance: &[Value]) -> Option<String> {
    let body = json!({ "tasks": [{ "description": "x", "acceptance": acceptance, "needs": ["it"] }] });
    let reply = on.fixture.http(Method::POST, &format!("/api/projects/{project}/tasks"), Some(&body)).await;
    assert!([201, 400].contains(&reply.status), "{acceptance:?}: {}", reply.text);
    (reply.status == 201).then(|| reply.body()["tasks"][0]["id"].as_str().unwrap().to_owned())
}

/// Takes a task and reports a branch for it; `None` when the report was refused at once.
async fn report(on: &Grounds, project: &str, task: &str, branch: &str) -> Option<()> {
    let ask = json!({ "task": task, "worker": task, "abilities": ["it"] });
    let taken = on.fixture.post(&format!("/api/projects/{project}/take"), ask).await;
    let fence = &taken["taken"]["lease"]["fence"];
    let deliverables = json!({ "branch": branch, "files": [branch], "commits": [] });
    let body = json!({ "fence": fence, "summary": branch, "deliverables": deliverables });
    let reply = on.fixture.http(Method::POST, &format!("/api/tasks/{task}/report"), Some(&body)).await;
    assert!(reply.status < 500, "{branch:?}: {}", reply.text);
    (reply.status < 300).then_some(())
}

/// Waits until a report was judged, or a person is asked; how the criteria were met.
async fn judged(on: &Grounds, task: &str) -> Value {
    wait_until("the report was judged", async || {
        let found = on.fixture.get(&format!("/api/tasks/{task}")).await;
        let asked = found["task"]["status"] == "escalated";
        let pending = found["reports"].as_array()?.iter().any(|report| report["verdict"] == "pending");
        (asked || !pending).then_some(found)
    })
    .await
}

#[tokio::test]
async fn criteria_and_reported_branches_are_checked_verbatim() {
    let mut on = Grounds::open().await;
    on.expect("origin.git");
    let (origin, clone) = (on.fixture.path("origin.git"), on.fixture.path("repository"));
    git(&on.fixture.path(""), &["init", "-q", "--bare", "-b", "main", origin.to_str().unwrap()]);
    git(&clone, &["push", "-q", origin.to_str().unwrap(), "main", "main:work"]);
    let body = json!({ "content": "Checked", "repositories": [{ "location": origin }] });
    let project = on.fixture.post("/api/projects", body).await["id"].as_str().unwrap().to_owned();
    let mut tasks = Vec::new();
    let kinds: [fn(&str) -> Value; 5] = [
        |name| json!({ "kind": "file_exists", "path": name }),
        |name| json!({ "kind": "file_matches", "path": name, "min_words": 1 }),
        |name| json!({ "kind": "command", "argv": [name, name] }),
        |name| json!({ "kind": "command", "argv": ["true", name] }),
        |name| json!({ "kind": "only_touches", "globs": [name] }),
    ];
    for kind in kinds {
        let mut taken = Vec::new();
        for name in &on.names {
            // Alone, and elsewhere: one that is refused takes the others with it.
            if add(&on, &on.project, &[kind(name)]).await.is_some() {
                taken.push(kind(name));
            }
        }
        assert!(taken.len() > 100, "{}: {}", kind("x"), taken.len());
        for some in taken.chunks(50) {
            let id = add(&on, &project, some).await.unwrap();
            report(&on, &project, &id, "work").await.unwrap();
            tasks.push((id, some.len()));
        }
    }
    let mut branches = Vec::new();
    let mut next = None;
    for name in &on.names {
        let id = match next.take() {
            Some(id) => id,
            None => add(&on, &project, &[json!({ "kind": "committed" })]).await.unwrap(),
        };
        match report(&on, &project, &id, name).await {
            Some(()) => branches.push((id, name)),
            None => next = Some(id),
        }
    }
    for (id, count) in &tasks {
        let found = judged(&on, id).await;
        let results = found["reports"][0]["results"].as_array().unwrap();
        assert_eq!(results.len(), *count, "{found}");
        assert!(results.iter().all(|result| is_harmless(result["reason"].as_str().unwrap_or_default())), "{found}");
    }
    for (id, name) in &branches {
        let found = judged(&on, id).await;
        assert_ne!(found["task"]["status"], "done", "{name:?}: there is no such branch");
    }
    eprintln!("{} checks of criteria, {} of branches: {branches:?}", tasks.len(), branches.len());
    on.close().await;
}

#[tokio::test]
async fn workers_do_tasks_with_hostile_words() {
    let on = Grounds::open().await;
    let project = on.fixture.project("Worked").await["id"].as_str().unwrap().to_owned();
    let role = on.names.iter().find(|name| name.starts_with("$(touch")).unwrap();
    let argv = [
        "sh",
        "-c",
        "cat \"$SHOPFLOOR_BRIEF_FILE\" > $SHOPFLOOR_TASK; printf '%s\\0' \"$@\" > a-$SHOPFLOOR_TASK",
        "x",
        role,
    ];
    let start = json!({ "agent": "command", "argv": argv, "role": role, "abilities": [role], "count": 3 });
    on.fixture.post(&format!("/api/projects/{project}/workers"), start).await;
    let mut tasks = Vec::new();
    for name in on.names.iter().step_by(3 * SOME).filter(|name| domain::text::PROMPT.check(name).is_ok()) {
        let task = json!({ "description": format!("{name}\nand all of it"), "context": name, "files": [] });
        let (path, body) = (format!("/api/projects/{project}/tasks"), json!({ "tasks": [task] }));
        let made = on.fixture.http(Method::POST, &path, Some(&body)).await;
        assert!([201, 400].contains(&made.status), "{}", made.text);
        if made.status == 201 {
            tasks.push((made.body()["tasks"][0]["id"].as_str().unwrap().to_owned(), name));
        }
    }
    assert!(tasks.len() >= 5, "{}", tasks.len());
    for (id, name) in &tasks {
        let path = format!("/api/tasks/{id}");
        let done = wait_until("the task is done", async || {
            let found = on.fixture.get(&path).await;
            assert!(!["failed", "escalated"].contains(&found["task"]["status"].as_str()?), "{name:?}: {found}");
            (found["task"]["status"] == "done").then_some(found)
        })
        .await;
        let workspace = done["attempts"][0]["workspace"].as_str().unwrap();
        let place = on.fixture.get(&format!("/api/workspaces/{workspace}")).await;
        let place = Path::new(place["path"].as_str().unwrap());
        assert!(std::fs::read_to_string(place.join(id)).unwrap().contains("and all of it"), "{name:?}");
        assert_eq!(written(&place.join(format!("a-{id}"))), std::slice::from_ref(role));
    }
    on.close().await;
}
